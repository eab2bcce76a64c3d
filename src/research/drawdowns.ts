/** The drawdowns of a run, largest first, and its Sharpe ratio in a window that moves. */
import { type Curve, dailyReturns } from './curves.ts';
import { sharpe, yearDays } from './ratios.ts';

/** From a peak to the recovery. Times are UTC ms of day closes. */
export interface Drawdown {
  readonly peakTime: number;
  readonly lowTime: number;
  /** Undefined where equity is still below the peak at the end. */
  readonly recoveryTime: number | undefined;
  /** At kline closes, a fraction of the peak, below zero. */
  readonly fall: number;
}

/** Smaller falls are shown as 0.00 %: rounding makes some, and what fees leave of a position. */
const minFall = 0.000_05;

/** The `max` largest drawdowns of a curve of UTC days. One that recovers within a day is not one. */
export function largestDrawdowns({ time, equity, drawdown }: Curve, max: number): readonly Drawdown[] {
  const found: Drawdown[] = [];
  let [peak, low] = [0, -1];
  const end = (recoveryTime: number | undefined): void => {
    if (low < 0) return;
    const [peakTime, lowTime] = [time[peak] as number, time[low] as number];
    found.push({ peakTime, lowTime, recoveryTime, fall: drawdown[low] as number });
    low = -1;
  };
  for (let day = 1; day < time.length; day++) {
    if ((equity[day] as number) >= (equity[peak] as number)) {
      end(time[day]);
      peak = day;
    } else if (low < 0 || (drawdown[day] as number) < (drawdown[low] as number)) low = day;
  }
  end(undefined);
  return found
    .filter(({ fall }) => fall <= -minFall)
    .toSorted((a, b) => a.fall - b.fall)
    .slice(0, max);
}

/** Days of the window: a quarter, or a month for runs below half a year. */
export const windowDays = (days: number): number => (days < 180 ? 30 : 90);

/**
 * The yearly Sharpe ratio of the last `window` daily returns at each day, without a risk-free rate; 0 where equity did not move.
 * Undefined for a run that is not longer than the window.
 */
export function rollingSharpe(
  days: Curve,
  window: number,
): { readonly time: Float64Array; readonly values: Float64Array } | undefined {
  const returns = dailyReturns(days, days.equity);
  if (returns.length <= window) return undefined;
  const count = returns.length - window + 1;
  return {
    time: days.time.filter((at) => at % 86_400_000 === 0).slice(window, window + count),
    values: Float64Array.from(
      { length: count },
      (_, first) => sharpe(returns.subarray(first, first + window), yearDays) ?? 0,
    ),
  };
}
