/** A journal that was restored from an older copy: what commands say of it, and of the orders that it lacks. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startTime } from '../../../test/kit/builders.ts';
import { eventOf, fillRowOf, orderRowOf } from '../../../test/kit/journal-rows.ts';
import { makeClientOrderId } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Entry } from '../../journal/entries.ts';
import { thisHost } from '../../journal/newest-head.ts';
import { type Identity, journalFile, openState } from '../../journal/open.ts';
import { workerHost } from '../../journal/writer-hosts.ts';
import type { ShowOptions } from '../show/read-state.ts';
import { showFills, showOrders, showPositions } from '../show/show.ts';
import { showStatus } from '../show/status.ts';
import { showWhy } from '../show/why.ts';
import { check, checkJournal } from './check.ts';

let root: string;
let dir: string;
let out: string[];
beforeEach(() => {
  out = [];
  root = mkdtempSync(join(tmpdir(), 'sluice-restored-'));
  dir = join(root, 'state');
  vi.stubEnv('XDG_STATE_HOME', root);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});
const file = (): string => join(dir, journalFile);
const environment = (): Record<string, string> => ({ XDG_STATE_HOME: root });

/** One run of a daemon that writes this and ends. */
async function run(entries: (identity: Identity) => readonly Entry[], accept?: string): Promise<Identity> {
  const guard = { dir: join(root, 'sluice', 'journals'), host: thisHost(), accept };
  const state = openState(dir, { mode: 'live', account: 'spot', venue: 'v' }, ['s'], guard);
  const host = workerHost(
    state.path,
    state.identity.epoch,
    (error) => {
      throw error;
    },
    state.remember,
  );
  await host.write(entries(state.identity));
  await host.close();
  state.lock.release();
  return state.identity;
}

const idOf = (identity: Identity, sequence: number): string =>
  makeClientOrderId({ ...identity, strategy: 1, sequence }, identity.idKey);
const beginning: readonly Entry[] = [
  { kind: 'instrument', symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 },
  { kind: 'adjustment', at: 1, what: 'baseline', asset: 'USDT', amount: '1000', by: 'first balances', reason: 'r' },
];
/** What is found of an order at the exchange of which there is no row: its trade, its fill, and what was said of it. */
function shown(clientOrderId: string, orderId: string): readonly Entry[] {
  const {
    kind: _,
    clientOrderId: __,
    strategy: ___,
    account: ____,
    ...trade
  } = fillRowOf({ tradeId: orderId, orderId });
  const { symbol, side } = trade;
  return [
    fillRowOf({ clientOrderId, orderId, tradeId: orderId }),
    { ...trade, kind: 'venueTrade', orderIds: [orderId], seenAt: startTime },
    {
      ...{ kind: 'venueOrder', seenAt: startTime, symbol, orderId, clientOrderId, side },
      ...{ type: 'LIMIT', status: 'FILLED', executed: '1' },
    },
    {
      ...{ kind: 'halt', everything: false, at: startTime, strategy: null, by: 'futureId' },
      reason: `order ${clientOrderId} (${orderId}) at the exchange is ours but not in this journal`,
    },
  ];
}

/** Runs, is copied, runs on, and is put back as it was; gives the ids of orders that the copy lacks. */
async function restored(): Promise<readonly string[]> {
  await run(() => beginning);
  mkdirSync(join(root, 'copy'));
  copyFileSync(file(), join(root, 'copy', journalFile));
  const lost = await run((identity) => [orderRowOf({ clientOrderId: idOf(identity, 1) })]);
  copyFileSync(join(root, 'copy', journalFile), file());
  return [1, 2, 3, 4, 5].map((sequence) => idOf(lost, sequence));
}

test('is told by every command that reads it, and by a check, with what to do', async () => {
  await restored();
  const options = { state: dir, json: false, out: (line: string) => void out.push(line), say: () => {} };
  for (const show of [showStatus, showOrders, showFills, showPositions] as ((given: ShowOptions) => void)[])
    expect(() => show(options)).toThrow(/^do not rely on this output: .*journal\.db is older than the one that traded/);
  expect(() => check({ dir, environment: environment(), json: false, out: options.out })).toThrow(
    /^1 finding in .*: use the newest journal instead of this copy$/,
  );
});

test('that was accepted is sound, with each trade of the orders that it lacks once', async () => {
  const ids = await restored();
  await run(() => ids.flatMap((id, at) => shown(id, `10${at}`)), 'the disk broke');
  const { findings, missingOrders: lost, expectedBalances: holdings } = checkJournal(dir, environment());
  expect(findings).toEqual([]);
  expect(lost).toBe(5);
  // Five of one for 100 each, with a fee of 0.1.
  expect(holdings).toEqual({ USDT: '499.5', BTC: '5' });
  check({ dir, environment: environment(), json: false, out: (line) => void out.push(line) });
  expect(out.join('\n')).toMatch(/^lost {6}5 orders of the period that this restored journal lacks;/m);
});

test('that was accepted hides no order that is missing from a run which it has whole', async () => {
  const first = await run(() => beginning);
  await run(() => []);
  await run(() => shown(idOf(first, 7), '100'), 'the disk broke');
  const { findings, missingOrders: lost } = checkJournal(dir, environment());
  expect([findings.map(({ rule }) => rule), lost]).toEqual([['I1', 'I3'], 0]);
});

test('that was not accepted as restored has findings of orders without rows', async () => {
  await run((identity) => [...beginning, ...shown(idOf(identity, 1), '100')]);
  expect(checkJournal(dir, environment()).findings.map(({ rule }) => rule)).toEqual(['I1', 'I3']);
});

test('has the evidence of an order that it lacks, by either id, and one line for all that halt', async () => {
  const ids = await restored();
  await run(() => ids.flatMap((id, at) => shown(id, `10${at}`)), 'the disk broke');
  const options = { state: dir, json: false, out: (line: string) => void out.push(line), say: () => {} };
  for (const subject of [ids[0] ?? '', '100']) {
    out = [];
    showWhy(subject, options);
    expect(out.join('\n')).toMatch(
      /^order \S+ \(at the exchange: 100\) has no row, because this restored journal lacks that period/,
    );
    expect(out.join('\n')).toMatch(/evidence: the exchange showed trade 100: BUY 1 at 100/);
  }
  out = [];
  showStatus(options);
  expect(out.filter((line) => line.startsWith('HALT'))).toEqual([
    expect.stringMatching(/\(102\).*; and 2 more; an order/),
  ]);
});

test('an order for an amount is told with its currency, also before its first fill', async () => {
  const identity = await run((own) => [
    ...beginning,
    orderRowOf({ clientOrderId: idOf(own, 1), quantity: null, amount: '99.5', price: null, type: 'MARKET' }),
    eventOf('sending', { clientOrderId: idOf(own, 1) }),
  ]);
  showWhy(idOf(identity, 1), { state: dir, json: false, out: (line) => void out.push(line), say: () => {} });
  expect(out.join('\n')).toContain('planned: BUY BTCUSDT for 99.5 USDT at market');
});

test('a directory in the place of a journal is refused in one line', () => {
  mkdirSync(file(), { recursive: true });
  const refused = (): unknown => {
    try {
      return checkJournal(dir, environment());
    } catch (error) {
      return error;
    }
  };
  expect(refused()).toBeInstanceOf(Refusal);
});
