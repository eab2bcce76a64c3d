import { expect, test } from 'vitest';
import { fill } from '../../../test/kit/builders.ts';
import { TestRig } from '../../../test/kit/test-rig.ts';
import { flatten } from './flatten.ts';

const asked = { by: 'operator', reason: 'news', strategy: undefined, symbol: undefined, maxSlippage: undefined };

/** A rig that holds so much, and what `flatten` does there. */
function holding(quantity: string) {
  const rig = new TestRig().listen();
  rig.assembled.portfolio.apply(fill({ quantity }));
  const parts = { assembled: rig.assembled, clock: rig.clock, away: () => undefined, refuseNobody: () => {} };
  return { rig, answer: () => rig.finish(flatten(asked, parts), 1_000) };
}

test('an answer while nothing can be sent says so at once, and why', async () => {
  const { rig, answer } = holding('1');
  rig.blocked = 'the exchange forbids requests until 12:00:00 UTC';
  expect(await answer()).toMatch(
    /^All strategies are paused: .* Nothing can be sent now: the exchange forbids requests until 12:00:00 UTC\. The positions are closed once that has ended, with at most 0\.01 slippage from the prices of this moment\. After 24 h it ends, and what is left stays open\. A notice says how it went; sluice resume calls it off\./,
  );
});

test('what is too small to sell is left out, without an alert', async () => {
  const { rig, answer } = holding('0.00001');
  expect(await answer()).toMatch(/No order is left, and no position that is large enough to sell\.$/);
  expect(rig.notices).toEqual([]);
});
