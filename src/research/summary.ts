/** What a run came to as one object, without a bigint in it: what JSON can hold. */

import type { Late } from './late-fills.ts';
import type { Metrics } from './metrics.ts';
import type { StayRow } from './re-entry-lockout.ts';
import type { Groups } from './trip-groups.ts';
import type { Stressed, UnmovedOrders, Verdict } from './verdict.ts';

/** A currency of a run; the first is the one that the equity is counted in. */
export interface CurrencyRow {
  readonly asset: string;
  /** Exact, in the currency itself. */
  readonly cash: string;
  readonly finalEquity: string;
  /** Whose closes are the rate; null for the currency of the equity. */
  readonly pair: string | null;
  readonly firstRate: number;
  readonly lastRate: number;
  /** The oldest that a rate had to get, ms. */
  readonly oldestRateMs: number;
}

/** One movement of money that is neither profit nor loss. */
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

/** A position in what had no klines any more when the run ended. */
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

/** What fees in base left of positions: less than a lot, which nobody can sell. */
export interface RestRow {
  readonly strategy: string;
  readonly symbol: string;
  /** In base; negative when short. */
  readonly base: number;
  /** Of the final equity, a fraction. */
  readonly share: number;
}

export interface Summary {
  readonly version: 2;
  readonly rules: string;
  /** What they assume, and which of it the configuration changes; runs that were kept before this was written down have none. */
  readonly rulesText?: string;
  /** Yearly, as a fraction. */
  readonly riskFree: number;
  readonly klines: number;
  readonly from: number;
  readonly to: number;
  readonly cash: string;
  readonly finalEquity: string;
  /** What selling what is held at the end would leave: the curves and their figures count it so. Runs that were kept before have none. */
  readonly netLiquidation?: number;
  /** Final equity if every ambiguous kline had gone our way. */
  readonly bestEquity: string;
  /** Less than the final equity only where a chosen path let targets come before stops. */
  readonly worstEquity: string;
  readonly ambiguousKlines: number;
  /**
   * Orders that were large for their market: how many moved their own price, what that cost (exact; it is in the prices of their
   * fills) and the most of a usual day's volume that one of them asked for; how many filled without impact since too few days are known, and the most of a day's volume that one of them asked for.
   * Null where none was large; runs that were kept before this was counted have none.
   */
  readonly impact?: {
    readonly orders: number;
    readonly cost: string;
    /** Runs that were kept before it was counted have none. */
    readonly largestShare?: number;
    readonly unknownOrders: number;
    readonly largestUnknownShare: number;
  } | null;
  /** The same of rules by which size moves no price; null where there are none, and runs that were kept before it was counted have none. */
  readonly withoutImpact?: UnmovedOrders | null;
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
  /** The same run under worse conditions, where asked for. */
  readonly stress: readonly Stressed[];
  /** Where strategies were paid in several currencies: what there was of each, and by which rates it counts. Old runs have none. */
  readonly currencies?: readonly CurrencyRow[];
  /** Money paid in or out. Old runs have none. */
  readonly cashFlows?: readonly FlowRow[];
  /** What an account on margin cost besides fees, exact: in all, and at each time (UTC ms, amount). On spot null; old runs have none. */
  readonly margin?: {
    readonly interest: string;
    readonly liquidationFees: string;
    readonly liquidations: number;
    readonly charges: readonly (readonly [at: number, amount: string])[];
  } | null;
  /**
   * Orders that were refused or that nothing filled: why, whose, how often, when first (UTC ms), and the first that a rule refused; kept runs
   * of before have none, or do not say whose.
   */
  readonly refused?: readonly {
    readonly code: string;
    readonly strategy?: string;
    readonly symbol?: string;
    readonly times: number;
    readonly firstAt: number;
    readonly example?: string;
  }[];
  /** Strategies that their exits kept out for a quarter of the run or more; runs that were kept before it was looked for have none. */
  readonly reentryLockouts?: readonly StayRow[];
  /** What the requests would have weighed live, by what they were for; kept runs of before have none. */
  readonly weight?: {
    readonly orders: number;
    readonly polls: number;
    readonly sweeps: number;
    readonly perMinute: number;
  };
  /** Positions that count at a price of long before the end; runs that were kept before this was looked for have none. */
  readonly stalePositions?: readonly StaleRow[];
  /** Rests that come to a thousandth of the final equity or more; runs that were kept before it was looked for have none. */
  readonly remainders?: readonly RestRow[];
  /** Orders that filled late, since klines were missing; null where none did, and runs that were kept before it was looked for have none. */
  readonly delayedFills?: Late | null;
  readonly kills: readonly string[];
  /** UTC ms of the first of them; left out where there are none. */
  readonly stoppedAt?: number;
  /** UTC ms up to which it ran where Ctrl-C ended it; left out of a run that went to its end, and of those kept before it was told. */
  readonly endedAt?: number;
  readonly warnings: readonly string[];
  /** Of them, short, what makes the result doubtful by itself; runs that were kept before it was told apart have none. */
  readonly criticalWarnings?: readonly string[];
  readonly dataHashes: Readonly<Record<string, string>>;
}
