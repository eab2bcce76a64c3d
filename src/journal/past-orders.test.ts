import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { fillRowOf, insert, orderRowOf } from '../../test/kit/journal-rows.ts';
import { SimClock } from '../clock/sim-clock.ts';
import type { Entry } from './entries.ts';
import { journal, type WriterHost } from './journal.ts';
import { noPast, ownersAfter, pastIn } from './past-orders.ts';
import { migrate } from './schema.ts';
import { writer } from './writer.ts';

/** More than is kept in memory of either. */
const many = 12_000;

function opened() {
  const db = new Database(':memory:');
  migrate(db);
  return { db, write: writer(db), past: pastIn(() => db) };
}

test('every fill is read once, oldest first, over more pages than one', () => {
  const { write, past } = opened();
  const ids = Array.from({ length: 2_500 }, (_, index) => String(5_000 - index));
  write(ids.map((tradeId) => fillRowOf({ tradeId })));
  expect([...past.fills()].map(({ tradeId }) => tradeId)).toEqual(ids);
  expect(past.newestFills(2).map(({ tradeId }) => tradeId)).toEqual(ids.slice(-2));
  expect(past.highestId()).toBe(5_000);
});

test('a fill is known however many came after it, as long as it is a row or waits for being one', async () => {
  const { write, past } = opened();
  let result: 'written' | 'full' = 'full';
  const asked: string[] = [];
  const host: WriterHost = {
    write(entries: readonly Entry[]) {
      if (result === 'written') write(entries);
      return result;
    },
    close: () => Promise.resolve(),
  };
  const book = journal(host, new SimClock(0), (key) => {
    asked.push(key.tradeId);
    return past.fill(key);
  });
  const fill = (index: number) => fillRowOf({ tradeId: String(index) });
  for (let index = 0; index < many; index++) expect(insert(book, fill(index))).toBe(true);
  // Not one is a row yet: all must be known without the journal.
  expect(await book.durable()).toBe(false);
  asked.length = 0;
  expect([insert(book, fill(0)), insert(book, fill(many - 1)), asked]).toEqual([false, false, []]);
  result = 'written';
  expect(await book.durable()).toBe(true);
  expect([insert(book, fill(0)), insert(book, fill(many - 1)), asked]).toEqual([false, false, ['0']]);
  expect(book.isOther(fill(1), () => fillRowOf({ tradeId: '1', price: '7' }))).toBe(true);
  expect(book.isOther(fill(1), () => fill(1))).toBe(false);
});

test('an order is ours however many came after it', () => {
  const { write, past } = opened();
  const owners = ownersAfter(past, () => false);
  for (let index = 0; index < many; index++) {
    const [orderId, clientOrderId] = [String(index), `c${index}`];
    owners.set(orderId, { clientOrderId, strategy: 's', side: 'BUY', purpose: 'enter' });
    write([orderRowOf({ orderId, clientOrderId })]);
  }
  const unwritten = String(many);
  owners.set(unwritten, { clientOrderId: 'new', strategy: 's', side: 'SELL', purpose: 'exit' });
  expect([owners.get('0')?.clientOrderId, owners.idOf('c1')]).toEqual(['c0', '1']);
  expect([owners.get(unwritten)?.purpose, owners.idOf('new')]).toEqual(['exit', unwritten]);
  expect([owners.has('nobody'), owners.idOf('nobody')]).toEqual([false, undefined]);
});

test('a past that is closed knows nothing more, and is no fault', () => {
  const { db, write, past } = opened();
  write([orderRowOf({ orderId: '1' }), fillRowOf()]);
  expect(past.ownerOf('1')?.clientOrderId).toBe('c1');
  past.close();
  expect([past.ownerOf('1'), past.fill(fillRowOf()), [...past.fills()], db.open]).toEqual([
    undefined,
    undefined,
    [],
    false,
  ]);
});

test('whose an order is that works still is not forgotten, however many come after it', () => {
  const owners = ownersAfter(noPast, (clientOrderId) => clientOrderId === 'c0');
  const owner = (id: number) => ({ clientOrderId: `c${id}`, strategy: 's', side: 'BUY', purpose: 'enter' }) as const;
  for (let id = 0; id < 30_000; id++) owners.set(String(id), owner(id));
  expect([owners.has('0'), owners.has('1'), owners.has('29999')]).toEqual([true, false, true]);
});
