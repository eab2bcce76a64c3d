/** A strategy that decides on closed klines, kline by kline: what a stream of them feeds. */

import type { Interval } from '../domain/interval.ts';
import type { Kline } from '../domain/market.ts';
import type { Signal } from '../domain/order.ts';
import type { DecidingStrategy, Holding } from './contract.ts';
import type { Indicator } from './indicators.ts';
import type { Params, ParamValues } from './params.ts';
import { checked } from './validate.ts';
import { behind, type Getter, valuesOf } from './values.ts';

export type Deciding = DecidingStrategy<Params, Record<string, Indicator>>;

/**
 * Feeds one kline after another to the indicators and, once all are warm, to `decide`, unless the kline is one of those from before it
 * began. Gives what it wants; undefined when it says nothing.
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
  // Of an indicator of one's own that has values before it is warm, too; backtests over columns wait for the same.
  const warmup = Math.max(strategy.warmup?.(params) ?? 0, ...indicators.map(([, indicator]) => indicator.warmup));
  let seen = 0;
  /** The last want that came back as it was said: nobody can change it, so that it is sound whenever it is said again. */
  let sound: Signal | undefined;
  return (kline, mayDecide) => {
    seen++;
    let warm = seen >= warmup;
    for (let place = 0; place < streams.length; place++) {
      const value = (streams[place] as (kline: Kline) => number)(kline);
      latest[place] = value;
      if (Number.isNaN(value)) warm = false;
    }
    if (!warm || !mayDecide) return undefined;
    const signal = strategy.decide(values, { kline, holding, params });
    // JavaScript often says null for nothing.
    if (signal === undefined || signal === null) return undefined;
    if (signal === sound) return signal;
    const said = checked(signal);
    sound = said === signal ? said : undefined;
    return said;
  };
}

/** Getters by place. */
const getters: Getter<Float64Array>[] = [];
const getter = (place: number): Getter<Float64Array> =>
  (getters[place] ??= function () {
    return this[behind][place] as number;
  });
