/** What usually trades in a day, from the klines before it: the scale against which an order's impact is measured. */
import type { Columns } from '../domain/market.ts';
import type { Liquidity } from './impact.ts';

const dayMs = 86_400_000;
/** Days that count: the whole ones before. */
const mostDays = 30;
/** Fewer than these say nothing. */
const leastDays = 5;

interface Day {
  readonly start: number;
  volume: number;
  close: number;
}

/** Asked with a time (UTC ms), gives what the days before its own came to; undefined where they are too few. */
export function liquidityOf({ openTime, close, volume }: Columns): (time: number) => Liquidity | undefined {
  const days: Day[] = [];
  for (let row = 0; row < openTime.length; row++) {
    const start = Math.floor((openTime[row] as number) / dayMs) * dayMs;
    let day = days.at(-1);
    if (day?.start !== start) {
      day = { start, volume: 0, close: 0 };
      days.push(day);
    }
    day.volume += volume[row] as number;
    day.close = close[row] as number;
  }
  const known = new Map(days.map(({ start }, index) => [start, before(days, index)]));
  return (time) => known.get(Math.floor(time / dayMs) * dayMs);
}

/** Of the days before `index`, without the first of all, which hardly ever is whole. */
function before(days: readonly Day[], index: number): Liquidity | undefined {
  const last = days.slice(Math.max(1, index - mostDays), index);
  if (last.length < leastDays) return undefined;
  const returns = last.slice(1).map(({ close }, at) => close / (last[at] as Day).close - 1);
  const mean = returns.reduce((sum, one) => sum + one, 0) / returns.length;
  const squares = returns.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  return {
    volume: last.reduce((sum, day) => sum + day.volume, 0) / last.length,
    deviation: Math.sqrt(squares / (returns.length - 1)),
  };
}
