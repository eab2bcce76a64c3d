/**
 * The slow reference: a second implementation of the rules by which a backtest fills, written from their description
 * (kline fidelity of the fill engine, spot, one strategy, one symbol) and not from the product. It imports nothing from
 * `src/`; its results are compared with the product's row by row. Clarity before everything: every value is a `Decimal`,
 * every kline is looked at, nothing is cached but what a day usually trades.
 */

export interface Kline {
  /** UTC ms at which it opens. */
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}

export interface Instrument {
  readonly base: string;
  readonly quote: string;
  readonly pricePrecision: number;
  readonly quantityPrecision: number;
  readonly minQuantity: string;
  readonly minNotional: string;
}

/** Decimals as text; null is no limit. */
export interface Rules {
  readonly halfSpread: string;
  readonly penetrationTicks: number;
  readonly limitParticipation: string | null;
  readonly marketParticipation: string | null;
  readonly stopSlippageShare: string;
  /** Whole klines between a decision and its arrival. */
  readonly delayKlines: number;
  readonly marketBuyIn: 'amount' | 'lots';
  readonly feeIn: 'received' | 'quote';
  /** What is ordered after a close arrives at the next open, or at that close itself. */
  readonly marketAt: 'open' | 'close';
  /** What a resting LIMIT gets when the open is better than it. */
  readonly gapFill: 'limit' | 'open';
  /** When a stop may first be hit: in the kline of the entry, in it only after a MARKET entry, in the next one. */
  readonly stopsFrom: 'entry' | 'marketEntry' | 'next';
  /** When a target may first fill after a MARKET entry at an open: in that kline, or in the next one. */
  readonly targetsFrom: 'entry' | 'next';
  /** Whether the high or the low of a kline comes first, where both matter; pessimistic: whichever is worse. */
  readonly path: 'pessimistic' | 'OHLC' | 'nearest';
  /** What a share of the equity is divided by: the close, the close with a fee, or the price of the entry with a fee. */
  readonly sizing: 'close' | 'closeWithFee' | 'fillWithFee';
  /** Whether what is held after the last kline is sold at its close. */
  readonly closeAtEnd: boolean;
  /** From which part of a usual day's volume on a taking order moves its price, by the deviation of a day × √(that part); null never. */
  readonly impactFrom: string | null;
}

export const plain: Rules = {
  halfSpread: '0',
  penetrationTicks: 0,
  limitParticipation: null,
  marketParticipation: null,
  stopSlippageShare: '0',
  delayKlines: 0,
  marketBuyIn: 'lots',
  feeIn: 'quote',
  marketAt: 'open',
  gapFill: 'limit',
  stopsFrom: 'entry',
  targetsFrom: 'next',
  path: 'pessimistic',
  sizing: 'close',
  closeAtEnd: false,
  impactFrom: null,
};

export const sluice: Rules = {
  ...plain,
  halfSpread: '0.0005',
  penetrationTicks: 1,
  limitParticipation: '0.1',
  marketParticipation: '1',
  stopSlippageShare: '0.5',
  marketBuyIn: 'amount',
  feeIn: 'received',
  impactFrom: '0.001',
};

/** Each as docs/explanation/compared.md describes it, written down a second time. */
export const rulesets = {
  plain,
  sluice,
  'backtesting.py': {
    ...plain,
    gapFill: 'open',
    stopsFrom: 'marketEntry',
    targetsFrom: 'entry',
    sizing: 'fillWithFee',
  },
  backtrader: { ...plain, gapFill: 'open', stopsFrom: 'next' },
  vectorbt: { ...plain, marketAt: 'close', gapFill: 'open', sizing: 'closeWithFee' },
} as const satisfies Record<string, Rules>;

/** Hold this quantity or this share of the equity, or have exactly these resting orders. */
export type Signal =
  | Target
  | { readonly quotes: readonly { readonly side: Side; readonly price: string; readonly quantity: string }[] };

/** So far in quote: as it was when the position was entered, or as it is now. */
export interface Distance {
  readonly distance: string;
  readonly moving?: true;
}

/** A price, or so far from the entry price, as a fraction of it or in quote. */
export type Level = string | { readonly fromEntry: string } | Distance;

export type Target = Size & {
  readonly limit?: string;
  readonly stop?: Level;
  /** A stop this far from the best price since the entry, as a fraction of that or in quote. */
  readonly trailing?: string | Distance;
  /** Once the best price is so far beyond the entry, the stop is at the entry, or a fraction of that better. */
  readonly breakEven?: { readonly after: string | Distance; readonly plus?: string };
  /** How long it may be held, in ms or in klines of the strategy: then it is left at the first close. */
  readonly exitAfterMs?: number;
  readonly exitAfterKlines?: number;
  /** The time of the day, UTC, at which it is left. */
  readonly exitAt?: string;
  /** How long nothing is entered after protection has left a position. Then the same may be entered again. */
  readonly reenterAfterMs?: number;
  readonly reenterAfterKlines?: number;
  /** How long an entry at a limit may take from the close at which its size, price or time was new: then it is cancelled. */
  readonly expiresAfterMs?: number;
  readonly expiresAfterKlines?: number;
  /** The limit is moved a tick away from the last price where it would be at that or beyond, and rests as it arrives. */
  readonly postOnly?: true;
  /** An entry that is over the limit of the position, or over the money, is reduced to it; where a MARKET BUY is ordered in lots. */
  readonly clip?: true;
  /** A price that closes the position, or several, each for a share of the quantity. */
  readonly takeProfit?: Level | readonly { readonly at: Level; readonly share: string }[];
};

/** What a target holds. */
export type Size = { readonly quantity: string } | { readonly share: string } | { readonly amount: string };

export type Side = 'BUY' | 'SELL';

/** What is wanted after the close of a kline; undefined says nothing: resting orders stay and nothing is ordered. */
export type Strategy =
  | { readonly kind: 'sma-cross'; readonly fast: number; readonly slow: number; readonly size: Size }
  | { readonly kind: 'script'; signal(row: number, facts: () => Facts): Signal | undefined };

/** What a strategy may know of its position, in numbers; NaN where nothing is held. */
export interface Facts {
  readonly entryTime: number;
  readonly klinesHeld: number;
  readonly best: number;
  readonly worst: number;
  readonly profit: number;
  readonly realisedNet: number;
  readonly lastExit:
    | {
        readonly time: number;
        readonly price: number;
        readonly profit: number;
        readonly klinesAgo: number;
        readonly reason: 'signal' | 'stop' | 'takeProfit' | 'time';
      }
    | undefined;
}

/** What may be borrowed, what that costs, and when the exchange leaves a position. */
export interface Margin {
  /** Most that may be held or short, as a multiple of the equity, when something is ordered. */
  readonly maxLeverage: string;
  readonly maintenanceRatio: string;
  readonly liquidationFee: string;
  /** Of what is owed, each time. */
  readonly interest: { readonly base: string; readonly quote: string };
  readonly interestEveryMs: number;
}

/** What margin cost at a time, in quote. */
export interface ChargeRow {
  readonly time: number;
  readonly kind: 'interest' | 'liquidation';
  readonly amount: string;
}

export interface Question {
  readonly klines: readonly Kline[];
  readonly intervalMs: number;
  readonly strategy: Strategy;
  readonly rules: Rules;
  readonly instrument: Instrument;
  readonly fees: { readonly maker: string; readonly taker: string };
  readonly cash: string;
  /** Money paid in, or out (negative), at the first close at or after its time; more than is free is not paid out. */
  readonly cashFlows?: readonly { readonly time: number; readonly amount: string }[];
  /** Decides only when a kline of this length closes; at every kline when left out. */
  readonly decidesEveryMs?: number;
  /** A margin account and its rules; spot when left out. */
  readonly margin?: Margin;
  /** Most that may be held once every open BUY has filled, in quote; a BUY that would pass it is denied. None: no limit. */
  readonly maxPosition?: string;
}

/** A want that differs from the one before, when its kline had closed. */
export interface DecisionRow {
  readonly time: number;
  readonly signal: Signal;
}

export interface OrderRow {
  /** Counts from 1 in the order of creation. */
  readonly number: number;
  readonly time: number;
  readonly side: Side;
  readonly type: 'LIMIT' | 'MARKET';
  /** Base quantity, or null for a MARKET BUY by amount. */
  readonly quantity: string | null;
  readonly amount: string | null;
  readonly price: string | null;
  readonly purpose: 'enter' | 'exit' | 'quote' | 'stop' | 'takeProfit';
  readonly executed: string;
  /** Denied is what risk keeps from the exchange, rejected what the exchange refuses. */
  readonly state: 'open' | 'filled' | 'canceled' | 'denied' | 'rejected';
}

export interface FillRow {
  readonly order: number;
  readonly time: number;
  readonly side: Side;
  readonly price: string;
  readonly quantity: string;
  readonly fee: string;
  readonly feeAsset: string;
  readonly maker: boolean;
  readonly ambiguous: boolean;
  /** It took as it arrived, more than a kline after it was due: klines are missing. */
  readonly late: boolean;
}

export interface Answer {
  readonly decisions: readonly DecisionRow[];
  readonly orders: readonly OrderRow[];
  readonly fills: readonly FillRow[];
  readonly cash: string;
  readonly base: string;
  /** Cash and base at the last close. */
  readonly equity: string;
  readonly ambiguousKlines: number;
  readonly charges: readonly ChargeRow[];
}
