/** The options of a simulator. */
import type { Clock } from '../clock/clock.ts';
import type { Instrument } from '../domain/instrument.ts';
import type { Permission } from './core/keys.ts';
import type { LimitSettings } from './core/limits.ts';
import type { Profile, Quirks } from './core/quirks.ts';
import type { LogEntry } from './log.ts';
import type { MinuteColumns } from './market/klines-market.ts';
import type { Tape } from './market/tape-market.ts';

export interface SimulatorKey {
  /** Up to 128 letters, digits, `_`, `.` or `-`. */
  readonly key: string;
  readonly secret: string;
  /** What it may do; `read` and `trade` when left out. */
  readonly permissions?: readonly Permission[];
  /** IP addresses that it may be used from; any when left out. */
  readonly addresses?: readonly string[];
}

/** A user and the first key. */
export interface SimulatorUser extends SimulatorKey {
  /** Digits: replies show it as a number. */
  readonly uid: string;
  /** Further keys. */
  readonly keys?: readonly SimulatorKey[];
  /** Decimal text by asset, paid in when the user is new. */
  readonly balances: Readonly<Record<string, string>>;
  /** The same of the margin account, which is kept apart. */
  readonly margin?: Readonly<Record<string, string>>;
}

/** Terms of withdrawals and deposits of an asset, as `/open/pub/asset` shows them. Amounts are decimal text. */
export interface AssetOptions {
  /** The balance it is taken from, where a withdrawal names it otherwise: `TUSDT` for `USDT` on one of its chains. */
  readonly asset?: string;
  readonly name?: string;
  /** `unified_cryptoasset_id`; "0" when left out. */
  readonly unifiedId?: string;
  /** Of a withdrawal, within its amount. */
  readonly fee?: string;
  readonly minWithdraw?: string;
  readonly maxWithdraw?: string;
  readonly canWithdraw?: boolean;
  readonly canDeposit?: boolean;
}

/** The market behind a symbol, with its data. A symbol without one has an empty market. */
export type MarketOptions =
  | {
      readonly kind: 'klines';
      readonly symbol: string;
      readonly klines: MinuteColumns;
      /** The row that is replayed first; those before it are served as history. */
      readonly startIndex: number;
    }
  | { readonly kind: 'tape'; readonly symbol: string; readonly tape: Tape }
  | SyntheticMarket
  | { readonly kind: 'empty'; readonly symbol: string };

/** A synthetic market, made from the seed: a random-walk price, makers who quote around it, and takers. */
export interface SyntheticMarket {
  readonly kind: 'synthetic';
  readonly symbol: string;
  /** Where it begins, decimal text; 100 when left out. */
  readonly price?: string;
  /** Standard deviation of a day's return, as a fraction; 0.03 when left out. */
  readonly volatility?: number;
  /** Orders that takers send in a second of exchange time, on average; 0.5 when left out. */
  readonly takersPerSecond?: number;
  /** Minutes of klines from before the start; 600 when left out. */
  readonly historyMinutes?: number;
}

/** The control address: only on this machine, and only when requested. */
export interface ControlOptions {
  /** 0 takes any free one. */
  readonly port: number;
  /** A loopback address; 127.0.0.1 when left out. Any other is refused. */
  readonly host?: string;
}

/** A traded instrument, minimums as decimal text; without a minimum any amount is accepted. */
export interface InstrumentOptions {
  /** Upper case, as the exchange names it. */
  readonly symbol: string;
  readonly base: string;
  readonly quote: string;
  /** Decimal places. */
  readonly pricePrecision: number;
  readonly quantityPrecision: number;
  /** In base. */
  readonly minQuantity?: string;
  /** Price x quantity, in quote. */
  readonly minNotional?: string;
}

export interface SimulatorOptions {
  readonly users: readonly SimulatorUser[];
  readonly instruments: readonly (Instrument | InstrumentOptions)[];
  readonly markets?: readonly MarketOptions[];
  /** On 127.0.0.1; 0, the default, takes any free one. */
  readonly port?: number;
  /** The exchange's time. Default: a clock of the simulator's own at `speed`, which starts where the first market's data does. */
  readonly clock?: Clock;
  /** Of the default clock: times real time. */
  readonly speed?: number;
  /** Of made prints, made books and faults. */
  readonly seed?: number;
  readonly profile?: Profile;
  /** Single quirks turned against the profile. */
  readonly quirks?: Partial<Quirks>;
  /** Decimal fractions; 0.002 both when absent. */
  readonly fees?: { readonly maker: string; readonly taker: string };
  readonly limits?: Partial<LimitSettings>;
  /** By the name that a withdrawal uses. Every asset that is traded can be withdrawn, free of charge, unless this says otherwise. */
  readonly assets?: Readonly<Record<string, AssetOptions>>;
  /** Fault rules, as parsed from a file or written in place, or the name of a plan; checked either way. */
  readonly faults?: unknown;
  /** Opens the control address. */
  readonly control?: ControlOptions;
  /** Ended orders, and own trades of an account in a symbol, that can still be asked for; 100,000 when left out, twice as many at most. */
  readonly keptOrders?: number;
  /** Keeps accounts, orders, trades and market time in this directory. */
  readonly persistDir?: string;
  /** Appends the truth log to this file, one entry of JSON a line. */
  readonly logFile?: string;
  /** Gets each entry of the truth log. */
  readonly log?: (entry: LogEntry) => void;
  /** Called when a market's data has begun anew. */
  readonly onLooped?: (symbol: string, times: number) => void;
}

/** The options with their instruments checked. */
export interface CheckedOptions extends Omit<SimulatorOptions, 'instruments'> {
  readonly instruments: readonly Instrument[];
}
