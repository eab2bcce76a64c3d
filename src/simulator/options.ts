/** What a simulator is made of. */
import type { Clock } from '../clock/clock.ts';
import type { Instrument } from '../domain/instrument.ts';
import type { Habits, Profile } from './core/habits.ts';
import type { LimitSettings } from './core/limits.ts';
import type { LogEntry } from './log.ts';
import type { MinuteColumns } from './market/replayed-rows.ts';
import type { Tape } from './market/tape-market.ts';

export interface SimulatorUser {
  /** Digits: replies show it as a number. */
  readonly uid: string;
  readonly key: string;
  readonly secret: string;
  /** Decimal text by asset, paid in when the user is new. */
  readonly balances: Readonly<Record<string, string>>;
}

/** What stands behind a symbol; the data is handed in. A symbol without one has an empty market. */
export type MarketOptions =
  | {
      readonly kind: 'klines';
      readonly symbol: string;
      readonly klines: MinuteColumns;
      /** The row that is replayed first; those before it are served as history. */
      readonly startIndex: number;
    }
  | { readonly kind: 'tape'; readonly symbol: string; readonly tape: Tape }
  | { readonly kind: 'empty'; readonly symbol: string };

export interface SimulatorOptions {
  readonly users: readonly SimulatorUser[];
  readonly instruments: readonly Instrument[];
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
  /** Single habits turned against the profile. */
  readonly habits?: Partial<Habits>;
  /** Whether an order query needs `orderId`, as §4.2 says; the same as the habit `queryNeedsOrderId`. */
  readonly requireOrderIdInQuery?: boolean;
  /** Decimal fractions; 0.002 both when absent. */
  readonly fees?: { readonly maker: string; readonly taker: string };
  readonly limits?: Partial<LimitSettings>;
  /** Fault rules, as parsed from a file or written in place; checked either way. */
  readonly faults?: unknown;
  /** Keeps accounts, orders, trades and market time in this directory. */
  readonly persistDir?: string;
  /** Gets each entry of the truth log. */
  readonly log?: (entry: LogEntry) => void;
  /** Called when a market's data has begun anew. */
  readonly onLooped?: (symbol: string, times: number) => void;
}
