/** Deployments that do not return client ids: an order of unknown outcome is found by what it is, or by a human. */
import { describe, expect, test } from 'vitest';
import { btc, decision, draft, portfolio, resting, target } from '../../../test/kit/builders.ts';
import { TestDesk, timing } from '../../../test/kit/desk.ts';
import { lots, noLots, noRate, noUnits, quantityText, ticks } from '../../domain/money.ts';
import { intentOf, noOverride, planTarget } from '../../portfolio/plan.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { likenessOf, unlike } from './match-orders.ts';

async function ready(options: ConstructorParameters<typeof TestDesk>[0]): Promise<TestDesk> {
  const desk = new TestDesk(options).listen();
  desk.venue.echoesIds = false;
  await desk.finish(desk.assembled.trader.recover());
  return desk;
}
const dedicated = () => ready({ dedicated: true });
const shared = () => ready({ dedicated: false });

const halts = (desk: TestDesk): string[] => desk.assembled.execution.halts.inForce.map(({ cause }) => cause);
const adopt = (desk: TestDesk, { intent }: WorkingOrder, orderId: string): Promise<string | undefined> =>
  desk.finish(
    desk.assembled.adoptByHand({
      ...{ clientOrderId: intent.clientOrderId, orderId },
      ...{ by: 'operator', reason: 'seen on the exchange' },
    }),
  );
/** What the trader would send for an order: the same, or a little less. */
const sent = (desk: TestDesk, wished: ReturnType<typeof draft>) => {
  const quotes = decision({ kind: 'quotes', quotes: [], reason: '' });
  const [first] = desk.assembled.trader.together(quotes, [], wished);
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
    const desk = await dedicated();
    await desk.placed({});
    await desk.sweep();
    desk.venue.creates = ['acceptLost', 'accept'];
    const { order, carried } = desk.begin(text);
    expect(await desk.finish(carried)).toBe('placed');
    if ('price' in text) desk.venue.fill('1002');
    await desk.pass(10_000);
    await desk.sweep();
    expect(await desk.row(order)).toMatchObject({ state: 'filled', orderId: '1002' });
    expect(await desk.fillRows()).toEqual(desk.venueRows());
    expect(desk.asked('create')).toBe(2);
    expect(halts(desk)).toEqual([]);
  });

  test('is found after a restart, with the fills of the meantime', async () => {
    const desk = await dedicated();
    desk.venue.creates = ['acceptLost', 'accept'];
    desk.begin({ price: '100' });
    await desk.clock.settle();
    desk.crash();
    desk.venue.fill('1001', '0.25');
    desk.listen();
    await desk.finish(desk.assembled.trader.recover());
    const [order] = desk.assembled.portfolio.orders();
    expect(order).toMatchObject({ state: 'open', orderId: '1001' });
    expect(await desk.fillRows()).toEqual(desk.venueRows());
  });

  test('is absent by the same proof as ever when the exchange never had it', async () => {
    const desk = await dedicated();
    desk.venue.creates = ['dropLost', 'accept'];
    const { order, carried } = desk.begin({ price: '100' });
    await desk.finish(carried);
    expect(await desk.stateOf(order)).toBe('absent');
  });

  test('is quarantined where two orders look like it, and neither is cancelled', async () => {
    const desk = await dedicated();
    desk.venue.creates = ['acceptLost', 'accept'];
    const { order, carried } = desk.begin({ price: '100' });
    desk.venue.place({ price: '100' });
    await desk.finish(carried);
    expect(await desk.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'alike', orderId: null });
    expect(desk.asked('cancel')).toBe(0);
    expect(desk.assembled.portfolio.isUndecided('BTCUSDT')).toBe(true);
  });

  test.each([
    ['another price', { price: '99' }],
    ['another side', { price: '100', side: 'SELL' }],
  ] as const)(
    'is not mistaken for an order with %s; one that nobody accounts for halts everything',
    async (_, other) => {
      const desk = await dedicated();
      await desk.placed({ price: '90' });
      await desk.pass(1_000);
      desk.venue.creates = ['dropLost', 'accept'];
      const { order, carried } = desk.begin({ price: '100' });
      desk.venue.place(other);
      await desk.finish(carried);
      expect((await desk.row(order)).orderId).toBeNull();
      expect(halts(desk)).toEqual(['notDedicated']);
    },
  );

  test('is not mistaken for an order from before it was decided', async () => {
    const desk = await dedicated();
    await desk.placed({ price: '90' });
    const old = desk.venue.place({ price: '100' });
    old.visibleAt = desk.clock.now() + 200_000;
    await desk.pass(190_000);
    desk.venue.creates = ['dropLost', 'accept'];
    const { order, carried } = desk.begin({ price: '100' });
    await desk.finish(carried);
    expect(await desk.row(order)).toMatchObject({ state: 'quarantined', orderId: null });
  });

  test('leaves a little smaller than one that may still appear, at the same price, and so each is known', async () => {
    const desk = await dedicated();
    desk.venue.creates = ['acceptLost', 'acceptLost', 'accept'];
    const first = desk.begin({ price: '100' });
    await desk.clock.settle();
    const late = desk.venue.order('1001');
    late.visibleAt = Number.POSITIVE_INFINITY;
    desk.venue.unlocked.add('1001');
    await desk.finish(first.carried);
    expect(await desk.stateOf(first.order)).toBe('absent');
    const next = sent(desk, draft({ price: '100' }));
    expect([quantityOf(next), next.price]).toEqual(['0.99999', ticks('100', btc)]);
    const second = desk.begin(next);
    await desk.clock.settle();
    late.visibleAt = 0;
    await desk.finish(second.carried);
    expect(await desk.row(second.order)).toMatchObject({ state: 'open', orderId: '1002' });
    expect(await desk.row(first.order)).toMatchObject({ state: 'quarantined', quarantineReason: 'alike' });
  });

  test('leaves as it is where nothing looks like it', async () => {
    const desk = await dedicated();
    expect(quantityOf(sent(desk, draft({ price: '100' })))).toBe('1');
  });
});

describe('on a shared account', () => {
  async function inDoubt() {
    const desk = await shared();
    desk.venue.creates = ['acceptLost', 'accept'];
    const { order, carried } = desk.begin({ price: '100' });
    void carried;
    await desk.pass(5_000);
    return { desk, order };
  }

  test('an order of unknown outcome stays unknown although one looks exactly like it', async () => {
    const { desk, order } = await inDoubt();
    expect(order).toMatchObject({ state: 'unknown', orderId: undefined });
    expect(desk.assembled.portfolio.isUndecided('BTCUSDT')).toBe(true);
    expect(quantityOf(sent(desk, draft({ price: '100' })))).toBe('1');
  });

  test.each([
    ['while it is unknown', 0, false],
    ['once it is quarantined', timing.horizonMs * 2, false],
    ['after a restart', timing.horizonMs * 2, true],
  ])('a human adopts it %s, and its fills are booked once', async (_, waitMs, restarted) => {
    const { desk, order } = await inDoubt();
    desk.venue.fill('1001', '0.25');
    await desk.pass(waitMs);
    if (restarted) {
      desk.crash();
      desk.listen();
      await desk.finish(desk.assembled.trader.recover());
    }
    expect(await adopt(desk, order, '1001')).toBeUndefined();
    desk.venue.fill('1001');
    await desk.pass(10_000);
    await desk.sweep();
    await desk.sweep();
    expect(await desk.row(order)).toMatchObject({ state: 'filled', orderId: '1001', filled: '1' });
    expect(await desk.fillRows()).toEqual(desk.venueRows());
    expect(await desk.steps(order)).toContain('resolved');
  });

  test('a human cannot adopt another order, or one that is bound', async () => {
    const { desk, order } = await inDoubt();
    const smaller = desk.venue.place({ price: '99' });
    expect(await adopt(desk, order, smaller.orderId)).toContain('is another order');
    expect(await adopt(desk, order, '9999')).toContain('the exchange does not show order 9999');
    desk.venue.creates = ['accept'];
    const placed = await desk.placed({ price: '95' });
    expect(await adopt(desk, order, placed.orderId ?? '')).toContain(`is our order ${placed.intent.clientOrderId}`);
    expect(await adopt(desk, placed, '1001')).toContain('already');
    expect(order.state).toBe('unknown');
    expect(await adopt(desk, order, '1001')).toBeUndefined();
    expect(await adopt(desk, order, '1001')).toContain('already');
  });

  test('a human cannot adopt an order from before it was decided, or with another client id', async () => {
    const desk = await shared();
    const old = desk.venue.place({ price: '100' });
    await desk.pass(120_000);
    desk.venue.creates = ['dropLost', 'accept'];
    const { order } = desk.begin({ price: '100' });
    await desk.pass(5_000);
    expect(await adopt(desk, order, old.orderId)).toContain('before order');
    desk.venue.echoesIds = true;
    const named = desk.venue.place({ price: '100', clientOrderId: 'web_1' });
    expect(await adopt(desk, order, named.orderId)).toContain('has the client id web_1');
  });
});

test('an order that left a step smaller is kept while its target stays the same, where no minimum allows a tolerance', () => {
  const free = { ...btc, minQuantity: noLots, minNotional: noUnits };
  const wished = draft({ price: '100', purpose: 'enter' });
  const taken = ['1', '0.99999', '0.99998'].map((quantity) => likenessOf(draft({ price: '100', quantity })) ?? '');
  const lowered = unlike(wished, new Set(taken), free);
  if (lowered === undefined) throw new Error('it cannot be lowered');
  expect(quantityOf(lowered)).toBe('0.99997');
  const working = { ...resting(portfolio(), { price: '100' }), intent: intentOf(lowered, 'c1', 0, 60_000) };
  const step = planTarget(target(1, { limit: 100 }), lots('1', btc), noOverride, {
    ...{
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

test('an order of a batch is not told from others by its likeness once the account is not dedicated', async () => {
  const desk = await ready({ dedicated: false });
  desk.venue.creates = ['dropLost', 'accept'];
  const { order, carried } = desk.begin({ price: '100' });
  order.batch = order.intent.clientOrderId;
  desk.venue.place({ price: '100' });
  await desk.finish(carried);
  expect((await desk.row(order)).orderId).toBeNull();
});

test('on a shared account an order that appears after it was given up is reported with the command that adopts it', async () => {
  const desk = await shared();
  await desk.placed({ price: '90' });
  await desk.finish(desk.assembled.sweeps.query([...desk.assembled.portfolio.orders()][0] as WorkingOrder));
  desk.venue.creates = ['acceptLost', 'accept'];
  const { order, carried } = desk.begin({ price: '100' });
  await desk.clock.settle();
  const late = desk.venue.order('1002');
  late.visibleAt = Number.POSITIVE_INFINITY;
  desk.venue.unlocked.add('1002');
  await desk.finish(carried);
  expect(await desk.stateOf(order)).toBe('absent');
  late.visibleAt = 0;
  for (let sweep = 0; sweep < 20; sweep++) {
    await desk.pass(5_000);
    await desk.sweep();
  }
  const said = desk.notices.map(({ text }) => text).join('\n');
  expect(said).toContain(`sluice resolve ${order.intent.clientOrderId} --adopt 1002`);
  expect(await adopt(desk, order, '1002')).toBeUndefined();
});
