/** Strategies of several markets over joined feeds: what they see is what a backtest over the same klines shows them. */

import { NEVER, Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { runBacktest } from '../../src/backtest/engines.ts';
import { ScaledClock } from '../../src/clock/clock.ts';
import { instrument } from '../../src/domain/instrument.ts';
import { closeTime, type Interval } from '../../src/domain/interval.ts';
import type { Columns, FeedGap, Kline } from '../../src/domain/market.ts';
import { noLots, units } from '../../src/domain/money.ts';
import type { Decision, Leg } from '../../src/domain/order.ts';
import { correlation, ema, flat, hold, of, sma, weights } from '../../src/index.ts';
import type { Notice } from '../../src/journal/entries.ts';
import { Portfolio } from '../../src/portfolio/portfolio.ts';
import type { Limits } from '../../src/risk/context.ts';
import { strategySignals } from '../../src/session/strategies/strategy-runner.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';
import type { HostedMarket } from '../../src/strategy/host.ts';
import { aggregate } from '../../src/strategy/larger-klines.ts';
import { failed, type MarketFeed, ok } from '../../src/venue/venue.ts';
import { draft, startTime } from '../kit/builders.ts';
import { severalInput } from '../kit/several-markets.ts';
import { TestRig } from '../kit/test-rig.ts';

const minute = 60_000;
const minutes = 90;
const warm = 30;
/** One-minute klines of a market; minutes of `holes` are missing. */
function klinesOf(seed: number, holes: readonly number[] = []): Columns {
  const rows = Array.from({ length: minutes }, (_, row) => row).filter((row) => !holes.includes(row));
  const close = (row: number): number => 100 + seed + 10 * Math.sin(row / seed) + ((row * 7 * seed) % 5);
  const column = (value: (row: number) => number): Float64Array => Float64Array.from(rows, value);
  return {
    openTime: column((row) => startTime + row * minute),
    open: column((row) => close(row - 1)),
    high: column((row) => Math.max(close(row), close(row - 1))),
    low: column((row) => Math.min(close(row), close(row - 1))),
    close: column(close),
    volume: column(() => 1_000),
  };
}

const at = (symbol: string) =>
  instrument({ symbol, base: symbol.slice(0, 3), quote: 'USD', pricePrecision: 2, quantityPrecision: 4 });

/** Keeps what its strategy is shown. */
const watching = (rows: Map<number, unknown>): Strategy =>
  defineStrategy({
    name: 'watching',
    about: 'Keeps what it is shown',
    params: {},
    markets: { fast: 'traded', slow: 'data', gappy: 'traded' },
    allowMissing: true,
    indicators: () => ({
      fast: of('fast', sma('close', 3)),
      slow: of('slow', ema('close', 2)),
      gappy: of('gappy', sma('close', 4)),
      both: correlation(of('fast', 'close'), of('gappy', 'close'), 5),
    }),
    decide({ fast, slow, gappy, both }, { time, klines }) {
      const closes = [klines.fast?.close, klines.slow?.close, klines.gappy?.close];
      rows.set(time, { values: [fast, slow, gappy, both], closes });
      return { fast: hold({ quantity: 1 }, 'always'), gappy: flat('never') };
    },
  });

const series = {
  AAAUSD: klinesOf(3),
  // A whole kline of five minutes is missing, and one that is not whole.
  BBBUSD: klinesOf(4, [50, 51, 52, 53, 54, 62]),
  CCCUSD: klinesOf(5, [10, 40, 41, 42, 43, 70, 89]),
};
const bound: readonly Omit<HostedMarket, 'instrument'>[] = [
  { role: 'fast', symbol: 'AAAUSD', interval: '1min', use: 'traded' },
  { role: 'slow', symbol: 'BBBUSD', interval: '5min', use: 'data' },
  { role: 'gappy', symbol: 'CCCUSD', interval: '1min', use: 'traded' },
];

async function inBacktest(): Promise<Map<number, unknown>> {
  const rows = new Map<number, unknown>();
  const roles = bound.map(({ role, symbol, interval }) => `${role}: { symbol: ${symbol}, interval: ${interval} }`);
  await runBacktest(await severalInput(watching(rows), `markets: { ${roles.join(', ')} }`, series));
  return rows;
}

/** The klines of a market, as its feed gives them. */
function feedOf({ symbol, interval }: { readonly symbol: string; readonly interval: Interval }): readonly Kline[] {
  const own = series[symbol as keyof typeof series];
  const { openTime, open, high, low, close, volume } =
    interval === '1min' ? own : aggregate('1min', interval, own).columns;
  return Array.from(openTime, (opened, row) => ({
    ...{ symbol, interval, openTime: opened, seenAt: 0 },
    ...{ open: open[row] as number, high: high[row] as number, low: low[row] as number },
    ...{ close: close[row] as number, volume: volume[row] as number },
  }));
}

/** Runs a strategy over feeds whose klines the test sends. `stored`: what the exchange has of each symbol. */
function listening(
  strategy: Strategy,
  markets: typeof bound,
  stored: Map<string, Kline[]>,
  before?: Leg,
  limits: Partial<Limits> = {},
  isCutOff = false,
) {
  const desk = new TestRig({ limits });
  const feeds = new Map<string, Subject<Kline>>();
  const gaps = new Subject<FeedGap>();
  const asked: string[] = [];
  const feed: MarketFeed = {
    klines(symbol) {
      const one = feeds.get(symbol) ?? new Subject<Kline>();
      feeds.set(symbol, one);
      return one;
    },
    trades: () => NEVER,
    depth: () => NEVER,
    ticker: () => NEVER,
    gaps,
    async history(symbol, _interval, count) {
      asked.push(symbol);
      const rows = (stored.get(symbol) ?? []).slice(-count);
      return rows.length === 0 ? { ...failed('none'), isEmpty: true } : ok(rows);
    },
  };
  const notices: Notice[] = [];
  const decisions: Decision[] = [];
  const { assembled, clock } = desk;
  if (before !== undefined) {
    assembled.planner.restore(before, noLots, 1);
    assembled.planner.memories.restore('s', { askedAt: before.askedAt ?? before.at });
  }
  const hosted = markets.map((one) => ({ ...one, instrument: at(one.symbol) }));
  const first = hosted[0] as HostedMarket;
  const received = strategySignals(
    {
      clock,
      exchange: { feed },
      assembled: {
        ...assembled,
        planner: {
          standing: (...place) => assembled.planner.standing(...place),
          at: (...place) => assembled.planner.at(...place),
          plan: () => (isCutOff ? { do: 'create', draft: draft() } : undefined),
          memories: assembled.planner.memories,
        },
        // Its instruments are not those of the rig.
        portfolio: new Portfolio(
          new Map(hosted.map(({ symbol, instrument: one }) => [symbol, one])),
          hosted.map(({ symbol }) => ({ strategy: 's', symbol, amount: units('1000') })),
        ),
      },
      screen: { addKline: () => {}, addHistory: () => {} },
      failed: () => {},
      reaching: { url: 'http://x', clock: new ScaledClock(), waiting: () => {}, signal: new AbortController().signal },
      notice: (notice) => notices.push(notice),
    },
    {
      ...{ id: 's', use: 'given', strategy, params: {}, markets: hosted },
      ...{ symbol: first.symbol, interval: first.interval, instrument: first.instrument },
    },
  ).subscribe((decision) => decisions.push(decision));
  const send = (kline: Kline): void => feeds.get(kline.symbol)?.next(kline);
  return { clock, send, gaps, asked, notices, decisions, settle, stop: () => received.unsubscribe() };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

const untilMinute = (klines: readonly Kline[], end: number): Kline[] =>
  klines.filter(({ interval, openTime }) => closeTime(interval, openTime) <= startTime + end * minute);

test('shows each moment with the values of a backtest, also where klines are missing', async () => {
  const rows = new Map<number, unknown>();
  const all = bound.map(feedOf);
  const stored = new Map(bound.map(({ symbol }, index) => [symbol, untilMinute(all[index] as Kline[], warm)]));
  const { clock, send, settle, decisions, stop } = listening(watching(rows), bound, stored);
  await settle();
  for (let closing = warm + 1; closing <= minutes; closing++) {
    const time = startTime + closing * minute;
    const closed = all.flatMap((klines) =>
      klines.filter(({ interval, openTime }) => closeTime(interval, openTime) === time),
    );
    // They come apart, and not always in the same order.
    for (const [index, kline] of (closing % 2 === 0 ? closed : closed.reverse()).entries()) {
      await clock.advanceTo(time + 2_200 + index * 4_000);
      send(kline);
    }
    await clock.advanceTo(time + 50_000);
  }
  stop();
  const expected = [...(await inBacktest())].filter(([time]) => time > startTime + warm * minute);
  expect(expected.length).toBe(minutes - warm);
  expect([...rows]).toEqual(expected);
  expect(decisions.length).toBe(minutes - warm);
});

const pair = defineStrategy({
  name: 'pair',
  about: 'Holds one market while the other is above its average',
  params: {},
  markets: { coin: 'traded', trend: 'data' },
  indicators: () => ({ last: of('trend', 'close'), average: of('trend', sma('close', 3)) }),
  decide: ({ last, average }) => ({ coin: last > average ? hold({ quantity: 1 }, `${average}`) : flat(`${average}`) }),
});
const pairBound: typeof bound = [
  { role: 'coin', symbol: 'AAAUSD', interval: '1min', use: 'traded' },
  { role: 'trend', symbol: 'BBBUSD', interval: '1min', use: 'data' },
];
const at100 = (symbol: string, row: number, close = 100): Kline => ({
  ...{ symbol, interval: '1min', openTime: startTime + row * minute, seenAt: 0 },
  ...{ open: close, high: close, low: close, close, volume: 1 },
});
const reasons = (decisions: readonly Decision[]): string[] => decisions.map(({ legs: [{ signal }] }) => signal.reason);

test('a kline that comes late counts in the next decisions, and leads to none of its own', async () => {
  const stored = new Map(['AAAUSD', 'BBBUSD'].map((symbol) => [symbol, [0, 1, 2].map((row) => at100(symbol, row))]));
  const { clock, send, settle, decisions } = listening(pair, pairBound, stored);
  await settle();
  send(at100('AAAUSD', 3));
  await clock.advanceTo(clock.now() + 20_000);
  send(at100('BBBUSD', 3, 160));
  expect(decisions).toEqual([]);
  send(at100('AAAUSD', 4));
  send(at100('BBBUSD', 4, 190));
  expect(reasons(decisions)).toEqual(['150']);
});

const hole = (symbol: string, row: number): FeedGap => ({
  ...{ symbol, channel: 'klines', cause: 'a test', healed: false },
  ...{ from: startTime + row * minute, to: startTime + (row + 1) * minute + 13_000 },
});

test('begins again from history after a hole in any of its markets that the exchange can fill by now', async () => {
  const stored = new Map(['AAAUSD', 'BBBUSD'].map((symbol) => [symbol, [0, 1, 2].map((row) => at100(symbol, row))]));
  const { send, gaps, asked, settle, decisions } = listening(pair, pairBound, stored);
  await settle();
  send(at100('AAAUSD', 3));
  stored.get('AAAUSD')?.push(at100('AAAUSD', 3));
  stored.get('BBBUSD')?.push(at100('BBBUSD', 3, 160));
  gaps.next(hole('BBBUSD', 3));
  await settle();
  expect(asked).toEqual(['AAAUSD', 'BBBUSD', 'BBBUSD', 'AAAUSD', 'BBBUSD']);
  send(at100('AAAUSD', 4));
  send(at100('BBBUSD', 4, 190));
  expect(reasons(decisions)).toEqual(['150']);
});

test('goes on where the exchange does not have the kline, either', async () => {
  const stored = new Map(['AAAUSD', 'BBBUSD'].map((symbol) => [symbol, [0, 1, 2].map((row) => at100(symbol, row))]));
  const { send, gaps, asked, settle, decisions } = listening(pair, pairBound, stored);
  await settle();
  send(at100('AAAUSD', 3));
  gaps.next(hole('BBBUSD', 3));
  await settle();
  send(at100('BBBUSD', 4, 190));
  send(at100('AAAUSD', 4));
  expect(asked).toEqual(['AAAUSD', 'BBBUSD', 'BBBUSD']);
  expect(reasons(decisions)).toEqual(['130']);
});

test('a market with too little history is reported alone, with what it needs', async () => {
  const stored = new Map([
    ['AAAUSD', [at100('AAAUSD', 2)]],
    ['BBBUSD', [at100('BBBUSD', 2)]],
  ]);
  const { settle, notices } = listening(pair, pairBound, stored);
  await settle();
  expect(notices.map(({ text }) => text)).toEqual([
    'strategy s needs 3 klines of BBBUSD 1min and the exchange has 1. It emits no signal for 2 more klines',
  ]);
});

test('a symbol of a list without klines is left out and reported, and comes in when it has some', async () => {
  const choosing = defineStrategy({
    name: 'choosing',
    about: 'Holds all equally',
    params: {},
    indicators: () => ({ average: sma('close', 2) }),
    choose(markets) {
      const share = 0.9 / markets.length;
      return weights(
        Object.fromEntries(markets.map(({ symbol }) => [symbol, share])),
        markets.map(({ symbol }) => symbol).join(' '),
      );
    },
  });
  const listed: typeof bound = ['AAAUSD', 'BBBUSD'].map((symbol) => ({
    ...{ role: symbol, symbol, interval: '1min', use: 'traded' },
  }));
  const stored = new Map([['AAAUSD', [0, 1, 2].map((row) => at100('AAAUSD', row))]]);
  const { send, settle, notices, decisions } = listening(choosing, listed, stored);
  await settle();
  expect(notices.map(({ text }) => text)).toEqual([
    'strategy s leaves out BBBUSD until it has klines: the exchange has none of 1min',
  ]);
  for (const row of [3, 4, 5]) {
    if (row > 3) send(at100('BBBUSD', row));
    send(at100('AAAUSD', row));
  }
  expect(reasons(decisions)).toEqual(['AAAUSD', 'AAAUSD', 'AAAUSD BBBUSD']);
});

const weekly = (asked: string[]): Strategy =>
  defineStrategy({
    name: 'weekly',
    about: 'Holds one, chosen every five minutes',
    params: {},
    rebalance: '5min',
    indicators: () => ({}),
    choose(markets, { time }) {
      asked.push(`${(time - startTime) / minute}`);
      return weights({ AAAUSD: 0.5 }, `${markets.length}`);
    },
  });
const one: typeof bound = [{ role: 'AAAUSD', symbol: 'AAAUSD', interval: '1min', use: 'traded' }];
const past = (count: number): Map<string, Kline[]> =>
  new Map([['AAAUSD', Array.from({ length: count }, (_, row) => at100('AAAUSD', row))]]);

test('a list is asked at the times of its schedule, and its last weights are repeated between them', async () => {
  const asked: string[] = [];
  const { send, settle, decisions } = listening(weekly(asked), one, past(3));
  await settle();
  for (const row of [3, 4, 5, 6]) send(at100('AAAUSD', row));
  expect(asked).toEqual(['5']);
  expect(decisions.length).toBe(3);
});

test('nothing is sent on what an earlier run signalled; a time of the schedule that it missed is made up for once, and what was cut off', async () => {
  const asked: string[] = [];
  // It was asked at minute 3; the time of minute 5 passed while nothing ran.
  const before: Leg = {
    ...{ strategy: 's', role: 'AAAUSD', symbol: 'AAAUSD', at: startTime + minute, askedAt: startTime + 3 * minute },
    signal: flat('before'),
  };
  const { send, settle, decisions } = listening(weekly(asked), one, past(7), before);
  await settle();
  send(at100('AAAUSD', 7));
  send(at100('AAAUSD', 8));
  expect(asked).toEqual(['8']);
  expect(reasons(decisions)).toEqual(['1', '1']);
  expect(decisions.map(({ legs: [{ askedAt = 0 }] }) => (askedAt - startTime) / minute)).toEqual([8, 8]);
  // It said the same as before at minute 5.
  const recent = listening(weekly(asked), one, past(7), { ...before, askedAt: startTime + 5 * minute });
  await recent.settle();
  recent.send(at100('AAAUSD', 7));
  expect(asked).toEqual(['8']);
  expect(recent.decisions).toEqual([]);
  const cutOff = listening(weekly(asked), one, past(7), { ...before, askedAt: startTime + 5 * minute }, {}, true);
  await cutOff.settle();
  for (const row of [7, 8]) cutOff.send(at100('AAAUSD', row));
  expect(asked).toEqual(['8', '8']);
  expect(reasons(cutOff.decisions)).toEqual(['1', '1']);
});

test('one that keeps the program busy for too long is stopped in all its markets', async () => {
  let thinks = (): void => {};
  const busy = defineStrategy({
    name: 'busy',
    about: 'Thinks for long',
    params: {},
    markets: { coin: 'traded', trend: 'data' },
    indicators: () => ({}),
    decide: () => {
      thinks();
      return { coin: flat('none') };
    },
  });
  const stored = new Map(['AAAUSD', 'BBBUSD'].map((symbol) => [symbol, [at100(symbol, 2)]]));
  const { clock, send, settle, decisions } = listening(busy, pairBound, stored, undefined, { maxDecideMs: 1_000 });
  thinks = () => clock.skipTo(clock.now() + 3_000);
  await settle();
  const both = (row: number): void => {
    for (const symbol of ['AAAUSD', 'BBBUSD']) send(at100(symbol, row));
  };
  both(3);
  both(4);
  expect(decisions.length).toBe(1);
});
