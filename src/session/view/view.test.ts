import { expect, test } from 'vitest';
import { btc, decision, eth, fill, kill, resting, startTime, target } from '../../../test/kit/builders.ts';
import { TestRig } from '../../../test/kit/test-rig.ts';
import type { Instrument } from '../../domain/instrument.ts';
import type { Interval } from '../../domain/interval.ts';
import { emptyLoaded } from '../../journal/load.ts';
import { defineStrategy } from '../../strategy/contract.ts';
import type { HostedMarket } from '../../strategy/host.ts';
import { hold } from '../../strategy/signals.ts';
import { stateReports } from '../observe.ts';
import { Screen } from './view.ts';

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

const screenOf = (desk: TestRig, blocked: () => string | undefined = () => undefined): Screen =>
  new Screen({
    mode: 'live',
    isRealMoney: false,
    exchangeUrl: 'http://x',
    speed: 1,
    hosted: [{ ...hosted('1min'), id: 's' }],
    assembled: desk.assembled,
    unprotected: desk.assembled.unprotected,
    now: () => startTime,
    weight: () => ({ ip: meter, uid: meter, waiting: 0, bannedUntil: undefined }),
    blocked,
    loaded: emptyLoaded,
  });

test('a stop is shown while a target is signalled, and not while the strategy quotes: then it does not act', async () => {
  const desk = new TestRig();
  const screen = screenOf(desk);
  const { portfolio, planner } = desk.assembled;
  portfolio.apply(fill({ side: 'BUY', quantity: '1', price: '100' }));
  planner.note(decision(hold({ quantity: 1 }, 'up', { stop: 95 })));
  expect(screen.view().strategies).toMatchObject([{ stop: '95' }]);
  planner.note(decision({ kind: 'quotes', quotes: [], reason: 'quoting' }));
  expect(screen.view().strategies[0]?.stop).toBeUndefined();
});

test('two strategies with different intervals on one symbol have a chart each, and that of the first is shown first', () => {
  const { assembled } = new TestRig();
  const screen = new Screen({
    mode: 'live',
    isRealMoney: false,
    exchangeUrl: 'http://x',
    speed: 1,
    hosted: [hosted('1min'), hosted('60min')],
    assembled,
    unprotected: assembled.unprotected,
    now: () => startTime,
    weight: () => ({ ip: meter, uid: meter, waiting: 0, bannedUntil: undefined }),
    blocked: () => undefined,
    loaded: emptyLoaded,
  });
  const kline = { symbol: btc.symbol, open: 1, high: 1, low: 1, close: 1, volume: 1, seenAt: startTime };
  screen.addKline({ ...kline, interval: '60min', openTime: startTime + 3_600_000 });
  screen.addKline({ ...kline, interval: '1min', openTime: startTime + 60_000 });
  const openTimes = (interval: Interval) => screen.klines(btc.symbol, interval).map(({ openTime }) => openTime);
  expect(openTimes('1min')).toEqual([startTime + 60_000]);
  expect(openTimes('60min')).toEqual([startTime + 3_600_000]);
  expect(screen.view().markets).toMatchObject([{ symbol: btc.symbol, interval: '1min', intervals: ['1min', '60min'] }]);
});

test('a strategy of several markets is shown where it holds something, with all its markets, each of which has a chart', () => {
  const { assembled } = new TestRig();
  const market = (role: string, at: Instrument, use: 'traded' | 'data'): HostedMarket => ({
    ...{ role, symbol: at.symbol, interval: '1min', instrument: at, use },
  });
  const markets = [market('first', btc, 'traded'), market('second', eth, 'traded')];
  const screen = new Screen({
    mode: 'live',
    isRealMoney: false,
    exchangeUrl: 'http://x',
    speed: 1,
    hosted: [{ ...hosted('1min'), id: 's', markets }],
    assembled,
    unprotected: assembled.unprotected,
    now: () => startTime,
    weight: () => ({ ip: meter, uid: meter, waiting: 0, bannedUntil: undefined }),
    blocked: () => undefined,
    loaded: emptyLoaded,
  });
  screen.state = 'ready';
  const shown = (): readonly string[] => screen.view().strategies.map(({ symbol, status }) => `${symbol} ${status}`);
  expect(shown()).toEqual(['BTCUSDT running']);
  assembled.portfolio.apply(fill({ symbol: eth.symbol, side: 'BUY', quantity: '1', price: '100' }));
  expect(shown()).toEqual(['ETHUSDT running']);
  assembled.portfolio.apply(fill({ side: 'BUY', quantity: '1', price: '100', tradeId: '2' }));
  expect(shown()).toEqual(['BTCUSDT running', 'ETHUSDT running']);
  const view = screen.view();
  expect(view.strategies[0]?.markets).toMatchObject([
    { role: 'first', symbol: 'BTCUSDT' },
    { role: 'second', symbol: 'ETHUSDT' },
  ]);
  expect(view.markets.map(({ symbol }) => symbol)).toEqual(['BTCUSDT', 'ETHUSDT']);
  expect(view.stateText).toBe('Trading. 1 strategy running.');
});

test('a strategy that is killed is none of those that run', async () => {
  const desk = new TestRig();
  const screen = screenOf(desk);
  screen.state = 'ready';
  expect(screen.view().stateText).toBe('Trading. 1 strategy running.');
  void desk.assembled.kill(kill({ strategy: 's', reason: 'odd' }));
  const { state, stateText, strategies } = screen.view();
  expect([state, stateText, strategies[0]?.status]).toEqual([
    'ready',
    'No strategy is running: each one shows why it stopped.',
    'killed',
  ]);
});

test('when every strategy is paused by itself, the status says so and how to resume', async () => {
  const desk = new TestRig();
  const screen = screenOf(desk);
  screen.state = 'ready';
  await desk.assembled.kill(kill({ kind: 'pause', strategy: 's', reason: 'lunch' }));
  expect(screen.view().stateText).toBe(
    'All strategies are paused. Nothing is entered, exits go on. Resume here, or with: npx sluice resume',
  );
});

test('why no order is created is a part of the view while that lasts', () => {
  let why: string | undefined = 'the disk is full';
  const screen = screenOf(new TestRig(), () => why);
  screen.state = 'ready';
  expect(screen.view()).toMatchObject({ state: 'ready', blocked: 'the disk is full' });
  expect(screen.view().stateText).toContain('the disk is full');
  why = undefined;
  expect(screen.view().blocked).toBeUndefined();
});

test('the status while all is paused ends with how to resume, after what else is true', async () => {
  const desk = new TestRig();
  const screen = screenOf(desk);
  screen.state = 'ready';
  await desk.assembled.kill(kill({ kind: 'pause', reason: 'lunch' }));
  resting(desk.assembled.portfolio, { price: '100' }).state = 'unknown';
  expect(screen.view().stateText).toMatch(
    /exits go on\. 1 outcome is being resolved\. Resume here, or with: npx sluice resume$/,
  );
});

test('what a strategy holds that is not configured any more is shown as that of a former one, and its dust is not', () => {
  const desk = new TestRig();
  const screen = screenOf(desk);
  const { portfolio } = desk.assembled;
  portfolio.mark(btc.symbol, 100, startTime);
  portfolio.apply(fill({ strategy: 't', side: 'BUY', quantity: '1', price: '90' }));
  portfolio.apply(fill({ strategy: 'gone', side: 'BUY', quantity: '0.00001', price: '90', tradeId: '2' }));
  const [running, ...former] = screen.view().strategies;
  expect(running).toMatchObject({ id: 's', status: 'running' });
  expect(former).toMatchObject([
    { id: 't', symbol: btc.symbol, status: 'former', use: '', position: { quantity: '1', openProfit: '10' } },
  ]);
  expect(screen.view().stateText).not.toContain('2 strategies');
});

test('what was lost today is counted from the start of the day, also after a resume', async () => {
  const desk = new TestRig();
  const screen = screenOf(desk);
  const midnight = startTime - (startTime % 86_400_000);
  for (const [at, equity] of [
    [midnight - 1, '900'],
    [midnight, '1000'],
    [midnight + 1, '800'],
  ] as const)
    screen.see({ kind: 'equity', at, equity });
  await desk.assembled.resume(undefined, 'operator', 'on');
  expect(screen.view().equity.dayStart).toBe('1000');
});

test('the end of a daemon names the positions whose stops nobody watches, as a warning', () => {
  const desk = new TestRig();
  const screen = screenOf(desk);
  screen.state = 'stopping';
  const said: string[] = [];
  const report = () =>
    stateReports({ state: (level, _state, _hasData, text) => said.push(`${level} ${text}`) }, screen)(true, false);
  report();
  const { portfolio, planner } = desk.assembled;
  portfolio.apply(fill({ side: 'BUY', quantity: '1', price: '100' }));
  report();
  planner.note(decision(hold({ quantity: 1 }, 'up', { stop: 95 })));
  report();
  const open = 'warn Stopping. Positions stay open, and nothing watches their stops until the next start: s 1 BTCUSDT';
  expect(said).toEqual(['info Stopping.', `${open} (no stop).`, `${open} (stop at 95).`]);
});

test('an exit that the exchange rejected is a banner until the position is executed, or its strategy signals otherwise', () => {
  const screen = screenOf(new TestRig());
  const of = { strategy: 's', symbol: btc.symbol };
  const reject = (level: 'warn' | 'error', cause: string): void =>
    screen.seeEvent({
      ...{ kind: 'rejected', time: startTime, level, ...of, clientOrderId: 'c1', order: 'SELL 1 BTC at market' },
      text: `${cause}. The position stays unprotected; the order is sent again`,
    });
  const banners = (): string[] => screen.view().notices.map(({ level, text }) => `${level} ${text}`);
  reject('warn', 'an entry');
  expect(banners()).toEqual([]);
  reject('error', 'Insufficient balance (-2010)');
  reject('error', 'Market closed (-2011)');
  expect(banners()).toEqual([
    'error s BTCUSDT SELL 1 BTC at market: Market closed (-2011). The position stays unprotected; the order is sent again',
  ]);
  screen.see({
    kind: 'signal',
    ...of,
    at: startTime,
    decision: 1,
    role: '',
    signal: target(1),
    quantity: '1',
    memory: null,
  });
  expect(banners()).toEqual([]);
  reject('error', 'Market closed (-2011)');
  screen.see({
    ...{ kind: 'fill', tradeId: '2', orderId: '7', clientOrderId: 'c1', ...of, account: 'spot', side: 'SELL' },
    ...{ price: '100', quantity: '1', fee: '0', feeAsset: 'BTC', maker: false, time: startTime },
    ...{ purpose: 'stop', evidence: null },
  });
  expect(banners()).toEqual([]);
});
