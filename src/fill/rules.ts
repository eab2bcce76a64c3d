/**
 * By which rules a simulated exchange fills orders: named sets of plain data, read by one engine. The
 * numbers of `sluice` are careful defaults, not calibrated; `plain` is what most backtesting libraries assume; the others
 * are those of the libraries whose names they bear (docs/explanation/compared.md).
 */
import { type Rate, rate, type Ticks, ticks, type Units } from '../domain/money.ts';
import { type ImpactModel, squareRoot } from './impact.ts';
import type { LatencyModel } from './latency.ts';
import type { RulesetName } from './ruleset-names.ts';

export type { RulesetName };

export interface Rules {
  readonly name: string;
  /** How far a taker's price is worse than the kline's open, or than a stop's base price. */
  readonly halfSpread: Rate;
  /** How far a taker's price is worse than the trade print it refers to. */
  readonly slippage: Rate;
  /** How many ticks beyond a resting LIMIT the market must go before it fills; 0 fills at a touch. */
  readonly penetrationTicks: Ticks;
  /** The share of a kline's volume that resting orders may fill, all of ours together; undefined is no limit. */
  readonly limitParticipation: Rate | undefined;
  /** The share of a kline's volume that taking orders may fill; what is beyond is canceled. Undefined is no limit. */
  readonly marketParticipation: Rate | undefined;
  /** Where between its price and the kline's extreme a stop fills: 0 at its price, 1 at the extreme. */
  readonly stopSlippageShare: Rate;
  /** Where a MARKET order fills: at the open of the next kline, or at the close after which it was decided. */
  readonly marketAt: 'open' | 'close';
  /** What a resting LIMIT gets that an open has passed: its own price, or the open, which is better. */
  readonly gapFill: 'limit' | 'open';
  /** When a stop can first be hit: in the kline of its entry; in that only after a MARKET entry; in the kline after. */
  readonly stopsFrom: 'entry' | 'marketEntry' | 'next';
  /** When a take-profit can first fill: in the kline at whose open a MARKET order entered, or in the one after. */
  readonly targetsFrom: 'entry' | 'next';
  /** By what price a share of equity is sized: the close decided on, that with the fee, or what the entry fills at with the fee. */
  readonly sizing: 'close' | 'closeWithFee' | 'fillWithFee';
  /** True when MARKET orders fill at the worse of a kline's open and close. */
  readonly worseOfOpenAndClose: boolean;
  readonly feedLatencyMs: number;
  readonly entryLatencyMs: number;
  readonly responseLatencyMs: number;
  /** Measured latencies of requests in place of the two constants before. */
  readonly latency: LatencyModel | undefined;
  /** How often the account asks the exchange for its fills. */
  readonly pollMs: number;
  /** After how long without a print a waiting MARKET order's fill is marked stale, and a last price no longer counts. */
  readonly staleAfterMs: number;
  /** How far beyond the last displayed level what a book cannot fill goes. */
  readonly beyondDepth: Rate;
  /** A book older than this says nothing any more: then trades do. */
  readonly maxDepthAgeMs: number;
  /** How much of a level that shrinks without trades was before us. */
  readonly queue: QueueModel;
  /** Base quantity taken to be before an order where no book says it; undefined: nothing fills at its own price. */
  readonly assumedQueue: number | undefined;
  /** The chance from 0 to 1 that a touch fills an order of unknown place, drawn by `seed`, order and event. */
  readonly touchChance: number;
  readonly seed: number;
  /** How far a taker moves the price by its size, beyond spread and slippage. */
  readonly impact: ImpactModel | undefined;
  /** Which extreme of a kline comes first where a stop and a target could both fill. */
  readonly path: 'pessimistic' | 'OHLC' | 'OLHC' | 'nearest';
  /** What a MARKET BUY is given in: the exchange takes an amount of quote (specification §4.2), most libraries base lots. */
  readonly marketBuyIn: 'amount' | 'lots';
  /** Fees are taken from what a fill brings in, or always in quote. */
  readonly feeIn: 'received' | 'quote';
  /** True when what is held at the end is sold at the last close, whole; otherwise it stays open and is marked there. */
  readonly closeAtEnd: boolean;
}

/** Models of the queue at a price; all but the first are hftbacktest's, `n` the exponent where there is one. */
export interface QueueModel {
  readonly kind: 'riskAverse' | 'log' | 'log2' | 'power' | 'power2' | 'power3';
  readonly n: number;
}

const tick = (count: number): Ticks => ticks(String(count), { pricePrecision: 0, quantityPrecision: 0 });

const sluice: Rules = {
  name: 'sluice',
  halfSpread: rate('0.0005'),
  slippage: rate('0.0002'),
  penetrationTicks: tick(1),
  limitParticipation: rate('0.1'),
  marketParticipation: rate('1'),
  stopSlippageShare: rate('0.5'),
  marketAt: 'open',
  gapFill: 'limit',
  stopsFrom: 'entry',
  targetsFrom: 'next',
  sizing: 'close',
  worseOfOpenAndClose: false,
  feedLatencyMs: 100,
  entryLatencyMs: 150,
  responseLatencyMs: 150,
  latency: undefined,
  pollMs: 1000,
  staleAfterMs: 5000,
  beyondDepth: rate('0.005'),
  maxDepthAgeMs: 3000,
  queue: { kind: 'riskAverse', n: 1 },
  assumedQueue: undefined,
  touchChance: 0,
  seed: 1,
  impact: squareRoot,
  path: 'pessimistic',
  marketBuyIn: 'amount',
  feeIn: 'received',
  closeAtEnd: false,
};

const plain: Rules = {
  ...sluice,
  name: 'plain',
  halfSpread: rate('0'),
  slippage: rate('0'),
  penetrationTicks: tick(0),
  limitParticipation: undefined,
  marketParticipation: undefined,
  impact: undefined,
  stopSlippageShare: rate('0'),
  feedLatencyMs: 0,
  entryLatencyMs: 0,
  responseLatencyMs: 0,
  pollMs: 0,
  marketBuyIn: 'lots',
  feeIn: 'quote',
};

/** The rulesets that a configuration can name. */
export const rulesets: Readonly<Record<RulesetName, Rules>> = {
  sluice,
  plain,
  'backtesting.py': {
    ...plain,
    name: 'backtesting.py',
    gapFill: 'open',
    stopsFrom: 'marketEntry',
    targetsFrom: 'entry',
    sizing: 'fillWithFee',
  },
  backtrader: { ...plain, name: 'backtrader', gapFill: 'open', stopsFrom: 'next' },
  vectorbt: { ...plain, name: 'vectorbt', marketAt: 'close', gapFill: 'open', sizing: 'closeWithFee' },
};

/** Each in a sentence, for a result's table. */
export const aboutRules: Readonly<Record<RulesetName, string>> = {
  sluice:
    'MARKET at the next open plus half a spread; LIMIT one tick beyond; at most a share of the volume; stops with slippage; market impact',
  plain: 'market at the next open, limits at a touch; ignores spread, volume and delay',
  'backtesting.py':
    'market at the next open, limits at a touch or a better open, the stop before the target; ignores spread, volume and delay',
  backtrader:
    'market at the next open, limits at a touch or a better open, stops from the next kline; ignores spread, volume and delay',
  vectorbt:
    'market at the close of the decision, the stop before the target, both at a better or worse open; ignores spread, volume and delay',
};

/** The same of `sluice` where it fills by recorded trades, or by depth; the others know klines alone. */
export const aboutTape = {
  trades:
    'market at the worse of the next print of its side and the last one, plus 2 bp; limits when a print passes their price, at most its quantity; large orders move the price',
  books:
    'market through the visible levels; limits after the queue ahead; only prints where the depth is older than 3 s',
} as const;

/** Fee rates, as fractions of what they are charged on. */
export interface FeeRates {
  readonly maker: Rate;
  readonly taker: Rate;
}

/** Rates from a volume of the last 30 days on, in quote. */
export interface FeeTier extends FeeRates {
  readonly volume: Units;
}

export interface Fees extends FeeRates {
  /** In place of all others, for a symbol. */
  readonly bySymbol?: Readonly<Record<string, FeeRates>>;
  /** By rising volume; below the first the rates above hold. */
  readonly tiers?: readonly FeeTier[];
  /** True when nobody gave them: the exchange publishes none, so whoever prints a result must say they are assumed. */
  readonly assumed: boolean;
}

const assumedRate = rate('0.002');

/** Rates as configured; what is left out is assumed to be 0.20 %. */
export const feesFrom = (given: { readonly [of in 'maker' | 'taker']?: Rate | undefined } = {}): Fees => ({
  maker: given.maker ?? assumedRate,
  taker: given.taker ?? assumedRate,
  assumed: given.maker === undefined || given.taker === undefined,
});
