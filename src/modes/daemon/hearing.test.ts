import { NEVER, Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { ScaledClock } from '../../clock/clock.ts';
import type { FeedGap, Kline } from '../../domain/market.ts';
import type { Notice } from '../../execution/desk.ts';
import { defineStrategy, flat, hold } from '../../strategy/contract.ts';
import { sma } from '../../strategy/indicators.ts';
import { btc, kline, startTime } from '../../testing/builders.ts';
import { TestDesk } from '../../testing/desk.ts';
import { type MarketFeed, ok } from '../../venue/venue.ts';
import { signalsHeard } from './hearing.ts';

const above = (period: number) =>
  defineStrategy({
    name: 'above',
    about: 'Long above its average',
    params: {},
    indicators: () => ({ average: sma('close', period) }),
    decide: ({ average }, { kline: { close } }) =>
      close > average ? hold({ quantity: 1 }, `above ${average}`) : flat(`below ${average}`),
  });

/** A strategy that hears what the test sends; `stored` is what the exchange has of klines. */
function listening(period: number, stored: Kline[]) {
  const { assembled } = new TestDesk();
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
  const clock = new ScaledClock();
  const heard = signalsHeard(
    {
      clock,
      exchange: { feed },
      assembled,
      screen: { addKline: () => {}, failed: () => {} },
      reaching: { url: 'http://x', clock, waiting: () => {}, signal: new AbortController().signal },
      notice: (notice) => notices.push(notice),
    },
    {
      id: 's',
      use: 'above',
      strategy: above(period),
      params: {},
      symbol: btc.symbol,
      interval: '1min',
      instrument: btc,
    },
  ).subscribe(({ want }) => reasons.push(want.reason));
  /** Lets the history arrive. */
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return { klines, gaps, asked, notices, reasons, settle, stop: () => heard.unsubscribe() };
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

test('that the exchange has fewer is said, with how long the strategy will be silent', async () => {
  const { notices, settle } = listening(1_000, [kline(100, 0), kline(100, 1)]);
  await settle();
  expect(notices).toMatchObject([{ level: 'warn', text: expect.stringContaining('silent for 998 more') }]);
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
