import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { orderRowOf } from '../../../test/kit/journal-rows.ts';
import { TestRig } from '../../../test/kit/test-rig.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { OrderEntryRow } from '../../journal/entries.ts';
import { openState } from '../../journal/open.ts';
import { openForWriting } from '../../journal/open-for-writing.ts';
import { openReader } from '../../journal/reader.ts';
import { writer } from '../../journal/writer.ts';
import { decisionsOf } from '../../session/control/decisions.ts';
import { showStatus } from '../show/status.ts';
import { showWhy } from '../show/why.ts';
import { adjust, resolve, resolveTrade, resume } from './actions.ts';

/** What is no adjustment. */
const wrong = [
  ['usdt', '1', 'is not an asset'],
  ['USDT', '1e5', 'is not an amount'],
  ['USDT', '0.0000000000000000001', 'is not an amount'],
  ['USDT', '0.00', 'would change nothing'],
  ['USDTT', '5', 'is not an asset of this account (did you mean "USDT"?): the journal knows BTC, USDT'],
] as const;
const binding = { mode: 'live', account: 'spot', venue: 'v' } as const;
const quarantined = orderRowOf({ clientOrderId: 'saaaaab00001', state: 'quarantined', quarantineReason: 'unproven' });
const open = orderRowOf({ clientOrderId: 'saaaaab00002', orderId: '1001', state: 'open' });
let dir: string;
let out: string[];
beforeEach(() => {
  out = [];
  dir = mkdtempSync(join(tmpdir(), 'sluice-decide-'));
  const { path, lock } = openState(dir, binding, ['s']);
  const db = openForWriting(path);
  writer(
    db,
    1,
  )([
    quarantined,
    open,
    { kind: 'instrument', symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 },
    { kind: 'halt', everything: false, at: 5, strategy: null, by: 'ledger', reason: 'the account holds -1 USDT' },
    {
      kind: 'venueOrder',
      seenAt: 3,
      symbol: 'BTCUSDT',
      orderId: '1001',
      clientOrderId: 'SAAAAAB00002',
      side: 'BUY',
      type: 'LIMIT',
      status: 'NEW',
      executed: '0',
    },
    {
      kind: 'venueTrade',
      seenAt: 4,
      symbol: 'BTCUSDT',
      tradeId: '7',
      orderIds: ['1001'],
      side: 'BUY',
      price: '100',
      quantity: '0.5',
      fee: '0',
      feeAsset: 'USDT',
      maker: true,
      time: 4,
    },
  ]);
  db.close();
  lock.release();
});
afterEach(() => rmSync(dir, { recursive: true }));

const options = () => ({ state: dir, json: false, out: (line: string) => void out.push(line), say: () => undefined });
function read<T>(look: (reader: ReturnType<typeof openReader>) => T): T {
  const reader = openReader(dir);
  try {
    return look(reader);
  } finally {
    reader.close();
  }
}
const orderNow = (id: string): OrderEntryRow | undefined =>
  read((reader) => reader.orders('client_order_id = ?', id)[0]);

describe('sluice resolve, without a daemon', () => {
  test('closes a quarantined order as it is told, and writes down who said so', async () => {
    await resolve('saaaaab00001', { ...options(), as: 'canceled', reason: 'seen on the page of the exchange' });
    expect(out.join()).toContain('closed as canceled');
    expect(orderNow('saaaaab00001')).toMatchObject({ state: 'canceled', quarantineReason: 'unproven' });
    expect(orderNow('saaaaab00001')?.closedAt).not.toBeNull();
    const events = read((reader) => reader.events('saaaaab00001'));
    expect(events.map(({ event, detail }) => [event, detail])).toEqual([
      ['resolved', { as: 'canceled', by: 'operator', reason: 'seen on the page of the exchange' }],
      ['closed', { state: 'canceled' }],
    ]);
    // What the next daemon writes about it comes after that.
    const { path, lock, identity } = openState(dir, binding, ['s']);
    const db = openForWriting(path);
    writer(db, identity.epoch)([{ kind: 'event', at: 9, clientOrderId: 'saaaaab00001', event: 'found', detail: {} }]);
    db.close();
    lock.release();
    expect(read((reader) => reader.events('saaaaab00001')).map(({ event }) => event)).toEqual([
      'resolved',
      'closed',
      'found',
    ]);
  });

  test.each([
    ['saaaaab00002', 'the exchange decides its outcome'],
    ['saaaaax', 'there is no order saaaaax'],
  ])('refuses %s and changes nothing', async (id, why) => {
    const asked = resolve(id, { ...options(), as: 'absent', reason: 'why not' });
    await expect(asked).rejects.toThrow(Refusal);
    await expect(asked).rejects.toThrow(why);
    expect(orderNow('saaaaab00002')).toMatchObject({ state: 'open', closedAt: null });
  });

  test.each([
    [{}, 'give either --as STATE or --adopt EXCHANGE_ORDER_ID'],
    [{ as: 'absent', adopt: '1001' } as const, 'give either --as STATE'],
    [{ adopt: 'web_1' }, 'web_1 is not an order id of the exchange'],
    [{ adopt: '1001' }, 'no daemon runs on'],
  ])('refuses %j and changes nothing', async (decision, why) => {
    const asked = resolve('saaaaab00001', { ...options(), ...decision, reason: 'seen' });
    await expect(asked).rejects.toThrow(Refusal);
    await expect(asked).rejects.toThrow(why);
    expect(orderNow('saaaaab00001')).toMatchObject({ state: 'quarantined', orderId: null });
  });
});

test.each([
  ['', 'is empty'],
  ['  ', 'is empty'],
  ['x'.repeat(501), 'has 501 characters'],
])('a reason that says nothing or too much is refused before anything is written: "%s"', async (reason, why) => {
  await expect(adjust('USDT', '5', { ...options(), reason })).rejects.toThrow(why);
  await expect(resolve('saaaaab00001', { ...options(), as: 'absent', reason })).rejects.toThrow(why);
  expect(orderNow('saaaaab00001')).toMatchObject({ state: 'quarantined' });
});

describe('sluice resolve-trade, without a daemon', () => {
  const oddTrade = (tradeId: string, quantity: string, symbol = 'BTCUSDT') => ({
    kind: 'quarantinedTrade' as const,
    ...{
      symbol,
      tradeId,
      orderIds: ['1001'],
      side: 'BUY' as const,
      price: '100',
      quantity,
      fee: '0',
      feeAsset: 'USDT',
    },
    ...{ maker: true, time: 5, at: 6, why: `its quantity is ${quantity}`, raw: `{"qty":"${quantity}"}` },
    ...{ canBeAccepted: !quantity.startsWith('-'), decision: null, decidedAt: null, by: null, reason: null },
  });
  beforeEach(() => {
    const { path, lock, identity } = openState(dir, binding, ['s']);
    const db = openForWriting(path);
    writer(db, identity.epoch)([oddTrade('8', '7'), oddTrade('9', '-1'), oddTrade('9', '3', 'ETHUSDT')]);
    db.close();
    lock.release();
  });
  const decide = (trade: string, how: 'accept' | 'discard', reason = 'seen on its page') =>
    resolveTrade(trade, { ...options(), accept: false, discard: false, [how]: true, reason });
  const decisions = () =>
    read((reader) => reader.quarantinedTrades().map(({ tradeId, symbol, decision }) => [tradeId, symbol, decision]));

  test('writes down who decided what, and what is accepted is evidence of which the next start makes a fill', async () => {
    await decide('8', 'accept');
    await decide('BTCUSDT:9', 'discard');
    expect(out).toEqual([
      expect.stringContaining('Trade 8 accepted and booked as the exchange shows it'),
      expect.stringContaining('Trade BTCUSDT:9 discarded. It will never be booked'),
    ]);
    expect(decisions()).toEqual([
      ['8', 'BTCUSDT', 'accepted'],
      ['9', 'BTCUSDT', 'discarded'],
      ['9', 'ETHUSDT', null],
    ]);
    const { loaded, lock } = openState(dir, binding, ['s']);
    lock.release();
    expect(loaded.venueTrades.map(({ tradeId, quantity }) => [tradeId, quantity])).toContainEqual(['8', '7']);
    out = [];
    showWhy('saaaaab00002', options());
    expect(out.join('\n')).toContain(
      'QUARANTINED trade, not booked: trade 8: its quantity is 7; as shown: {"qty":"7"}',
    );
    expect(out.join('\n')).toContain('quarantined trade accepted: trade 8, by operator: seen on its page');
    expect(out.join('\n')).toContain('quarantined trade discarded: trade 9, by operator: seen on its page');
  });

  test.each([
    ['BTCUSDT:9', 'accept', 'trade BTCUSDT:9 cannot be accepted: its quantity is -1'],
    ['9', 'discard', 'trade 9 is quarantined on BTCUSDT and on ETHUSDT: write BTCUSDT:9 or ETHUSDT:9'],
    ['7', 'discard', 'trade 7 is not quarantined: sluice status lists those that are'],
  ] as const)('refuses %s %s and changes nothing', async (trade, how, why) => {
    await expect(decide(trade, how)).rejects.toThrow(why);
    expect(decisions().every(([, , decision]) => decision === null)).toBe(true);
  });

  test('refuses a reason that says nothing, and both or neither way', async () => {
    await expect(decide('8', 'accept', ' ')).rejects.toThrow('is empty');
    for (const both of [true, false])
      await expect(resolveTrade('8', { ...options(), accept: both, discard: both, reason: 'x' })).rejects.toThrow(
        'give either --accept',
      );
  });

  test('status lists what waits for a decision', () => {
    showStatus(options());
    expect(out.join('\n')).toContain(
      'QUARANTINED trade 8: BTCUSDT is blocked, since its quantity is 7 (sluice resolve-trade 8 decides); as shown: {"qty":"7"}',
    );
    out = [];
    showStatus({ ...options(), json: true });
    expect(JSON.parse(out[0] ?? '')).toMatchObject({
      quarantinedTrades: [{ tradeId: '8' }, { tradeId: '9' }, { tradeId: '9' }],
    });
  });
});

describe('sluice adjust, without a daemon', () => {
  test('is a row that the next daemon counts', async () => {
    await adjust('USDT', '-12.50', { ...options(), reason: 'withdrawn' });
    const { loaded, lock } = openState(dir, binding, ['s']);
    lock.release();
    expect(loaded.adjustments).toMatchObject([
      { what: 'adjust', asset: 'USDT', amount: '-12.5', by: 'operator', reason: 'withdrawn' },
    ]);
  });

  test.each([
    ['USDT', '2.50', 'counts 2.5 USDT more'],
    ['USDT', '-2.50', 'counts 2.5 USDT less'],
  ])('says which way %s %s goes', async (asset, amount, said) => {
    await adjust(asset, amount, { ...options(), reason: 'x' });
    expect(out.join()).toContain(said);
  });

  /** What the account held at first, and what of that was missing when it was last compared. */
  const began = (held: string, missing?: string): void => {
    const { path, lock } = openState(dir, binding, ['s']);
    const db = openForWriting(path);
    const at = 6;
    writer(
      db,
      2,
    )([
      { kind: 'adjustment', at, what: 'baseline', asset: 'BTC', amount: held, by: 'sluice', reason: 'begun' },
      ...(missing === undefined
        ? []
        : [{ kind: 'audit', at, outcome: 'off', differences: { BTC: missing }, held: {} } as const]),
    ]);
    db.close();
    lock.release();
  };

  test('takes no more than the ledger holds, unless the account was seen to lack it', async () => {
    began('1.4');
    const take = (amount: string): Promise<void> => adjust('BTC', amount, { ...options(), reason: 'withdrawn' });
    await expect(take('-1000')).rejects.toThrow(
      'the ledger has 1.4 BTC, and 1000 less is below zero: check the amount and its sign',
    );
    await take('-1.4');
    began('0', '-0.5');
    await expect(take('-0.6')).rejects.toThrow('the account differed from the ledger by -0.5 BTC');
    await take('-0.5');
    expect(out.at(-1)).toContain('counts 0.5 BTC less');
  });

  test.each(wrong)('refuses %s %s', async (asset, amount, why) => {
    await expect(adjust(asset, amount, { ...options(), reason: 'x' })).rejects.toThrow(why);
  });

  test('is refused on paper, which is compared with no account', async () => {
    rmSync(dir, { recursive: true });
    openState(dir, { ...binding, mode: 'paper' }, ['s']).lock.release();
    await expect(adjust('USDT', '5', { ...options(), reason: 'x' })).rejects.toThrow(
      /^nothing can be adjusted on paper/,
    );
  });
});

describe('a daemon that is told to adjust, by whomever', () => {
  const said = { by: 'dashboard', reason: 'x' };
  test.each(wrong)('refuses %s %s in the words of the command', async (asset, amount, why) => {
    await expect(decisionsOf(new TestRig().assembled).adjust({ asset, amount, ...said })).rejects.toThrow(why);
  });

  test('takes no more than the ledger holds, and counts what comes', async () => {
    const { assembled } = new TestRig();
    assembled.execution.books?.ledger.adjust({ what: 'baseline', asset: 'USDT', amount: '10' });
    const { adjust: told } = decisionsOf(assembled);
    await expect(told({ asset: 'USDT', amount: '-11', ...said })).rejects.toThrow(
      'the ledger has 10 USDT, and 11 less is below zero',
    );
    expect(await told({ asset: 'USDT', amount: '-10.0', ...said })).toContain('counts 10 USDT less');
  });

  test('says that on margin nothing compares it', async () => {
    const { assembled } = new TestRig({ account: 'margin', balances: false });
    expect(await decisionsOf(assembled).adjust({ asset: 'USDT', amount: '1', ...said })).toContain(
      'counts 1 USDT more; nothing compares it',
    );
  });

  test('refuses it on paper', async () => {
    const { assembled } = new TestRig({ balances: false });
    await expect(decisionsOf(assembled).adjust({ asset: 'USDT', amount: '1', ...said })).rejects.toThrow(
      /^nothing can be adjusted on paper/,
    );
  });
});

test('status shows what is quarantined and what halts, with what it means; resume lifts it', async () => {
  showStatus(options());
  expect(out.join('\n')).toMatch(/QUARANTINED order saaaaab00001[\s\S]*HALT .*holds -1 USDT; the account holds less/);
  out = [];
  await resume({ ...options(), reason: 'looked' });
  expect(out.join()).toContain(
    'This lifts HALT (the account holds -1 USDT). If the cause persists, trading halts again.',
  );
  expect(read((reader) => reader.halts())).toEqual([]);
});

test('why shows what the exchange itself showed, and the way to decide', () => {
  showWhy('saaaaab00002', options());
  expect(out.join('\n')).toContain(
    'evidence: the exchange reported: order 1001, client id SAAAAAB00002, LIMIT BUY, NEW, 0 executed',
  );
  expect(out.join('\n')).toContain('evidence: the exchange showed trade 7: BUY 0.5 at 100');
  out = [];
  showWhy('saaaaab00001', options());
  expect(out.join('\n')).toContain('sluice resolve saaaaab00001 --as absent|filled|canceled --reason TEXT');
});
