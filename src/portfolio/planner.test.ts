import { describe, expect, test } from 'vitest';
import { btc, decision, draft, fill, intent, portfolio, resting, startTime, target } from '../../test/kit/builders.ts';
import { type Lots, lots, quantityText, rate, units } from '../domain/money.ts';
import { type Account, type Decision, type Leg, type Signal, sameSignal, type Target } from '../domain/order.ts';
import type { Step } from './plan.ts';
import { Planner, type Restriction } from './planner.ts';
import { Portfolio } from './portfolio.ts';
import { Protection } from './protection.ts';
import { sizeInLots } from './target-size.ts';

interface Bench {
  readonly held: Portfolio;
  readonly planner: Planner;
  readonly protection: Protection;
  /** The sizes that were reported, in lots as text. */
  readonly sizes: (string | undefined)[];
  /** The orders that were reported as too small: purpose, side, lots and value. */
  readonly small: string[];
}

function bench(held = portfolio(), restriction?: () => Restriction | undefined): Bench {
  const sizes: (string | undefined)[] = [];
  const small: string[] = [];
  const protection = new Protection(held, () => undefined);
  const planner = new Planner({
    portfolio: held,
    protection,
    account: 'spot',
    marketBuyIn: 'lots',
    feeInBase: rate('0'),
    ...(restriction && { restriction }),
    changed: (_: Leg, size: Lots | undefined) => sizes.push(size === undefined ? undefined : quantityText(size, btc)),
    unsent: ({ purpose, side }, { code, facts }) =>
      small.push(`${code}: ${purpose} ${side} ${facts['quantity']} worth ${facts['value']} of ${facts['minNotional']}`),
  });
  return { held, planner, protection, sizes, small };
}

const sizeOf = (step: Step | undefined): string =>
  step?.do === 'create' ? quantityText(step.draft.expectedLots, btc) : (step?.do ?? 'nothing');

describe('a standing signal', () => {
  test('is done with while its strategy may not enter, at every price, and is planned again once it may', () => {
    let may: Restriction['may'] | undefined;
    const restriction = () => may && { may, denial: { code: 'killed', facts: {} } as const };
    const { planner, held, small } = bench(portfolio(), restriction);
    const wanted = decision(target(1));
    planner.note(wanted);
    may = 'exit';
    expect(planner.plan(wanted)).toBeUndefined();
    expect(small).toHaveLength(1);
    held.mark(btc.symbol, 120, startTime + 1);
    expect(planner.note(wanted)).toBe(false);
    // A position below the exchange's minimum would not be reported: far from the price it is looked at again.
    held.mark(btc.symbol, 10_000, startTime + 2);
    expect(planner.note(wanted)).toBe(true);
    expect(planner.plan(wanted)).toBeUndefined();
    may = 'reduce';
    expect(planner.note(wanted)).toBe(true);
    expect(planner.plan(wanted)).toBeUndefined();
    expect(small).toHaveLength(1);
    may = undefined;
    expect(planner.note(wanted)).toBe(true);
    expect(sizeOf(planner.plan(wanted))).toBe('1');
  });

  test('is reported once, however often it is repeated', () => {
    const { planner, sizes } = bench();
    for (const reason of ['one', 'two', 'three']) planner.note(decision(target(1, { reason })));
    expect(sizes).toEqual(['1']);
    expect(planner.standing('s', 'BTCUSDT')?.signal.reason).toBe('three');
  });

  test('is sized once: repeating a share of equity does not rebalance it with every price', () => {
    const { planner, held, sizes } = bench();
    const share = decision({ kind: 'target', size: { share: 0.5 }, reason: '' });
    planner.note(share);
    expect(sizeOf(planner.plan(share))).toBe('5000');
    held.mark(btc.symbol, 50, startTime + 1);
    planner.note(share);
    expect(sizeOf(planner.plan(share))).toBe('5000');
    expect(sizes).toEqual(['5000']);
  });

  test('keeps its size while only its levels move', () => {
    const { planner, held } = bench();
    planner.note(decision({ kind: 'target', size: { share: 0.5 }, stop: 90, reason: '' }));
    held.mark(btc.symbol, 50, startTime + 1);
    const moved = decision({ kind: 'target', size: { share: 0.5 }, stop: 45, reason: '' });
    planner.note(moved);
    expect(sizeOf(planner.plan(moved))).toBe('5000');
  });

  test('is sized anew when it changes', () => {
    const { planner, held } = bench();
    planner.note(decision({ kind: 'target', size: { share: 0.5 }, reason: '' }));
    held.mark(btc.symbol, 50, startTime + 1);
    const more = decision({ kind: 'target', size: { share: 0.25 }, reason: '' });
    planner.note(more);
    expect(sizeOf(planner.plan(more))).toBe('5000');
  });

  test.each([{ quantity: 2 }, { amount: 200 }])(
    'of %j from before the first price is sized at the first price',
    (size) => {
      const { planner, held, sizes } = bench(portfolio(null));
      const early = decision({ kind: 'target', size, reason: '' });
      planner.note(early);
      expect(planner.plan(early)).toBeUndefined();
      expect(sizes).toEqual([]);
      held.mark(btc.symbol, 100, startTime);
      expect(sizeOf(planner.plan(early))).toBe('2');
      held.mark(btc.symbol, 50, startTime);
      planner.note(early);
      expect(sizeOf(planner.plan(early))).toBe('2');
      expect(sizes).toEqual(['2']);
    },
  );

  test('that was kept over a restart keeps its size and is not reported again', () => {
    const { planner, sizes } = bench();
    const share = decision({ kind: 'target', size: { share: 0.5 }, reason: '' });
    planner.restore(share.legs[0], lots('3', btc), 7);
    planner.note(share);
    expect(sizeOf(planner.plan(share))).toBe('3');
    expect(sizes).toEqual([]);
  });

  test('belongs to one strategy and one symbol', () => {
    const { planner } = bench();
    planner.note(decision(target(1), 's'));
    planner.note(decision(target(2), 't'));
    expect(sizeOf(planner.plan(decision(target(9), 's')))).toBe('1');
    expect(sizeOf(planner.plan(decision(target(9), 't')))).toBe('2');
    expect(planner.plan(decision(target(1), 'nobody'))).toBeUndefined();
  });

  test('of quotes has no size', () => {
    const { planner, sizes } = bench();
    planner.note(decision({ kind: 'quotes', quotes: [{ side: 'BUY', price: 99, quantity: 1 }], reason: '' }));
    expect(sizes).toEqual([undefined]);
  });
});

describe('a plan', () => {
  test('follows the steps and minima that the exchange lists now', () => {
    const listed = new Map([[btc.symbol, btc]]);
    const held = new Portfolio(listed, [{ strategy: 's', symbol: btc.symbol, amount: units('10000') }]);
    held.mark(btc.symbol, 100, startTime);
    const { planner } = bench(held);
    listed.set(btc.symbol, { ...btc, orderPlaces: { price: 0, quantity: 1 } });
    const next = decision(target(1.234, { limit: 99 }));
    planner.note(next);
    expect(sizeOf(planner.plan(next))).toBe('1.2');
  });

  test('waits while any order on the symbol is unknown, whoever sent it', () => {
    const { planner, held } = bench();
    const next = decision(target(1));
    planner.note(next);
    const other = held.reserve({ ...draft({ strategy: 't' }), clientOrderId: 'x', createdAt: 0, expiresAt: 0 });
    other.state = 'unknown';
    expect(planner.plan(next)).toBeUndefined();
    held.close(other, 'notSent');
    expect(sizeOf(planner.plan(next))).toBe('1');
  });

  test.each(['s', 't'])('still cancels what rests while an order of %s is unknown, and nothing else', (strategy) => {
    const { planner, held } = bench();
    const order = resting(held, { price: '99' });
    const unknown = held.reserve(intent({ id: 'x', strategy }));
    unknown.state = 'unknown';
    const next = decision({ kind: 'quotes', quotes: [{ side: 'BUY', price: 98, quantity: 1 }], reason: '' });
    planner.note(next);
    expect(planner.plan(next)).toEqual({ do: 'cancel', order });
    held.close(order, 'canceled');
    expect(planner.plan(next)).toBeUndefined();
    held.close(unknown, 'canceled');
    expect(sizeOf(planner.plan(next))).toBe('1');
  });

  test('that nothing could be done about while an order was unknown is made again after it', () => {
    const { planner, held } = bench();
    const next = decision(target(1));
    planner.note(next);
    const unknown = held.reserve(intent());
    unknown.state = 'unknown';
    expect(planner.plan(next)).toBeUndefined();
    held.close(unknown, 'canceled');
    expect(sizeOf(planner.plan(next))).toBe('1');
  });

  test('that found nothing to do is made again after a fill', () => {
    const { planner, held } = bench();
    const next = decision(target(1));
    planner.note(next);
    held.apply(fill());
    expect(planner.plan(next)).toBeUndefined();
    expect(planner.plan(next)).toBeUndefined();
    held.apply(fill({ side: 'SELL', quantity: '0.5' }));
    expect(sizeOf(planner.plan(next))).toBe('0.5');
  });

  test('that found nothing to do because an order rests is made again', () => {
    const { planner, held } = bench();
    const next = decision(target(1, { limit: 99 }));
    planner.note(next);
    const order = resting(held, { price: '99' });
    expect(planner.plan(next)).toBeUndefined();
    held.close(order, 'canceled');
    expect(sizeOf(planner.plan(next))).toBe('1');
  });

  test('of a protected target is changed by a stop although nothing was filled since', () => {
    const { planner, held, protection } = bench();
    const next = decision(target(1, { stop: 90 }));
    planner.note(next);
    held.apply(fill());
    expect(planner.plan(next)).toBeUndefined();
    protection.exit('s', 'BTCUSDT', { quantity: 1 }, 'stop', startTime);
    expect(sizeOf(planner.plan(next))).toBe('1');
  });
});

describe('a signal below the exchange’s minimum', () => {
  test('to enter is reported once, however the levels move, and again after another target', () => {
    const { planner, small } = bench();
    const emit = (quantity: number, stop?: number): void => {
      const next = decision(target(quantity, stop === undefined ? {} : { stop }));
      planner.note(next);
      expect(planner.plan(next)).toBeUndefined();
    };
    for (const stop of [90, 91, 92]) emit(0.04, stop);
    const report = 'belowMinimum: enter BUY 0.04 worth 4 of 5';
    expect(small).toEqual([report]);
    emit(0);
    emit(0.04);
    expect(small).toEqual([report, report]);
  });

  test('by a stop is reported, since the position cannot be sold', () => {
    const { planner, held, protection, small } = bench();
    const next = decision(target(0.06, { stop: 92 }));
    planner.note(next);
    held.apply(fill({ quantity: '0.06' }));
    expect(planner.plan(next)).toBeUndefined();
    held.mark(btc.symbol, 50, startTime + 1);
    protection.exit('s', 'BTCUSDT', { quantity: 0.06 }, 'stop at 92', startTime);
    expect(planner.plan(next)).toBeUndefined();
    expect(planner.plan(next)).toBeUndefined();
    expect(small).toEqual(['belowMinimum: stop SELL 0.06 worth 3 of 5']);
    held.mark(btc.symbol, 100, startTime + 2);
    expect(sizeOf(planner.plan(next))).toBe('0.06');
  });

  test('of less than a lot is reported, too', () => {
    const { planner, small } = bench();
    const next = decision(target(1e-9));
    planner.note(next);
    expect(planner.plan(next)).toBeUndefined();
    expect(small).toEqual(['belowMinimum: enter BUY 0 worth 0 of 5']);
  });

  test('of one quote among others is reported once for its side', () => {
    const { planner, held, small } = bench();
    const quotes = (price: number): Decision =>
      decision({
        kind: 'quotes',
        quotes: [
          { side: 'BUY', price, quantity: 0.04 },
          { side: 'BUY', price: price - 1, quantity: 1 },
        ],
        reason: '',
      });
    for (const price of [99, 98]) {
      const next = quotes(price);
      planner.note(next);
      expect(sizeOf(planner.plan(next))).toBe('1');
      const order = resting(held, { id: `q${price}`, price: String(price - 1) });
      expect(planner.plan(next)).toBeUndefined();
      held.close(order, 'canceled');
    }
    expect(small).toEqual(['belowMinimum: quote BUY 0.04 worth 3.96 of 5']);
  });

  test('is not reported where the dust of a fee is left, or a position is off by less', () => {
    const { planner, held, small } = bench();
    held.apply(fill({ quantity: '1' }));
    for (const quantity of [1.04, 1]) {
      const next = decision(target(quantity));
      planner.note(next);
      expect(planner.plan(next)).toBeUndefined();
    }
    held.apply(fill({ tradeId: 't2', side: 'SELL', quantity: '1' }));
    const flat = decision(target(0));
    planner.note(flat);
    expect(planner.plan(flat)).toBeUndefined();
    expect(small).toEqual([]);
  });
});

describe('the size of a target', () => {
  const size = (size: Target['size'], given: { readonly account?: Account; readonly price?: number } = {}): string => {
    const at = { account: 'spot', instrument: btc, price: 100, ...given } as const;
    return quantityText(sizeInLots(target(1, { size }), units('1000'), at), btc);
  };

  test('is its quantity, rounded towards nothing', () => {
    expect(size({ quantity: 1.234567 })).toBe('1.23456');
    expect(size({ quantity: -1.234567 }, { account: 'margin' })).toBe('-1.23456');
  });

  test('is what an amount buys at the price', () => {
    expect(size({ amount: 250 })).toBe('2.5');
    expect(size({ amount: -250 }, { account: 'margin' })).toBe('-2.5');
  });

  test('is what a share of the equity buys', () => {
    expect(size({ share: 0.5 })).toBe('5');
    expect(size({ share: 0.1 }, { price: 0.03 })).toBe('3333.33333');
  });

  test('is never short on spot', () => {
    for (const none of [{ quantity: -1 }, { amount: -5 }, { share: -1 }]) expect(size(none)).toBe('0');
  });
});

describe('two signals are the same', () => {
  const quotes = (quantity: number): Signal => ({
    kind: 'quotes',
    quotes: [{ side: 'BUY', price: 99, quantity }],
    reason: '',
  });
  test('when they ask for the same, whatever the reason', () => {
    expect(sameSignal(target(1, { reason: 'a' }), target(1, { reason: 'b' }))).toBe(true);
    expect(sameSignal(quotes(1), { ...quotes(1), reason: 'other' })).toBe(true);
  });

  test.each([
    [target(1), target(2)],
    [target(1), { ...target(1), size: { amount: 1 } }],
    [
      { ...target(1), size: { share: 1 } },
      { ...target(1), size: { amount: 1 } },
    ],
    [target(1), target(1, { limit: 99 })],
    [target(1), target(1, { stop: 99 })],
    [target(1), target(1, { takeProfit: 99 })],
    [target(1), target(1, { trailing: 0.1 })],
    [quotes(1), quotes(2)],
    [quotes(1), { kind: 'quotes', quotes: [], reason: '' }],
    [target(0), { kind: 'quotes', quotes: [], reason: '' }],
  ] as const)('but not %j and %j', (a, b) => {
    expect(sameSignal(a, b)).toBe(false);
    expect(sameSignal(b, a)).toBe(false);
  });
});
