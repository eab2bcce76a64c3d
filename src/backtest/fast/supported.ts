/**
 * Which runs the fast engine supports: one strategy on one symbol of a spot account, whose MARKET orders fill whole at the next open. Limits
 * stay in force. Whatever is not known here to make no difference is unsupported, so that a new rule or limit need not think of it.
 */
import type { Instrument } from '../../domain/instrument.ts';
import { intervalMs } from '../../domain/interval.ts';
import {
  noRate,
  noUnits,
  type Rate,
  type SafeScale,
  safeLimit,
  safeScale,
  safeSteps,
  safeUnits,
} from '../../domain/money.ts';
import { maxRate, ratesOf } from '../../fill/fees.ts';
import type { Rules } from '../../fill/rules.ts';
import type { Limits } from '../../risk/context.ts';
import { isDeciding } from '../../strategy/contract.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import type { RunInput, RunSeries } from '../run.ts';

/** A run in safe integers; amounts in steps of the scale. */
export interface Supported {
  readonly series: RunSeries;
  readonly hosted: NamedHosted;
  readonly at: Instrument;
  readonly scale: SafeScale;
  readonly cash: number;
  readonly allocation: number;
  readonly maxOrderValue: number;
  readonly maxPosition: number;
  readonly minNotional: number;
  readonly minLots: number;
  readonly taker: Rate;
  /** The highest rate that an order may have to pay. */
  readonly maxFeeRate: Rate;
  /** Targets may have stops, trailing stops and time exits: a stop and the next order may come within a second. */
  readonly hasStops: boolean;
}

/** Keys that may have any value, and those that may have one only; a key that is in neither says no. */
interface Known<T> {
  readonly any: readonly (keyof T)[];
  readonly only: Partial<T>;
}

const rules: Known<Rules> = {
  any: [
    ...([
      'name',
      'slippage',
      'penetrationTicks',
      'limitParticipation',
      'stopSlippageShare',
      'responseLatencyMs',
    ] as const),
    ...(['feedLatencyMs', 'entryLatencyMs', 'latency', 'pollMs', 'staleAfterMs', 'beyondDepth'] as const),
    ...(['maxDepthAgeMs', 'queue', 'assumedQueue', 'touchChance', 'seed', 'path'] as const),
    ...(['gapFill', 'stopsFrom', 'sizing', 'closeAtEnd'] as const),
  ],
  only: {
    halfSpread: noRate,
    marketParticipation: undefined,
    marketAt: 'open',
    targetsFrom: 'next',
    worseOfOpenAndClose: false,
    impact: undefined,
    marketBuyIn: 'lots',
    feeIn: 'quote',
  },
};

/** One order a kline: what looks back over seconds sees none. Collars are for LIMIT orders; nothing is stale or open beside it. */
const limits: Known<Limits> = {
  any: [
    ...([
      'maxOrderValue',
      'maxPosition',
      'priceCollar',
      'maxDataAgeMs',
      'duplicateWindowMs',
      'maxOrdersPerSecond',
    ] as const),
    ...(['maxDailyLoss', 'noSelfMatch', 'moveWindowMs', 'maxOpenOrders', 'maxStrategyOrdersPerSecond'] as const),
    ...(['maxSignalsPerSecond', 'maxDecideMs'] as const),
  ],
  only: {},
};

const input: Known<RunInput> = {
  any: ['hosted', 'instruments', 'series', 'allocations', 'cash', 'limits', 'rules', 'fees', 'pace'],
  only: { account: 'spot' },
};

const klines: Known<RunSeries> = {
  any: ['symbol', 'interval', 'columns', 'gaps', 'first', 'end', 'source'],
  only: {},
};

function fits<T extends object>(given: T, { any, only }: Known<T>): boolean {
  return Object.entries(given).every(([key, value]) =>
    Object.hasOwn(only, key) ? value === only[key as keyof T] : value === undefined || any.includes(key as keyof T),
  );
}

/** The run in safe integers; undefined where it is not supported. */
export function fastRunOf(given: RunInput): Supported | undefined {
  const [hosted, second] = given.hosted;
  const [series, other] = given.series;
  const [allocation, another] = given.allocations;
  if (hosted === undefined || series === undefined || allocation === undefined) return undefined;
  if (second !== undefined || other !== undefined || another !== undefined) return undefined;
  if (!isDeciding(hosted.strategy) || hosted.strategy.memory !== undefined) return undefined;
  if (allocation.strategy !== hosted.id || allocation.symbol !== hosted.symbol) return undefined;
  if (!fits(given, input) || !fits(series, klines) || !fits(given.rules, rules) || !fits(given.limits, limits))
    return undefined;
  if (!fitsTime(given, intervalMs(series.interval, 0)) || given.fees.tiers !== undefined) return undefined;
  const at = given.instruments.get(hosted.symbol);
  if (
    at === undefined ||
    at.orderPlaces !== undefined ||
    series.symbol !== hosted.symbol ||
    series.interval !== hosted.interval
  )
    return undefined;
  const scale = safeScale(at);
  const { decimals } = scale;
  const supported = {
    ...{ series, hosted, at, scale },
    cash: safeUnits(given.cash, decimals),
    allocation: safeUnits(allocation.amount, decimals),
    maxOrderValue: safeLimit(given.limits.maxOrderValue, decimals),
    maxPosition: safeLimit(given.limits.maxPosition, decimals),
    minNotional: safeUnits(at.minNotional, decimals),
    minLots: Math.max(1, safeSteps(at.minQuantity)),
    taker: ratesOf(given.fees, at.symbol, noUnits).taker,
    maxFeeRate: maxRate(given.fees),
    hasStops: given.rules.stopsFrom === 'entry' && maxPerSecond(given.limits) >= 2,
  };
  return [supported.cash, supported.allocation, supported.minNotional, supported.minLots].some(Number.isNaN)
    ? undefined
    : supported;
}

const maxPerSecond = ({ maxOrdersPerSecond, maxStrategyOrdersPerSecond = maxOrdersPerSecond }: Limits): number =>
  Math.min(maxOrdersPerSecond, maxStrategyOrdersPerSecond);

/** Orders arrive within the kline that they were decided in, and none is near another in time. */
function fitsTime({ rules, limits }: RunInput, lengthMs: number): boolean {
  const { maxOpenOrders = 1, duplicateWindowMs } = limits;
  return (
    rules.feedLatencyMs + rules.entryLatencyMs < lengthMs &&
    Math.max(1_000, duplicateWindowMs) <= lengthMs &&
    Math.min(maxPerSecond(limits), maxOpenOrders) >= 1
  );
}
