/** A strategy that decides on closed klines, kline by kline: what a stream of them feeds. */
import type { Interval } from '../domain/interval.ts';
import type { Kline } from '../domain/market.ts';
import type { Want } from '../domain/order.ts';
import { checked } from './checked.ts';
import type { DecidingStrategy, Holding } from './contract.ts';
import type { Indicator } from './indicators.ts';
import type { Params, ParamValues } from './params.ts';

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
): (kline: Kline, mayDecide: boolean) => Want | undefined {
  const indicators = Object.entries(strategy.indicators(params));
  const streams = indicators.map(([, indicator]) => indicator.stream(interval));
  const latest = new Float64Array(streams.length).fill(Number.NaN);
  const values = named(
    indicators.map(([name]) => name),
    latest,
  );
  const warmup = strategy.warmup?.(params) ?? 0;
  let seen = 0;
  return (kline, mayDecide) => {
    seen++;
    let warm = seen >= warmup;
    for (let place = 0; place < streams.length; place++) {
      const value = (streams[place] as (kline: Kline) => number)(kline);
      latest[place] = value;
      if (Number.isNaN(value)) warm = false;
    }
    if (!warm || !mayDecide) return undefined;
    const want = strategy.decide(values, { kline, holding, params });
    return want === undefined ? undefined : checked(want);
  };
}

/** Where a values object keeps what its getters read. */
const behind = Symbol('latest values');

type Getter = (this: { readonly [behind]: Float64Array }) => number;

/** Getters by place, the same ones for every strategy: with their own, each would make the engine learn `decide` anew. */
const getters: Getter[] = [];
const getter = (place: number): Getter =>
  (getters[place] ??= function () {
    return this[behind][place] as number;
  });

/** The latest values under their names. Getters, since to write each under its name at each kline takes as long as to work it out. */
function named(names: readonly string[], latest: Float64Array): Readonly<Record<string, number>> {
  const values = {};
  Object.defineProperty(values, behind, { value: latest });
  for (const [place, name] of names.entries())
    Object.defineProperty(values, name, { enumerable: true, get: getter(place) });
  return values;
}
