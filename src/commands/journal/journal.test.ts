import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTime } from '../../../test/kit/builders.ts';
import { beginning, filledOrder, idOf as ownId, sent } from '../../../test/kit/ended-orders.ts';
import { eventOf, fillRowOf, orderRowOf } from '../../../test/kit/journal-rows.ts';
import { refusal } from '../../../test/kit/refusal.ts';
import type { AuditEntry, Entry, EventEntry, OrderEntryRow } from '../../journal/entries.ts';
import { type Identity, journalFile, openState } from '../../journal/open.ts';
import { openForWriting } from '../../journal/open-for-writing.ts';
import { schemaVersion } from '../../journal/schema.ts';
import { writer } from '../../journal/writer.ts';
import { check, checkJournal } from './check.ts';

let root: string;
let dir: string;
let identity: Identity;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-check-'));
  dir = join(root, 'state');
  const state = openState(dir, { mode: 'live', account: 'spot', venue: 'v' }, ['s']);
  ({ identity } = state);
  state.lock.release();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const idOf = (sequence: number): string => ownId(identity, sequence);
function put(...entries: readonly Entry[]): void {
  const db = openForWriting(join(dir, journalFile));
  writer(db, identity.epoch)(entries);
  db.close();
}

const filled = (sequence: number, given: Partial<OrderEntryRow> = {}): Entry[] =>
  filledOrder(identity, sequence, given);
/** What is found, as `rule order text`. */
const found = (): readonly string[] =>
  checkJournal(dir, { XDG_STATE_HOME: root }).findings.map(({ rule, order, text }) =>
    [rule, order === undefined ? '' : order.slice(13, 21), text].filter((part) => part !== '').join(' '),
  );

describe('sluice journal check', () => {
  test('finds nothing in a journal of orders that went their way, and says what the account should hold', () => {
    put(...beginning, ...filled(1), ...filled(2));
    put(
      eventOf('sending', { clientOrderId: idOf(3) }),
      eventOf('unknown', { clientOrderId: idOf(3), detail: { cause: 'timeout' } }),
      orderRowOf({ clientOrderId: idOf(3), ...sent, state: 'unknown' }),
    );
    const checked = checkJournal(dir, {});
    expect(checked.findings).toEqual([]);
    expect(checked.expectedBalances).toEqual({ USDT: '799.8', BTC: '2' });
    expect(checked).toMatchObject({ schema: schemaVersion, chainLength: 4, rows: { orders: 3, fills: 2 } });
  });

  test('follows an order that was given up, came back late, and was resolved by hand', () => {
    const id = idOf(4);
    const steps: readonly [EventEntry['event'], EventEntry['detail']][] = [
      ['sending', {}],
      ['unknown', {}],
      ['resolving', { try: 1 }],
      ['unknown', { cause: 'not known when the program ended' }],
      ['absent', {}],
      ['closed', { state: 'absent' }],
      ['found', { orderId: '1' }],
      ['quarantined', { quarantineReason: 'x' }],
      ['resolved', { as: 'canceled' }],
      ['closed', { state: 'canceled' }],
    ];
    put(
      ...steps.map(([event, detail]) => eventOf(event, { clientOrderId: id, detail })),
      orderRowOf({ clientOrderId: id, orderId: '1', ...sent, state: 'canceled', closedAt: 9 }),
    );
    expect(found()).toEqual([]);
  });

  test.each<[string, () => readonly Entry[], readonly string[]]>([
    [
      'I1',
      () => [orderRowOf({ clientOrderId: 'mine', state: 'intended' })],
      ['I1 has an id that this journal did not make'],
    ],
    [
      'I1',
      () => [...filled(1), ...filled(2, { orderId: '1001' })],
      [
        `I1 aaaaaaac has the id 1001 at the exchange, as order ${'ID1'} has`,
        'I1 aaaaaaac was shown as 1002 by the exchange, and its intent is bound to 1001',
        'I3 aaaaaaac has a fill (trade 72) of another order, symbol, side, account or strategy',
      ],
    ],
    ['I1', () => filled(1).slice(-1), ['I1 aaaaaaab was shown as 1001 by the exchange, and has no intent here']],
    ['I2', () => filled(1, { bodyHash: null }), ['I2 aaaaaaab is filled, but its intent was not journalled before']],
    [
      'I3',
      () => [...filled(1), fillRowOf({ clientOrderId: idOf(9) })],
      ['I3 aaaaaaaj has a fill (trade 7) and no row'],
    ],
    [
      'I3',
      () => filled(1).filter(({ kind }) => kind !== 'fill'),
      [
        'I3 aaaaaaab traded (trade 71), but there is no fill',
        'I4 aaaaaaab is filled with 1 executed, but its fills come to 0',
      ],
    ],
    [
      'I3',
      () => filled(1).map((entry) => (entry.kind === 'venueTrade' ? { ...entry, price: '100.5' } : entry)),
      ['I3 aaaaaaab has a fill of trade 71 with other numbers than the exchange showed'],
    ],
    ['I4', () => filled(1, { executed: '0.5' }), ['I4 aaaaaaab is filled with 0.5 executed, but its fills come to 1']],
    ['I4', () => filled(1, { closedAt: null }), ['I4 aaaaaaab is filled, but has no time of its end']],
    ['I5', () => filled(1, { quantity: '0.9' }), ['I5 aaaaaaab asked for 0.9, its fills come to 1']],
    ['I5', () => filled(1, { quantity: null, amount: '99.99' }), ['I5 aaaaaaab was for 99.99, its fills cost 100']],
    [
      'I6',
      () => [...beginning.slice(0, 1), ...beginning.slice(2), ...filled(1)],
      ['I6 the account would hold -100.1 USDT'],
    ],
    [
      'I8',
      () =>
        filled(1).map((entry) =>
          entry.kind === 'event' && entry.event === 'approved'
            ? { ...entry, detail: { value: '201', maxOrderValue: '200' } }
            : entry,
        ),
      ['I8 aaaaaaab was approved with a value of 201, above maxOrderValue 200'],
    ],
    [
      'I9',
      () => filled(1).filter((entry) => entry.kind !== 'event' || entry.event !== 'accepted'),
      ['I9 aaaaaaab is sending, which cannot be followed by “closing”'],
    ],
    [
      'I9',
      () => filled(1).filter((entry) => entry.kind !== 'event' || entry.event !== 'closed'),
      ['I9 aaaaaaab its steps end in closing, its row is filled'],
    ],
    [
      'I7',
      () => [
        eventOf('notSent', { clientOrderId: idOf(5) }),
        orderRowOf({ clientOrderId: idOf(5), orderId: '7', state: 'notSent', closedAt: 9 }),
        fillRowOf({ clientOrderId: idOf(5), orderId: '7' }),
      ],
      ['I4 aaaaaaaf is notSent with 0 executed, but its fills come to 1', 'I7 aaaaaaaf is notSent, but has 1 fill'],
    ],
  ])('finds what breaks %s', (_, entries, expected) => {
    put(...entries());
    expect(found()).toEqual(expected.map((text) => text.replace('ID1', idOf(1))));
  });

  test('holds what rows come to against what the account held when it was last compared', () => {
    const at = startTime + 5;
    const audit = (given: Partial<AuditEntry>): AuditEntry => ({
      kind: 'audit',
      at,
      outcome: 'even',
      differences: {},
      held: { USDT: '899.9', BTC: '1' },
      ...given,
    });
    const later = filled(2).map((entry) => (entry.kind === 'venueTrade' ? { ...entry, seenAt: at + 1 } : entry));
    put(...beginning, ...filled(1), audit({}), ...later);
    expect(found()).toEqual([]);
    put(audit({ held: { USDT: '899.9', BTC: '2', ETH: '3' } }));
    expect(found()).toEqual([
      `I12 at ${new Date(at).toISOString()} the account held 2 BTC, these rows come to 1`,
      `I12 at ${new Date(at).toISOString()} the account held 3 ETH, these rows come to 0`,
    ]);
    put(audit({}), audit({ at: at + 9, outcome: 'off', differences: { USDT: '-5' } }));
    expect(found()).toEqual([
      `I12 at ${new Date(at + 9).toISOString()} the account held -5 USDT beside what the ledger explained`,
    ]);
  });

  test('finds what another program changed', () => {
    put(...filled(1));
    const db = new Database(join(dir, journalFile));
    db.exec("UPDATE orders SET reason = 'another'");
    db.close();
    expect(found()).toEqual(['chain its rows do not add up to the head of its chain']);
  });

  test('says of a damaged file what is damaged, and nothing of what is in it', () => {
    put(...Array.from({ length: 200 }, (_, index) => filled(index)).flat());
    const path = join(dir, journalFile);
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0xa5, 40_960, 49_152));
    const lines: string[] = [];
    const refused = refusal(() => check({ dir, environment: {}, json: false, out: (line) => lines.push(line) }));
    expect([1, 3]).toContain(refused.exitCode);
    expect(lines.filter((line) => line.startsWith('holds')).join()).not.toContain('I1');
  });

  test('prints each rule and its findings, and ends with 1', () => {
    put(...filled(1, { executed: '2' }));
    const lines: string[] = [];
    const refused = refusal(() => check({ dir, environment: {}, json: false, out: (line) => lines.push(line) }));
    expect(refused.exitCode).toBe(1);
    expect(lines).toContain(`            ${idOf(1)} is filled with 2 executed, but its fills come to 1`);
    const said: string[] = [];
    refusal(() => check({ dir, environment: {}, json: true, out: (line) => said.push(line) }));
    expect(JSON.parse(said.join())).toMatchObject({
      version: 2,
      ok: false,
      findings: [{ rule: 'I4', order: idOf(1) }],
    });
  });

  test('prints as JSON what the reference says', () => {
    const said: string[] = [];
    check({ dir, environment: {}, json: true, out: (line) => said.push(line) });
    const printed = JSON.parse(said.join()) as { readonly rules: object };
    const page = (name: string): string =>
      readFileSync(join(import.meta.dirname, '../../../docs/reference', name), 'utf8');
    const section = page('json.md').split('\n## journal check\n')[1]?.split('\n## ')[0] ?? '';
    const named = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
    expect(new Set(Object.keys(printed))).toEqual(new Set(named));
    for (const rule of Object.keys(printed.rules)) expect(page('journal.md')).toContain(`| \`${rule}\``);
  });

  test.each([
    ['somebody else’s database', 'CREATE TABLE t (a)', 'is not a journal of Sluice'],
    ['a newer one', `PRAGMA user_version = ${schemaVersion + 1}`, 'was written by a newer Sluice'],
  ])('refuses %s', (_, sql, message) => {
    const other = join(root, 'other');
    mkdirSync(other);
    const db = new Database(join(other, journalFile));
    db.exec(sql);
    db.close();
    const refused = refusal(() => checkJournal(other, {}));
    expect(refused.exitCode).toBe(3);
    expect(refused.message).toContain(message);
  });
});
