/** What an operator may say of an order: how it ended, where Sluice cannot know, and not while it still queries. */
import { describe, expect, test } from 'vitest';
import { TestRig } from '../../test/kit/test-rig.ts';
import { unitsText } from '../domain/money.ts';

async function ready(options: ConstructorParameters<typeof TestRig>[0] = {}): Promise<TestRig> {
  const rig = new TestRig(options).listen();
  await rig.finish(rig.assembled.trader.recover());
  return rig;
}

/** One with an order whose answer was lost, and whether the exchange has it. */
async function lost(fate: 'acceptLost' | 'dropLost', options: ConstructorParameters<typeof TestRig>[0] = {}) {
  const rig = await ready(options);
  rig.venue.creates = [fate, 'accept'];
  return { rig, ...rig.begin({ price: '100' }) };
}

const free = (rig: TestRig): string => unitsText(rig.assembled.portfolio.freeQuote('s', 'BTCUSDT'));

describe('a human', () => {
  test.each(['absent', 'filled', 'canceled'] as const)('closes a quarantined order as %s', async (as) => {
    const { rig, order, carried } = await lost('dropLost', { balances: false });
    await rig.finish(carried);
    const { assembled } = rig;
    expect(
      await rig.finish(assembled.resolveByHand(order.intent.clientOrderId, as, 'operator', 'I checked')),
    ).toBeUndefined();
    expect(await rig.stateOf(order)).toBe(as);
    expect((await rig.steps(order)).slice(-2)).toEqual(['resolved', 'closed']);
    expect(assembled.portfolio.isUndecided('BTCUSDT')).toBe(false);
    expect(free(rig)).toBe('1000000');
  });

  test('cannot close an order that the exchange still shows', async () => {
    const rig = await ready();
    const order = await rig.placed();
    const said = rig.assembled.resolveByHand(order.intent.clientOrderId, 'absent', 'operator', 'why not');
    expect(await rig.finish(said)).toContain('the exchange decides its outcome');
    expect(order.state).toBe('open');
  });

  test('cannot close an unknown order while Sluice queries it: the answer says since when, and when it is known', async () => {
    const { rig, order, carried } = await lost('dropLost');
    await rig.pass(5_000);
    const { clientOrderId } = order.intent;
    const said = await rig.finish(rig.assembled.resolveByHand(clientOrderId, 'absent', 'operator', 'I know'));
    expect(said).toContain(`Sluice still queries order ${clientOrderId}, sent at 20`);
    expect(said).toContain('its outcome is known at about 20');
    expect(order.state).toBe('unknown');
    expect(await rig.finish(carried)).toBe('absent');
    expect(order.state).toBe('absent');
  });

  test('an outage shows although a symbol that is not swept any more was answered once', async () => {
    const rig = await ready();
    const { sweeps } = rig.assembled;
    await rig.finish(sweeps.sweep('ETHUSDT'));
    rig.venue.failing.add('openOrders');
    void sweeps.watch('BTCUSDT');
    await rig.pass(10_000);
    expect(sweeps.unanswered).toBeUndefined();
    await rig.pass(100_000);
    expect(sweeps.unanswered).toBeDefined();
  });

  test.each(['absent', 'filled'] as const)(
    'cannot close an order as %s in an outage: the exchange may have it',
    async (as) => {
      const { rig, order, carried } = await lost('acceptLost');
      const decide = (word: 'quarantined' | typeof as) =>
        rig.finish(rig.assembled.resolveByHand(order.intent.clientOrderId, word, 'operator', 'I think so'));
      for (const question of ['openOrders', 'queryByClientId'] as const) rig.venue.failing.add(question);
      void rig.assembled.sweeps.watch('BTCUSDT');
      await rig.pass(100_000);
      if (as === 'filled') await decide('quarantined');
      else expect(order.state).toBe('unknown');
      const said = await decide(as);
      expect(said).toContain('the exchange has not answered about BTCUSDT since 20');
      expect(said).toContain('stop the daemon and resolve it then');
      rig.venue.failing.clear();
      await rig.pass(40_000);
      await rig.finish(carried);
      expect(order.state).toBe('open');
    },
  );

  test('ends the search for an unknown order that nothing proves, once it should have been seen', async () => {
    const { rig, order, carried } = await lost('dropLost');
    rig.venue.failing.add('balances');
    await rig.pass(80_000);
    expect(order.state).toBe('unknown');
    const said = rig.assembled.resolveByHand(order.intent.clientOrderId, 'absent', 'operator', 'I know');
    expect(await rig.finish(said)).toBeUndefined();
    expect(await rig.finish(carried)).toBe('absent');
  });
});
