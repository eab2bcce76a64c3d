/** The money of a run beside trading: cash flows, other currencies, margin. */
import type { Instrument } from '../../domain/instrument.ts';
import type { Rate, Units } from '../../domain/money.ts';
import type { RateLine } from '../../research/currency-rates.ts';
import type { Limits } from '../../risk/context.ts';

/** An amount paid in or out. */
export interface CashFlow {
  /** UTC ms; it counts from the first kline that closes then or later. */
  readonly time: number;
  readonly asset: string;
  /** Negative is paid out. */
  readonly amount: Units;
  readonly reason: string;
  /** The strategies that share it; the rest belongs to none. */
  readonly shares: readonly { readonly strategy: string; readonly symbol: string; readonly amount: Units }[];
}

/** A cash flow after its time. */
export interface FlowDone extends Omit<CashFlow, 'shares'> {
  /** UTC ms from which it counted. */
  readonly at: number;
  /** Why nothing moved. */
  readonly refused: string | undefined;
}

/** A currency beside the one that the equity is counted in. */
export interface Other {
  readonly asset: string;
  readonly cash: Units;
  readonly pair: Instrument;
  readonly line: RateLine;
  readonly limits: Pick<Limits, 'maxOrderValue' | 'maxPosition'>;
}

export interface Currencies {
  /** In which the equity is counted. */
  readonly reporting: string;
  /** The amount at the start. */
  readonly cash: Units;
  readonly others: readonly Other[];
}

/** Rules of a margin account, all of them the user's. */
export interface MarginRules {
  /** Most that a strategy may hold or be short of when it orders, as a multiple of its equity. */
  readonly maxLeverage: Rate;
  /** Equity over position value below which the exchange liquidates. */
  readonly maintenanceRatio: Rate;
  /** On the value of what it sells or buys back then. */
  readonly liquidationFee: Rate;
  /** Of what is borrowed, by asset, each time. */
  readonly interest: ReadonlyMap<string, Rate>;
  /** Counted from 1970, UTC. */
  readonly interestEveryMs: number;
}

/** What margin cost at one time. */
export interface Charge {
  /** UTC ms. */
  readonly at: number;
  readonly strategy: string;
  readonly symbol: string;
  readonly kind: 'interest' | 'liquidation';
  readonly asset: string;
  readonly amount: Units;
}

/** What margin cost in all, in quote. */
export interface MarginSums {
  readonly interest: Units;
  readonly liquidationFees: Units;
  /** Positions that the exchange left. */
  readonly liquidations: number;
}
