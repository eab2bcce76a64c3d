import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { stored } from './frames.ts';

test('a stored frame is gzip that says what was put in', () => {
  const frame = { channel: 'market_btcusdt_depth_step0', tick: { asks: [[100.5, 1]], text: 'é 请' } };
  expect(JSON.parse(gunzipSync(stored(frame)).toString())).toEqual(frame);
  expect(() => gunzipSync(stored(frame).subarray(0, 40))).toThrow();
});
