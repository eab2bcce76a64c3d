/** Which klines to show of those that the page holds, for a span of time. */
import type { ZoomLevel } from '../chart-data.ts';
import { indexAt, type Kline } from './unpack.ts';

/** A level once it is unpacked. */
export interface OpenLevel {
  /** How long a kline lasts, ms. */
  readonly ms: number;
  readonly isPartial: boolean;
  readonly klines: readonly Kline[];
  /** By line of an indicator, its value after each of these klines; NaN where it has none. */
  readonly values: readonly Float64Array[];
}

/** Views on either side that are at hand for dragging. */
const views = 2;

/** True where a partial level has klines all through a span. */
function covers({ klines, ms }: OpenLevel, from: number, to: number): boolean {
  const first = indexAt(klines, from);
  const last = indexAt(klines, to) - 1;
  const begins = klines[first];
  const ends = klines[last];
  if (begins === undefined || ends === undefined || last <= first) return false;
  const near = (to - from) / 4;
  return begins.time - from < near && to - ends.time < near && ends.time - begins.time <= (last - first + 8) * ms;
}

/** The finest level of which at most `most` klines fill a span; the levels go from coarse to fine. */
export const finestFor = (opened: readonly OpenLevel[], from: number, to: number, max: number): OpenLevel | undefined =>
  opened.findLast((one) => (to - from) / one.ms <= max && (!one.isPartial || covers(one, from, to))) ?? opened[0];

/** The klines in view and some on either side. */
export function nearView(
  { klines, values }: OpenLevel,
  from: number,
  to: number,
): Pick<OpenLevel, 'klines' | 'values'> {
  const margin = views * (to - from);
  const [first, end] = [indexAt(klines, from - margin), indexAt(klines, to + margin) + 1];
  return { klines: klines.slice(first, end), values: values.map((line) => line.subarray(first, end)) };
}

export const lengthOf = ({ ms }: Pick<ZoomLevel, 'ms'>, own: number): number => (ms === 0 ? own : ms);

/** `15 min`, `4 h`, `1 d`. */
export function intervalName(ms: number): string {
  const minutes = ms / 60_000;
  if (minutes < 60) return `${minutes} min`;
  return minutes < 1_440 ? `${minutes / 60} h` : `${minutes / 1_440} d`;
}
