import { expect, test } from 'vitest';
import { at, intent } from '../../../test/kit/paper.ts';
import { noLots, noTicks, noUnits } from '../../domain/money.ts';
import { type PaperOrder, type PaperTrade, Records } from './records.ts';

const trade = (id: number): PaperTrade => ({
  tradeId: String(id),
  symbol: 'XZ',
  price: noTicks,
  quantity: noLots,
  orderIds: [],
  evidence: { rule: 'kline-open' },
  bestPrice: undefined,
  clientOrderId: 'c',
  side: 'BUY',
  maker: false,
  fee: noUnits,
  feeAsset: 'X',
  time: 0,
});
const order = (id: number): PaperOrder => ({
  orderId: String(id),
  intent: intent(),
  at,
  status: 'FILLED',
  executed: noLots,
  locked: noUnits,
});

test('trades come in pages of a thousand, oldest first, which a reader can walk', () => {
  const records = new Records();
  for (let id = 1; id <= 2500; id++) records.addTrade(trade(id));
  const page = (from?: string): string => {
    const { rows, full } = records.tradesSince('XZ', from);
    return `${rows[0]?.tradeId ?? ''}-${rows.at(-1)?.tradeId ?? ''}${full ? ' full' : ''}`;
  };
  expect([page(), page('1'), page('1000'), page('1999'), page('2500'), page('2501')]).toEqual([
    '1501-2500 full',
    '1-1000 full',
    '1000-1999 full',
    '1999-2500',
    '2500-2500',
    '-',
  ]);
  expect(records.tradesSince('YZ', undefined)).toEqual({ rows: [], full: false });
});

test('of very many trades and closed orders the youngest can be asked for', () => {
  const records = new Records();
  for (let id = 1; id <= 10_000; id++) {
    records.addTrade(trade(id));
    const one = order(id);
    records.add(one);
    records.close(one);
  }
  const [oldest] = records.tradesSince('XZ', '1').rows;
  expect(Number(oldest?.tradeId)).toBeGreaterThan(6000);
  expect(Number(oldest?.tradeId)).toBeLessThanOrEqual(8000);
  expect(records.order('8001')).toBeDefined();
  expect(records.order('1')).toBeUndefined();
});

test('an open order is never forgotten', () => {
  const records = new Records();
  records.add(order(0));
  for (let id = 1; id <= 10_000; id++) {
    const one = order(id);
    records.add(one);
    records.close(one);
  }
  expect(records.order('0')).toBeDefined();
});
