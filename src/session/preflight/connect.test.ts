import { expect, test } from 'vitest';
import { realMs, ScaledClock } from '../../clock/clock.ts';
import { type Answer, queryFailure } from '../../venue/venue.ts';
import { queryUntilAnswered } from './connect.ts';

const never = (): Promise<Answer<number>> => new Promise(() => {});
const failing = async (): Promise<Answer<number>> => ({ kind: 'failed', cause: 'HTTP 418' });

test.each([
  ['for a request that waits until a ban is over', never],
  ['before it tries again', failing],
])('a start is stopped at once while it waits %s', async (_, ask) => {
  const stop = new AbortController();
  const waiting = (): void => {};
  const clock = new ScaledClock(1);
  const reached = queryUntilAnswered({ url: 'http://there', clock, waiting, signal: stop.signal }, 'its time', ask);
  void clock.sleep(20).then(() => stop.abort());
  const begun = realMs();
  await expect(reached).rejects.toThrow('stopped before the exchange at http://there could be reached');
  expect(realMs() - begun).toBeLessThan(1_000);
});

test.each([
  ['its time', 'time: HTTP 503', 'its time: HTTP 503'],
  ['the account', 'account: the exchange answered code -2015 no', 'the account: the exchange answered code -2015 no'],
  ['open orders', 'margin open orders: HTTP 503', 'margin open orders: HTTP 503'],
  ['klines of BTCUSDT', 'the socket closed', 'klines of BTCUSDT: the socket closed'],
])('the request is named once: %s', (what, cause, text) => {
  expect(queryFailure(what, cause)).toBe(text);
});
