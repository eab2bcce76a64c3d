/** Texts of the exchange and of strategies: no command hands them to the terminal, or to a spreadsheet, as they are. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openState } from '../../src/journal/open.ts';
import { openForWriting } from '../../src/journal/open-for-writing.ts';
import { writer } from '../../src/journal/writer.ts';
import { desk } from '../kit/command.ts';
import { denialOf, eventOf, fillRowOf, orderRowOf } from '../kit/journal-rows.ts';

/** Clears the screen, names the window, turns the direction, breaks a line, and begins as a formula does. */
const hostile = '=cmd|x\u001b[2J\u001b]0;mine\u0007\u009b31m\u202egnp.\u2066\u200f\u2028\r';
const unseen = /[^\P{C}\n]|[\p{Zl}\p{Zp}]/u;
const at = desk();
const state = join(at.dir, 'state');
const order = orderRowOf({ strategy: 'trend', state: 'quarantined', orderId: '1954113290481123391', reason: hostile });

beforeAll(() => {
  mkdirSync(state);
  const { path, lock } = openState(state, { mode: 'live', account: 'spot', venue: 'test' }, ['trend', 'picky']);
  const db = openForWriting(path);
  const { clientOrderId, createdAt } = order;
  writer(
    db,
    1,
  )([
    order,
    fillRowOf({ clientOrderId, strategy: 'trend', tradeId: hostile, feeAsset: hostile }),
    denialOf({ strategy: 'picky', reason: hostile }),
    eventOf('unknown', { clientOrderId, detail: { cause: hostile } }),
    { kind: 'kill', everything: false, at: createdAt, strategy: null, by: 'operator', reason: hostile },
    { kind: 'halt', everything: false, at: createdAt, strategy: null, by: 'ledger', reason: hostile },
    { kind: 'memory', name: 'stopped', value: JSON.stringify([{ strategy: 'trend', at: createdAt, error: hostile }]) },
  ]);
  db.close();
  lock.release();
});
afterAll(() => at.remove());

const run = (...args: readonly string[]) => at.sluice([...args, '--state', state]);

test.each([
  ['fills'],
  ['status'],
  ['why', order.clientOrderId],
  ['why', 'picky'],
  ['why', 'trend'],
  ['export', 'tables'],
  ['why', hostile],
])('what stands in the journal is written out (%#)', async (...args) => {
  for (const format of [[], ['--json']]) {
    const { out, err } = await run(...args, ...format);
    expect(out + err).toContain(String.raw`\u001b[2J\u001b]0;mine\u0007\u009b31m\u202egnp.\u2066\u200f`);
    expect(out + err).not.toMatch(unseen);
    if (format.length > 0 && !err.startsWith('sluice: ')) {
      const values = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
      // What a program reads is what was said.
      expect(JSON.stringify(values)).toContain(JSON.stringify(hostile).slice(1, -1));
    }
  }
});

test('a CSV export has no cell that is a formula', async () => {
  const file = join(at.dir, 'orders.csv');
  expect((await run('export', 'tables', '--format', 'csv', '--table', 'orders', '-o', file)).code).toBe(0);
  const text = readFileSync(file, 'utf8');
  expect(text).toContain("'=cmd|x");
  expect(text).not.toMatch(/(^|,|")=/m);
});
