/**
 * A second process at the daemon's address that wants more than there is: it asks for books as fast as its budget lets it.
 *
 *     node test/kit/greedy.ts REST_URL LIMITS_FILE WEIGHT_PER_MINUTE SPEED
 */
import { budget } from '../../src/budget/budget.ts';
import { sharedFile } from '../../src/budget/shared-file.ts';
import { ScaledClock, systemRng } from '../../src/clock/clock.ts';
import { noLog } from '../../src/session/log/log.ts';
import { exchange } from '../../src/venue/exchange/exchange.ts';

const [restUrl = '', path = '', most = '', speed = ''] = process.argv.slice(2);
const clock = new ScaledClock(Number(speed));
const warn = (facts: object, message: string): void => console.error(message, facts);
const shared = sharedFile({ path, address: new URL(restUrl).host, clock, warn });
const limits = budget({ clock, shared, ipWeightPerMinute: Number(most) });
const { market } = exchange({
  restUrl,
  wsUrl: 'ws://127.0.0.1:1/',
  apiKey: '',
  apiSecret: undefined,
  account: 'spot',
  clock,
  rng: systemRng,
  spend: limits.spend,
  notice: limits.notice,
  log: noLog(),
});
const ask = async (): Promise<never> => {
  for (;;) await market.depth('BTCUSDT');
};
console.log('greedy');
await Promise.all(Array.from({ length: 8 }, ask));
