/** The rules are asked again just before an order leaves: what the door let pass may not be right any more. */
import { describe, expect, test } from 'vitest';
import { kill, portfolio, resting, startTime, wide } from '../../test/kit/builders.ts';
import { TestRig } from '../../test/kit/test-rig.ts';
import { SimClock } from '../clock/sim-clock.ts';
import { rate, units } from '../domain/money.ts';
import type { Limits } from '../risk/context.ts';
import { Risk } from '../risk/risk.ts';

describe('the last hop', () => {
  test.each<[string, Partial<Limits>]>([
    ['orderValue', { maxOrderValue: units('99') }],
    ['position', { maxPosition: units('99') }],
    ['orderShare', { maxOrderShare: rate('0.00001') }],
    ['allowList', { symbols: [] }],
  ])('refuses by %s what nobody asked at the door, and nothing leaves', async (code, limits) => {
    const rig = new TestRig({ limits });
    const { order, carried } = rig.begin({ price: '100', quantity: '1' });
    expect(await rig.finish(carried)).toBe('notSent');
    expect(rig.asked('create')).toBe(0);
    expect(await rig.stateOf(order)).toBe('notSent');
    const [row] = rig.db.prepare("SELECT detail FROM events WHERE event = 'notSent'").all() as { detail: string }[];
    expect(row?.detail).toContain(`denied by ${code} at the last hop`);
  });

  test.each<[string, string, (rig: TestRig) => void]>([
    [
      'the file kill',
      'the file kill asks for it',
      (rig) => {
        rig.blocked = 'the file kill asks for it';
      },
    ],
    ['a halt', 'halted: less BTC', ({ assembled }) => assembled.execution.halts.halt('ledger', 'less BTC')],
    [
      'a kill',
      'killed by operator: news',
      ({ assembled: { risk } }) => risk.switch.kill(kill({ strategy: 's', reason: 'news' })),
    ],
  ])('asks for %s, which may have come while the order was being journalled', async (_, cause, come) => {
    const rig = new TestRig();
    rig.onCommit = (event) => {
      if (event === 'sending') come(rig);
    };
    const { order, carried } = rig.begin({ price: '100', quantity: '1' });
    expect(await rig.finish(carried)).toBe('notSent');
    expect(rig.asked('create')).toBe(0);
    expect(await rig.stateOf(order)).toBe('notSent');
    const [row] = rig.db.prepare("SELECT detail FROM events WHERE event = 'notSent'").all() as { detail: string }[];
    expect(row?.detail).toContain(cause);
  });

  test('counts an order that is reserved once, not twice', () => {
    const held = portfolio();
    const order = resting(held, { price: '100', quantity: '10' });
    const judge = (limits: Partial<Limits>): string | undefined =>
      new Risk({ limits: { ...wide, ...limits }, portfolio: held, clock: new SimClock(startTime) }).judgeAgain(
        order.intent,
      )?.code;
    expect(judge({ maxPosition: units('1000'), maxOpenOrders: 1, maxPositionShare: rate('0.0005') })).toBeUndefined();
    expect(judge({ maxPosition: units('999.99') })).toBe('position');
    expect(judge({ maxPositionShare: rate('0.0004') })).toBe('positionShare');
  });

  test('does not take an order for its own repetition, nor for one too many of a second', async () => {
    const rig = new TestRig({
      limits: { duplicateWindowMs: 2_000, maxOrdersPerSecond: 1, maxStrategyOrdersPerSecond: 1 },
    });
    const { carried } = rig.begin({ price: '100', quantity: '1' });
    expect(await rig.finish(carried)).toBe('accepted');
  });
});
