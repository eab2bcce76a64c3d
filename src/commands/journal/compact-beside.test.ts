/** The steps of a compaction beside a writer that goes on between any two steps. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTime } from '../../../test/kit/builders.ts';
import { beginning, filledOrder } from '../../../test/kit/ended-orders.ts';
import { allRowsIn, countOf, dayMs, past } from '../../../test/kit/old-journal.ts';
import { compactJournal, type RowMover } from '../../archive/compact.ts';
import { archiveDir } from '../../journal/archive.ts';
import type { AdjustmentEntry } from '../../journal/entries.ts';
import { type Identity, journalFile, openState } from '../../journal/open.ts';
import { openForWriting } from '../../journal/open-for-writing.ts';
import { writer } from '../../journal/writer.ts';
import { checkJournal } from './check.ts';

let root: string;
let dir: string;
let identity: Identity;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-beside-'));
  dir = join(root, 'state');
  const state = openState(dir, { mode: 'live', account: 'spot', venue: 'v' }, ['s']);
  ({ identity } = state);
  state.lock.release();
  const db = openForWriting(join(dir, journalFile));
  const paidIn = { ...(beginning[1] as AdjustmentEntry), what: 'adjust', amount: '1000000' } as const;
  writer(db, identity.epoch)([...past(identity), paidIn]);
  db.close();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Its writer goes on between any two steps, with an order that is filled, as orders do. */
function daemon(): { readonly mover: RowMover; readonly close: () => void } {
  const db = openForWriting(join(dir, journalFile));
  const write = writer(db, identity.epoch + 1);
  const trade = (): void => write(filledOrder(identity, order++, { at: 11 * dayMs }));
  return {
    mover: {
      rowsAtOnce: 2,
      name(archive) {
        trade();
        write([{ kind: 'archive', archive }]);
      },
      remove(table, keys) {
        trade();
        write([{ kind: 'archived', table, keys }]);
      },
    },
    close: () => db.close(),
  };
}
let order = 100;
const until = startTime + 5 * dayMs;
const compactOnce = async (broken?: string): Promise<void> => {
  const { mover, close } = daemon();
  const step = (name: string): void => {
    if (name === broken) throw new Error('killed');
  };
  try {
    await compactJournal(dir, mover, { until, environment: { XDG_STATE_HOME: root }, step });
  } finally {
    close();
  }
};
const old = (rows: ReturnType<typeof allRowsIn>): object => ({
  ...rows,
  ...Object.fromEntries(
    ['orders', 'fills', 'events', 'venue_orders', 'venue_trades'].map((table) => [
      table,
      rows[table]?.filter((row) => !row.includes(String(startTime + 11 * dayMs))),
    ]),
  ),
});

test('old rows move and new ones are not touched, wherever it is interrupted', async () => {
  const before = old(allRowsIn(dir));
  for (const broken of ['write signals', 'compare', 'commit', 'delete events', 'deleted of events', 'end']) {
    await expect(compactOnce(broken), broken).rejects.toThrow('killed');
    expect(old(allRowsIn(dir)), broken).toEqual(before);
    expect(checkJournal(dir, { XDG_STATE_HOME: root }).findings, broken).toEqual([]);
  }
  const orders = countOf(dir, 'orders');
  await compactOnce();
  expect(old(allRowsIn(dir))).toEqual(before);
  expect(checkJournal(dir, { XDG_STATE_HOME: root }).findings).toEqual([]);
  expect([orders > 5, countOf(dir, 'signals'), countOf(dir, 'denials')]).toEqual([true, 1, 1]);
  expect(readdirSync(join(dir, archiveDir))).toHaveLength(7);
});
