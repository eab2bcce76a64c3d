/** Whether a line of an indicator is drawn over the prices, on the dashboard and in reports. */

interface Range {
  readonly high: number;
  readonly low: number;
}

/** Beyond the prices by this part of their range a value is still drawn over them: an average trails a trend. */
const roomOfRange = 0.5;
/** At most this part of the lowest price: where prices multiply, half of their range reaches down to zero. */
const roomOfLow = 0.25;

/** True where most values are about as high as the prices are. `values`: those that are finite count. */
export function isPriceLike(values: Iterable<number>, klines: Iterable<Range>): boolean {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const kline of klines) [low, high] = [Math.min(low, kline.low), Math.max(high, kline.high)];
  const room = Math.min(roomOfRange * (high - low), roomOfLow * low);
  let [count, near] = [0, 0];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    count++;
    if (value >= low - room && value <= high + room) near++;
  }
  return near > count / 2;
}
