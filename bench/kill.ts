/**
 * What a kill takes under load: how long after it the last order is created at the exchange, while one strategy moves its order at
 * every trade, and until a hundred resting orders are cancelled there. One daemon against the built-in exchange in this process:
 * both share one event loop with the whole market, so the figures are upper bounds.
 *
 *     node bench/kill.ts [orders] [trades per second]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realMs, systemClock } from '../src/clock/clock.ts';
import { instrument } from '../src/domain/instrument.ts';
import { startSimulator } from '../src/simulator/simulator.ts';
import { liveSession } from './live-session.ts';

const orders = Number(process.argv[2] ?? 100);
/** Orders of takers over all symbols: ten times the trades of the recorded tape of BTCUSDT, 19,904 in 650 s (tape-2024). */
const trades = Number(process.argv[3] ?? 306);
const each = 5;
const rounds = 3;
const blockedWithinMs = 100;
const cancelledWithinMs = 2_000;
const patienceMs = 120_000;

const dir = mkdtempSync(join(tmpdir(), 'sluice-bench-kill-'));
const symbols = Array.from({ length: Math.ceil(orders / each) }, (_, index) => `S${index}USDT`);
const shape = { quote: 'USDT', pricePrecision: 2, quantityPrecision: 4 };
const exchange = await startSimulator({
  users: [{ uid: '1', key: 'key', secret: 'secret', balances: { USDT: '100000000' } }],
  instruments: symbols.map((symbol) => instrument({ symbol, base: symbol.slice(0, -4), ...shape })),
  markets: symbols.map((symbol) => ({
    kind: 'synthetic',
    symbol,
    price: '100',
    takersPerSecond: trades / symbols.length,
    historyMinutes: 300,
  })),
  limits: { ipWeightPerMinute: 1e9, uidWeightPerMinute: 1e9 },
});
const file = join(dir, 'live.yaml');
const use = join(import.meta.dirname, 'kill', 'bids.ts');
const restless = join(import.meta.dirname, 'kill', 'restless.ts');
const strategies = symbols.map((symbol, index) => ({
  ...{ id: `bids-${index}`, use, symbol, interval: '1min', allocation: '1000000' },
  params: { orders: each },
}));
strategies.push({
  ...(strategies[0] as (typeof strategies)[number]),
  id: 'restless',
  params: { orders: 1 },
  use: restless,
});
const limits = { ...{ maxOrderValue: '100000', maxPosition: '1000000' }, priceCollar: '0.9', maxOrdersPerSecond: 40 };
const requestWeight = { ipWeightPerMinute: 1_000_000, uidWeightPerMinute: 1_000_000 };
const { restUrl, wsUrl } = exchange;
writeFileSync(file, JSON.stringify({ exchange: { restUrl, wsUrl }, strategies, risk: limits, requestWeight }));
const stateDir = join(dir, 'state');
const session = await liveSession(dir, file, 'key', 'secret');

const open = (): number => exchange.openOrders('1').length;
async function since(start: number, isDone: () => boolean): Promise<number> {
  while (!isDone()) {
    if (realMs() - start > patienceMs) throw new Error(`not done after ${patienceMs} ms, ${open()} orders are open`);
    await systemClock.sleep(1);
  }
  return realMs() - start;
}

/** How long after a moment of the exchange's clock the last order was created there, ms; 0 when none was. */
const lastCreated = (at: number): number => Math.max(0, ...exchange.allOrders('1').map(({ time }) => time - at));

/** Orders created in the second before: without any the figure above would say nothing. */
const createdBefore = (at: number): number =>
  exchange.allOrders('1').filter(({ time }) => time <= at && time > at - 1_000).length;

const worst = { blocked: 0, cancelled: 0 };
for (let round = 0; round < rounds; round++) {
  for (const how of ['call', 'file'] as const) {
    await since(realMs(), () => open() >= orders && createdBefore(exchange.clock.now()) > 0);
    const start = realMs();
    const at = exchange.clock.now();
    const before = createdBefore(at);
    if (how === 'call') void session.source.kill({ by: 'bench', reason: 'bench' });
    else writeFileSync(join(stateDir, 'kill'), 'bench\n');
    const cancelled = await since(start, () => open() === 0);
    await systemClock.sleep(1_000);
    const blocked = lastCreated(at);
    worst.blocked = Math.max(worst.blocked, blocked);
    worst.cancelled = Math.max(worst.cancelled, cancelled);
    process.stdout.write(
      `by ${how}: ${before} orders were created in the second before, the last ${blocked.toFixed(0)} ms after it; ${orders} were cancelled after ${cancelled.toFixed(0)} ms\n`,
    );
    await session.source.resume({ by: 'bench', reason: 'bench' });
  }
}
process.stdout.write(
  `worst of ${2 * rounds} at ${trades} trades a second: blocked ${(worst.blocked / blockedWithinMs).toFixed(2)} of ${blockedWithinMs} ms, cancelled ${(worst.cancelled / cancelledWithinMs).toFixed(2)} of ${cancelledWithinMs} ms\n`,
);
await session.stop();
await exchange.close();
rmSync(dir, { recursive: true, force: true });
process.exit(worst.blocked > blockedWithinMs || worst.cancelled > cancelledWithinMs ? 1 : 0);
