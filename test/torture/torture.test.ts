/** A small share of `npm run torture`: each kind once against an exchange in a process of its own, and proof that the comparison can fail. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRng } from '../../src/clock/clock.ts';
import { journalFile } from '../../src/journal/open.ts';
import { until } from '../kit/until.ts';
import { type Arena, openArena, patienceMs } from './arena.ts';
import { type Books, booksOf, differences } from './compare.ts';
import type { Arrival, Truth } from './exchange-words.ts';
import { kinds } from './kinds.ts';
import { differencesAtRest } from './rest.ts';
import { type Round, tortureIn } from './run.ts';
import { added, noTotal } from './totals.ts';

/** Its figures are times, which say nothing while other tests run beside it. */
const measured = kinds.filter(({ alone }) => alone !== true);
const nothing: ReadonlySet<string> = new Set();
/** Seconds on a quiet machine. */
const longestMs = 240_000;

describe('the ledgers are equal, to the last decimal, after', () => {
  test.for(measured.map((kind) => [kind.counts, kind] as const))(
    '%s',
    { timeout: longestMs },
    async ([, kind], { skip }) => {
      const against = kind.impossible?.();
      if (against !== undefined) skip(against);
      const rounds: Round[] = [];
      await tortureIn({ ...kind, comparisons: 1 }, 7, (round) => rounds.push(round));
      expect(rounds).toMatchObject([{ kind: kind.name, faults: [] }]);
      expect(rounds[0]?.count).toBeGreaterThan(0);
    },
  );
});

describe('the comparison finds', () => {
  let arena: Arena;
  let truth: Truth;
  let books: Books;
  let arrivals: readonly Arrival[];

  beforeAll(async () => {
    arena = await openArena(seededRng(1));
    arena.calm(false);
    await arena.start();
    await until('some fills', async () => (await arena.exchange.counts()).fills > 2, patienceMs);
    expect(await differencesAtRest(arena)).toEqual([]);
    truth = await arena.exchange.truth();
    books = booksOf(arena.rig);
    arrivals = await arena.exchange.arrivals();
  }, longestMs);
  afterAll(() => arena.close());

  const found = (change: { truth?: Partial<Truth>; books?: Partial<Books>; arrivals?: readonly Arrival[] }): string =>
    differences(
      { ...truth, ...change.truth },
      { ...books, ...change.books },
      change.arrivals ?? arrivals,
      nothing,
    ).join('\n');

  test('nothing where nothing is wrong', () => expect(found({})).toBe(''));
  test('a fill that is missing, and what it moved', () => {
    const text = found({ books: { fills: books.fills.slice(1) } });
    expect(text).toMatch(/missing fill: /);
    expect(text).toMatch(/balance of USDT: /);
  });
  test('a fill that is there twice', () => {
    expect(found({ books: { fills: [...books.fills, ...books.fills.slice(0, 1)] } })).toMatch(/fill too many: /);
  });
  test('a fee that is wrong in the last decimal', () => {
    const [first, ...others] = books.fills;
    const fills =
      first === undefined ? [] : [{ ...first, fee: `${first.fee}${first.fee.includes('.') ? '' : '.'}1` }, ...others];
    expect(found({ books: { fills } })).toMatch(/fee/);
  });
  test('an order without an intent, and one that was sent twice', () => {
    // The journal has orders that never left, too.
    const [there] = truth.orders;
    const orders = books.orders.filter(({ clientOrderId }) => clientOrderId !== there?.clientOrderId);
    expect(found({ books: { orders } })).toMatch(/order without an intent: /);
    expect(found({ truth: { orders: [...truth.orders, ...truth.orders.slice(0, 1)] } })).toMatch(/sent twice: /);
    expect(found({ arrivals: [...arrivals, ...arrivals.filter(({ what }) => what === 'create').slice(0, 1)] })).toMatch(
      /a create left twice: /,
    );
  });
  test('an order that ended otherwise than the journal says', () => {
    const orders = truth.orders.map((order) => ({ ...order, status: 'NEW' as const }));
    expect(found({ truth: { orders } })).toMatch(/here and NEW there/);
  });
  test('a create that is not in the journal, and money that nobody moved', () => {
    const stray = { what: 'create', at: 0, ageMs: 0, status: 504, code: undefined, clientOrderId: 'stray' } as const;
    expect(found({ arrivals: [...arrivals, stray] })).toMatch(/a create left that is not in the journal: stray/);
    const balances = { ...truth.balances, USDT: { free: '1', locked: '0' } };
    expect(found({ truth: { balances } })).toMatch(/balance of USDT: /);
  });
  test('a fill that somebody takes out of the journal itself', async () => {
    await arena.daemon.end('SIGKILL');
    const db = new Database(join(arena.rig.state, journalFile));
    db.exec('DELETE FROM fills WHERE seq = (SELECT max(seq) FROM fills)');
    db.close();
    expect(differences(truth, booksOf(arena.rig), arrivals, nothing).join('\n')).toMatch(/missing fill: /);
  });
});

test('rounds add up, and what is a greatest one stays it', () => {
  const round: Round = {
    kind: 'kill',
    seed: 1,
    count: 3,
    seconds: 2,
    orders: 5,
    fills: 4,
    unknowns: 1,
    facts: { many: 2, 'most of it': 9 },
    faults: [],
  };
  const other = { ...round, facts: { many: 1, 'most of it': 4 }, faults: ['a difference'] };
  expect(added(added(noTotal, round), other)).toEqual({
    done: 6,
    comparisons: 2,
    mismatches: 1,
    seconds: 4,
    orders: 10,
    fills: 8,
    unknowns: 2,
    facts: { many: 3, 'most of it': 9 },
  });
});
