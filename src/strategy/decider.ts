/** Runs a strategy that decides on closed klines, kline by kline. */
import type { Interval } from '../domain/interval.ts';
import type { Kline } from '../domain/market.ts';
import type { Signal } from '../domain/order.ts';
import type { DecidingStrategy, Holding } from './contract.ts';
import type { Indicator } from './indicators.ts';
import type { Params, ParamValues } from './params.ts';
import { checked } from './validate.ts';
import { type Getter, source, valuesOf } from './values.ts';

export type Deciding = DecidingStrategy<Params, Record<string, Indicator>>;

/**
 * Feeds klines one after another to the indicators and, once all are warm, to `decide`. Returns the signal, or undefined without a new
 * one. `mayDecide` is false for klines of the warm-up.
 */
export function decider(
  strategy: Deciding,
  params: ParamValues<Params>,
  interval: Interval,
  holding: Holding,
): (kline: Kline, mayDecide: boolean) => Signal | undefined {
  const indicators = Object.entries(strategy.indicators(params));
  const streams = indicators.map(([, indicator]) => indicator.stream(interval));
  const latest = new Float64Array(streams.length).fill(Number.NaN);
  const values = valuesOf(
    indicators.map(([name]) => name),
    latest,
    getter,
  );
  // A user's indicator may give values before its stated warm-up; backtests over columns wait for the same kline.
  const warmup = Math.max(strategy.warmup?.(params) ?? 0, ...indicators.map(([, indicator]) => indicator.warmup));
  let seen = 0;
  /** The last signal that is frozen and was checked: the same object need not be checked again. */
  let valid: Signal | undefined;
  return (kline, mayDecide) => {
    seen++;
    let warm = seen >= warmup;
    for (let index = 0; index < streams.length; index++) {
      const value = (streams[index] as (kline: Kline) => number)(kline);
      latest[index] = value;
      if (Number.isNaN(value)) warm = false;
    }
    if (!warm || !mayDecide) return undefined;
    const signal = strategy.decide(values, { kline, holding, params });
    // JavaScript strategies often return null.
    if (signal === undefined || signal === null) return undefined;
    if (signal === valid) return signal;
    const result = checked(signal);
    valid = result === signal ? result : undefined;
    return result;
  };
}

const getters: Getter<Float64Array>[] = [];
const getter = (index: number): Getter<Float64Array> =>
  (getters[index] ??= function () {
    return this[source][index] as number;
  });
