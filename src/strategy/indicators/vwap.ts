/** Volume-weighted average prices: the sum of hlc3 × volume over the sum of volumes. */

import { SignalError } from '../fault.ts';
import type { Indicator } from '../indicator.ts';
import { vwma } from './averages.ts';
import { calculated } from './calculated.ts';
import { refuseInvalid } from './refuse.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Over the last `period` klines; the plain average of hlc3 where nothing was traded. */
export function rollingVwap(period: number): Indicator {
  refuseInvalid('rollingVwap', { periods: { period } });
  return vwma('hlc3', period);
}

/**
 * Since the session began: at midnight UTC, or at `startHour` (0 to 23, UTC). The newest hlc3 until something was traded. It has no value
 * before the first start of a session in the klines, so it does not depend on where they begin.
 */
export function sessionVwap(startHour = 0): Indicator {
  if (!Number.isInteger(startHour) || startHour < 0 || startHour > 23)
    throw new SignalError(
      `sessionVwap(${startHour}): the hour at which a session starts must be a whole number, 0 to 23`,
    );
  const start = startHour * hourMs;
  return vwapOf('sessionVwap', startHour, (time) => Math.floor((time - start) / dayMs) * dayMs + start, '1day');
}

/**
 * Since a time: UTC ms, or a text such as `'2026-01-01T00:00Z'`. It has no value before, and none at all where the klines begin after that time:
 * a strategy's `warmup` says how many it needs.
 */
export function anchoredVwap(since: number | string): Indicator {
  const from = typeof since === 'number' ? since : Date.parse(since);
  if (
    !Number.isFinite(from) ||
    (typeof since === 'string' && !/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z)?$/.test(since))
  )
    throw new SignalError(
      `anchoredVwap(${typeof since === 'string' ? `'${since}'` : since}): the time must be UTC ms or a text such as '2026-01-01T00:00Z'`,
    );
  return vwapOf('anchoredVwap', from, (time) => (time < from ? Number.NEGATIVE_INFINITY : from));
}

/** `startOf` gives when the average that a kline belongs to began. */
const vwapOf = (name: string, variant: number, startOf: (time: number) => number, after?: '1day'): Indicator =>
  calculated({
    ...{ name, prices: ['openTime', 'hlc3', 'volume'], variant, warmup: 1 },
    ...(after === undefined ? {} : { after }),
    begin() {
      let since = Number.NaN;
      let isWhole = false;
      let amount = 0;
      let traded = 0;
      return ([times, prices, volumes], [out], count) => {
        for (let row = 0; row < count; row++) {
          const time = times[row] as number;
          const start = startOf(time);
          if (start !== since) {
            // Klines that begin within a session have seen a part of it only.
            isWhole = start !== Number.NEGATIVE_INFINITY && (time === start || !Number.isNaN(since));
            since = start;
            [amount, traded] = [0, 0];
          }
          const price = prices[row] as number;
          const volume = volumes[row] as number;
          amount += price * volume;
          traded += volume;
          if (isWhole) out[row] = traded === 0 ? price : amount / traded;
          else out[row] = Number.NaN;
        }
      };
    },
  });
