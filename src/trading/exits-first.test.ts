/** Stops while another decision is being carried out in the same lane. */
import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { btc, eth, startTime, target } from '../../test/kit/builders.ts';
import { TestRig, timing } from '../../test/kit/test-rig.ts';
import type { Decision, Leg } from '../domain/order.ts';

const both = (strategy: string, near: number, far: number): Decision => {
  const leg = (role: string, symbol: string, quantity: number, stop?: number): Leg => ({
    ...{ strategy, role, symbol, at: startTime },
    signal: target(quantity, stop === undefined ? {} : { stop }),
  });
  return { strategy, at: startTime, legs: [leg('near', btc.symbol, near), leg('far', eth.symbol, far, 90)] };
};

test('a stop waits for the request under way, not for the other legs of a decision of another strategy', async () => {
  const rig = new TestRig({ pair: { afterMs: 600_000, action: 'unwind' } });
  const decisions = new Subject<Decision>();
  rig.start(decisions);
  await rig.pass(timing.sweepGapMs + 1_000);
  decisions.next(both('s', 0, 1));
  await rig.seconds(3);
  rig.venue.latencyMs = 500;
  decisions.next(both('t', 1, 1));
  await rig.pass(100);
  rig.assembled.hitStop({ strategy: 's', symbol: eth.symbol }, 'stop hit');
  await rig.seconds(3);
  await rig.written();
  const sent = rig.db
    .prepare('SELECT strategy, symbol, purpose FROM orders ORDER BY created_at, client_order_id')
    .all();
  expect(sent).toEqual([
    { strategy: 's', symbol: eth.symbol, purpose: 'enter' },
    { strategy: 't', symbol: btc.symbol, purpose: 'enter' },
    { strategy: 's', symbol: eth.symbol, purpose: 'stop' },
    { strategy: 't', symbol: eth.symbol, purpose: 'enter' },
  ]);
});
