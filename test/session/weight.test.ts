/** The weight plan against what the built-in exchange counts, and a busy account against its limits. `bench/weight.ts` takes an hour. */
import { describe, expect, it } from 'vitest';
import { busy, weigh } from '../kit/weighed.ts';

describe('the weight plan', () => {
  it.each([
    ['a quote that is moved now and then', [{ ordersPerMinute: 2, resting: true }]],
    ['a position that comes and goes', [{ ordersPerMinute: 2, resting: false }]],
    ['quotes that are moved each second', [{ ordersPerMinute: 60, resting: true }]],
    ['nothing to do', [{ ordersPerMinute: 0, resting: true }]],
    [
      'several together',
      [0, 1, 4].flatMap((ordersPerMinute) => [true, false].map((resting) => ({ ordersPerMinute, resting }))),
    ],
  ])('is right to within 5 % for %s', async (_, strategies) => {
    const { plan, weightPerMinute, refusals } = await weigh({ strategies, minutes: 10 });
    expect(plan.faults).toEqual([]);
    expect(Math.abs(plan.weightPerMinute / weightPerMinute - 1)).toBeLessThan(0.05);
    expect(refusals).toBe(0);
  });
});

describe('ten kinds of strategies on forty symbols', () => {
  it('fit, and draw no 429', async () => {
    const { plan, weightPerMinute, refusals } = await weigh({ strategies: busy(40), minutes: 1 });
    expect(plan.faults).toEqual([]);
    expect(weightPerMinute).toBeGreaterThan(2_500);
    expect(refusals).toBe(0);
  });

  it('draw none either where they signal more than there is: then they wait', async () => {
    const strategies = busy(8).map(({ resting }) => ({ resting, ordersPerMinute: 30 }));
    const limited = { strategies, ipWeightPerMinute: 1_500, minutes: 2 };
    const { plan, weightPerMinute, refusals, meter } = await weigh(limited);
    expect(plan.faults).toEqual([
      expect.stringMatching(/needs \d+ of request weight a minute, and there is room for 1200/),
    ]);
    expect(weightPerMinute).toBeGreaterThan(1_000);
    expect(weightPerMinute).toBeLessThanOrEqual(1_500);
    expect(meter.waiting).toBeGreaterThan(0);
    expect(refusals).toBe(0);
  });
});
