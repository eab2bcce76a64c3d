/** What the exchange asks of orders changes while a daemon trades: decimals, minima, and whether a symbol is there at all. */
import { describe, expect, test } from 'vitest';
import { differencesAtRest, quiet } from '../kit/books.ts';
import { profiles } from '../kit/quirk-run.ts';
import { price, quotes, target, trader } from '../kit/rig.ts';
import { exchange, rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { pass, until } from '../kit/until.ts';

const resting = () => exchange.openOrders(trader.uid);
const bid = (at: number, quantity: number) => quotes({ side: 'BUY', price: at, quantity });

describe.each(profiles)('on the %s profile', (profile) => {
  rigForEachTest({ profile });

  test('fewer decimals are learnt from the first refusal, orders are rounded to them, and a restart continues with them', async () => {
    rig.emit('maker', bid(price / 2 + 0.11, 0.1234));
    rig.emit('taker', target(0.1234));
    const daemon = await rig.start();
    await quiet(rig, exchange);
    expect(resting()).toMatchObject([{ price: '5000.11', volume: '0.1234' }]);
    exchange.happen({ terms: { symbol: 'BTCUSDT', pricePlacesFewer: 1, quantityPlacesFewer: 2, minNotional: '10' } });
    rig.emit('maker', bid(price / 2 + 0.55, 0.2345));
    await daemon.line(/BTCUSDT: the exchange accepts 1 decimal of price, 2 of quantity, at least .* 10 USDT now/);
    await until('a rounded order', () => resting().some((order) => order.price === '5000.6'));
    expect(resting()).toMatchObject([{ price: '5000.6', volume: '0.23' }]);
    // As it was made of the signal, so that the books can be compared with it.
    rig.emit('maker', bid(5_000.6, 0.23));
    rig.emit('taker', target(0.3));
    await quiet(rig, exchange);
    const refused = rig.read((reader) => reader.orders("state = 'rejected'"));
    expect(refused.length).toBeLessThanOrEqual(2);
    await daemon.end('SIGKILL');

    // The journal's rows are finer than what is listed now.
    const again = await rig.start();
    expect(await differencesAtRest(rig, exchange)).toEqual([]);
    rig.emit('taker', target(0));
    await until('a sale', () => exchange.allTrades(trader.uid).some(({ side }) => side === 'SELL'));
    // It leaves a part of a step behind, which the signal does not know of.
    rig.emit('taker', undefined);
    expect(await differencesAtRest(rig, exchange)).toEqual([]);
    expect(rig.read((reader) => reader.orders("state = 'rejected'"))).toHaveLength(refused.length);
    expect((await again.end('SIGINT')).code).toBe(130);
  });

  test('a symbol that is delisted is noticed within minutes of the exchange, takes no more orders, and the others go on', async () => {
    rig.emit('other', bid(price / 2, 0.1));
    const daemon = await rig.start();
    await quiet(rig, exchange);
    exchange.happen({ delist: 'ETHUSDT' });
    await daemon.line(/no order is created in ETHUSDT: the exchange no longer lists it/);
    rig.emit('other', bid(price / 2 + 1, 0.1));
    rig.emit('taker', target(0.1));
    await until('a fill elsewhere', () => exchange.allTrades(trader.uid).length === 1);
    await pass(300);
    const inIt = exchange.allOrders(trader.uid).filter(({ symbol }) => symbol === 'ETHUSDT');
    expect(inIt.map(({ status }) => status)).toEqual(['CANCELED']);
    expect((await daemon.end('SIGINT')).code).toBe(130);
  });
});
