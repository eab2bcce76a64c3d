/** A daemon that was told another speed than its exchange runs at. */
import { expect, test } from 'vitest';
import { exchange, rig, rigForEachTest } from '../kit/rig-for-each-test.ts';

rigForEachTest();

test.each([
  ['live', 1, /about [56]\d times as fast as this one: .*--set exchange\.speed=[56]\d/],
  ['paper', 20, /about [56]\d times as fast as real time, not 20 times: .*exchange\.speed/],
  ['live', 600, /about [56]\d times as fast as real time, not 600 times: .*exchange\.speed/],
] as const)('%s at %i times does not begin, and says what to set', async (mode, speed, message) => {
  const { restUrl, wsUrl } = exchange;
  const config = rig.configure({ exchange: { restUrl, wsUrl, speed } });
  const { code, stderr } = await rig.run(mode, '--config', config);
  expect(stderr).toMatch(message);
  expect(code).toBe(2);
  expect(exchange.allOrders('10001')).toEqual([]);
});
