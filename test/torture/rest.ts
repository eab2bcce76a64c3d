/** After an ordeal: nothing goes wrong any more, nobody wants anything, everything comes to rest, and the ledgers are compared. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { journalFile } from '../../src/journal/open.ts';
import { until } from '../kit/until.ts';
import type { Arena } from './arena.ts';
import { booksOf, differences } from './compare.ts';

/** How the journal stands, in numbers. */
interface Standing {
  readonly orders: number;
  readonly open: number;
  readonly fills: number;
  /** What the takers hold: a calm one holds nothing but fees. */
  readonly held: number;
}

const standingSql = `SELECT (SELECT count(*) FROM orders) AS orders, (SELECT count(*) FROM orders WHERE closed_at IS NULL) AS open,
  (SELECT count(*) FROM fills) AS fills,
  (SELECT coalesce(max(abs(held)), 0) FROM (SELECT sum(CASE side WHEN 'BUY' THEN 1 ELSE -1 END * CAST(quantity AS REAL)) AS held
    FROM fills WHERE strategy <> 'maker' GROUP BY strategy)) AS held`;

export function standingOf(state: string): Standing {
  const db = new Database(join(state, journalFile), { readonly: true, timeout: 2_000 });
  try {
    return db.prepare(standingSql).get() as Standing;
  } finally {
    db.close();
  }
}

/** Less than any order of a restless strategy. */
export const flatHolding = 0.05;
/** Looks in a row that must find everything at rest, further apart together than a strategy needs to speak. */
const restfulLooks = 6;

/** Waits until nothing is open on either side, every fill is a row, and what the strategies want is so. */
async function resting({ rig, exchange, daemon }: Arena, withinMs: number): Promise<void> {
  let looks = 0;
  let last = '';
  await until(
    'everything is at rest',
    async () => {
      if (!daemon.runs) throw new Error(`the daemon ended: ${daemon.lines.slice(-5).join(' | ')}`);
      const here = standingOf(rig.state);
      const there = await exchange.counts();
      const isQuiet = here.open === 0 && there.open === 0 && here.fills === there.fills && here.held < flatHolding;
      const now = `${here.orders} ${here.fills}`;
      looks = isQuiet && now === last ? looks + 1 : 0;
      last = now;
      if (looks >= restfulLooks) return true;
      const { halts } = booksOf(rig);
      throw new Error(`here ${JSON.stringify({ ...here, halts })}, there ${JSON.stringify(there)}`);
    },
    withinMs,
  ).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
    throw new Error(`it did not come to rest within ${withinMs} ms: ${cause}`);
  });
}

/** Real ms: the longest way to rest is an order proven absent after its window. */
const restMs = 90_000;

/** Ends every fault, calms the strategies, waits for rest and compares. What differs, in words; trading goes on afterwards. */
export async function differencesAtRest(arena: Arena): Promise<readonly string[]> {
  const { exchange, rig } = arena;
  await exchange.faults([]);
  arena.calm(true);
  const compared = async (): Promise<readonly string[]> =>
    differences(await exchange.truth(), booksOf(rig), await exchange.arrivals(), arena.lost, arena.expectedHalts);
  try {
    await resting(arena, restMs);
    return await compared();
  } catch (error) {
    return [error instanceof Error ? error.message : String(error), ...(await compared())];
  }
}
