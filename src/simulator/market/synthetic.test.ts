import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  alice,
  btc,
  call,
  exchange,
  listOf,
  place,
  startTime,
  type TestExchange,
} from '../../../test/kit/simulator.ts';
import { SimClock } from '../../clock/sim-clock.ts';
import { instrument } from '../../domain/instrument.ts';
import { lots, units } from '../../domain/money.ts';
import type { SimulatorOptions } from '../simulator.ts';

const shape = { symbol: 'ETHUSDT', base: 'ETH', quote: 'USDT', pricePrecision: 2, quantityPrecision: 4 };
const eth = instrument({ ...shape, minQuantity: lots('0.0010', shape), minNotional: units('5') });
const made: Partial<SimulatorOptions> = {
  instruments: [btc, eth],
  markets: [
    { kind: 'synthetic', symbol: 'BTCUSDT', price: '9000' },
    { kind: 'synthetic', symbol: 'ETHUSDT', price: '200', takersPerSecond: 2 },
  ],
};
interface Shown {
  readonly bids: readonly (readonly [string, string])[];
  readonly asks: readonly (readonly [string, string])[];
}
const get = ({ simulator }: TestExchange, target: string) => call(`${simulator.restUrl}${target}`, 'GET');
const depth = async (one: TestExchange, symbol = 'BTCUSDT') =>
  JSON.parse((await get(one, `/sapi/v1/depth?symbol=${symbol}`)).text) as Shown;
const trades = async (one: TestExchange, symbol = 'BTCUSDT') =>
  (JSON.parse((await get(one, `/sapi/v1/trades?symbol=${symbol}&limit=1000`)).text) as { list: unknown[] }).list;

describe('a synthetic market', () => {
  test('has a book on both sides at once, around its price, in every symbol', async () => {
    const one = await exchange(made);
    for (const [symbol, price] of [
      ['BTCUSDT', 9_000],
      ['ETHUSDT', 200],
    ] as const) {
      const { bids, asks } = await depth(one, symbol);
      expect([bids.length, asks.length].every((count) => count >= 15)).toBe(true);
      expect(Number(bids[0]?.[0]) < price && price < Number(asks[0]?.[0])).toBe(true);
      expect(Number(asks[0]?.[0]) / Number(bids[0]?.[0])).toBeLessThan(1.001);
    }
  });

  test('moves by itself: others trade, klines grow from their trades, history stands behind them', async () => {
    const one = await exchange(made);
    const before = await trades(one);
    await one.clock.advanceTo(startTime + 10 * 60_000);
    expect((await trades(one)).length - before.length).toBeGreaterThanOrEqual(0);
    const klines = listOf(await get(one, '/sapi/v1/klines?symbol=BTCUSDT&interval=1min&limit=300'));
    expect(klines).toHaveLength(300);
    const newest = klines.map((row) => Number(row['idx'])).filter((idx) => idx >= startTime);
    expect(newest.length).toBeGreaterThanOrEqual(9);
    one.simulator.checkLedger();
  });

  test("takes users' orders: a resting one is filled by somebody, and a market order by what rests", async () => {
    const one = await exchange(made);
    const { bids } = await depth(one, 'ETHUSDT');
    const best = Number(bids[0]?.[0]);
    await place(one.simulator, alice, {
      symbol: 'ETHUSDT',
      side: 'BUY',
      type: 'LIMIT',
      price: (best + 0.01).toFixed(2),
      volume: '0.05',
    });
    await one.clock.advanceTo(startTime + 5 * 60_000);
    await place(one.simulator, alice, { symbol: 'ETHUSDT', side: 'BUY', type: 'MARKET', volume: '100' });
    const [maker, taker] = one.simulator.allOrders('10001');
    expect(maker).toMatchObject({ status: 'FILLED', executed: '0.05' });
    expect(taker?.status).toBe('FILLED');
    one.simulator.checkLedger();
  });

  test('is the same for the same seed, and another for another', async () => {
    const run = async (seed: number) => {
      const one = await exchange({ ...made, seed });
      await one.clock.advanceTo(startTime + 60_000);
      return [await depth(one), await trades(one)];
    };
    const first = await run(1);
    expect(await run(1)).toEqual(first);
    expect(await run(2)).not.toEqual(first);
  });

  test('keeps nothing of the orders that others had, however long it runs', async () => {
    const one = await exchange(made);
    const orders = (): number => one.simulator.retained()['orders'] ?? 0;
    await one.clock.advanceTo(startTime + 60_000);
    const early = orders();
    await one.clock.advanceTo(startTime + 60 * 60_000);
    expect(orders()).toBeLessThan(early + 100);
    expect(one.log.filter(({ kind }) => kind === 'order')).toEqual([]);
  });

  test('goes on after a restart near where it was, and the ledger holds', async () => {
    const persistDir = mkdtempSync(join(tmpdir(), 'sluice-synthetic-'));
    onTestFinished(() => rmSync(persistDir, { recursive: true, force: true }));
    const one = await exchange({ ...made, persistDir });
    await place(one.simulator, alice, { symbol: 'BTCUSDT', side: 'BUY', type: 'LIMIT', price: '5000', volume: '0.1' });
    await one.clock.advanceTo(startTime + 10 * 60_000);
    const before = Number((await depth(one)).bids[0]?.[0]);
    await one.simulator.close();
    const again = await exchange({ ...made, persistDir, clock: new SimClock(startTime + 10 * 60_000) });
    const after = Number((await depth(again)).bids[0]?.[0]);
    expect(Math.abs(after / before - 1)).toBeLessThan(0.01);
    expect(again.simulator.openOrders('10001')).toMatchObject([{ price: '5000' }]);
    again.simulator.checkLedger();
  });
});
