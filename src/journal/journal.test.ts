import { describe, expect, test } from 'vitest';
import { eventOf, fillRowOf, insert, orderRowOf, pastOf } from '../../test/kit/journal-rows.ts';
import { SimClock } from '../clock/sim-clock.ts';
import type { Entry } from './entries.ts';
import { journal, type WriteResult, type WriterHost } from './journal.ts';

interface Host extends WriterHost {
  readonly batches: (readonly Entry[])[];
  /** What writes come to; each takes until the test lets it end when `slow`. */
  result: WriteResult;
  slow: boolean;
  readonly end: () => Promise<void>;
  closed: boolean;
}

function host(clock: SimClock): Host {
  const ends: (() => void)[] = [];
  const made: Host = {
    batches: [],
    result: 'written',
    slow: false,
    closed: false,
    async end() {
      ends.shift()?.();
      await clock.turn();
    },
    write(entries) {
      const keep = (): WriteResult => {
        if (made.result === 'written') made.batches.push(entries);
        return made.result;
      };
      if (!made.slow) return keep();
      return new Promise((resolve) => {
        ends.push(() => resolve(keep()));
      });
    },
    close() {
      made.closed = true;
      return Promise.resolve();
    },
  };
  return made;
}

function bench(known?: Parameters<typeof journal>[2]) {
  const clock = new SimClock(0);
  void clock.track(new Promise(() => {}));
  const made = host(clock);
  return { clock, host: made, book: journal(made, clock, known) };
}
const ids = (batch: readonly Entry[] | undefined): unknown[] =>
  (batch ?? []).map((entry) => (entry.kind === 'order' ? entry.clientOrderId : entry.kind));
const order = (clientOrderId: string): Entry => orderRowOf({ clientOrderId });

describe('a journal', () => {
  test('works the row of an order out once for each batch, as it then stands', async () => {
    const { host: written, book } = bench();
    let made = 0;
    const state = { filled: '0' };
    const row = () => {
      made++;
      return orderRowOf({ clientOrderId: 'a', ...state });
    };
    book.latest('a', row);
    book.append(eventOf('sending'));
    book.latest('a', row);
    state.filled = '2';
    await book.durable();
    expect(made).toBe(1);
    expect(written.batches).toEqual([[eventOf('sending'), orderRowOf({ clientOrderId: 'a', filled: '2' })]]);
    book.latest('a', row);
    await book.durable();
    expect(made).toBe(2);
  });

  test('writes what nobody waits for in company, soon', async () => {
    const { clock, host: written, book } = bench();
    book.append(order('a'));
    await clock.advanceTo(20);
    book.append(order('b'));
    await clock.advanceTo(49);
    expect(written.batches.length).toBe(0);
    await clock.advanceTo(50);
    expect(written.batches.map(ids)).toEqual([['a', 'b']]);
    book.append(order('c'));
    await clock.advanceTo(100);
    expect(written.batches.map(ids)).toEqual([['a', 'b'], ['c']]);
  });

  test('is durable once everything appended before is written', async () => {
    const { host: written, book } = bench();
    book.append(order('a'));
    expect(await book.durable()).toBe(true);
    expect(written.batches.map(ids)).toEqual([['a']]);
    expect(await book.durable()).toBe(true);
    expect(written.batches.length).toBe(1);
  });

  test('is not durable while a write that began earlier does not hold the newest entry', async () => {
    const { clock, host: written, book } = bench();
    written.slow = true;
    book.append(order('a'));
    void book.durable();
    await clock.turn();
    book.append(order('b'));
    let durable = false;
    void book.durable().then(() => {
      durable = true;
    });
    await written.end();
    expect(written.batches.map(ids)).toEqual([['a']]);
    expect(durable).toBe(false);
    await written.end();
    expect(written.batches.map(ids)).toEqual([['a'], ['b']]);
    expect(durable).toBe(true);
  });

  test('serves several waiters with one write', async () => {
    const { clock, host: written, book } = bench();
    written.slow = true;
    book.append(order('a'));
    const first = book.durable();
    await clock.turn();
    for (const id of ['b', 'c', 'd']) book.append(order(id));
    const others = [book.durable(), book.durable(), book.durable()];
    await written.end();
    await written.end();
    expect(await Promise.all([first, ...others])).toEqual([true, true, true, true]);
    expect(written.batches.map(ids)).toEqual([['a'], ['b', 'c', 'd']]);
  });

  test('on a full disk is not durable, says so, loses nothing, and goes on when there is room', async () => {
    const { clock, host: written, book } = bench();
    written.result = 'full';
    book.append(order('a'));
    expect(await book.durable()).toBe(false);
    expect(book.full).toBe(true);
    book.append(order('b'));
    expect(await book.durable()).toBe(false);
    written.result = 'written';
    expect(book.full).toBe(true);
    await clock.advanceTo(1_100);
    expect(book.full).toBe(false);
    expect(written.batches.map(ids)).toEqual([['a', 'b']]);
    expect(await book.durable()).toBe(true);
  });

  test('keeps the order of entries when a batch in the middle did not fit', async () => {
    const { clock, host: written, book } = bench();
    written.slow = true;
    written.result = 'full';
    book.append(order('a'));
    void book.durable();
    await clock.turn();
    book.append(order('b'));
    await written.end();
    written.result = 'written';
    written.slow = false;
    expect(await book.durable()).toBe(true);
    expect(written.batches.flatMap(ids)).toEqual(['a', 'b']);
  });

  test('ends the program rather than go on for ever with what it cannot write', async () => {
    const { host: written, book } = bench();
    written.result = 'full';
    for (let count = 0; count <= 200_000; count++) book.append(eventOf('waited'));
    await expect(book.durable()).rejects.toThrow('the disk has been full for 200001 journal entries; stopping');
  });

  test('writes what is left before it closes', async () => {
    const { host: written, book } = bench();
    book.append(order('a'));
    await book.close();
    expect(written.batches.map(ids)).toEqual([['a']]);
    expect(written.closed).toBe(true);
  });
});

describe('a fill', () => {
  test('is new once for each trade and order', () => {
    const { book } = bench();
    expect(insert(book, fillRowOf())).toBe(true);
    expect(insert(book, fillRowOf())).toBe(false);
    expect(insert(book, fillRowOf({ price: '1' }))).toBe(false);
    expect(insert(book, fillRowOf({ orderId: '1002' }))).toBe(true);
    expect(insert(book, fillRowOf({ tradeId: '8' }))).toBe(true);
  });

  test('that was a row before the program began is not new', () => {
    const { book } = bench(pastOf(fillRowOf()).fill);
    expect(insert(book, fillRowOf())).toBe(false);
    expect(insert(book, fillRowOf({ tradeId: '70', orderId: '01' }))).toBe(true);
  });

  test('is read once to see whether it differs, and is known from then on', () => {
    let asked = 0;
    const { book } = bench(() => {
      asked++;
      return undefined;
    });
    expect(book.isOther(fillRowOf(), () => fillRowOf())).toBe(false);
    expect(insert(book, fillRowOf())).toBe(true);
    expect(asked).toBe(1);
    expect(book.isOther(fillRowOf(), () => fillRowOf({ price: '1' }))).toBe(true);
    expect(insert(book, fillRowOf())).toBe(false);
    expect(insert(book, fillRowOf({ tradeId: '8' }))).toBe(true);
  });
});
