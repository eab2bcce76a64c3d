/** What of larger klines is known after each kline, worked out from their definition for each row anew. Imports nothing from `src/`. */
import { Decimal } from 'decimal.js';
import type { Kline } from './types.ts';

/**
 * The larger klines of `lengthMs` that have closed by the close of row `row`: those whose end has passed, in which there is a kline, and
 * which the klines do not begin inside.
 */
export function closedFrames(klines: readonly Kline[], row: number, ownMs: number, lengthMs: number): readonly Kline[] {
  const begun = (klines[0] as Kline).time;
  const now = (klines[row] as Kline).time + ownMs;
  const frames: Kline[] = [];
  for (let time = Math.ceil(begun / lengthMs) * lengthMs; time + lengthMs <= now; time += lengthMs) {
    const inside = klines.filter((kline) => kline.time >= time && kline.time < time + lengthMs);
    const [first] = inside;
    const last = inside.at(-1);
    if (first === undefined || last === undefined) continue;
    frames.push({
      time,
      open: first.open,
      high: Math.max(...inside.map(({ high }) => high)),
      low: Math.min(...inside.map(({ low }) => low)),
      close: last.close,
      volume: inside.reduce((sum, { volume }) => sum.plus(volume), new Decimal(0)).toNumber(),
    });
  }
  return frames;
}
