/** Strategies that misbehave, one beside a good one: refused with reasons, disabled, their orders cancelled, the other untouched. */
import { NEVER, Observable, Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { btc, decision, eth, kline, startTime, target } from '../../../test/kit/builders.ts';
import { TestRig } from '../../../test/kit/test-rig.ts';
import { ScaledClock } from '../../clock/clock.ts';
import type { Kline } from '../../domain/market.ts';
import { type Decision, type Leg, type Signal, sizeValue } from '../../domain/order.ts';
import type { Limits } from '../../risk/context.ts';
import { defineStrategy } from '../../strategy/contract.ts';
import { decisionsOf } from '../../strategy/host.ts';
import { flat, hold, quotes } from '../../strategy/signals.ts';
import { ok } from '../../venue/venue.ts';
import { strategySignals } from './strategy-runner.ts';

const instrument = btc;
const bid = (price: number, quantity = 1) => ({ side: 'BUY' as const, price, quantity });

/** Runs strategy `s`, which says whatever the test sends, beside `t`, which has one order at rest. */
async function beside(limits: Partial<Limits>) {
  const desk = new TestRig({ limits });
  const said = new Subject<Signal>();
  const failed: unknown[] = [];
  const strategy = defineStrategy({ name: 'bad', about: 'says what it is told', params: {}, signals: () => said });
  const bad = decisionsOf(
    { id: 's', strategy, symbol: btc.symbol, interval: '1min', params: {}, instrument },
    {
      history: [],
      klines: NEVER,
      trades: NEVER,
      depth: NEVER,
      ticker: NEVER,
      gaps: NEVER,
      fills: NEVER,
      holding: desk.assembled.portfolio.holding('s', btc.symbol),
      now: () => desk.clock.now(),
      failed: (error) => failed.push(error),
    },
  );
  const good = new Subject<Decision>();
  desk.start(bad, good);
  await desk.pass(10_000);
  good.next(decision(quotes([bid(50)], 'good'), 't'));
  await desk.pass(5_000);
  const open = (id: string): number =>
    [...desk.assembled.portfolio.orders()].filter(({ intent, state }) => intent.strategy === id && state === 'open')
      .length;
  const denials = async (): Promise<Record<string, number>> => {
    await desk.written();
    const rows = desk.db
      .prepare("SELECT code, sum(times) AS times FROM denials WHERE strategy = 's' GROUP BY code")
      .all();
    return Object.fromEntries((rows as { code: string; times: number }[]).map(({ code, times }) => [code, times]));
  };
  /** What must hold of the other whatever the one does: its order rests, and it is received. */
  const isOtherUntouched = async (): Promise<boolean> => {
    const before = open('t');
    good.next(decision(quotes([bid(50), bid(49)], 'good'), 't'));
    await desk.pass(10_000);
    return before === 1 && open('t') === 2 && desk.assembled.risk.switch.of('t') === undefined;
  };
  const say = async (signal: Signal): Promise<void> => {
    said.next(signal);
    await desk.pass(200);
  };
  return { desk, said, say, failed, open, denials, isOtherUntouched };
}
test('a decision on several markets counts as one change of its signals', () => {
  const { planner, trader } = new TestRig({ limits: { maxSignalsPerSecond: 1 } }).assembled;
  const holding = (quantity: number): readonly (number | undefined)[] => {
    const [btcLeg, ethLeg] = [btc, eth].map(({ symbol }) => decision(target(quantity), 's', symbol).legs[0]);
    trader.note({ strategy: 's', at: startTime, legs: [btcLeg as Leg, ethLeg as Leg] });
    return [btc, eth].map(({ symbol }) => {
      const signal = planner.standing('s', symbol)?.signal;
      return signal?.kind === 'target' ? sizeValue(signal.size) : undefined;
    });
  };
  expect(holding(1)).toEqual([1, 1]);
  expect(holding(2)).toEqual([1, 1]);
});

const disabledBy = ({ assembled }: TestRig): string | undefined => assembled.risk.switch.of('s')?.by;

describe('a strategy that', () => {
  test('floods is limited in its signals, then disabled, and its orders are cancelled', async () => {
    const { desk, said, say, open, denials, isOtherUntouched } = await beside({
      maxSignalsPerSecond: 10,
      maxDenials: 20,
    });
    await say(quotes([bid(40)], 'calm'));
    await desk.pass(5_000);
    expect(open('s')).toBe(1);
    for (let step = 0; step < 10_000; step++) said.next(quotes([bid(40 + (step % 50) / 100)], `flood ${step}`));
    expect(disabledBy(desk)).toBe('denials');
    await desk.pass(10_000);
    expect(open('s')).toBe(0);
    expect((await denials())['signalRate']).toBe(1);
    expect(desk.asked('create')).toBeLessThan(30);
    expect(await isOtherUntouched()).toBe(true);
  });

  test('flips is disabled once it has entered too often', async () => {
    const { desk, say, isOtherUntouched } = await beside({ maxEntries: 5 });
    for (let step = 0; step < 20 && disabledBy(desk) === undefined; step++) {
      await say(hold({ quantity: 1 }, `in ${step}`));
      await desk.pass(15_000);
      await say(flat(`out ${step}`));
      await desk.pass(15_000);
    }
    expect(disabledBy(desk)).toBe('entries');
    expect(await isOtherUntouched()).toBe(true);
  });

  test.each<[string, Signal]>([
    ['no number', hold({ quantity: Number.NaN }, 'nan')],
    ['an infinite one', hold({ share: Number.POSITIVE_INFINITY }, 'much')],
    ['a negative price', quotes([bid(-1)], 'below nothing')],
    ['a negative quantity', quotes([bid(40, -1)], 'less than nothing')],
    ['a stop that is no number', hold({ quantity: 1 }, 'stop', { stop: Number.NaN })],
    ['a negative time', hold({ quantity: 1 }, 'then', { exitAfterMs: -1 })],
    ['nothing that anybody knows', JSON.parse('{"kind":"leap"}') as Signal],
    ['nothing', JSON.parse('null') as Signal],
  ])('says %s is stopped at once, and nothing of it rests', async (_, signal) => {
    const { desk, say, failed, open, isOtherUntouched } = await beside({});
    await say(quotes([bid(40)], 'calm'));
    await desk.pass(5_000);
    expect(open('s')).toBe(1);
    await say(signal);
    await desk.pass(10_000);
    expect([failed.length, open('s')]).toEqual([1, 0]);
    expect(await isOtherUntouched()).toBe(true);
  });

  test.each<[string, Signal, string | undefined]>([
    ['quantity', hold({ quantity: 1e300 }, 'all there is'), 'denials'],
    ['amount', hold({ amount: 1e30 }, 'all the money'), 'denials'],
    ['share', hold({ share: 1e12 }, 'a lot of it'), 'denials'],
    ['price', quotes([bid(1e300)], 'whatever it costs'), 'denials'],
    ['tiny price', quotes([bid(1e-300)], 'for nothing'), undefined],
    ['quote', quotes([bid(99, 1e250)], 'all of it'), 'denials'],
    ['short', hold({ quantity: -1e300 }, 'what nobody has'), undefined],
    ['stop', hold({ quantity: 1 }, 'stop', { stop: 1e300, trailing: 0.5 }), undefined],
  ])('says an absurd %s does nothing, and one that is refused again and again is disabled', async (_, signal, by) => {
    const { desk, say, isOtherUntouched } = await beside({
      maxDenials: 5,
      maxOrderValue: (10n ** 24n) as Limits['maxOrderValue'],
    });
    for (let step = 0; step < 6; step++) {
      await say({ ...signal, reason: `again ${step}` });
      await desk.pass(2_000);
    }
    const { portfolio } = desk.assembled;
    expect(disabledBy(desk)).toBe(by);
    expect(Math.abs(portfolio.holding('s', btc.symbol).quantity)).toBeLessThanOrEqual(1);
    expect(await isOtherUntouched()).toBe(true);
  });

  test('repeats itself without end creates nothing twice', async () => {
    const { desk, say, open, isOtherUntouched } = await beside({ duplicateWindowMs: 2_000 });
    for (let step = 0; step < 200; step++) await say(quotes([bid(40)], 'the same'));
    expect(open('s')).toBe(1);
    expect(desk.asked('create')).toBeLessThan(4);
    expect(await isOtherUntouched()).toBe(true);
  });

  test('throws leaves no order behind', async () => {
    const { desk, said, say, failed, open, isOtherUntouched } = await beside({});
    await say(quotes([bid(40)], 'calm'));
    await desk.pass(5_000);
    said.error(new Error('broken'));
    await desk.pass(10_000);
    expect([failed.length, open('s')]).toEqual([1, 0]);
    expect(await isOtherUntouched()).toBe(true);
  });

  test('keeps the program busy is disabled', async () => {
    const desk = new TestRig({ limits: { maxDecideMs: 20 } });
    const klines = new Subject<Kline>();
    const clock = new ScaledClock();
    const slow = defineStrategy({
      name: 'slow',
      about: 'thinks for long at the second kline',
      params: {},
      signals: (context) =>
        new Observable<Signal>((out) =>
          context.klines.subscribe(({ close }) => {
            const until = clock.monotonic() + (close > 100 ? 40 : 0);
            while (clock.monotonic() < until);
            out.next(flat('thought'));
          }),
        ),
    });
    strategySignals(
      {
        clock,
        exchange: {
          feed: {
            klines: () => klines,
            trades: () => NEVER,
            depth: () => NEVER,
            ticker: () => NEVER,
            gaps: NEVER,
            history: () => Promise.resolve(ok([])),
          },
        },
        assembled: desk.assembled,
        screen: { addKline: () => {}, addHistory: () => {} },
        failed: () => {},
        reaching: { url: 'http://x', clock, waiting: () => {}, signal: new AbortController().signal },
        notice: () => {},
      },
      { id: 's', use: 'slow', strategy: slow, symbol: btc.symbol, interval: '1min', params: {}, instrument },
    ).subscribe();
    await Promise.resolve();
    await new Promise((resolve) => clock.at(clock.now(), () => resolve(undefined)));
    klines.next(kline(100, 0));
    expect(disabledBy(desk)).toBeUndefined();
    klines.next(kline(101, 1));
    expect(disabledBy(desk)).toBe('decideTime');
    expect(desk.assembled.risk.switch.of('t')).toBeUndefined();
  });
});
