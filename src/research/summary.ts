/** The result of a run as one object for JSON. */

import type { AloneTimes } from '../domain/order.ts';
import type { EntryLosses } from './entry-losses.ts';
import type { Late } from './late-fills.ts';
import type { MarketRow } from './market-results.ts';
import type { Metrics } from './metrics.ts';
import type { Lockout } from './re-entry-lockout.ts';
import type { Groups } from './round-trip-groups.ts';
import type { ImpactRow, Stressed, UnmovedOrders, Verdict } from './verdict.ts';

/** A currency of a run; the first is the one of the equity. */
export interface CurrencyRow {
  readonly asset: string;
  /** Exact, in the currency itself. */
  readonly cash: string;
  readonly finalEquity: string;
  /** Whose closes are the rate; null for the currency of the equity. */
  readonly pair: string | null;
  readonly firstRate: number;
  readonly lastRate: number;
  /** The highest age of a rate, ms. */
  readonly oldestRateMs: number;
}

/** Money paid in or out. */
export interface FlowRow {
  /** When it was asked for, and the kline close from which it counted, UTC ms. */
  readonly time: number;
  readonly at: number;
  readonly asset: string;
  /** Exact; negative was paid out. */
  readonly amount: string;
  /** The same in the currency of the equity, at the rate of its moment. */
  readonly value: string;
  readonly reason: string;
  /** Why nothing moved; null where it did. */
  readonly refused: string | null;
}

/** An open position in a symbol whose klines ended before the run. */
export interface StaleRow {
  readonly strategy: string;
  readonly symbol: string;
  /** In base; negative when short. */
  readonly quantity: string;
  /** The last close, at which it counts. */
  readonly price: string;
  /** When that was, and when the run ended, UTC ms. */
  readonly since: number;
  readonly until: number;
}

/** A rest of a position below the minimum order, left by fees in base. */
export interface RestRow {
  readonly strategy: string;
  readonly symbol: string;
  /** In base; negative when short. */
  readonly base: number;
  /** Of the final equity, a fraction. */
  readonly share: number;
}

/** Costs of margin beside fees, exact: in all, and each of them. Runs that earlier versions saved have no symbols. */
export interface MarginRow {
  readonly interest: string;
  readonly liquidationFees: string;
  readonly liquidations: number;
  readonly charges: readonly (readonly [at: number, amount: string, symbol?: string])[];
}

/** Orders that were refused or that nothing filled. */
export interface RefusedRow {
  /**
   * The name of a risk rule; `rejected` by the exchange; `unfilled`: a MARKET order without money or volume for it; `waiting`: one that nothing
   * had filled at the end; `short`: a short target on spot; `stop`: one on the wrong side of the price, which is hit at once.
   */
  readonly code: string;
  readonly strategy: string;
  readonly symbol: string;
  readonly times: number;
  /** UTC ms. */
  readonly firstAt: number;
  /** The first order that a rule refused, with the numbers of the rule. */
  readonly example?: string;
}

/** Request weight that a run would spend live, by purpose. */
export interface SpentWeight {
  readonly orders: number;
  /** Polls while orders work. */
  readonly polls: number;
  /** Sweeps without a working order. */
  readonly sweeps: number;
  readonly perMinute: number;
}

export interface Summary {
  readonly version: 2;
  readonly rules: string;
  /** The assumptions of the rules, and which of them the configuration changes. */
  readonly rulesText: string;
  /** Yearly, as a fraction. */
  readonly riskFree: number;
  readonly klines: number;
  /** UTC ms. */
  readonly from: number;
  readonly to: number;
  readonly cash: string;
  readonly finalEquity: string;
  /** Equity if open positions were sold at the end, as the curves and their figures count it. Missing without a curve. */
  readonly netLiquidation?: number;
  /** Final equity if every ambiguous kline had gone our way. */
  readonly bestEquity: string;
  /** Less than the final equity only where a chosen path let targets come before stops. */
  readonly worstEquity: string;
  readonly ambiguousKlines: number;
  /** Null where no order was large. */
  readonly impact: ImpactRow | null;
  /** Large orders under rules without impact; null where there are none. */
  readonly withoutImpact: UnmovedOrders | null;
  readonly fillCount: number;
  /** How many fills each rule granted. */
  readonly fillsByRule: Readonly<Record<string, number>>;
  readonly metrics: Omit<Metrics, 'fees' | 'turnover'> & {
    /** Final equity over cash, less 1. */
    readonly return: number;
    readonly fees: string;
    readonly turnover: string;
  };
  readonly verdict: Verdict;
  readonly groups: Groups;
  /** Empty where strategies are paid in several currencies. */
  readonly markets: readonly MarketRow[];
  /** The same run under worse conditions, where asked for. */
  readonly stress: readonly Stressed[];
  /** Empty where all strategies are paid in one currency. */
  readonly currencies: readonly CurrencyRow[];
  readonly cashFlows: readonly FlowRow[];
  /** Null on spot. */
  readonly margin: MarginRow | null;
  readonly refused: readonly RefusedRow[];
  /** The entries that were asked for; null where none was denied or reduced. */
  readonly entries: EntryLosses | null;
  /** Strategies that could not enter again for a quarter of the run or more after exits. */
  readonly reentryLockouts: readonly Lockout[];
  /** Legs of strategies with several markets that were open alone. */
  readonly legsAlone: readonly AloneTimes[];
  readonly requestWeight: SpentWeight;
  readonly stalePositions: readonly StaleRow[];
  /** Rests of a thousandth of the final equity or more. */
  readonly remainders: readonly RestRow[];
  /** Null where no fill was late. */
  readonly delayedFills: Late | null;
  readonly kills: readonly string[];
  /** UTC ms of the first kill; missing without one. */
  readonly stoppedAt?: number;
  /** UTC ms at which Ctrl-C ended the run; missing where it ran to its end. */
  readonly endedAt?: number;
  readonly warnings: readonly string[];
  /** Those of the warnings that make the result doubtful, in short. */
  readonly criticalWarnings: readonly string[];
  readonly dataHashes: Readonly<Record<string, string>>;
}
