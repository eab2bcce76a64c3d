import { describe, expect, test } from 'vitest';
import { at, balanceTexts, fees, instruments, intent, letGo, purse, refOf } from '../../../test/kit/paper.ts';
import { SimClock } from '../../clock/sim-clock.ts';
import { priceText, quantityText, rate, ticks, unitsText } from '../../domain/money.ts';
import { feesFrom, rulesets } from '../../fill/rules.ts';
import type { PaperListener } from './account.ts';
import { PaperOnKlines, type PaperOnKlinesOptions } from './on-klines.ts';
import { paperOrders } from './order-entry.ts';

function venue(options: Partial<PaperOnKlinesOptions> = {}) {
  const log: string[] = [];
  const listener: PaperListener = {
    fill: ({ quantity, price, fee, feeAsset }) =>
      log.push(`${quantityText(quantity, at)} @ ${priceText(price, at)} fee ${unitsText(fee)} ${feeAsset}`),
    end: ({ status, executed }) => log.push(`${status} ${quantityText(executed, at)}`),
  };
  const paper = new PaperOnKlines({
    intervals: new Map([['XZ', '1min']]),
    instruments,
    rules: rulesets.sluice,
    fees,
    balances: purse({ Z: '1000', X: '2' }),
    listener,
    ...options,
  });
  const balances = (): string[] => balanceTexts(paper.funds.balances());
  return { paper, market: paper.market('XZ'), log, balances };
}

let minute = 0;
const kline = (open: number, high: number, low: number, close: number, volume = 1000) => ({
  openTime: 60_000 * minute++,
  open,
  high,
  low,
  close,
  volume,
});

describe('funds', () => {
  test('a MARKET BUY locks its amount, pays what it bought for, and gives the rest back', () => {
    const { paper, market, log, balances } = venue();
    paper.submit(intent({ amount: '500' }));
    expect(balances()).toEqual(['Z 500+500', 'X 2+0']);
    market.open(kline(101, 102, 100, 101));
    expect(log).toEqual(['4.9475 @ 101.06 fee 0.009895 X', 'FILLED 4.9475']);
    // 4.9475 * 101.06 = 499.99435
    expect(balances()).toEqual(['Z 500.00565+0', 'X 6.937605+0']);
    expect(market.fills.idle).toBe(true);
  });

  test('a LIMIT BUY locks its price; what it fills for less is free again at once', () => {
    const { paper, market, balances } = venue();
    paper.submit(intent({ price: '102', lots: '8' }));
    expect(balances()).toEqual(['Z 184+816', 'X 2+0']);
    market.open(kline(101, 102, 101, 101, 5));
    // 5 at 101.06 = 505.30; 3 at 102 stay locked
    expect(balances()).toEqual(['Z 188.7+306', 'X 6.99+0']);
  });

  test('a SELL locks the base asset and brings in quote less the fee', () => {
    const { paper, market, balances } = venue();
    paper.submit(intent({ side: 'SELL', price: '110', lots: '2' }));
    expect(balances()).toEqual(['Z 1000+0', 'X 0+2']);
    const row = kline(100, 111, 100, 110);
    market.open(row);
    market.rest(row);
    expect(balances()).toEqual(['Z 1219.78+0', 'X 0+0']);
  });

  test('a canceled order gives back what it locked', () => {
    const { paper, balances, log } = venue();
    const ref = refOf(paper.submit(intent({ price: '100', lots: '2' })));
    expect(paper.cancel(ref)).toEqual({ kind: 'requested' });
    expect(balances()).toEqual(['Z 1000+0', 'X 2+0']);
    expect(log).toEqual(['CANCELED 0']);
    expect(paper.cancel(ref)).toMatchObject({ kind: 'refused', code: '-2013' });
  });

  test('under plain, a MARKET BUY in lots that the open makes too expensive is canceled, fee included', () => {
    const { paper, market, log, balances } = venue({ rules: rulesets.plain, balances: purse({ Z: '1000' }) });
    paper.submit(intent({ lots: '10' }));
    market.open(kline(100, 100, 100, 100));
    expect(log).toEqual(['CANCELED 0']);
    paper.submit(intent({ lots: '10' }));
    market.open(kline(99, 99, 99, 99));
    expect(log.slice(1)).toEqual(['10 @ 99 fee 1.98 Z', 'FILLED 10']);
    expect(balances()).toEqual(['Z 8.02+0', 'X 10+0']);
  });

  test('many small fills of an order with fees in quote owe no more than dust beyond what was locked', () => {
    const { paper, market, log, balances } = venue({
      rules: { ...rulesets.plain, limitParticipation: rulesets.sluice.limitParticipation },
      fees: feesFrom({ maker: rate('0.0012345'), taker: rate('0.0012345') }),
      balances: purse({ Z: '2.33598022' }),
    });
    paper.submit(intent({ price: '33.33', lots: '0.07' }));
    expect(balances()).toEqual(['Z 0+2.33598022']);
    for (let fill = 0; fill < 100; fill++) {
      const row = kline(34, 34, 33, 34, 0.007);
      market.open(row);
      market.rest(row);
    }
    expect(log.at(-1)).toBe('FILLED 0.07');
    expect(balances()).toEqual(['Z -0.00000078+0', 'X 0.07+0']);
  });
});

describe('orders that the exchange would refuse', () => {
  test.each([
    ['no such symbol', intent({ symbol: 'YZ', price: '1' }), '-1121'],
    ['more than is there', intent({ price: '1000.01' }), '-2017'],
    ['more base than is there', intent({ side: 'SELL', lots: '2.0001' }), '-2017'],
    ['a larger amount than is there', intent({ amount: '1000.01' }), '-2017'],
    ['below the least quantity', intent({ lots: '0.0009', side: 'SELL' }), '-1136'],
    ['below the least value', intent({ lots: '0.0099', price: '100' }), '-1136'],
    ['below the least amount', intent({ amount: '0.99' }), '-1136'],
    ['an amount with too many decimals', intent({ amount: '10.001' }), '-1111'],
    ['an amount to sell', intent({ amount: '10', side: 'SELL' }), '-1116'],
    ['a price of nothing', intent({ price: '0' }), '-1138'],
  ])('%s', async (_, order, code) => {
    const { paper, market, balances } = venue();
    expect(paper.submit(order)).toMatchObject({ kind: 'rejected', code });
    expect(market.fills.idle).toBe(true);
    expect(balances()).toEqual(['Z 1000+0', 'X 2+0']);
  });

  test('a client id that is in use, and one order too many', () => {
    const { paper } = venue();
    paper.submit(intent({ id: 'one', price: '1' }));
    expect(paper.submit(intent({ id: 'one', price: '1' }))).toMatchObject({ kind: 'rejected', code: '-1014' });
    for (let order = 1; order < 1000; order++) paper.submit(intent({ price: '1', lots: '1' }));
    expect(paper.submit(intent({ price: '1' }))).toMatchObject({ kind: 'rejected' });
  });
});

describe('stops', () => {
  const stop = { strategy: 's', side: 'SELL', price: ticks('95', at) } as const;

  test('the MARKET order that answers a triggered stop fills at once, beside the target that it cancels', () => {
    const { paper, market, log } = venue();
    const target = refOf(paper.submit(intent({ side: 'SELL', price: '103', purpose: 'takeProfit' })));
    const quiet = kline(100, 101, 99, 100);
    market.open(quiet);
    market.rest(quiet);
    const row = kline(100, 104, 94, 100);
    market.open(row);
    expect(market.triggers(row, [stop])).toHaveLength(1);
    paper.cancel(target);
    paper.submit(intent({ side: 'SELL', purpose: 'stop' }));
    market.rest(row);
    expect(log).toEqual(['CANCELED 0', '1 @ 94.45 fee 0.1889 Z', 'FILLED 1']);
    expect(market.fills.ambiguousKlines).toBe(1);
  });

  test('once its kline is over, the order of a stop is an order like any other', () => {
    const { paper, market, log } = venue();
    const row = kline(100, 104, 94, 100);
    market.triggers(row, [stop]);
    market.pause();
    paper.submit(intent({ side: 'SELL', purpose: 'stop' }));
    expect(log).toEqual([]);
    market.open(kline(90, 90, 90, 90));
    expect(log).toEqual(['1 @ 89.95 fee 0.1799 Z', 'FILLED 1']);
  });
});

describe('what can be asked for', () => {
  const portOf = (paper: PaperOnKlines) =>
    paperOrders(
      paper.funds,
      {
        submit: (one) => Promise.resolve(paper.submit(one)),
        cancel: (one) => Promise.resolve(paper.cancel(one)),
        ask: (read) => Promise.resolve(read()),
      },
      new SimClock(1000),
    );

  test('an order, the open ones, and the trades from an id on', async () => {
    const { paper, market } = venue({ firstId: 500 });
    const orders = portOf(paper);
    const first = refOf(await orders.prepare(intent({ id: 'one', amount: '100' }), at).send(letGo));
    const second = refOf(await orders.prepare(intent({ id: 'two', price: '90' }), at).send(letGo));
    market.open(kline(100, 100, 100, 100));
    market.rest(kline(100, 100, 80, 90));
    expect(await orders.query(first)).toMatchObject({
      kind: 'ok',
      value: { orderId: '500', clientOrderId: 'one', status: 'FILLED', executed: 9995n },
    });
    expect(await orders.query({ symbol: 'XZ', orderId: '7' })).toMatchObject({ kind: 'failed', code: '-2013' });
    expect(await orders.openOrders('XZ')).toEqual({ kind: 'ok', value: { rows: [], full: false } });
    const ids = async (from?: string): Promise<string[]> => {
      const answer = await orders.tradesSince('XZ', from);
      return answer.kind === 'ok'
        ? answer.value.rows.map(({ tradeId, orderIds }) => `${tradeId} of ${orderIds.join()}`)
        : [];
    };
    expect(await ids()).toEqual(['502 of 500', `503 of ${second.orderId}`]);
    expect(await ids('503')).toEqual(['503 of 501']);
    expect(await ids('1000')).toEqual([]);
    expect(await ids('99')).toHaveLength(2);
  });

  test('a prepared order says when it was signed', () => {
    const prepared = portOf(venue().paper).prepare(intent({ id: 'same' }), at);
    expect(prepared).toMatchObject({ signedAt: 1000, recvWindowMs: 2000 });
  });
});
