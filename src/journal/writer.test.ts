import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { btc, startTime, target } from '../../test/kit/builders.ts';
import { denialOf, eventOf, fillRowOf, orderRowOf } from '../../test/kit/journal-rows.ts';
import type { Entry } from './entries.ts';
import { load } from './load.ts';
import { readFills } from './past-orders.ts';
import { readOrders } from './rows.ts';
import { migrate } from './schema.ts';
import { type Write, writer } from './writer.ts';

interface Bench {
  readonly db: Database.Database;
  readonly write: Write;
  readonly rows: (sql: string) => unknown[];
}
function bench(): Bench {
  const db = new Database(':memory:');
  migrate(db);
  return { db, write: writer(db), rows: (sql) => db.prepare(sql).all() };
}

describe('an order', () => {
  test('is one row, which says how it now stands', () => {
    const { db, write } = bench();
    write([orderRowOf()]);
    write([
      orderRowOf({ state: 'sending', signedAt: 5, bodyHash: 'h' }),
      orderRowOf({ state: 'open', orderId: '1001' }),
    ]);
    expect(readOrders(db, '1')).toEqual([orderRowOf({ state: 'open', orderId: '1001' })]);
  });

  test('of which a batch holds several versions is written once, as the last', () => {
    const { db, write, rows } = bench();
    const before = db.prepare('SELECT total_changes() AS n').get() as { n: number };
    write([
      orderRowOf(),
      orderRowOf({ state: 'sending' }),
      orderRowOf({ state: 'open' }),
      orderRowOf({ clientOrderId: 'c2' }),
    ]);
    const after = db.prepare('SELECT total_changes() AS n').get() as { n: number };
    expect(rows('SELECT client_order_id AS id, state FROM orders')).toEqual([
      { id: 'c1', state: 'open' },
      { id: 'c2', state: 'intended' },
    ]);
    expect(after.n - before.n).toBe(2);
  });

  test('comes back whole', () => {
    const { db, write } = bench();
    const row = orderRowOf({
      orderId: '9007199254740993123',
      type: 'MARKET',
      quantity: null,
      amount: '100.01',
      price: null,
      state: 'canceled',
      filled: '0.4',
      executed: '0.4',
      venueStatus: 'CANCELED',
      signedAt: startTime,
      recvWindowMs: 2_000,
      bodyHash: 'abc',
      tradeFloor: '9007199254740993999',
      cancelRequested: true,
      closedAt: startTime + 1,
    });
    write([row]);
    expect(readOrders(db, '1')).toEqual([row]);
  });
});

describe('a refusal', () => {
  test('that is repeated is counted, with its last time and numbers', () => {
    const { write, rows } = bench();
    write([denialOf(), denialOf({ at: startTime + 1, facts: { value: '201' } })]);
    write([denialOf({ at: startTime + 2, facts: { value: '202' } })]);
    expect(rows('SELECT at, times, last_at, facts FROM denials')).toEqual([
      { at: startTime, times: 3, last_at: startTime + 2, facts: '{"value":"202"}' },
    ]);
  });

  test.each([
    ['another rule', { code: 'position' }],
    ['another order', { draft: 'BUY 3' }],
    ['another strategy', { strategy: 't' }],
    ['another symbol', { symbol: 'ETHUSDT' }],
  ])('by or of %s is a row of its own', (_, other) => {
    const { write, rows } = bench();
    write([denialOf(), denialOf(other)]);
    expect(rows('SELECT times FROM denials')).toEqual([{ times: 1 }, { times: 1 }]);
  });

  test('of each order of a signal that is repeated is counted in its own row', () => {
    const { write, rows } = bench();
    write([denialOf({ draft: 'BUY 1' }), denialOf({ draft: 'BUY 2' })]);
    write([denialOf({ draft: 'BUY 1' }), denialOf({ draft: 'BUY 2' })]);
    expect(rows('SELECT draft, times FROM denials')).toEqual([
      { draft: 'BUY 1', times: 2 },
      { draft: 'BUY 2', times: 2 },
    ]);
  });

  test('begins a new row after the time that one row covers', () => {
    const { db, rows } = bench();
    const write = writer(db, 0, 10);
    write([0, 9, 10, 19, 30].map((after) => denialOf({ at: startTime + after })));
    expect(rows('SELECT times FROM denials')).toEqual([{ times: 2 }, { times: 2 }, { times: 1 }]);
  });

  test('that is too long ago is not remembered', () => {
    const { write, rows } = bench();
    write(Array.from({ length: 102 }, (_, index) => denialOf({ draft: `BUY ${index % 101}` })));
    expect(rows('SELECT times FROM denials').length).toBe(102);
  });

  test('that comes again by another rule is a new row', () => {
    const { write, rows } = bench();
    write([denialOf(), denialOf({ code: 'position' }), denialOf()]);
    expect(rows('SELECT code FROM denials').length).toBe(3);
  });
});

describe('a fill', () => {
  test('is one row for each trade and order, whatever is written again', () => {
    const { db, write } = bench();
    write([fillRowOf(), fillRowOf({ price: '999' })]);
    write([fillRowOf(), fillRowOf({ orderId: '1002' }), fillRowOf({ tradeId: '8' })]);
    expect(readFills(db, '1').map((row) => `${row.tradeId} ${row.orderId} ${row.price}`)).toEqual([
      '7 1001 100',
      '7 1002 100',
      '8 1001 100',
    ]);
  });

  test('comes back whole', () => {
    const { db, write } = bench();
    const row = fillRowOf({ tradeId: '9007199254740993123', maker: true, evidence: '{"rule":"K1"}', purpose: 'stop' });
    write([row]);
    expect(readFills(db, '1')).toEqual([row]);
  });
});

test('a batch is written whole or not at all', () => {
  const { write, rows } = bench();
  const broken = { ...fillRowOf({ tradeId: '9' }), price: null } as unknown;
  expect(() => write([denialOf(), orderRowOf(), broken as Entry])).toThrow(/NOT NULL/);
  expect(rows('SELECT * FROM orders')).toEqual([]);
  expect(rows('SELECT * FROM denials')).toEqual([]);
});

test('a batch that did not fit the disk is written whole when there is room', () => {
  const { db, write, rows } = bench();
  const long = Array.from({ length: 2_000 }, (_, at) =>
    eventOf('resolving', { detail: { at, text: 'x'.repeat(200) } }),
  );
  const pages = Number(db.pragma('page_count', { simple: true }));
  db.pragma(`max_page_count = ${pages + 4}`);
  const batch = [denialOf(), orderRowOf(), ...long];
  expect(() => write(batch)).toThrow(expect.objectContaining({ code: 'SQLITE_FULL' }));
  expect(rows('SELECT * FROM orders')).toEqual([]);
  db.pragma('max_page_count = 1000000');
  write(batch);
  expect(rows('SELECT times FROM denials')).toEqual([{ times: 1 }]);
  expect(rows('SELECT count(*) AS n FROM events')).toEqual([{ n: 2_000 }]);
});

describe('what is loaded', () => {
  test('is what a start needs: open orders, owners of all, every fill, the last signal of each', () => {
    const { db, write } = bench();
    const signalOf = (quantity: number, strategy = 's'): Entry => ({
      kind: 'signal',
      at: startTime,
      decision: quantity,
      strategy,
      role: 'main',
      symbol: btc.symbol,
      signal: target(quantity),
      quantity: String(quantity),
      memory: null,
    });
    write([
      orderRowOf({ clientOrderId: 'late', createdAt: startTime + 5, state: 'unknown' }),
      orderRowOf({ clientOrderId: 'early', state: 'open', orderId: '1001' }),
      orderRowOf({ clientOrderId: 'done', state: 'filled', orderId: '1002', closedAt: startTime, purpose: 'stop' }),
      fillRowOf({ tradeId: '2' }),
      fillRowOf({ tradeId: '1' }),
      signalOf(1),
      signalOf(2),
      signalOf(3, 't'),
      { kind: 'cursor', symbol: btc.symbol, tradeIds: ['1'] },
      { kind: 'cursor', symbol: btc.symbol, tradeIds: ['1', '2'] },
      { kind: 'foreign', at: startTime, symbol: btc.symbol, orderId: '77', why: null },
      { kind: 'foreign', at: startTime, symbol: btc.symbol, orderId: '77', why: null },
      { kind: 'protection', strategy: 's', symbol: btc.symbol, protection: { stop: '90' } },
      { kind: 'protection', strategy: 't', symbol: btc.symbol, protection: { stop: '80' } },
      { kind: 'protection', strategy: 't', symbol: btc.symbol, protection: null },
      { kind: 'equity', at: startTime, equity: '100' },
      { kind: 'equity', at: startTime + 1, equity: '101' },
      { kind: 'instrument', symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 },
    ]);
    const loaded = load(db);
    expect(loaded.orders.map((row) => row.clientOrderId)).toEqual(['early', 'late']);
    const { past } = loaded;
    expect(past.ownerOf('1002')).toEqual({ clientOrderId: 'done', strategy: 's', side: 'BUY', purpose: 'stop' });
    expect(past.ownerOf('1001')).toEqual({ clientOrderId: 'early', strategy: 's', side: 'BUY', purpose: 'enter' });
    expect([past.ownerOf('1003'), past.orderIdOf('done'), past.orderIdOf('late')]).toEqual([
      undefined,
      '1002',
      undefined,
    ]);
    expect([...past.fills()].map((row) => row.tradeId)).toEqual(['2', '1']);
    expect(loaded.signals.map(({ strategy, quantity }) => `${strategy} ${quantity}`)).toEqual(['s 2', 't 3']);
    expect(loaded.signals[0]?.signal).toEqual(target(2));
    expect(loaded.cursors).toEqual(new Map([['BTCUSDT', ['1', '2']]]));
    expect(loaded.foreign).toEqual(new Set(['77']));
    expect(loaded.protections).toEqual([{ strategy: 's', symbol: 'BTCUSDT', protection: '{"stop":"90"}' }]);
    expect(loaded.equity.map(({ equity }) => equity)).toEqual(['100', '101']);
    expect(loaded.firstEquity).toBe('100');
    expect(loaded.instruments.map(({ symbol }) => symbol)).toEqual(['BTCUSDT']);
  });

  test('of a day is the equity that its loss was last measured from', () => {
    const { db, write } = bench();
    write([
      { kind: 'day', day: 1, equity: '100' },
      { kind: 'day', day: 2, equity: '90' },
      { kind: 'day', day: 2, equity: '80' },
    ]);
    expect(load(db).days).toEqual(
      new Map([
        [2, '80'],
        [1, '100'],
      ]),
    );
  });

  describe('after a resume', () => {
    const stopped = (kind: 'kill' | 'pause' | 'resume' | 'halt', strategy: string | null = null): Entry => ({
      ...{ kind, everything: false, at: 1, strategy, by: 'operator', reason: 'r' },
    });
    const counted: readonly Entry[] = [
      { kind: 'day', day: 1, equity: '100' },
      { kind: 'memory', name: 'throttle.s', value: '{}' },
      { kind: 'memory', name: 'throttle.t', value: '{}' },
      { kind: 'memory', name: 'peak', value: '{}' },
    ];
    const left = (...entries: readonly Entry[]): readonly string[] => {
      const { db, write } = bench();
      write([...counted, ...entries]);
      const { days, memories } = load(db);
      return [...days.keys(), ...memories.keys()].map(String).toSorted();
    };
    const all = ['1', 'peak', 'throttle.s', 'throttle.t'];

    test('that lifted a kill losses are measured anew', () => {
      expect(left(stopped('kill'), stopped('resume'))).toEqual([]);
      expect(left(stopped('kill', 's'), stopped('pause'), stopped('resume'))).toEqual([]);
      expect(left(stopped('kill', 's'), stopped('resume', 's'))).toEqual(['peak', 'throttle.t']);
    });

    test('that lifted no kill they stay', () => {
      expect(left(stopped('pause'), stopped('resume'))).toEqual(all);
      expect(left(stopped('pause', 's'), stopped('resume', 's'))).toEqual(all);
      expect(left(stopped('halt'), stopped('resume'))).toEqual(all);
      expect(left(stopped('resume'))).toEqual(all);
      // The kill is of another scope.
      expect(left(stopped('kill'), stopped('pause', 's'), stopped('resume', 's'))).toEqual(all);
    });

    test('what is written later counts', () => {
      const { db, write } = bench();
      write([stopped('kill'), stopped('resume'), { kind: 'day', day: 1, equity: '90' }]);
      expect(load(db).days).toEqual(new Map([[1, '90']]));
    });
  });

  test('of kills is what was not lifted', () => {
    const kill = (kind: 'kill' | 'pause' | 'resume', strategy: string | null): Entry => ({
      kind,
      everything: false,
      at: 1,
      strategy,
      by: 'b',
      reason: 'r',
    });
    const standing = (...entries: readonly Entry[]): (string | null)[] => {
      const { db, write } = bench();
      write(entries);
      return load(db).kills.map(({ strategy }) => strategy);
    };
    expect(standing(kill('kill', 's'), kill('kill', null), kill('resume', 's'))).toEqual([null]);
    expect(standing(kill('kill', 's'), kill('kill', null), kill('resume', null))).toEqual([]);
    expect(standing(kill('resume', null), kill('kill', 's'))).toEqual(['s']);
    expect(standing(kill('pause', 's'), kill('pause', 't'), kill('resume', 's'))).toEqual(['t']);
  });
});

test('of a day and an outcome the last comparison is kept, by the UTC day', () => {
  const { write, rows } = bench();
  const audit = (at: number): Entry => ({ kind: 'audit', at, outcome: 'even', differences: {}, held: {} });
  const dayMs = 86_400_000;
  write([audit(startTime + 1), audit(startTime + dayMs - 1), audit(startTime + dayMs)]);
  expect(rows('SELECT day, at FROM audits ORDER BY at')).toEqual([
    { day: startTime, at: startTime + dayMs - 1 },
    { day: startTime + dayMs, at: startTime + dayMs },
  ]);
});
