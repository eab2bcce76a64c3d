/** Answers to the questions of the page, for tests and pictures. */
import type { Answers, Period } from '../../src/dashboard/history.ts';
import { sampleTime } from './view.ts';

const dayMs = 86_400_000;
const day = Math.floor(sampleTime / dayMs) * dayMs;

const period = (start: number, profit: string): Period => ({
  ...{ start, profit, fees: '12.5', fills: 14, roundTrips: 5, wins: 3 },
});

export const answers = (): Answers => ({
  why: {
    title: 'grid: BUY XBTUSD, order 1954113290481123329, filled',
    advice: undefined,
    steps: [
      { at: sampleTime - 9_000, event: 'planned', detail: 'BUY 0.05 XBTUSD at 6005 (quote; orders on fixed lines)' },
      { at: sampleTime - 8_900, event: 'answer: accepted', detail: 'order 1954113290481123329' },
      { at: sampleTime - 2_000, event: 'fill', detail: '0.05 at 6005, fee 0.0001 XBT, maker, trade 88001' },
    ],
  },
  decision: {
    title: 'Decision of cross on XBTUSD',
    advice: undefined,
    steps: [{ at: sampleTime - 30_000, event: 'signal of cross, decision 7', detail: 'hold 0.25 XBT; because up' }],
  },
  denials: [
    {
      ...{ rule: 'orderShare', times: 212, lastAt: sampleTime - 60_000, strategy: 'cross', symbol: 'XBTUSD' },
      order: 'BUY 2.05 XBT at market',
      text: 'The order is worth 4,999.96, more than 0.02 of the equity.',
    },
  ],
  performance: {
    strategies: ['cross', 'grid'],
    periods: {
      day: [period(day, '-550.84'), period(day - dayMs, '120.4')],
      week: [period(day - 3 * dayMs, '-430.44')],
      month: [period(day - 11 * dayMs, '-430.44')],
    },
    curve: Array.from({ length: 200 }, (_, index) => ({
      at: sampleTime - (200 - index) * 600_000,
      equity: (100_000 + 400 * Math.sin(index / 20) - index * 3).toFixed(2),
    })),
    markets: ['XBTUSD', 'ETHUSD'].map((symbol, market) => ({
      symbol,
      curve: Array.from({ length: 60 }, (_, index) => ({
        at: sampleTime - (60 - index) * 2_000_000,
        equity: (300 * Math.sin(index / 9 + market) - index * market).toFixed(2),
      })),
    })),
    otherMarkets: 0,
    maxDrawdown: { amount: '1321.5', from: sampleTime - 90_000_000, to: sampleTime - 20_000_000 },
    roundTrips: 31,
    wins: 17,
    fees: '214.77',
  },
  log: {
    lines: [
      { at: sampleTime, level: 'warn', text: 'denied: cross XBTUSD BUY 2.05 XBT: The order is worth 4,999.96.' },
      { at: sampleTime - 60_000, level: 'info', text: 'fill: grid BUY 0.05 XBTUSD at 6005' },
    ],
    isCut: false,
  },
});
