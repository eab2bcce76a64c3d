/** Builders for tests and pictures: a view with everything in it, each part replaceable. */

import type {
  DecisionView,
  EquityPoint,
  FillView,
  OpenOrderView,
  StrategyView,
  UnknownView,
  View,
} from '../../src/dashboard/view.ts';
import { actionWords, denialText } from '../../src/domain/words.ts';

/** 12 March 2020, 11:20 UTC: the day of the crash, in the bundled klines. */
export const sampleTime = Date.UTC(2020, 2, 12, 11, 20);
const minuteMs = 60_000;
const secondMs = 1_000;

export const strategyView = (given: Partial<StrategyView> = {}): StrategyView => ({
  id: 'cross',
  use: 'sma-cross',
  symbol: 'XBTUSD',
  interval: '1min',
  status: 'running',
  error: undefined,
  kill: undefined,
  position: { quantity: '0.2498', isDust: false, entryPrice: '6120.5', value: '1503.17', openProfit: '-25.73' },
  equity: '49871.4',
  stop: '5980',
  takeProfit: '6400',
  unprotectedMs: 0,
  isUnprotected: false,
  ...given,
});

export const orderView = (given: Partial<OpenOrderView> = {}): OpenOrderView => ({
  clientOrderId: 'sabcdeaaababaaaaaaaabqwertyui',
  orderId: '1954113290481123329',
  strategy: 'grid',
  symbol: 'XBTUSD',
  side: 'BUY',
  type: 'LIMIT',
  price: '6005',
  quantity: '0.05',
  filled: '0',
  state: 'open',
  createdAt: sampleTime - 4 * minuteMs,
  ...given,
});

export const decisionView = (given: Partial<DecisionView> = {}): DecisionView => ({
  at: sampleTime - 30 * secondMs,
  strategy: 'cross',
  symbol: 'XBTUSD',
  draft: 'hold 0.25 XBT',
  reason: 'SMA 12 (6,052.1) is above SMA 48 (6,031.7)',
  verdict: 'approved',
  code: undefined,
  text: 'Buy 0.25 at market.',
  ...given,
});

export const fillView = (given: Partial<FillView> = {}): FillView => ({
  tradeId: '88001',
  orderId: '1954113290481123329',
  clientOrderId: 'sabcdeaaababaaaaaaaabqwertyui',
  strategy: 'cross',
  symbol: 'XBTUSD',
  side: 'BUY',
  price: '6120.5',
  quantity: '0.25',
  fee: '0.0005',
  feeAsset: 'XBT',
  maker: false,
  purpose: 'enter',
  time: sampleTime - 9 * minuteMs,
  ...given,
});

export const unknownView = (given: Partial<UnknownView> = {}): UnknownView => ({
  clientOrderId: 'sabcdeaaababaaaaaaacxplmoknij',
  strategy: 'grid',
  symbol: 'XBTUSD',
  order: 'Sell 0.05 at 6,155',
  since: sampleTime - 6 * minuteMs,
  cause: 'The exchange answered 504 to the create: it may have accepted the order.',
  steps: [
    { at: sampleTime - 6 * minuteMs + 2 * secondMs, text: 'Asked for the open orders: not among 7.' },
    { at: sampleTime - 6 * minuteMs + 5 * secondMs, text: 'Asked for our trades since then: one of order …3391 fits.' },
  ],
  resolved: {
    at: sampleTime - 6 * minuteMs + 9 * secondMs,
    text: 'Found as order 1954113290481123391: filled, 1 fill.',
  },
  ...given,
});

function sampleFills(): FillView[] {
  return Array.from({ length: 26 }, (_, index) => {
    const sell = index % 3 === 1;
    return fillView({
      tradeId: String(88_100 - index),
      strategy: index % 4 === 0 ? 'cross' : 'grid',
      side: sell ? 'SELL' : 'BUY',
      price: (5950 + ((index * 37) % 190)).toFixed(1),
      quantity: index % 4 === 0 ? '0.25' : '0.05',
      fee: sell ? '0.61205' : '0.0001',
      feeAsset: sell ? 'USD' : 'XBT',
      maker: index % 4 !== 0,
      purpose: index % 4 === 0 ? (sell ? 'stop' : 'enter') : 'quote',
      time: sampleTime - (index * 4 + 1) * minuteMs,
    });
  });
}

function sampleDecisions(): DecisionView[] {
  const denied = { code: 'orderValue', facts: { value: '12400.5', maxOrderValue: '10000' } };
  const stale = { code: 'staleData', facts: { ageMs: 8400, maxDataAgeMs: 5000 } };
  return [
    decisionView(),
    decisionView({
      at: sampleTime - 70 * secondMs,
      draft: 'hold 2.05 XBT',
      verdict: 'denied',
      code: denied.code,
      text: denialText(denied),
    }),
    decisionView({
      at: sampleTime - 80 * secondMs,
      strategy: 'grid',
      draft: '6 quotes around 6,050',
      reason: 'the last price left the middle of the grid (6,075)',
      text: 'Cancel 2, place 2: Buy 0.05 at 6,005, Sell 0.05 at 6,095.',
    }),
    decisionView({
      at: sampleTime - 130 * secondMs,
      strategy: 'grid',
      draft: '6 quotes around 6,075',
      reason: 'the grid is where it should be',
      verdict: 'none',
      text: 'All six orders rest already.',
    }),
    decisionView({
      at: sampleTime - 190 * secondMs,
      strategy: 'grid',
      draft: '6 quotes around 6,075',
      reason: 'a fill left level 3 empty',
      verdict: 'denied',
      code: stale.code,
      text: denialText(stale),
    }),
    decisionView({
      at: sampleTime - 540 * secondMs,
      draft: 'flat',
      reason: 'SMA 12 (6,011.2) fell below SMA 48 (6,031.7)',
      text: 'Sell 0.2498 at market.',
    }),
  ];
}

function sampleEquity(): EquityPoint[] {
  return Array.from({ length: 400 }, (_, index) => ({
    at: sampleTime - (399 - index) * minuteMs,
    equity: (100_000 + 900 * Math.sin(index / 45) - index * 1.9 + 130 * Math.sin(index / 3.1)).toFixed(2),
  }));
}

function sampleOrders(): OpenOrderView[] {
  return [6095, 6140, 6185, 6005, 5960, 5915].map((price, index) =>
    orderView({
      clientOrderId: `sabcdeaaababaaaaaaab${index}wertyui`,
      price: String(price),
      side: index < 3 ? 'SELL' : 'BUY',
      filled: index === 0 ? '0.0213' : '0',
      createdAt: sampleTime - (index * 3 + 1) * minuteMs,
      state: index === 5 ? 'unknown' : 'open',
    }),
  );
}

export const view = (given: Partial<View> = {}): View => ({
  version: 1,
  mode: 'demo',
  isRealMoney: false,
  exchangeUrl: 'http://127.0.0.1:41234',
  account: 'spot',
  marketTime: sampleTime,
  speed: 60,
  state: 'ready',
  stateText: 'Trading: 2 strategies run, 1 outcome is being resolved.',
  equity: { asset: 'USD', now: '99320.18', dayStart: '99871.02', start: '100000', series: sampleEquity() },
  markets: [{ symbol: 'XBTUSD', interval: '1min', intervals: ['1min', '5min'], last: '6017.5', pricePrecision: 1 }],
  strategies: [
    strategyView(),
    strategyView({
      id: 'grid',
      use: 'grid',
      position: { quantity: '0.15', isDust: false, entryPrice: '6031.25', value: '902.63', openProfit: '-2.06' },
      equity: '49448.78',
      stop: undefined,
      takeProfit: undefined,
    }),
  ],
  openOrders: sampleOrders(),
  decisions: sampleDecisions(),
  fills: sampleFills(),
  limits: [
    { name: 'maxDailyLoss', unit: 'amount', used: '550.84', allowed: '2996.13', share: 0.18385 },
    { name: 'maxPosition', unit: 'amount', symbol: 'XBTUSD', used: '18900', allowed: '20000', share: 0.945 },
    { name: 'maxEntries', unit: 'count', strategy: 'cross', used: '3', allowed: '20', share: 0.15 },
    { name: 'maxOrderValue', unit: 'each', used: undefined, allowed: '10000', share: 0 },
  ],
  weight: { ip: { used: 2_310, max: 12_000 }, uid: { used: 2_640, max: 60_000 }, waiting: 0, bannedUntil: undefined },
  unknowns: [
    unknownView({
      clientOrderId: 'sabcdeaaababaaaaaaadzplmoknij',
      order: 'Buy 0.05 at 5,915',
      since: sampleTime - 8 * secondMs,
      cause: 'No answer to the create within 5 s: it may have reached the exchange.',
      steps: [
        {
          at: sampleTime - 5 * secondMs,
          text: 'Asked for the open orders: not among 5. Waiting past its receive window.',
        },
      ],
      resolved: undefined,
    }),
    unknownView(),
  ],
  notices: [],
  inForce: { mark: 'as-shown', text: '' },
  actions: actionWords,
  ...given,
});
