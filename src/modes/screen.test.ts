import { expect, test } from 'vitest';
import type { Interval } from '../domain/interval.ts';
import { emptyLoaded } from '../journal/load.ts';
import { defineStrategy } from '../strategy/contract.ts';
import { btc, startTime } from '../testing/builders.ts';
import { TestDesk } from '../testing/desk.ts';
import { Screen } from './screen.ts';

const meter = { used: 0, max: 1 };
const strategy = defineStrategy({
  name: 'silent',
  about: '',
  params: {},
  indicators: () => ({}),
  decide: () => undefined,
});
const hosted = (interval: Interval) => ({
  id: `on-${interval}`,
  use: 'silent',
  strategy,
  params: {},
  symbol: btc.symbol,
  interval,
  instrument: btc,
});

test('two strategies with different intervals on one symbol share a chart of the first one’s klines', () => {
  const { assembled } = new TestDesk();
  const screen = new Screen({
    mode: 'live',
    isRealMoney: false,
    exchangeUrl: 'http://x',
    speed: 1,
    hosted: [hosted('1min'), hosted('60min')],
    assembled,
    now: () => startTime,
    weight: () => ({ ip: meter, uid: meter, waiting: 0, bannedUntil: undefined }),
    loaded: emptyLoaded,
  });
  const kline = { symbol: btc.symbol, open: 1, high: 1, low: 1, close: 1, volume: 1, seenAt: startTime };
  screen.addKline({ ...kline, interval: '60min', openTime: startTime + 3_600_000 });
  screen.addKline({ ...kline, interval: '1min', openTime: startTime + 60_000 });
  expect(screen.klines(btc.symbol).map(({ openTime }) => openTime)).toEqual([startTime + 60_000]);
  expect(screen.view().markets).toMatchObject([{ symbol: btc.symbol, interval: '1min' }]);
});
