/** What rules judge by: the order, the portfolio, the limits, the market, and recently created orders. */
import type { Instrument } from '../domain/instrument.ts';
import type { Level } from '../domain/market.ts';
import type { Rate, Ticks, Units } from '../domain/money.ts';
import type { Denial } from '../domain/order.ts';
import type { OrderDraft } from '../portfolio/plan.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import type { Kill } from './kill.ts';

/** What one strategy may do at most, beside the limits of all. */
export interface StrategyLimits {
  /** In quote. */
  readonly maxOrderValue?: Units | undefined;
  /** In quote, with the open orders that add to it. */
  readonly maxPosition?: Units | undefined;
  /** All its positions together in quote, long and short added up, with the open orders that add to them. */
  readonly maxGross?: Units | undefined;
  /** The same, long less short, either way. */
  readonly maxNet?: Units | undefined;
  readonly maxOpenOrders?: number | undefined;
}

/** A limit that is left out is not in force. `control-list.ts` has the default of each. */
export interface Limits {
  /** Most that one order may be worth, in quote. */
  readonly maxOrderValue: Units;
  /** Most that a position may be worth once every open order that adds to it has filled, long or short, in quote, by symbol. */
  readonly maxPosition: Units;
  /** How far a LIMIT price may lie from the last price, as a fraction. */
  readonly priceCollar: Rate;
  /** Oldest price to decide by, real ms. */
  readonly maxDataAgeMs: number;
  /** The same order again within this time is refused, ms. */
  readonly duplicateWindowMs: number;
  /** Most orders created in any second. */
  readonly maxOrdersPerSecond: number;
  /** Loss since midnight UTC, as a fraction of the equity then, at which all creation is killed. */
  readonly maxDailyLoss: Rate;
  /** Most that one order may be worth, as a fraction of the equity. */
  readonly maxOrderShare?: Rate | undefined;
  /** Most that a position with its open orders may be worth, as a fraction of the equity. */
  readonly maxPositionShare?: Rate | undefined;
  /** Most that all positions with their open orders may be worth, as a fraction of the equity. */
  readonly maxAccountShare?: Rate | undefined;
  /** Most that a MARKET order may be expected to pay beyond the mid price, as a fraction. */
  readonly maxSlippage?: Rate | undefined;
  /** Oldest book by which a MARKET order may be sent, real ms. */
  readonly maxDepthAgeMs?: number | undefined;
  /** Most of what one side of the book shows that an order may take, as a fraction. */
  readonly maxDepthShare?: Rate | undefined;
  /** A price that moved by more than this fraction within `moveWindowMs` pauses its symbol. */
  readonly maxMove?: Rate | undefined;
  /** ms of the market's time. */
  readonly moveWindowMs?: number | undefined;
  /** Most orders that one strategy creates in any second. */
  readonly maxStrategyOrdersPerSecond?: number | undefined;
  /** Most orders open on one symbol, those of open outcome among them. */
  readonly maxOpenOrders?: number | undefined;
  /** True: no order may cross one of ours. */
  readonly noSelfMatch?: boolean | undefined;
  /** Most positions that a strategy enters in ten minutes of the market; at that many it is disabled. */
  readonly maxEntries?: number | undefined;
  /** So many losing round trips in a row disable a strategy. */
  readonly maxConsecutiveLosses?: number | undefined;
  /** So many refusals in ten minutes of the market disable a strategy. */
  readonly maxDenials?: number | undefined;
  /** Most changed signals of a strategy in one market in a real second; the rest is dropped and counts as denied. */
  readonly maxSignalsPerSecond?: number | undefined;
  /** A strategy that keeps the program busy for longer at once is disabled, real ms. */
  readonly maxDecideMs?: number | undefined;
  /** Fall of the equity from its highest, as a fraction of that, at which all creation is killed. */
  readonly maxDrawdown?: Rate | undefined;
  /** What a version of a strategy's code that was not released may hold, as a fraction of its allocation. */
  readonly newVersionShare?: Rate | undefined;
  /** Margin with rules of the user: most that a strategy may hold or owe, as a multiple of its equity. */
  readonly maxLeverage?: Rate | undefined;
  /** The only symbols on which anything may be created; left out: those of the strategies. */
  readonly symbols?: readonly string[] | undefined;
  /** By strategy; one that is not among them may create nothing. */
  readonly strategies?: ReadonlyMap<string, StrategyLimits> | undefined;
}

/** An order that was created, for rules about rates and duplicates. */
export interface Created {
  readonly at: number;
  readonly draft: OrderDraft;
}

/** The book as it was seen last. */
export interface SeenBook {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  /** ms of the clock. */
  readonly ageMs: number;
}

/** A version of a strategy's code that is not released yet. */
export interface NewVersion {
  /** SHA-256 of the code, hex. */
  readonly code: string;
  /** What the strategy was allotted, in quote. */
  readonly allocation: Units;
}

export interface RiskContext {
  readonly draft: OrderDraft;
  readonly portfolio: Portfolio;
  readonly limits: Limits;
  readonly now: number;
  /** `maxDataAgeMs` in ms of the clock. */
  readonly maxDataAgeMs: number;
  readonly kill: Kill | undefined;
  /** Orders of the last seconds, oldest first. */
  readonly recent: readonly Created[];
  /** The last book of the symbol; undefined before the first, and where there is none. */
  readonly book?: SeenBook | undefined;
  /** `maxDepthAgeMs` in ms of the clock. */
  readonly maxDepthAgeMs?: number | undefined;
  /** How far the price moved within `moveWindowMs`, as a fraction; undefined where nobody watches it. */
  readonly moved?: number | undefined;
  readonly newVersion?: NewVersion | undefined;
  /** The order is reserved already, so that the portfolio counts it: as at the last hop. */
  readonly isReserved?: boolean;
}

/** A context with what several rules need, calculated once. */
export interface Valued extends RiskContext {
  readonly at: Instrument;
  /** The last price in ticks, rounded up; zero before the first. */
  readonly last: Ticks;
  /** What the order is worth in quote: its amount, or price × quantity, at the last price for a MARKET order. */
  readonly value: Units;
  /** It sells what is held, or buys back what is short. */
  readonly isReducing: boolean;
  /** The exit of a stop, or of an operator. */
  readonly isProtective: boolean;
}

/** The numbers by which an order is refused; undefined lets it pass. */
export type Rule = (context: Valued) => Denial['facts'] | undefined;
