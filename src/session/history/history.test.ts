import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTime, target } from '../../../test/kit/builders.ts';
import { denialOf, eventOf, fillRowOf, orderRowOf } from '../../../test/kit/journal-rows.ts';
import { SimClock } from '../../clock/sim-clock.ts';
import type { Entry } from '../../journal/entries.ts';
import { openState } from '../../journal/open.ts';
import { openForWriting } from '../../journal/open-for-writing.ts';
import { writer } from '../../journal/writer.ts';
import { history } from './history.ts';
import { startOf } from './performance.ts';

const dayMs = 86_400_000;
const dir = mkdtempSync(join(tmpdir(), 'sluice-history-'));
let asked: ReturnType<typeof history>;

const signal = (at: number, decision: number): Entry => ({
  ...{ kind: 'signal', at, decision, strategy: 's', role: 'main', symbol: 'BTCUSDT' },
  ...{ signal: target(1), quantity: '1', memory: null },
});

/** A purchase for 100 and a sale for 110 a day later, with fees of 0.1 each. */
const entries: readonly Entry[] = [
  { kind: 'instrument', symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 },
  signal(startTime - 10, 1),
  orderRowOf({ orderId: '1001', state: 'filled', closedAt: startTime + 5 }),
  eventOf('approved', { at: startTime + 1 }),
  fillRowOf({ time: startTime + 2 }),
  denialOf({ at: startTime + 3, code: 'orderShare' }),
  signal(startTime + dayMs - 10, 2),
  denialOf({ at: startTime + dayMs, code: 'collar', draft: 'BUY 3' }),
  denialOf({ at: startTime + dayMs + 1, code: 'collar', draft: '<img src=x>' }),
  orderRowOf({ clientOrderId: 'c2', orderId: '1002', decision: 2, createdAt: startTime + dayMs, side: 'SELL' }),
  fillRowOf({
    clientOrderId: 'c2',
    orderId: '1002',
    tradeId: '8',
    side: 'SELL',
    price: '110',
    time: startTime + dayMs,
  }),
  orderRowOf({ clientOrderId: 'c3', decision: 2, state: 'unknown', createdAt: startTime + dayMs }),
  orderRowOf({ clientOrderId: 'c4', decision: 2, state: 'quarantined', createdAt: startTime + dayMs }),
  { kind: 'equity', at: startTime, equity: '1000' },
  { kind: 'equity', at: startTime + 60_000, equity: '1100' },
  { kind: 'equity', at: startTime + dayMs, equity: '990' },
  { kind: 'equity', at: startTime + 2 * dayMs, equity: '1010' },
];

beforeAll(() => {
  const { path, lock } = openState(dir, { mode: 'live', account: 'spot', venue: 'test' }, ['s']);
  const db = openForWriting(path);
  writer(db, 1)(entries);
  db.close();
  lock.release();
});
afterAll(() => rmSync(dir, { recursive: true }));
beforeEach(() => {
  asked = history(dir, new SimClock(0));
});
afterEach(() => asked.close());

test('answers why an order was sent, by the end of its id too, and refuses what it does not know', async () => {
  const { title, steps } = await asked.ask('why', { subject: '1001' });
  expect(title).toBe('s: BUY BTCUSDT, order 1001, filled');
  expect(steps.map(({ event }) => event)).toEqual([
    ...['signal of s, decision 1', 'planned', 'verdict: approved, exposure reserved', 'fill'],
  ]);
  await expect(asked.ask('why', { subject: 'nope' })).rejects.toThrow('no order in this journal has the id nope');
  await expect(asked.ask('why', { subject: ' ' })).rejects.toThrow('name an order or a strategy');
});

test('says that only you decide a quarantined order, not an unknown one, which the daemon queries', async () => {
  const advice = async (subject: string) => (await asked.ask('why', { subject })).advice;
  expect(await advice('c3')).toBeUndefined();
  expect(await advice('c4')).toBe('npx sluice resolve c4 --as absent|filled|canceled --reason TEXT');
});

test('answers what became of a decision: its orders, and its denials until the next signal', async () => {
  const { steps } = await asked.ask('decision', { strategy: 's', symbol: 'BTCUSDT', at: startTime });
  expect(steps.map(({ event }) => event)).toEqual([
    ...['signal of s, decision 1', 'planned', 'verdict: approved, exposure reserved', 'fill'],
    ...['signal of s', 'verdict: DENIED by orderShare'],
  ]);
  const second = await asked.ask('decision', { strategy: 's', symbol: 'BTCUSDT', at: startTime + dayMs });
  expect(second.steps.map(({ detail }) => detail).join()).not.toContain('orderShare');
  expect((await asked.ask('decision', { strategy: 's', symbol: 'ETHUSDT', at: startTime })).steps).toEqual([]);
});

test('counts denials by rule in the hours before the last row', async () => {
  const rules = async (hours: number) =>
    (await asked.ask('denials', { hours })).map(({ rule, times }) => [rule, times]);
  expect(await rules(25)).toEqual([['collar', 2]]);
  expect(await rules(100)).toEqual([
    ['collar', 2],
    ['orderShare', 1],
  ]);
});

test('adds up profit by period: of all by the equity, of one strategy by its fills', async () => {
  const all = await asked.ask('performance', {});
  expect(all.periods.day.map(({ start, profit }) => [start, profit])).toEqual([
    [startTime + 2 * dayMs, '20'],
    [startTime + dayMs, '-110'],
    [startTime, '100'],
  ]);
  expect(all.periods.week).toMatchObject([{ start: startTime - 3 * dayMs, profit: '10', fills: 2, roundTrips: 1 }]);
  expect(all.maxDrawdown).toEqual({ amount: '110', from: startTime + 60_000, to: startTime + dayMs });
  const one = await asked.ask('performance', { strategy: 's' });
  expect(one.periods.month).toMatchObject([{ start: Date.UTC(2020, 2), profit: '9.8', fees: '0.2', wins: 1 }]);
  expect(one.curve.map(({ equity }) => equity)).toEqual(['-0.1', '9.8']);
  expect((await asked.ask('performance', { strategy: 'other' })).curve).toEqual([]);
});

test('a week begins on Monday and a month on its first day, UTC', () => {
  const sunday = Date.UTC(2024, 1, 29 + 3, 23, 59);
  expect(new Date(startOf('week', sunday)).toISOString()).toBe('2024-02-26T00:00:00.000Z');
  expect(startOf('week', Date.UTC(2024, 1, 26))).toBe(Date.UTC(2024, 1, 26));
  expect(startOf('month', sunday)).toBe(Date.UTC(2024, 2));
  expect(startOf('week', 0)).toBe(-3 * dayMs);
});

test('finds lines of the log by level, strategy and text, the newest first, over a rotation', async () => {
  const line = (given: object): string => JSON.stringify({ level: 30, time: 1, msg: 'hello', ...given });
  writeFileSync(join(dir, 'sluice.log.1'), `${line({ msg: 'old', strategy: 's' })}\n`);
  const lines = [
    line({ level: 40, msg: 'warned' }),
    line({ kind: 'fill', fill: { strategy: 's' }, msg: 's BUY' }),
    'torn',
  ];
  writeFileSync(join(dir, 'sluice.log'), lines.join('\n'));
  const texts = async (given: object): Promise<readonly string[]> =>
    (await asked.ask('log', { level: 'info', ...given })).lines.map(({ text }) => text);
  expect(await texts({})).toEqual(['torn', 'fill: s BUY', 'warned', 'old']);
  expect(await texts({ level: 'warn' })).toEqual(['warned']);
  expect(await texts({ strategy: 's' })).toEqual(['fill: s BUY', 'old']);
  expect(await texts({ text: 'WARN' })).toEqual(['warned']);
});

test('refuses more questions than may wait, and all that wait when the daemon stops', async () => {
  const many = Array.from({ length: 20 }, () => asked.ask('denials', { hours: 1 }));
  const settled = Promise.allSettled(many);
  await expect(many.at(-1)).rejects.toThrow('too many questions at once');
  await asked.close();
  const outcomes = await settled;
  expect(outcomes.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(3);
  await expect(asked.ask('denials', { hours: 1 })).rejects.toThrow('the daemon stops');
});

test('gives an answer up that takes too long, and answers the next question', async () => {
  const clock = new SimClock(0);
  const slow = history(dir, clock);
  const first = slow.ask('performance', {});
  const given = expect(first).rejects.toThrow('was not read within 20 s');
  await clock.advanceTo(20_000);
  await given;
  expect((await slow.ask('denials', { hours: 100 })).length).toBe(2);
  await slow.close();
});
