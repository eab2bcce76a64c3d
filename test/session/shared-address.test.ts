/** Two processes at one address: the exchange counts what both spend, and a daemon must still be able to cancel. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { LogEntry } from '../../src/simulator/simulator.ts';
import { makeRig, openExchange, price, quotes, speed, trader } from '../kit/rig.ts';
import { until } from '../kit/until.ts';

const ipWeightPerMinute = 1_200;
const greedy = fileURLToPath(new URL('../kit/greedy.ts', import.meta.url));

test('greedy neighbours cost the daemon no cancel and draw no 429', async () => {
  const requests: Extract<LogEntry, { kind: 'request' }>[] = [];
  const log = (entry: LogEntry): void => {
    if (entry.kind === 'request') requests.push(entry);
  };
  const exchange = await openExchange({ limits: { ipWeightPerMinute }, log });
  const rig = makeRig(exchange);
  onTestFinished(async () => {
    rig.remove();
    await exchange.close();
  });
  rig.configure({ requestWeight: { ipWeightPerMinute } });
  const limitsFile = join(rig.dir, 'xdg', 'sluice', 'limits.db');
  const args = [greedy, exchange.restUrl, limitsFile, `${ipWeightPerMinute}`, `${speed}`];
  // Two of them: each alone would leave room enough.
  const neighbours = [1, 2].map(() => spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
  onTestFinished(() => {
    for (const neighbour of neighbours) neighbour.kill('SIGKILL');
  });
  await Promise.all(neighbours.map(({ stdout }) => once(stdout, 'data')));
  const daemon = await rig.start();
  const books = (): number => requests.filter(({ target }) => target.startsWith('/sapi/v1/depth')).length;
  await until('greedy neighbours', () => books() > 150);
  const resting = () => exchange.openOrders(trader.uid);
  for (let step = 1; step <= 6; step++) {
    const bid = price / 2 + step;
    rig.emit('maker', quotes({ side: 'BUY', price: bid, quantity: 0.1 }));
    await until(`a quote at ${bid}`, () => resting().some((order) => Number(order.price) === bid));
  }
  rig.emit('maker', quotes());
  await until('the last cancel', () => resting().length === 0);
  await until('the neighbours to be served on', () => books() > 600);
  expect(exchange.allOrders(trader.uid).map(({ status }) => status)).toEqual(Array(6).fill('CANCELED'));
  expect(requests.filter(({ status }) => status === 429 || status === 418 || status === 410)).toEqual([]);
  expect((await daemon.end('SIGINT')).code).toBe(130);
});
