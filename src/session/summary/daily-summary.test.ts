import { beforeEach, expect, test } from 'vitest';
import type { StrategyView, View } from '../../dashboard/view.ts';
import { dailySummary } from './daily-summary.ts';

const hour = 3_600_000;
const flat = { quantity: '0', isDust: false, entryPrice: undefined, value: '0', openProfit: '0' };
const trend: StrategyView = {
  ...{ id: 'trend', use: 'trend', symbol: 'BTCUSDT', interval: '1h', status: 'running', error: undefined },
  ...{ kill: undefined, position: flat, equity: '1000', stop: undefined, takeProfit: undefined },
  ...{ unprotectedMs: 0, isUnprotected: false },
};

let now: number;
let shown: Pick<
  View,
  'equity' | 'strategies' | 'openOrders' | 'unknowns' | 'marketTime' | 'mode' | 'state' | 'stateText'
>;
let kept: string | undefined;
let sent: string[];
let asked: number[];
beforeEach(() => {
  now = Date.UTC(2026, 0, 5, 6);
  [kept, sent, asked] = [undefined, [], []];
  shown = {
    equity: { asset: 'USDT', now: '1000', dayStart: '1000', start: '1000', series: [] },
    ...{ strategies: [trend], openOrders: [], unknowns: [], marketTime: now, mode: 'live', state: 'ready' },
    stateText: 'Trading. 1 strategy running.',
  };
});

const begin = (daily = { at: '07:00', zone: 'UTC' }, journalFrom = now) =>
  dailySummary({
    ...{ time: () => daily, kept, now: () => now, startedAt: now, journalFrom },
    isReady: () => shown.state === 'ready',
    view: () => ({ ...shown, marketTime: now }) as View,
    remember: (value) => {
      kept = value;
    },
    async counts(since) {
      asked.push(since);
      return {
        ...{ fills: 14, denials: [{ rule: 'orderShare', times: 3 }], unknowns: 0 },
        closed: [{ strategy: 'trend', net: '12.5', quote: 'USDT' }],
        proofs: [{ day: '2026-01-05', text: 'even at 06:59:30' }],
      };
    },
    summarize: (text) => void sent.push(text),
    failed: (error) => void sent.push(String(error)),
  });

async function pass(hours: number, check: () => void): Promise<void> {
  for (const end = now + hours * hour; now < end; now += hour / 2) {
    check();
    await Promise.resolve();
    await Promise.resolve();
  }
}

test('comes once a day at its time, with what changed since the last one', async () => {
  const check = begin();
  await pass(1, check);
  expect(sent).toEqual([]);
  const position = { ...flat, quantity: '0.5', entryPrice: '100', openProfit: '3.2' };
  shown = {
    ...shown,
    equity: { ...shown.equity, now: '1012.5' },
    strategies: [{ ...trend, equity: '1012.5', position, stop: '90' }],
  };
  await pass(23, check);
  expect(sent).toEqual([
    [
      'Daily summary (live), 2026-01-05 06:00:00 to 2026-01-05 07:00:00 UTC',
      'Equity 1,012.50 USDT, +12.50',
      'Closed less fees: trend +12.50 USDT',
      '14 fills, 3 denials (orderShare 3), no unknown outcomes',
      'Account and ledger: 2026-01-05 even at 06:59:30',
      'Open: trend 0.5 BTCUSDT at 100: +3.20, stop 90',
      'State: Trading. 1 strategy running. Running for 1 h 0 min.',
    ].join('\n'),
  ]);
  await pass(24, check);
  expect(sent).toHaveLength(2);
  expect(asked.map((at) => new Date(at).getUTCHours())).toEqual([6, 7]);
});

test.each([
  ['the start of the day', Date.UTC(2026, 0, 3), '2026-01-05 00:00:00'],
  ['the start of the journal', Date.UTC(2026, 0, 5, 2), '2026-01-05 02:00:00'],
])('the first one counts from %s', async (_, journalFrom, from) => {
  shown = { ...shown, equity: { ...shown.equity, dayStart: '990' } };
  await pass(2, begin(undefined, journalFrom));
  expect(sent[0]).toMatch(
    new RegExp(`^Daily summary \\(live\\), ${from} to 2026-01-05 07:00:00 UTC\nEquity 1,000 USDT, \\+10`),
  );
});

test('goes on after a restart, also one that lasted over its time', async () => {
  await pass(1, begin());
  now += 5 * hour;
  await pass(1, begin());
  expect(sent).toHaveLength(1);
  await pass(1, begin());
  expect(sent).toHaveLength(1);
});

test('waits until the daemon is ready', async () => {
  await pass(1, begin());
  shown = { ...shown, state: 'recovering' };
  await pass(3, begin());
  expect(sent).toEqual([]);
});

test.each([
  ['forward', '2026-03-28T12:00:00Z'],
  ['back', '2026-10-24T12:00:00Z'],
])('comes once on each day of its zone, also when clocks are set %s', async (_, from) => {
  now = Date.parse(from);
  await pass(72, begin({ at: '08:00', zone: 'Europe/Berlin' }));
  expect(sent).toHaveLength(3);
});
