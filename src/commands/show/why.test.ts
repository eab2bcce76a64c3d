import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTime, target } from '../../../test/kit/builders.ts';
import { denialOf, eventOf, orderRowOf } from '../../../test/kit/journal-rows.ts';
import { refusal } from '../../../test/kit/refusal.ts';
import type { OrderEntryRow } from '../../journal/entries.ts';
import { takeLock } from '../../journal/lock.ts';
import { journalFile, openState } from '../../journal/open.ts';
import { openForWriting } from '../../journal/open-for-writing.ts';
import { writer } from '../../journal/writer.ts';
import { showWhy } from './why.ts';

const state = mkdtempSync(join(tmpdir(), 'sluice-why-'));
const first = orderRowOf({ clientOrderId: 'saaaaab00001', orderId: '1954113290481123391', strategy: 'trend' });
const second = orderRowOf({
  clientOrderId: 'saaaaab00002',
  orderId: '1954113290481123392',
  side: 'SELL',
  state: 'filled',
  createdAt: startTime + 90_000,
});
/** Was never found: the exchange's id is not known. */
const third = orderRowOf({ clientOrderId: 'saaaaac00001', state: 'unknown', createdAt: startTime + 95_000 });

beforeAll(() => {
  const { path, lock } = openState(state, { mode: 'live', account: 'spot', venue: 'test' }, ['s', 'trend']);
  const db = openForWriting(path);
  const weighed = { value: '99.500000001', maxOrderValue: '20000', exposure: '10099.5', maxPosition: '50000' };
  const reducing = { value: '10', maxOrderValue: '20000', reduces: 'yes' };
  const signal = { at: startTime, decision: 1, role: 'main', symbol: 'BTCUSDT', signal: target(1), quantity: '1' };
  const memory = '{"rungs":2,"lastPrice":99.5}';
  writer(db)([
    ...[first, second, third, denialOf({ strategy: 'picky' })],
    { kind: 'signal', strategy: 'trend', ...signal, memory },
    { kind: 'signal', strategy: 's', ...signal, memory: null },
  ]);
  writer(
    db,
    1,
  )([
    eventOf('approved', { clientOrderId: first.clientOrderId, detail: weighed }),
    eventOf('approved', { clientOrderId: second.clientOrderId, detail: reducing }),
    eventOf('approved', { clientOrderId: third.clientOrderId, detail: {} }),
    eventOf('cancelSent', { clientOrderId: second.clientOrderId, at: startTime + 86_400_000, detail: {} }),
    eventOf('cancelAnswer', { clientOrderId: second.clientOrderId, at: startTime + 86_400_000, detail: {} }),
  ]);
  db.close();
  lock.release();
});
afterAll(() => rmSync(state, { recursive: true }));

function why(subject: string): string {
  const out: string[] = [];
  showWhy(subject, { state, json: false, out: (line) => out.push(line), say: () => {} });
  return out.join('\n');
}

test('each day is told at which something happened, once', () => {
  const days = (text: string): readonly string[] => text.split('\n').filter((line) => / UTC$/.test(line));
  expect(days(why('picky'))).toEqual(['2020-03-12 UTC']);
  expect(days(why('saaaaab00002'))).toEqual([
    expect.stringMatching(/^order saaaaab00002 .* on 2020-03-12 UTC$/),
    '2020-03-13 UTC',
  ]);
});

test('what a strategy remembered with a decision is shown', () => {
  expect(why('saaaaab00001')).toContain('memory: {"rungs":2,"lastPrice":99.5}');
  expect(why('saaaaab00002')).not.toContain('memory');
});

test('ages are told as they are configured, however fast the clock of the exchange ran', () => {
  const lock = takeLock(state);
  const db = openForWriting(join(state, journalFile));
  const facts = { ageMs: 1_218_981, maxDataAgeMs: 600_000 };
  writer(
    db,
    1,
  )([{ kind: 'memory', name: 'speed', value: '60' }, denialOf({ strategy: 'late', code: 'staleData', facts })]);
  db.close();
  lock?.release();
  expect(why('late')).toContain('The last price is 20.316 s old; the limit is 10 s.');
});

test.each<[string, string, OrderEntryRow]>([
  ['the whole id', 'saaaaab00002', second],
  ['the beginning of our id, in any case', 'SAAAAAC', third],
  ["the exchange's id", '1954113290481123391', first],
])('%s finds its order', (_, subject, order) => {
  expect(why(subject)).toContain(`order ${order.clientOrderId} (at the exchange: ${order.orderId ?? 'no id known'})`);
});

test('an approval is told with its numbers', () => {
  expect(why('saaaaab00001')).toMatch(
    /verdict: approved, exposure reserved: The order is worth 99\.5\d* of at most 20,000; the position would be worth 10,099\.5 of at most 50,000\.$/m,
  );
  expect(why('saaaaab00002')).toMatch(/approved, .*: The order is worth 10 and only reduces the position\.$/m);
  expect(why('saaaaac')).toMatch(/approved, exposure reserved$/m);
});

test('a beginning that several orders have lists them, the newest first', () => {
  const { message, exitCode } = refusal(() => why('saaaaab'));
  expect(exitCode).toBe(2);
  expect(message.split('\n')).toEqual([
    '2 orders have an id that begins with saaaaab; give more characters:',
    expect.stringMatching(/^ {2}saaaaab00002 {2}1954113290481123392 .* s: SELL BTCUSDT, filled$/),
    expect.stringMatching(/^ {2}saaaaab00001 {2}1954113290481123391 .* trend: BUY BTCUSDT, intended$/),
  ]);
  expect(refusal(() => why('19541132904811233')).message).toMatch(
    /^2 orders have an id that begins with 19541132904811233;/,
  );
  expect(refusal(() => why('s')).message).toContain('no exchange id');
});

test.each<[string, string, OrderEntryRow]>([
  ['the end of our id', 'b00002', second],
  ['the end as the lists show it', '…aaab00002', second],
  ['the end as it is typed', '...AAAC00001', third],
  ["the end of the exchange's id", '3391', first],
])('%s finds its order', (_, subject, order) => {
  expect(why(subject)).toContain(`order ${order.clientOrderId} (`);
});

test('an end that several orders have lists them; one of three characters is none', () => {
  expect(refusal(() => why('0001')).message).toMatch(/^2 orders have an id that ends with 0001; give more characters:/);
  expect(refusal(() => why('002')).message).toContain('no order in this journal has the id 002');
});

test('an order that did not leave was journalled, not sent', () => {
  const db = openForWriting(join(state, 'journal.db'));
  const clientOrderId = 'saaaaax00009';
  writer(db)([orderRowOf({ clientOrderId, state: 'notSent' })]);
  writer(
    db,
    1,
  )([
    eventOf('sending', { clientOrderId, detail: {} }),
    eventOf('notSent', { clientOrderId, detail: { cause: 'it expired before it could be sent' } }),
  ]);
  db.close();
  expect(why('x00009')).toMatch(/ {2}journalled\n[\s\S]*not sent: cause it expired/);
  expect(why('x00009')).not.toContain('then sent');
});

test('an id whose beginning another one is, is meant by itself', () => {
  const db = openForWriting(join(state, 'journal.db'));
  writer(db)([orderRowOf({ clientOrderId: 'saaaaab0000' })]);
  db.close();
  expect(why('saaaaab0000')).toContain('order saaaaab0000 (');
});

test.each(['saaaaad', '2', '%', '_aaaaab00001'])('%j, which no id begins with, is refused', (subject) => {
  const { message, exitCode } = refusal(() => why(subject));
  expect([message, exitCode]).toEqual([expect.stringContaining(`no order in this journal has the id ${subject},`), 2]);
});

test("a strategy's id shows its denied signals, however many others had since", () => {
  expect(why('picky')).toContain('signal of picky: planned BUY 2');
  const db = openForWriting(join(state, journalFile));
  writer(
    db,
    1,
  )([
    denialOf({ strategy: 's', reason: 'the only one' }),
    ...Array.from({ length: 1_200 }, () => denialOf({ strategy: 'picky' })),
  ]);
  db.close();
  expect(why('s')).toContain('the only one');
});
