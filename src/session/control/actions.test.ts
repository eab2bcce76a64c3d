import { expect, test } from 'vitest';
import { TestRig } from '../../../test/kit/test-rig.ts';
import { noteCancel, stopStrategies } from './actions.ts';

const asked = { strategy: undefined, by: 'operator', reason: 'looks wrong' };

test('a kill during a ban answers at once that nothing is sent, and is in force', async () => {
  const { assembled, clock } = new TestRig().listen();
  const banned = () => 'the exchange forbids requests until 12:00:00 UTC, stops and cancels included';
  const parts = { assembled: { kill: assembled.kill }, clock, banned };
  expect(await stopStrategies(parts, asked, { kind: 'kill', everything: false })).toMatch(
    /^All strategies are killed, .* But nothing is sent now: the exchange forbids requests until 12:00:00 UTC, stops and cancels included\. Resting/,
  );
  expect(assembled.risk.switch.ofAll).toMatchObject({ kind: 'kill', reason: 'looks wrong' });
});

test('the journal says who cancels an order by hand, and why', async () => {
  const rig = new TestRig().listen();
  const order = await rig.placed({ price: '90' });
  noteCancel(rig.assembled, [order], { by: 'telegram Ann', reason: 'odd' });
  await rig.written();
  const { clientOrderId } = order.intent;
  const rows = rig.db.prepare("SELECT client_order_id AS id, detail FROM events WHERE event = 'cancelAsked'").all();
  expect(rows).toEqual([{ id: clientOrderId, detail: '{"by":"telegram Ann","reason":"odd"}' }]);
});
