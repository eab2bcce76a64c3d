import { describe, expect, it } from 'vitest';
import { stubbed } from '../../../../test/kit/exchange-stub.ts';
import { units } from '../../../domain/money.ts';

const at = stubbed();
const enveloped = (data: object) => ({
  code: '0',
  msg: 'suc',
  message: null,
  data: { date: 1_595_563_624_731, ...data },
});

describe('the aggregated data', () => {
  it('gives trades, oldest first, and counts what cannot be read', async () => {
    const trade = (tradeID: number, more = {}) => ({
      tradeID,
      price: '9200',
      base_volume: '0.5',
      quote_volume: '4600',
      trade_timestamp: `${1_595_563_624_731 + tradeID}`,
      type: 'sell',
      ...more,
    });
    at.stub.answer = () => enveloped({ trades: [trade(2), trade(1), trade(0, { price: 'free' }), null] });
    const { exchange } = at.open();
    expect(await exchange.openData.trades('BTC', 'USDT', 4)).toMatchObject({
      value: [{ id: '1', price: 9_200, side: 'SELL' }, { id: '2' }],
    });
    expect(exchange.counters()).toEqual({ 'unreadable open data': 2 });
    expect(at.stub.requests[0]?.target).toBe('/open/pub/trades?base=BTC&quote=USDT&trades=4');
  });

  it('gives tickers and assets by their names', async () => {
    const { openData } = at.open().exchange;
    at.stub.answer = () =>
      enveloped({
        ticker: { BTC_USDT: { base_id: '1', last_price: '9200', base_volume: '12.5', quote_volume: '1.15E5' } },
      });
    expect(await openData.ticker()).toEqual({
      kind: 'ok',
      value: [{ symbol: 'BTC_USDT', last: 9_200, baseVolume: 12.5, quoteVolume: 115_000 }],
    });
    at.stub.answer = () =>
      enveloped({
        asset: { BTC: { name: 'bitcoin', can_withdraw: 'true', can_deposit: 'perhaps', min_withdraw: '0.01' } },
      });
    expect(await openData.asset()).toEqual({
      kind: 'ok',
      value: [
        {
          asset: 'BTC',
          name: 'bitcoin',
          canWithdraw: true,
          canDeposit: undefined,
          minWithdraw: units('0.01'),
          maxWithdraw: undefined,
        },
      ],
    });
  });

  it('gives depth and the summary', async () => {
    const { openData } = at.open().exchange;
    const book = { bids: [['9199', '1']], asks: [['9200', '2']] };
    at.stub.answer = () => enveloped({ [`orderbook`]: book });
    expect(await openData.depth('BTC', 'USDT', { step: 2, bids: 5, asks: 7 })).toEqual({
      kind: 'ok',
      value: { bids: [[9_199, 1]], asks: [[9_200, 2]] },
    });
    await openData.depth('BTC', 'USDT');
    expect(at.stub.requests.map(({ target }) => target.split('?')[1])).toEqual([
      'base=BTC&quote=USDT&depth=2&bids=5&asks=7',
      'base=BTC&quote=USDT',
    ]);
    at.stub.answer = () =>
      enveloped({
        ticker: [
          {
            symbol: 'BTCUSDT',
            high: '9279',
            low: '9046',
            buy: 9_199.1,
            sell: 9_200.2,
            vol: '1302',
            last: 9_200,
            rose: '+0.01',
          },
        ],
      });
    expect(await openData.allTickers()).toMatchObject({ value: [{ symbol: 'BTCUSDT', buy: 9_199.1, change: 0.01 }] });
  });

  it.each([{}, [], { code: '0', data: null }, enveloped({ trades: {}, ticker: 7, asset: [] }), '<html>'])(
    'fails for %j',
    async (body) => {
      at.stub.answer = () => body;
      const { openData } = at.open().exchange;
      for (const ask of [
        openData.trades('B', 'U'),
        openData.ticker(),
        openData.asset(),
        openData.depth('B', 'U'),
        openData.allTickers(),
      ])
        expect(await ask).toMatchObject({ kind: 'failed' });
    },
  );
});
