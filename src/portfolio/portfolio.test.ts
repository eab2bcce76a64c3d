import { describe, expect, test } from 'vitest';
import { btc, draft, fill, intent, portfolio, resting, startTime } from '../../test/kit/builders.ts';
import type { Side } from '../domain/market.ts';
import { type Lots, quantityText, ticks, unitsText } from '../domain/money.ts';
import { remaining } from './working-order.ts';

const free = (held: ReturnType<typeof portfolio>): string => unitsText(held.freeQuote('s', 'BTCUSDT'));
const exposure = (held: ReturnType<typeof portfolio>, side: Side = 'BUY'): string =>
  unitsText(held.exposure('BTCUSDT', side, ticks('100', btc)));

describe('a reservation', () => {
  test('begins before the order is sent', () => {
    const held = portfolio();
    held.reserve(intent({ price: '100' }));
    expect(free(held)).toBe('999900');
    expect(exposure(held)).toBe('100');
  });

  test('shrinks with each fill and ends with the order', () => {
    const held = portfolio();
    const order = resting(held);
    held.apply(fill({ quantity: '0.4' }));
    expect(quantityText(remaining(order), btc)).toBe('0.6');
    expect(free(held)).toBe('999900');
    expect(exposure(held)).toBe('100');
    held.close(order, 'canceled');
    expect(free(held)).toBe('999960');
    expect(exposure(held)).toBe('40');
  });

  test('is not paid from what a short position brought in: that is owed', () => {
    const held = portfolio();
    held.apply(fill({ side: 'SELL', quantity: '2' }));
    expect(free(held)).toBe('1000000');
    held.reserve(intent({ price: '100' }));
    expect(free(held)).toBe('999900');
  });

  test('stays while the outcome is unknown', () => {
    const held = portfolio();
    const order = held.reserve(intent({ price: '100' }));
    order.state = 'unknown';
    expect(free(held)).toBe('999900');
    expect(held.isUndecided('BTCUSDT')).toBe(true);
    expect(held.isUndecided('ETHUSDT')).toBe(false);
    expect([...held.orders()]).toEqual([order]);
  });

  test('of three orders whose outcome is unknown blocks every symbol, of two only theirs', () => {
    const held = portfolio();
    const lost = ['a', 'b', 'c'].map((id) => held.reserve(intent({ id, price: '100' })));
    for (const order of lost.slice(0, 2)) order.state = 'unknown';
    expect(held.isUndecided('ETHUSDT')).toBe(false);
    for (const order of lost) order.state = 'unknown';
    expect(held.isUndecided('ETHUSDT')).toBe(true);
    for (const order of lost.slice(1)) order.state = 'open';
    expect(held.isUndecided('ETHUSDT')).toBe(false);
  });

  test('of a market buy is its amount, less what its fills have spent', () => {
    const held = portfolio();
    held.reserve(intent({ amount: '100' }));
    held.apply(fill({ price: '90', quantity: '0.5' }));
    // 45 are spent, 55 still reserved.
    expect(free(held)).toBe('999900');
    held.apply(fill({ price: '130', quantity: '0.5' }));
    expect(free(held)).toBe('999890');
  });

  test('of a sale takes no quote', () => {
    const held = portfolio();
    held.apply(fill());
    resting(held, { side: 'SELL', price: '120' });
    expect(free(held)).toBe('999900');
    expect(exposure(held)).toBe('100');
    expect(exposure(held, 'SELL')).toBe('20');
  });

  test('is not ended by a state that leaves the order open', () => {
    const held = portfolio();
    const order = resting(held);
    expect(() => held.close(order, 'closing')).toThrow(/does not close/);
  });

  test('never counts more than was ordered as left', () => {
    const held = portfolio();
    const order = resting(held);
    order.filled = 200_000n as Lots;
    expect(remaining(order)).toBe(0n);
  });
});

describe('a portfolio', () => {
  test('books a fill of an order that is closed already', () => {
    const held = portfolio();
    held.close(resting(held), 'canceled');
    held.apply(fill({ quantity: '0.25' }));
    expect(unitsText(held.position('s', 'BTCUSDT').base)).toBe('0.25');
  });

  test('keeps strategies apart', () => {
    const held = portfolio();
    held.apply(fill({ strategy: 't', quantity: '2' }));
    resting(held, { strategy: 't', id: 'x' });
    expect(held.position('s', 'BTCUSDT').base).toBe(0n);
    expect(held.ordersOf('s', 'BTCUSDT')).toEqual([]);
    expect(free(held)).toBe('1000000');
    expect(exposure(held)).toBe('300');
  });

  test('counts equity at the last price, fees taken, exactly and as an estimate', () => {
    const held = portfolio();
    held.apply(fill({ price: '100', quantity: '2', fee: '0.2' }));
    held.apply(fill({ side: 'SELL', price: '110', quantity: '1', fee: '0.11' }));
    held.mark('BTCUSDT', 130.5, startTime);
    expect(unitsText(held.equity('s', 'BTCUSDT'))).toBe('1000040.19');
    expect(unitsText(held.totalEquity())).toBe('2000040.19');
    expect(held.equityEstimate()).toBeCloseTo(2_000_040.19, 6);
  });

  test('shows a strategy its position in numbers, true as fills and prices come', () => {
    const held = portfolio();
    const holding = held.holding('s', 'BTCUSDT');
    expect([holding.quantity, holding.entryPrice, holding.equity]).toEqual([0, Number.NaN, 1_000_000]);
    held.apply(fill({ price: '100', quantity: '2' }));
    held.apply(fill({ price: '200', quantity: '2' }));
    held.mark('BTCUSDT', 175, startTime);
    expect([holding.quantity, holding.entryPrice, holding.equity]).toEqual([4, 150, 1_000_100]);
  });

  test('shows a strategy as flat what is less than a lot: a fee in base leaves that after every sale', () => {
    const held = portfolio();
    const holding = held.holding('s', 'BTCUSDT');
    held.apply(fill({ quantity: '1', fee: '0.000999', feeAsset: 'BTC' }));
    held.apply(fill({ side: 'SELL', quantity: '0.999' }));
    expect(unitsText(held.position('s', 'BTCUSDT').base)).toBe('0.000001');
    expect([holding.quantity, holding.entryPrice]).toEqual([0, Number.NaN]);
  });

  test('keeps what a strategy holds that is no longer configured', () => {
    const held = portfolio();
    held.apply(fill({ strategy: 'gone' }));
    expect(held.subAccounts()).toContainEqual(expect.objectContaining({ strategy: 'gone', symbol: 'BTCUSDT' }));
    expect(unitsText(held.equity('gone', 'BTCUSDT'))).toBe('0');
  });

  test('has a new version with each fill and each order that comes or ends, and with nothing else', () => {
    const held = portfolio();
    const versions = [held.subAccount('s', 'BTCUSDT').revision];
    const next = (): void => void versions.push(held.subAccount('s', 'BTCUSDT').revision);
    held.mark('BTCUSDT', 1, startTime);
    next();
    const order = resting(held);
    next();
    held.apply(fill());
    next();
    held.close(order, 'canceled');
    next();
    const [first, marked, ...others] = versions;
    expect(marked).toBe(first);
    expect(new Set([first, ...others]).size).toBe(4);
  });

  test('finds its orders, oldest first', () => {
    const held = portfolio();
    const first = resting(held, { id: 'a' });
    const second = resting(held, { id: 'b' });
    expect(held.ordersOf('s', 'BTCUSDT')).toEqual([first, second]);
    expect(held.order('b')).toBe(second);
    held.close(first, 'filled');
    expect(held.ordersOf('s', 'BTCUSDT')).toEqual([second]);
    expect(held.order('a')).toBeUndefined();
  });

  test('does not know instruments that nobody gave it', () => {
    expect(() => portfolio().instrument('XYZ')).toThrow('no instrument XYZ');
    expect(draft().symbol).toBe('BTCUSDT');
  });
});

describe('a rest below the minimum order', () => {
  const at = (time: number, given: Parameters<typeof fill>[0]) => ({ ...fill({ price: '100', ...given }), time });
  test.each([
    ['less than the least quantity', '0.99995', true],
    ['worth less than an order may be', '0.96', true],
    ['worth as much', '0.95', false],
  ])('is no position, and what comes after it is entered anew: %s', (_, bought, isBelowMinimum) => {
    const held = portfolio();
    held.apply(at(startTime, { side: 'SELL', quantity: '1' }));
    held.apply(at(startTime + 1_000, { quantity: bought }));
    expect(held.isFlat('s', 'BTCUSDT')).toBe(isBelowMinimum);
    expect(held.holding('s', 'BTCUSDT').quantity === 0).toBe(isBelowMinimum);
    held.apply(at(startTime + 2_000, { side: 'SELL', quantity: '1' }));
    expect(held.enteredAt('s', 'BTCUSDT')).toBe(isBelowMinimum ? startTime + 2_000 : startTime);
    expect(held.entryNumber('s', 'BTCUSDT')).toBe(isBelowMinimum ? 2 : 1);
  });
});
