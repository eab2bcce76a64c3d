/** Orders that leave in one request, without client ids: matched by what they are, never by a guess. */
import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { btc, decision, draft } from '../../test/kit/builders.ts';
import type { CreateFate } from '../../test/kit/scripted-venue.ts';
import { type RigOptions, TestRig, timing } from '../../test/kit/test-rig.ts';
import { seededRng } from '../clock/clock.ts';
import { lots, quantityText, ticks, units } from '../domain/money.ts';
import type { Decision, OrderReport, Quote } from '../domain/order.ts';
import { intentOf, type OrderDraft } from '../portfolio/plan.ts';
import { likenessOf, pairsOf, unlike } from './reconcile/match-orders.ts';

const buys = (...prices: readonly number[]): Quote[] => prices.map((price) => ({ side: 'BUY', price, quantity: 1 }));

/** A rig whose strategy emits quotes, with the fates of its first creates. */
async function quoting(fates: CreateFate[], options: RigOptions = {}) {
  const signals = new Subject<Decision>();
  const rig = new TestRig({ batches: true, ...options }).start(signals);
  // The first start reads the account twice.
  await rig.pass(timing.sweepGapMs + 1_000);
  rig.venue.creates = fates;
  const signal = (quotes: readonly Quote[], strategy = 's'): void =>
    signals.next(decision({ kind: 'quotes', quotes, reason: 'test' }, strategy));
  return { rig, signal };
}

const orders = (rig: TestRig): string[] =>
  [...rig.assembled.portfolio.orders()].map(
    ({ intent, state, orderId }) =>
      `${state} ${orderId ?? '-'} at ${intent.price === undefined ? '?' : intent.price} ${'lots' in intent.volume ? quantityText(intent.volume.lots, btc) : ''}`,
  );
const halves = (rig: TestRig): string[] => orders(rig).map((line) => line.split(' ').slice(0, 2).join(' '));
const texts = (rig: TestRig): string => rig.notices.map(({ text }) => text).join('\n');
const places = (rig: TestRig): number => rig.asked('createMany') + rig.asked('create ');

describe('several quotes of one signal', () => {
  test('leave in one request once all are on disk, and each is bound by asking for it', async () => {
    const { rig, signal } = await quoting(['accept']);
    signal(buys(99, 98, 97));
    await rig.pass(2_000);
    expect([rig.asked('createMany 3'), rig.asked('create ')]).toEqual([1, 0]);
    const sent = rig.log.indexOf('createMany 3');
    expect(rig.log.slice(0, sent).filter((line) => line === 'committed sending')).toHaveLength(3);
    // The answer names them the other way round.
    for (const order of rig.assembled.portfolio.orders())
      expect(rig.venue.order(order.orderId ?? '').intent.price).toBe(order.intent.price);
    expect(halves(rig)).toEqual(['open 1001', 'open 1002', 'open 1003']);
    rig.venue.fill('1002', '0.4');
    await rig.pass(2_000);
    expect(await rig.fillRows()).toEqual(['1 1002 0.4']);
  });

  test('leave one by one when that is not switched on', async () => {
    const { rig, signal } = await quoting(['accept'], { batches: false });
    signal(buys(99, 98));
    await rig.pass(2_000);
    expect([rig.asked('createMany'), rig.asked('create ')]).toEqual([0, 2]);
  });

  test('leave one by one once anybody else was seen on the account, which is said', async () => {
    const { rig, signal } = await quoting(['accept']);
    rig.venue.place({ clientOrderId: 'web_1' });
    await rig.sweep();
    signal(buys(99, 98));
    await rig.pass(2_000);
    expect([rig.asked('createMany'), rig.asked('create ')]).toEqual([0, 2]);
    expect(texts(rig)).toContain('no batches are created');
  });

  test('that equal another order of ours are made a lot smaller', async () => {
    const { rig, signal } = await quoting(['accept']);
    signal([...buys(99, 99)]);
    await rig.pass(2_000);
    signal([...buys(99, 98)], 't');
    await rig.pass(2_000);
    expect(rig.asked('createMany 2')).toBe(2);
    const likenesses = [...rig.assembled.portfolio.orders()].map(({ intent }) => likenessOf(intent));
    expect(new Set(likenesses).size).toBe(4);
    await rig.pass(60_000);
    expect(places(rig)).toBe(2);
  });

  test('of which one is denied leave without it', async () => {
    const { rig, signal } = await quoting(['accept'], { limits: { maxPosition: units('250') } });
    signal(buys(99, 98, 97));
    await rig.pass(2_000);
    expect(rig.asked('createMany 2')).toBe(1);
    expect(halves(rig)).toEqual(['open 1001', 'open 1002']);
    await rig.pass(30_000);
    expect(places(rig)).toBe(1);
  });

  test('are not sent while the disk is full', async () => {
    const { rig, signal } = await quoting(['accept']);
    rig.diskFull = true;
    signal(buys(99, 98));
    await rig.pass(2_000);
    expect(places(rig)).toBe(0);
    expect(orders(rig)).toEqual([]);
  });

  test('are all refused by an answer that comes before any order, and by a connection that was refused', async () => {
    for (const fate of ['reject', 'notSent'] as const) {
      const { rig, signal } = await quoting([fate]);
      signal(buys(99, 98));
      await rig.pass(2_000);
      expect(orders(rig)).toEqual([]);
      expect(rig.asked('createMany')).toBe(1);
    }
  });
});

describe('a batch whose answer is lost', () => {
  test('is found by what its orders are, each of them', async () => {
    const { rig, signal } = await quoting(['acceptLost', 'acceptLost', 'acceptLost', 'accept']);
    signal(buys(99, 98, 97));
    await rig.pass(5_000);
    expect(halves(rig)).toEqual(['open 1001', 'open 1002', 'open 1003']);
    expect(places(rig)).toBe(1);
  });

  test('of which a part arrived is found in part, and the rest is proven absent', async () => {
    const { rig, signal } = await quoting(['acceptLost', 'dropLost', 'accept', 'accept']);
    signal(buys(99, 98, 97));
    await rig.pass(5_000);
    expect(halves(rig)).toEqual(['open 1001', 'unknown -', 'open 1002']);
    await rig.pass(timing.absentAfterMs + 20_000);
    expect(halves(rig).slice(0, 2)).toEqual(['open 1001', 'open 1002']);
    expect(rig.asked('createMany')).toBe(1);
  });

  test('whose answer names fewer orders than were sent has the others resolved', async () => {
    const { rig, signal } = await quoting(['accept', 'reject', 'accept']);
    signal(buys(99, 98, 97));
    await rig.pass(5_000);
    expect(halves(rig)).toEqual(['open 1001', 'unknown -', 'open 1002']);
  });

  test('is found after a crash as well', async () => {
    const { rig, signal } = await quoting(['accept']);
    rig.venue.latencyMs = 5_000;
    signal(buys(99, 98));
    await rig.pass(500);
    expect(rig.asked('createMany 2')).toBe(1);
    rig.crash();
    rig.venue.latencyMs = 10;
    rig.listen();
    await rig.finish(rig.assembled.trader.recover());
    expect(halves(rig)).toEqual(['open 1001', 'open 1002']);
  });

  test('is quarantined where two orders match one, and neither is cancelled', async () => {
    const { rig, signal } = await quoting(['acceptLost', 'acceptLost', 'accept']);
    rig.venue.failing.add('query');
    signal(buys(99, 98));
    await rig.pass(500);
    rig.venue.place({ clientOrderId: 'web_1', price: '99' });
    rig.venue.failing.delete('query');
    await rig.pass(20_000);
    expect(halves(rig)).toEqual(['quarantined -', 'open 1002']);
    await rig.pass(300_000);
    expect(halves(rig)).toEqual(['quarantined -', 'open 1002']);
    expect(rig.asked('cancel')).toBe(0);
    expect(texts(rig)).toContain('and so do others');
  });

  test('that counted as absent and seems to turn up is quarantined, and nothing is cancelled', async () => {
    const { rig, signal } = await quoting(['acceptLost', 'dropLost', 'reject']);
    signal(buys(99, 98));
    await rig.pass(timing.absentAfterMs + 30_000);
    expect(halves(rig)).toEqual(['open 1001']);
    const late = rig.venue.place({ price: '98' });
    await rig.pass(10_000);
    expect(halves(rig)).toEqual(['open 1001', 'quarantined -']);
    await rig.pass(60_000);
    expect(late.status).toBe('NEW');
    expect(rig.asked('cancel')).toBe(0);
    expect(texts(rig)).toContain('It is not cancelled');
  });
});

describe('likeness', () => {
  const report = (orderId: string, price: string, quantity: string): OrderReport => ({
    orderId,
    clientOrderId: undefined,
    symbol: 'BTCUSDT',
    side: 'BUY',
    type: 'LIMIT',
    status: 'NEW',
    executed: lots('0', btc),
    price: ticks(price, btc),
    quantity: lots(quantity, btc),
  });
  const draftOf = (price: string, quantity: string): OrderDraft => draft({ price, quantity });

  test('pairs only what is alone on both sides, whatever the order of the lists', () => {
    const rng = seededRng(5);
    const pick = (): string => String(99 + Math.floor(rng() * 4));
    for (let course = 0; course < 300; course++) {
      const ours = Array.from({ length: 4 }, () => ({ intent: intentOf(draftOf(pick(), '1'), 'c', 0, 1) }));
      const theirs = Array.from({ length: 4 }, (_, index) => report(String(index), pick(), '1'));
      const pairs = pairsOf(ours, theirs);
      for (const one of ours) {
        const like = ours.filter(({ intent }) => intent.price === one.intent.price);
        const alike = theirs.filter(({ price }) => price === one.intent.price);
        expect(pairs.get(one)).toBe(like.length === 1 && alike.length === 1 ? alike[0] : undefined);
      }
    }
  });

  test('is avoided by the last digit of the quantity, downwards, and not below what the exchange takes', () => {
    const taken = new Set<string>();
    const quantities: (string | undefined)[] = [];
    for (let count = 0; count < 11; count++) {
      const other = unlike(draftOf('99', '1'), taken, btc);
      quantities.push(
        other === undefined || !('lots' in other.volume) ? undefined : quantityText(other.volume.lots, btc),
      );
      if (other !== undefined) taken.add(likenessOf(other) ?? '');
    }
    expect(quantities[0]).toBe('1');
    expect(new Set(quantities.slice(0, 10)).size).toBe(10);
    expect(quantities[10]).toBeUndefined();
    const smallest = { ...draftOf('99', '1'), volume: { lots: btc.minQuantity }, expectedLots: btc.minQuantity };
    expect(unlike(smallest, new Set(), btc)).toBe(smallest);
    expect(unlike(smallest, new Set([likenessOf(smallest) ?? '']), btc)).toBeUndefined();
  });
});
