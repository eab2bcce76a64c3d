import { expect, test } from 'vitest';
import { fill } from '../../../test/kit/builders.ts';
import { TestRig } from '../../../test/kit/test-rig.ts';
import { pendingKept, pendingText } from '../../portfolio/flattening.ts';
import { actionsOf } from './actions.ts';
import { flatten } from './flatten.ts';
import { inForceOf } from './kill-texts.ts';

const asked = { by: 'operator', reason: 'news', strategy: undefined, symbol: undefined, maxSlippage: undefined };

const actionParts = ({ assembled, clock }: TestRig) => ({
  ...{ assembled, clock, hosted: [{ id: 's' }], stateDir: '', alerts: undefined },
  reloads: { reload: async () => '' },
  reloadConfig: () => '',
  notice: () => {},
  away: () => undefined,
});

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

test('one that waits is in view, and a resume says that it ends it', async () => {
  const { rig, answer } = holding('1');
  const { assembled } = rig;
  rig.blocked = 'the exchange forbids requests until 12:00:00 UTC';
  await answer();
  const [waiting] = assembled.flattening.pending();
  expect(waiting && pendingText(waiting)).toMatch(
    /^s on BTCUSDT by operator \(news\): waits until orders can be sent, until \d{4}-\d\d-\d\d .* UTC at the latest$/,
  );
  await rig.written();
  const kept = rig.db.prepare("SELECT value FROM memories WHERE name = 'flatten'").pluck().get() as string;
  expect(pendingKept(kept, rig.clock.now())).toEqual([waiting]);
  expect(inForceOf(assembled, undefined).text).toContain(
    'A resume ends the flatten of s on BTCUSDT by operator (news).',
  );
  const actions = actionsOf({ ...actionParts(rig), isStopping: () => false });
  expect(await rig.finish(actions.resume({ strategy: undefined, by: 'operator', reason: 'calm' }), 1_000)).toMatch(
    / This ends the flatten of s on BTCUSDT by operator \(news\): what is left of the position stays open\.$/,
  );
  expect(assembled.flattening.pending()).toEqual([]);
});

test('a daemon that is stopping promises nothing', async () => {
  const { rig } = holding('1');
  const actions = actionsOf({ ...actionParts(rig), isStopping: () => true });
  await expect(actions.flatten(asked)).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringMatching(/stopping/),
  });
  expect(rig.assembled.flattening.pending()).toEqual([]);
});

test('what is too small to sell is left out, without an alert', async () => {
  const { rig, answer } = holding('0.00001');
  expect(await answer()).toMatch(/No order is left, and no position that is large enough to sell\.$/);
  expect(rig.notices).toEqual([]);
});
