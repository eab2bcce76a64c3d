import type { Target } from 'sluice';
import { decide, holding, klines } from 'sluice/testing';
import { describe, expect, test } from 'vitest';
import { positionsOf, runScenario } from '../../test/kit/shipped-scenario.ts';
import pair from './index.ts';

const params = { period: 240, enter: 2, leave: 0.5, base: 0.4, shift: 0.3 };
const nothing = holding();

/** The shares that it wants to hold, by role. */
function shares(z: number, given: Partial<typeof params> = {}) {
  const legs = pair.decide(
    { z },
    {
      ...{ time: 0, klines: { first: undefined, second: undefined }, equity: 10_000 },
      ...{ holdings: { first: nothing, second: nothing }, params: { ...params, ...given } },
    },
  );
  return legs && (Object.values(legs) as Target[]).map(({ size }) => 'share' in size && Number(size.share.toFixed(9)));
}

describe('pair', () => {
  test('shifts to the market that is cheap relative to the other', () => {
    expect(shares(2)).toEqual([0.1, 0.7]);
    expect(shares(-2.4)).toEqual([0.7, 0.1]);
  });

  test('holds both alike near the average, and says nothing new in between', () => {
    expect(shares(0.5)).toEqual([0.4, 0.4]);
    expect(shares(-0.1)).toEqual([0.4, 0.4]);
    expect(shares(1.2)).toBeUndefined();
    expect(shares(-1.2)).toBeUndefined();
  });

  test('measures how far the ratio of both markets is from its average', () => {
    const start = klines({ interval: '60min', from: 100 });
    const calm = { first: start.rise(15).fall(15), second: start.rise(15).fall(15) };
    const given = { params: { ...params, period: 20 } };
    expect(decide(pair, calm, given)?.first).toMatchObject({ reason: 'the ratio of the markets is near its average' });
    const apart = { first: calm.first.rise(2), second: calm.second.fall(2) };
    expect(decide(pair, apart, given)?.first).toMatchObject({
      reason: 'the first market is expensive relative to the second',
    });
    expect(decide(pair, { ...apart, second: apart.second.gap(1).rise(1) }, given)).toBeUndefined();
  });

  test('without a base it is short of one and long of the other by the same share', () => {
    expect(shares(3, { base: 0 })).toEqual([-0.3, 0.3]);
  });

  test('refuses to shift back before it shifts', () => {
    expect(pair.check?.({ ...params, leave: 2 })).toBe('leave (2) must be below enter (2)');
  });
});

test('over recorded hours it sells one market at the same open at which it buys the other', async () => {
  const { fills } = await runScenario('pair-btc-eth');
  const sales = fills.filter(({ side }) => side === 'SELL');
  expect(sales.length).toBeGreaterThan(20);
  for (const { time, symbol } of sales)
    expect(fills.find((fill) => fill.time === time && fill.side === 'BUY')?.symbol).not.toBe(symbol);
  expect(new Set(positionsOf(fills).map(([, held]) => [...held.keys()].toSorted().join(' ')))).toEqual(
    new Set(['BTCUSDT', 'BTCUSDT ETHUSDT', 'ETHUSDT']),
  );
});

test('on margin it is long of one market and short of the other, or has neither', async () => {
  const { fills, finalEquity } = await runScenario('pair-btc-eth-margin');
  expect(Number(finalEquity)).toBeCloseTo(19_355.33, 2);
  const held = new Map<string, number>();
  const seen = new Set<string>();
  for (const { time, symbol, side, quantity, fee, feeAsset } of fills) {
    const received = Number(quantity) - (symbol.startsWith(feeAsset) ? Number(fee) : 0);
    held.set(symbol, (held.get(symbol) ?? 0) + (side === 'BUY' ? received : -Number(quantity)));
    if (fills.findLast((fill) => fill.time === time)?.symbol !== symbol) continue;
    // A thousandth is what a fee in base leaves of a position that was closed.
    const signs = ['BTCUSDT', 'ETHUSDT'].map((one) => {
      const base = held.get(one) ?? 0;
      return Math.abs(base) < (one === 'BTCUSDT' ? 0.001 : 0.03) ? 0 : Math.sign(base);
    });
    seen.add(signs.join(' '));
  }
  expect(seen).toEqual(new Set(['-1 1', '1 -1', '0 0']));
});
