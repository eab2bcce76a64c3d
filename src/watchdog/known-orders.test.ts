import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { orderRowOf } from '../../test/kit/journal-rows.ts';
import { journalFile, openState } from '../journal/open.ts';
import { openForWriting } from '../journal/open-for-writing.ts';
import { writer } from '../journal/writer.ts';
import { knownOrders } from './known-orders.ts';

test('what was read of a journal is known when it can be read no more, which is said once', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-known-'));
  openState(dir, { mode: 'live', account: 'spot', venue: 'v' }, ['s']).lock.release();
  const db = openForWriting(join(dir, journalFile));
  writer(db, 1)([orderRowOf({ clientOrderId: 'c1', strategy: 's', orderId: '1001', state: 'open' })]);
  db.close();
  const said: string[] = [];
  const known = knownOrders(dir, (line) => said.push(line));
  known.refresh();
  const order = { orderId: '1001', clientOrderId: undefined };
  expect([known.ownerOf(order), [...known.symbols()], known.strategies()]).toEqual(['s', ['BTCUSDT'], ['s']]);
  expect(known.ownerOf({ orderId: '7', clientOrderId: 'web1' })).toBeUndefined();
  for (const beside of ['-wal', '-shm']) rmSync(join(dir, `${journalFile}${beside}`), { force: true });
  writeFileSync(join(dir, journalFile), Buffer.alloc(16_384, 'x'));
  known.refresh();
  known.refresh();
  expect(known.ownerOf(order)).toBe('s');
  expect(said).toEqual([
    expect.stringMatching(/^the journal cannot be read; our orders are known from an earlier read: /),
  ]);
  const blind: string[] = [];
  knownOrders(dir, (line) => blind.push(line)).refresh();
  expect(blind).toEqual([expect.stringMatching(/no order is known to be ours, and none is cancelled: /)]);
  rmSync(dir, { recursive: true });
});
