/** What a pause lets through. */
import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { btc, decision, kill, startTime, target } from '../../test/kit/builders.ts';
import { TestRig, timing } from '../../test/kit/test-rig.ts';
import type { Decision } from '../domain/order.ts';

test.each([
  ['at market', {}],
  ['by LIMIT', { limit: 150 }],
])('an exit %s under a pause is not reported as denied while it is under way', async (_, how) => {
  const rig = new TestRig();
  const decisions = new Subject<Decision>();
  rig.start(decisions);
  await rig.pass(timing.sweepGapMs + 1_000);
  decisions.next(decision(target(1)));
  await rig.seconds(3);
  void rig.assembled.kill(kill({ kind: 'pause', at: startTime }));
  rig.venue.latencyMs = 500;
  decisions.next(decision(target(0, how)));
  await rig.seconds(1);
  // As at each kline.
  decisions.next(decision(target(0, how)));
  await rig.seconds(5);
  await rig.written();
  const sent = rig.db.prepare("SELECT purpose FROM orders WHERE symbol = ? AND side = 'SELL'").all(btc.symbol);
  expect(sent).toEqual([{ purpose: 'exit' }]);
  expect(rig.db.prepare('SELECT code FROM denials').all()).toEqual([]);
  // What a pause does not let through is reported.
  decisions.next(decision(target(2)));
  await rig.seconds(5);
  await rig.written();
  expect(rig.db.prepare('SELECT code FROM denials').all()).toEqual([{ code: 'paused' }]);
});
