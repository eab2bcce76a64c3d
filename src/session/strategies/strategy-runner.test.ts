import { NEVER, of, Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { btc, decision, kill, kline, startTime } from '../../../test/kit/builders.ts';
import { TestRig } from '../../../test/kit/test-rig.ts';
import { ScaledClock } from '../../clock/clock.ts';
import type { FeedGap, Kline } from '../../domain/market.ts';
import type { Notice } from '../../journal/entries.ts';
import { defineStrategy } from '../../strategy/contract.ts';
import { sma } from '../../strategy/indicators.ts';
import { flat, hold } from '../../strategy/signals.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import { type MarketFeed, ok } from '../../venue/venue.ts';
import { strategySignals } from './strategy-runner.ts';

const above = (period: number) =>
  defineStrategy({
    name: 'above',
    about: 'Long above its average',
    params: {},
    indicators: () => ({ average: sma('close', period) }),
    decide: ({ average }, { kline: { close } }) =>
      close > average ? hold({ quantity: 1 }, `above ${average}`) : flat(`below ${average}`),
  });

/** A strategy that receives what the test sends; `stored` is what the exchange has of klines. */
function listening(
  period: number,
  stored: Kline[],
  desk = new TestRig(),
  strategy: NamedHosted['strategy'] = above(period),
) {
  const { assembled, clock } = desk;
  const klines = new Subject<Kline>();
  const gaps = new Subject<FeedGap>();
  const asked: number[] = [];
  const feed: MarketFeed = {
    klines: () => klines,
    trades: () => NEVER,
    depth: () => NEVER,
    ticker: () => NEVER,
    gaps,
    history(_symbol, _interval, count) {
      asked.push(count);
      return Promise.resolve(ok(stored.slice(-count)));
    },
  };
  const notices: Notice[] = [];
  const reasons: string[] = [];
  const charted: number[] = [];
  const received = strategySignals(
    {
      clock,
      exchange: { feed },
      assembled,
      screen: {
        addKline: ({ close }) => void charted.push(close),
        addHistory: (history) => void charted.push(...history.map(({ close }) => close)),
      },
      failed: () => {},
      reaching: { url: 'http://x', clock: new ScaledClock(), waiting: () => {}, signal: new AbortController().signal },
      notice: (notice) => notices.push(notice),
    },
    {
      id: 's',
      use: 'above',
      strategy,
      params: {},
      symbol: btc.symbol,
      interval: '1min',
      instrument: btc,
    },
  ).subscribe(({ legs: [{ signal }] }) => reasons.push(signal.reason));
  /** Lets the history arrive. */
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return { desk, klines, gaps, asked, notices, reasons, charted, settle, stop: () => received.unsubscribe() };
}

test('a strategy is given as many klines as it needs, however many that is', async () => {
  const stored = Array.from({ length: 2_000 }, (_, minute) => kline(100, minute));
  const { klines, asked, reasons, notices, settle } = listening(1_440, stored);
  await settle();
  klines.next(kline(101, 2_000));
  expect(asked).toEqual([1_440]);
  expect(reasons).toHaveLength(1);
  expect(notices).toEqual([]);
});

test('that the exchange has fewer is said, with how many klines pass without a signal', async () => {
  const { notices, settle } = listening(1_000, [kline(100, 0), kline(100, 1)]);
  await settle();
  expect(notices).toMatchObject([{ level: 'warn', text: expect.stringContaining('no signal for 998 more klines') }]);
});

test('after a hole that could not be healed its indicators begin again from history', async () => {
  const stored = [kline(100, 0), kline(100, 1)];
  const { klines, gaps, asked, reasons, settle } = listening(2, stored);
  await settle();
  klines.next(kline(110, 2));
  expect(reasons).toEqual(['above 105']);
  // Minutes 3 to 5 were missed and are known to the exchange only by now.
  stored.push(kline(110, 2), kline(50, 3), kline(50, 4), kline(60, 5));
  gaps.next({ symbol: btc.symbol, channel: 'klines', from: startTime, to: startTime, cause: 'a test', healed: false });
  await settle();
  klines.next(kline(70, 6));
  expect(asked).toEqual([300, 300]);
  expect(reasons).toEqual(['above 105', 'above 65']);
});

test('a hole that was healed, or that was elsewhere, changes nothing', async () => {
  const { gaps, asked, settle } = listening(2, [kline(100, 0), kline(100, 1)]);
  await settle();
  const hole = { symbol: btc.symbol, from: startTime, to: startTime, cause: 'a test' };
  gaps.next({ ...hole, channel: 'klines', healed: true });
  gaps.next({ ...hole, channel: 'depth', healed: false });
  gaps.next({ ...hole, symbol: 'ETHUSDT', channel: 'klines', healed: false });
  await settle();
  expect(asked).toEqual([300]);
});

const hole = {
  symbol: btc.symbol,
  channel: 'klines',
  from: startTime,
  to: startTime,
  cause: 'a test',
  healed: false,
} as const;

const throws = defineStrategy({
  name: 'throws',
  about: 'Throws',
  params: {},
  indicators: () => ({}),
  decide() {
    throw new Error('boom');
  },
});

test('one that threw stays stopped after a hole, and its chart goes on', async () => {
  const { klines, gaps, asked, notices, charted, settle } = listening(1, [kline(100, 0)], new TestRig(), throws);
  await settle();
  klines.next(kline(101, 1));
  gaps.next(hole);
  await settle();
  klines.next(kline(102, 2));
  expect(asked).toEqual([300]);
  expect(charted).toEqual([100, 101, 102]);
  expect(notices).toMatchObject([
    { topic: 'strategyStopped', text: expect.stringContaining('its resting orders are cancelled: Error: boom') },
  ]);
});

test.each([
  ['with a stop', { stop: 90 }, 'its exits of BTCUSDT stay in force: Error: boom'],
  ['without one', {}, 'its position of BTCUSDT has no stop: Error: boom'],
])('one that threw while it held a position %s is told of it', async (_, exits, said) => {
  const desk = new TestRig();
  desk.start(of(decision(hold({ quantity: 1 }, 'in', exits))));
  await desk.pass(20_000);
  const { klines, notices, settle } = listening(1, [kline(100, 0)], desk, throws);
  await settle();
  klines.next(kline(101, 1));
  expect(notices).toMatchObject([{ text: expect.stringContaining(said) }]);
});

/** Keeps the program busy for 3 s at its second kline, and receives `received`. */
const blocking = (desk: TestRig, received: number[]) =>
  defineStrategy({
    name: 'blocking',
    about: 'Blocks',
    params: {},
    indicators: () => ({}),
    decide(_, { kline: { close } }) {
      if (received.push(close) === 2) desk.clock.skipTo(desk.clock.now() + 3_000);
      return flat('none');
    },
  });

test('one that kept the program busy for too long receives nothing until it is resumed, and then begins again', async () => {
  const desk = new TestRig({ limits: { maxDecideMs: 1_000 } });
  const received: number[] = [];
  const stored = [kline(100, 0)];
  const { klines, gaps, asked, charted, notices, settle } = listening(1, stored, desk, blocking(desk, received));
  await settle();
  klines.next(kline(101, 1));
  klines.next(kline(102, 2));
  expect(desk.assembled.risk.switch.inForce).toMatchObject([{ strategy: 's', by: 'decideTime' }]);
  klines.next(kline(103, 3));
  gaps.next(hole);
  await desk.clock.advanceTo(desk.clock.now() + 5_000);
  klines.next(kline(104, 4));
  expect([received, asked, charted]).toEqual([[101, 102], [300], [100, 101, 102, 103, 104]]);
  await desk.assembled.resume('s', 'operator', 'mended');
  await desk.clock.advanceTo(desk.clock.now() + 1_500);
  await settle();
  klines.next(kline(105, 5));
  expect([received, asked]).toEqual([
    [101, 102, 105],
    [300, 300],
  ]);
  expect(notices).toEqual([{ level: 'info', text: 'strategy s was resumed and warms up again from recent klines' }]);
});

test('one that was disabled for it before a restart waits for its resume, too', async () => {
  const desk = new TestRig({ limits: { maxDecideMs: 1_000 } });
  desk.assembled.risk.switch.kill(kill({ strategy: 's', by: 'decideTime', reason: 'busy' }));
  const { klines, asked, reasons, settle } = listening(1, [kline(100, 0)], desk);
  await desk.clock.advanceTo(desk.clock.now() + 5_000);
  klines.next(kline(101, 1));
  expect([asked, reasons]).toEqual([[], []]);
  await desk.assembled.resume('s', 'operator', 'mended');
  await desk.clock.advanceTo(desk.clock.now() + 1_500);
  await settle();
  klines.next(kline(102, 2));
  expect([asked.length, reasons.length]).toEqual([1, 1]);
});
