/** Deployments that do not return client ids: an order of unknown outcome is found by what it is, or by a human. */
import { describe, expect, test } from 'vitest';
import { btc, decision, draft, portfolio, resting, target } from '../../../test/kit/builders.ts';
import { TestRig, timing } from '../../../test/kit/test-rig.ts';
import { lots, noLots, noRate, noUnits, quantityText, ticks } from '../../domain/money.ts';
import { intentOf, noOverride, planTarget } from '../../portfolio/plan.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { likenessOf, unlike } from './match-orders.ts';

async function ready(options: ConstructorParameters<typeof TestRig>[0]): Promise<TestRig> {
  const rig = new TestRig(options).listen();
  rig.venue.echoesIds = false;
  await rig.finish(rig.assembled.trader.recover());
  return rig;
}
const dedicated = () => ready({ dedicated: true });
const shared = () => ready({ dedicated: false });

const halts = (rig: TestRig): string[] => rig.assembled.execution.halts.inForce.map(({ cause }) => cause);
const adopt = (rig: TestRig, { intent }: WorkingOrder, orderId: string): Promise<string | undefined> =>
  rig.finish(
    rig.assembled.adoptByHand({
      ...{ clientOrderId: intent.clientOrderId, orderId },
      ...{ by: 'operator', reason: 'seen on the exchange' },
    }),
  );
/** What the trader would send for an order: the same, or a little less. */
const sent = (rig: TestRig, drafted: ReturnType<typeof draft>) => {
  const quotes = decision({ kind: 'quotes', quotes: [], reason: '' });
  const [first] = rig.assembled.trader.together(quotes, [], drafted);
  if (first === undefined) throw new Error('nothing would be sent');
  return first.draft;
};
const quantityOf = (order: { volume: WorkingOrder['intent']['volume'] }): string =>
  'lots' in order.volume ? quantityText(order.volume.lots, btc) : 'an amount';

describe('on a dedicated account an order of unknown outcome', () => {
  test.each([
    ['LIMIT that rests', { price: '100' }],
    ['LIMIT to sell', { price: '101', side: 'SELL' }],
    ['MARKET', {}],
    ['MARKET to sell', { side: 'SELL' }],
  ] as const)('is found by what it is: %s', async (_, text) => {
    const rig = await dedicated();
    await rig.placed({});
    await rig.sweep();
    rig.venue.creates = ['acceptLost', 'accept'];
    const { order, carried } = rig.begin(text);
    expect(await rig.finish(carried)).toBe('accepted');
    if ('price' in text) rig.venue.fill('1002');
    await rig.pass(10_000);
    await rig.sweep();
    expect(await rig.row(order)).toMatchObject({ state: 'filled', orderId: '1002' });
    expect(await rig.fillRows()).toEqual(rig.venueRows());
    expect(rig.asked('create')).toBe(2);
    expect(halts(rig)).toEqual([]);
  });

  test('is found after a restart, with the fills of the meantime', async () => {
    const rig = await dedicated();
    rig.venue.creates = ['acceptLost', 'accept'];
    rig.begin({ price: '100' });
    await rig.clock.settle();
    rig.crash();
    rig.venue.fill('1001', '0.25');
    rig.listen();
    await rig.finish(rig.assembled.trader.recover());
    const [order] = rig.assembled.portfolio.orders();
    expect(order).toMatchObject({ state: 'open', orderId: '1001' });
    expect(await rig.fillRows()).toEqual(rig.venueRows());
  });

  test('is absent by the same proof as ever when the exchange never had it', async () => {
    const rig = await dedicated();
    rig.venue.creates = ['dropLost', 'accept'];
    const { order, carried } = rig.begin({ price: '100' });
    await rig.finish(carried);
    expect(await rig.stateOf(order)).toBe('absent');
  });

  test('is quarantined where two orders match it, and neither is cancelled', async () => {
    const rig = await dedicated();
    rig.venue.creates = ['acceptLost', 'accept'];
    const { order, carried } = rig.begin({ price: '100' });
    rig.venue.place({ price: '100' });
    await rig.finish(carried);
    expect(await rig.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'alike', orderId: null });
    expect(rig.asked('cancel')).toBe(0);
    expect(rig.assembled.portfolio.isUndecided('BTCUSDT')).toBe(true);
  });

  test.each([
    ['another price', { price: '99' }],
    ['another side', { price: '100', side: 'SELL' }],
  ] as const)(
    'is not mistaken for an order with %s; one that nobody accounts for halts everything',
    async (_, other) => {
      const rig = await dedicated();
      await rig.placed({ price: '90' });
      await rig.pass(1_000);
      rig.venue.creates = ['dropLost', 'accept'];
      const { order, carried } = rig.begin({ price: '100' });
      rig.venue.place(other);
      await rig.finish(carried);
      expect((await rig.row(order)).orderId).toBeNull();
      expect(halts(rig)).toEqual(['notDedicated']);
    },
  );

  test('is not mistaken for an order from before it was decided', async () => {
    const rig = await dedicated();
    await rig.placed({ price: '90' });
    const old = rig.venue.place({ price: '100' });
    old.visibleAt = rig.clock.now() + 200_000;
    await rig.pass(190_000);
    rig.venue.creates = ['dropLost', 'accept'];
    const { order, carried } = rig.begin({ price: '100' });
    await rig.finish(carried);
    expect(await rig.row(order)).toMatchObject({ state: 'quarantined', orderId: null });
  });

  test('leaves a little smaller than one that may still appear, at the same price, and so each is known', async () => {
    const rig = await dedicated();
    rig.venue.creates = ['acceptLost', 'acceptLost', 'accept'];
    const first = rig.begin({ price: '100' });
    await rig.clock.settle();
    const late = rig.venue.order('1001');
    late.visibleAt = Number.POSITIVE_INFINITY;
    rig.venue.unlocked.add('1001');
    await rig.finish(first.carried);
    expect(await rig.stateOf(first.order)).toBe('absent');
    const next = sent(rig, draft({ price: '100' }));
    expect([quantityOf(next), next.price]).toEqual(['0.99999', ticks('100', btc)]);
    const second = rig.begin(next);
    await rig.clock.settle();
    late.visibleAt = 0;
    await rig.finish(second.carried);
    expect(await rig.row(second.order)).toMatchObject({ state: 'open', orderId: '1002' });
    expect(await rig.row(first.order)).toMatchObject({ state: 'quarantined', quarantineReason: 'alike' });
  });

  test('leaves as it is where nothing matches it', async () => {
    const rig = await dedicated();
    expect(quantityOf(sent(rig, draft({ price: '100' })))).toBe('1');
  });
});

describe('on a shared account', () => {
  async function inDoubt() {
    const rig = await shared();
    rig.venue.creates = ['acceptLost', 'accept'];
    const { order, carried } = rig.begin({ price: '100' });
    void carried;
    await rig.pass(5_000);
    return { rig, order };
  }

  test('an order of unknown outcome stays unknown although one matches it exactly', async () => {
    const { rig, order } = await inDoubt();
    expect(order).toMatchObject({ state: 'unknown', orderId: undefined });
    expect(rig.assembled.portfolio.isUndecided('BTCUSDT')).toBe(true);
    expect(quantityOf(sent(rig, draft({ price: '100' })))).toBe('1');
  });

  test.each([
    ['while it is unknown', 0, false],
    ['once it is quarantined', timing.absentAfterMs * 2, false],
    ['after a restart', timing.absentAfterMs * 2, true],
  ])('a human adopts it %s, and its fills are booked once', async (_, waitMs, restarted) => {
    const { rig, order } = await inDoubt();
    rig.venue.fill('1001', '0.25');
    await rig.pass(waitMs);
    if (restarted) {
      rig.crash();
      rig.listen();
      await rig.finish(rig.assembled.trader.recover());
    }
    expect(await adopt(rig, order, '1001')).toBeUndefined();
    rig.venue.fill('1001');
    await rig.pass(10_000);
    await rig.sweep();
    await rig.sweep();
    expect(await rig.row(order)).toMatchObject({ state: 'filled', orderId: '1001', filled: '1' });
    expect(await rig.fillRows()).toEqual(rig.venueRows());
    expect(await rig.steps(order)).toContain('resolved');
  });

  test('a human cannot adopt another order, or one that is bound', async () => {
    const { rig, order } = await inDoubt();
    const smaller = rig.venue.place({ price: '99' });
    expect(await adopt(rig, order, smaller.orderId)).toContain('is another order');
    expect(await adopt(rig, order, '9999')).toContain('the exchange does not show order 9999');
    rig.venue.creates = ['accept'];
    const placed = await rig.placed({ price: '95' });
    expect(await adopt(rig, order, placed.orderId ?? '')).toContain(`is our order ${placed.intent.clientOrderId}`);
    expect(await adopt(rig, placed, '1001')).toContain('already');
    expect(order.state).toBe('unknown');
    expect(await adopt(rig, order, '1001')).toBeUndefined();
    expect(await adopt(rig, order, '1001')).toContain('already');
  });

  test('a human cannot adopt an order from before it was decided, or with another client id', async () => {
    const rig = await shared();
    const old = rig.venue.place({ price: '100' });
    await rig.pass(120_000);
    rig.venue.creates = ['dropLost', 'accept'];
    const { order } = rig.begin({ price: '100' });
    await rig.pass(5_000);
    expect(await adopt(rig, order, old.orderId)).toContain('before order');
    rig.venue.echoesIds = true;
    const named = rig.venue.place({ price: '100', clientOrderId: 'web_1' });
    expect(await adopt(rig, order, named.orderId)).toContain('has the client id web_1');
  });
});

test('an order that left a step smaller is kept while its target stays the same, where no minimum allows a tolerance', () => {
  const free = { ...btc, minQuantity: noLots, minNotional: noUnits };
  const drafted = draft({ price: '100', purpose: 'enter' });
  const taken = ['1', '0.99999', '0.99998'].map((quantity) => likenessOf(draft({ price: '100', quantity })) ?? '');
  const lowered = unlike(drafted, new Set(taken), free);
  if (lowered === undefined) throw new Error('it cannot be lowered');
  expect(quantityOf(lowered)).toBe('0.99997');
  const working = { ...resting(portfolio(), { price: '100' }), intent: intentOf(lowered, 'c1', 0, 60_000) };
  const step = planTarget(target(1, { limit: 100 }), lots('1', btc), noOverride, {
    ...{
      may: 'all',
      decision: 1,
      strategy: 's',
      role: 'main',
      account: 'spot',
      instrument: free,
      held: noUnits,
      orders: [working],
      price: 100,
    },
    ...{ marketBuyIn: 'amount', feeInBase: noRate },
  });
  expect(step).toBeUndefined();
});

test('an order of a batch is not matched by what it is once the account is not dedicated', async () => {
  const rig = await ready({ dedicated: false });
  rig.venue.creates = ['dropLost', 'accept'];
  const { order, carried } = rig.begin({ price: '100' });
  order.batch = order.intent.clientOrderId;
  rig.venue.place({ price: '100' });
  await rig.finish(carried);
  expect((await rig.row(order)).orderId).toBeNull();
});

test('on a shared account an order that appears after it was given up is reported with the command that adopts it', async () => {
  const rig = await shared();
  await rig.placed({ price: '90' });
  await rig.finish(rig.assembled.sweeps.query([...rig.assembled.portfolio.orders()][0] as WorkingOrder));
  rig.venue.creates = ['acceptLost', 'accept'];
  const { order, carried } = rig.begin({ price: '100' });
  await rig.clock.settle();
  const late = rig.venue.order('1002');
  late.visibleAt = Number.POSITIVE_INFINITY;
  rig.venue.unlocked.add('1002');
  await rig.finish(carried);
  expect(await rig.stateOf(order)).toBe('absent');
  late.visibleAt = 0;
  for (let sweep = 0; sweep < 20; sweep++) {
    await rig.pass(5_000);
    await rig.sweep();
  }
  const said = rig.notices.map(({ text }) => text).join('\n');
  expect(said).toContain(`sluice resolve ${order.intent.clientOrderId} --adopt 1002`);
  expect(await adopt(rig, order, '1002')).toBeUndefined();
});
