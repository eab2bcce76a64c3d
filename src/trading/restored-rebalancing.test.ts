/** When a strategy that chooses by a schedule was asked is journalled with its signals, and what it holds is by its newest weights. */
import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { btc, kline, startTime } from '../../test/kit/builders.ts';
import { TestRig } from '../../test/kit/test-rig.ts';
import type { KeptState } from '../domain/memory.ts';
import { readRows } from '../journal/rows.ts';
import { defineStrategy, type WeightExits } from '../strategy/contract.ts';
import { decisionsOfMarkets, type HostedMarkets, type JoinedMoment } from '../strategy/markets/several-markets-host.ts';
import { weights } from '../strategy/markets/weights.ts';
import { hitByTrade } from './price-updates.ts';
import { isCutOff } from './restore.ts';
import { withHoldings } from './seen-holding.ts';

const minute = 60_000;
/** Goes on with what the rig's journal has: klines of minutes, each after the one before was carried out. */
async function running(rig: TestRig, weight: () => number, exits: WeightExits = {}) {
  const asked: number[] = [];
  const strategy = defineStrategy({
    name: 'choosing',
    about: 'Holds a share of one market, chosen every five minutes',
    params: {},
    rebalance: '5min',
    indicators: () => ({}),
    choose(_, { time }) {
      asked.push((time - startTime) / minute);
      return weights({ [btc.symbol]: weight() }, 'chosen', { threshold: 0.05, exits: { [btc.symbol]: exits } });
    },
  });
  const market = { role: btc.symbol, symbol: btc.symbol, interval: '1min', use: 'traded', instrument: btc } as const;
  const hosted: HostedMarkets = { ...market, id: 's', strategy, params: {}, markets: [market] };
  const moments = new Subject<JoinedMoment>();
  const { planner, portfolio } = rig.assembled;
  const before = planner.standing('s', btc.symbol);
  rig.start(
    decisionsOfMarkets(hosted, {
      ...withHoldings(portfolio, hosted, { history: [], moments }),
      equity: () => portfolio.poolEquity('s'),
      before: before === undefined ? [] : [before],
      isCutOff: () => before !== undefined && isCutOff(rig.assembled, before),
      ...planner.memories.get('s'),
      remember: (kept: KeptState) => planner.memories.keep('s', kept),
      now: () => rig.clock.now(),
      failed: (error) => {
        throw error;
      },
    }),
  );
  await rig.pass(20_000);
  const close = async (...minutes: number[]): Promise<void> => {
    for (const closed of minutes) {
      const klines = [kline(100, closed - 1)];
      moments.next({ time: startTime + closed * minute, klines, isNew: true, isLate: false });
      await rig.pass(10_000);
    }
  };
  return { asked, close };
}

/** When the journal says that it was asked, in minutes, and how many signals it has. */
const stored = ({ db }: TestRig) => {
  const [at] = db.prepare("SELECT value FROM memories WHERE name = 'asked s'").pluck().all();
  return [at === undefined ? undefined : (Number(at) - startTime) / minute, readRows(db, 'signal', '').length];
};

test('a rebalancing that led to the same weights is done, and one that was missed is made up for once', async () => {
  const rig = new TestRig();
  const states: unknown[] = [];
  rig.onCommit = () => states.push(stored(rig));
  const first = await running(rig, () => 0);
  await first.close(5, 10, 11);
  expect(first.asked).toEqual([5, 10]);
  expect(stored(rig)).toEqual([10, 1]);
  // A crash between the two could leave neither or both.
  expect(states).not.toContainEqual([undefined, 1]);
  expect(states).not.toContainEqual([5, 0]);
  rig.crash();
  const second = await running(rig, () => 0);
  await second.close(12, 13);
  expect(second.asked).toEqual([]);
  rig.crash();
  const third = await running(rig, () => 0);
  await third.close(17, 18, 20);
  expect(third.asked).toEqual([17, 20]);
});

test('a position that could not be sold is kept where it is chosen again', async () => {
  const rig = new TestRig();
  let weight = 0.5;
  const { close } = await running(rig, () => weight);
  const held = (): number => rig.assembled.portfolio.holding('s', btc.symbol).quantity;
  await close(5);
  const all = held();
  expect(all).toBeGreaterThan(0);
  rig.blocked = 'a test';
  weight = 0;
  await close(10);
  weight = 0.5;
  await close(15);
  rig.blocked = undefined;
  await close(16, 17);
  expect(held()).toBe(all);
});

test('a stop whose exit was not sent before a crash is obeyed after it, and the strategy is not asked for it', async () => {
  const rig = new TestRig();
  const exits = { stop: { fromEntry: 0.02 } };
  const first = await running(rig, () => 0.5, exits);
  await first.close(5);
  rig.blocked = 'a test';
  rig.price(97);
  hitByTrade(rig.assembled, { symbol: btc.symbol, price: 97, time: rig.clock.now() });
  await first.close(6);
  expect(rig.assembled.portfolio.holding('s', btc.symbol).quantity).toBeGreaterThan(0);
  await rig.written();
  rig.crash();
  rig.price(99);
  const second = await running(rig, () => 0.5, exits);
  rig.blocked = undefined;
  await rig.seconds(5);
  await second.close(7, 8);
  expect(second.asked).toEqual([]);
  expect(rig.assembled.portfolio.holding('s', btc.symbol).quantity).toBe(0);
});
