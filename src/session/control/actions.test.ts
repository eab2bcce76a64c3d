import { describe, expect, test } from 'vitest';
import { TestRig } from '../../../test/kit/test-rig.ts';
import { actionsOf, noteCancel, stopStrategies } from './actions.ts';

const asked = { strategy: undefined, by: 'operator', reason: 'looks wrong' };

test('a kill during a ban answers at once that nothing is sent, and is in force', async () => {
  const { assembled, clock } = new TestRig().listen();
  const away = () => 'the exchange forbids requests until 12:00:00 UTC, stops and cancels included';
  const parts = { assembled: { kill: assembled.kill }, clock, away };
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

describe('in an outage that nobody knows of yet', () => {
  /** A rig with a resting order, whose exchange answers nothing from now on; `answer` waits as long as the sweeps need to see it. */
  async function outage() {
    const rig = new TestRig().listen();
    await rig.finish(rig.assembled.trader.recover());
    const order = await rig.placed({ price: '90' });
    void rig.assembled.sweeps.watch('BTCUSDT');
    for (const question of ['openOrders', 'query'] as const) rig.venue.failing.add(question);
    rig.venue.cancels = ['dropLost'];
    const actions = actionsOf({
      ...{ assembled: rig.assembled, clock: rig.clock, hosted: [{ id: 's' }], stateDir: '', alerts: undefined },
      reloads: { reload: async () => '' },
      reloadConfig: () => '',
      notice: () => {},
      isStopping: () => false,
      away: () => {
        const cause = rig.assembled.sweeps.unanswered;
        return cause === undefined ? undefined : `the exchange does not answer (${cause})`;
      },
    });
    const answer = (work: Promise<string>) => rig.finish(work, 5_000);
    const heal = async (): Promise<void> => {
      rig.venue.failing.clear();
      rig.venue.cancels = ['apply'];
      await rig.pass(30_000);
    };
    return { rig, order, actions, answer, heal };
  }
  const away = 'But nothing is sent now: the exchange does not answer \\(open orders: .+\\)\\.';

  test.each(['kill', 'pause'] as const)('a %s says that cancels wait, and they are sent afterwards', async (action) => {
    const { rig, actions, answer, heal } = await outage();
    expect(await answer(actions[action](asked))).toMatch(
      new RegExp(`^All strategies are .* ${away} Resting orders are cancelled once that has ended\\.$`),
    );
    await heal();
    expect([...rig.venue.orders.values()].map(({ status }) => status)).toEqual(['CANCELED']);
  });

  test('a cancel says that it waits, and is sent afterwards', async () => {
    const { rig, order, actions, answer, heal } = await outage();
    const said = actions.cancel({ ...asked, order: order.intent.clientOrderId });
    expect(await answer(said)).toMatch(
      new RegExp(`^Cancels were requested\\. ${away} They are sent once that has ended\\.$`),
    );
    await heal();
    expect([...rig.venue.orders.values()].map(({ status }) => status)).toEqual(['CANCELED']);
  });

  test('a flatten and a resume say so, too', async () => {
    const { rig, actions, answer } = await outage();
    expect(await answer(actions.flatten({ ...asked, symbol: undefined, maxSlippage: undefined }))).toContain(
      'Nothing can be sent now: the exchange does not answer (open orders: ',
    );
    await rig.pass(2_000);
    expect(await answer(actions.resume(asked))).toMatch(
      new RegExp(`${away} Orders are created once that has ended\\.$`),
    );
  });
});
