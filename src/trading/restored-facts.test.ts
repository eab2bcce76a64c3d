/** What a strategy knows of its position is the same after a restart. */
import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { btc, decision, fill, kline, portfolio, startTime, target } from '../../test/kit/builders.ts';
import { TestRig } from '../../test/kit/test-rig.ts';
import type { Kline } from '../domain/market.ts';
import type { Decision } from '../domain/order.ts';
import { SeenKlines } from '../portfolio/seen-klines.ts';
import type { Holding } from '../strategy/contract.ts';
import { withHolding } from './seen-holding.ts';

const mine = { id: 's', symbol: btc.symbol, interval: '1min' } as const;

const factsOf = ({ entryTime, klinesHeld, best, worst, profit, realisedNet, lastExit }: Holding): unknown => ({
  ...{ entryTime, klinesHeld, best, worst, profit, realisedNet },
  lastExit: lastExit && { ...lastExit },
});

/** A strategy's holding and its klines. */
function held(rig: TestRig, history: readonly Kline[] = []) {
  const klines = new Subject<Kline>();
  const given = withHolding(rig.assembled.portfolio, mine, { history, klines });
  given.klines.subscribe();
  return { klines, holding: given.holding };
}

/** One that left a position in time, entered another and saw three klines of it. */
async function entered(): Promise<{ readonly rig: TestRig; readonly before: unknown }> {
  const rig = new TestRig();
  const decisions = new Subject<Decision>();
  rig.start(decisions);
  // At the first start of all the balances come first.
  await rig.pass(20_000);
  const { klines, holding } = held(rig);
  decisions.next(decision(target(1, { exitAfterMs: 60_000 })));
  await rig.pass(61_000);
  klines.next(kline(100, 0));
  rig.price(110);
  rig.assembled.retryPending();
  await rig.pass(3_000);
  expect(holding.lastExit).toMatchObject({ price: 110, profit: 10, reason: 'time' });
  decisions.next(decision(target(2)));
  await rig.pass(3_000);
  for (const [minute, close] of [111, 125, 118].entries()) klines.next(kline(close, minute + 1));
  await rig.written();
  return { rig, before: factsOf(holding) };
}

test('a position, its best and worst price and the end of the one before are rebuilt from the journal alone', async () => {
  const { rig, before } = await entered();
  expect(before).toMatchObject({ klinesHeld: 3, best: 125, worst: 110, profit: 16, realisedNet: 10 });
  rig.crash();
  // The history begins with the last kline.
  const { holding } = held(rig, [kline(118, 3)]);
  expect(factsOf(holding)).toEqual(before);
});

test('klines that closed while the program was down count', async () => {
  const { rig } = await entered();
  rig.crash();
  const { klines, holding } = held(rig, [kline(118, 3), kline(140, 4), kline(90, 5)]);
  expect(holding).toMatchObject({ best: 140, worst: 90, klinesHeld: 5 });
  klines.next(kline(150, 6));
  expect(holding).toMatchObject({ best: 150, worst: 90, klinesHeld: 6 });
});

test('the extremes of a kline in which a resting order entered may be from before, so its close alone counts', () => {
  const own = portfolio();
  own.apply({ ...fill(), maker: true, time: startTime + 30_000 });
  const seen = new SeenKlines(own.subAccount('s', btc.symbol), '1min');
  const holding = own.holding('s', btc.symbol, { klines: seen });
  seen.see({ ...kline(99), high: 120, low: 80 });
  expect(holding).toMatchObject({ best: 100, worst: 99, klinesHeld: 1 });
  seen.see({ ...kline(99, 1), high: 105, low: 98 });
  expect(holding).toMatchObject({ best: 105, worst: 98, klinesHeld: 2 });
});

test('a fill that becomes known after its kline counts the kline all the same', () => {
  const own = portfolio();
  const seen = new SeenKlines(own.subAccount('s', btc.symbol), '1min');
  const holding = own.holding('s', btc.symbol, { klines: seen });
  seen.see({ ...kline(101), high: 120, low: 80 });
  expect(holding).toMatchObject({ best: Number.NaN, klinesHeld: 0, profit: 0 });
  own.apply({ ...fill(), time: startTime + 59_000 });
  expect(holding).toMatchObject({ best: 120, worst: 80, klinesHeld: 1, profit: 1 });
});
