import { expect, test } from 'vitest';
import { eventOf, fillRowOf, insert, orderRowOf } from '../../test/kit/journal-rows.ts';
import { memoryJournal } from './memory.ts';

const countIn = (book: ReturnType<typeof memoryJournal>, table: string): unknown =>
  book.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();

test('in memory nobody waits, and everything is there when it is asked for', async () => {
  const book = memoryJournal();
  for (let count = 0; count < 20_000; count++) book.append(eventOf('waited'));
  expect(await book.durable()).toBe(true);
  expect(countIn(book, 'events')).toBe(20_000);
});

test('what is not kept is dropped', () => {
  const book = memoryJournal(({ kind }) => kind !== 'event');
  book.append(eventOf('sending'));
  book.append(orderRowOf());
  expect([countIn(book, 'events'), countIn(book, 'orders')]).toEqual([0, 1]);
  expect(book.entries()).toEqual([orderRowOf()]);
});

test('an order is written as it stands when it is asked for, once', () => {
  const book = memoryJournal();
  const state = { filled: '0' };
  book.latest('c1', () => orderRowOf(state));
  book.latest('c1', () => orderRowOf({ ...state, closedAt: 5 }));
  state.filled = '2';
  expect(book.entries()).toEqual([orderRowOf({ filled: '2', closedAt: 5 })]);
});

test('a fill is new once for each trade and order, and its row is made only when it is asked for', () => {
  const book = memoryJournal();
  expect(insert(book, fillRowOf())).toBe(true);
  expect(insert(book, fillRowOf())).toBe(false);
  expect(insert(book, fillRowOf({ orderId: '1002' }))).toBe(true);
  expect(insert(book, fillRowOf({ orderId: '1002' }))).toBe(false);
  expect(insert(book, fillRowOf({ orderId: '1003' }))).toBe(true);
  let made = 0;
  const row = fillRowOf({ tradeId: '8' });
  const isNew = book.insertFill(row, () => {
    made++;
    return row;
  });
  expect([isNew, made]).toEqual([true, 0]);
  expect([countIn(book, 'fills'), made]).toEqual([4, 1]);
});

test('the newest ten thousand fills are known', () => {
  const book = memoryJournal();
  for (let id = 0; id < 25_000; id++) insert(book, fillRowOf({ tradeId: String(id) }));
  for (let id = 15_000; id < 25_000; id++) expect(insert(book, fillRowOf({ tradeId: String(id) }))).toBe(false);
});
