import { pino } from 'pino';
import { expect, test } from 'vitest';
import { btc, portfolio, resting, startTime } from '../../../test/kit/builders.ts';
import { lots } from '../../domain/money.ts';
import type { DenialEntry, Entry, EventEntry, FillEntry, KillEntry } from '../../journal/entries.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { eventJson, eventLine, eventText, isForPeople, logEvent, type SessionEvent, SessionEvents } from './events.ts';

const minute = 60_000;

function eventsOf(entries: readonly Entry[], orders: Readonly<Record<string, WorkingOrder>> = {}): SessionEvent[] {
  const seen: SessionEvent[] = [];
  const events = new SessionEvents({
    speed: 1,
    instrument: () => btc,
    order: (id) => orders[id],
    now: () => startTime,
  });
  events.stream.subscribe((event) => seen.push(event));
  for (const entry of entries) events.see(entry);
  return seen;
}

const denial = (given: Partial<DenialEntry> = {}): DenialEntry => ({
  kind: 'denied',
  at: startTime,
  strategy: 's',
  symbol: btc.symbol,
  code: 'orderShare',
  facts: { value: 4_999.96, allowed: 100 },
  draft: 'BUY 1 BTC at market',
  reason: 'up',
  ...given,
});
const fill: FillEntry = {
  ...{
    kind: 'fill',
    tradeId: '2',
    orderId: '7',
    clientOrderId: 'c1',
    strategy: 's',
    account: 'spot',
    symbol: btc.symbol,
  },
  ...{ side: 'BUY', price: '100', quantity: '0.25', fee: '0.0005', feeAsset: 'BTC', maker: false, time: startTime },
  ...{ purpose: 'enter', evidence: null },
};
const kill = (given: Partial<KillEntry> = {}): KillEntry => ({
  ...{ kind: 'kill', everything: false, at: startTime, strategy: null, by: 'operator', reason: 'looks wrong' },
  ...given,
});
const step = (event: EventEntry['event'], detail: EventEntry['detail'] = {}): EventEntry => ({
  ...{ kind: 'event', at: startTime, clientOrderId: 'c1', event, detail },
});
const order = resting(portfolio());

test('a denial is reported at once, and the same rule again after an hour with the number of those between', () => {
  const at = (minutes: number): number => startTime + minutes * minute;
  const found = eventsOf([
    denial(),
    denial({ at: at(1), draft: 'BUY 2 BTC at market' }),
    denial({ at: at(2), code: 'collar' }),
    denial({ at: at(59) }),
    denial({ at: at(60) }),
  ]);
  expect(found.map((event) => event.kind === 'denied' && [event.rule, event.repeats, event.level])).toEqual([
    ['orderShare', 0, 'warn'],
    ['collar', 0, 'warn'],
    ['orderShare', 2, 'warn'],
  ]);
  expect(eventLine(found[0] as SessionEvent)).toMatch(/Z denied {5}s BTCUSDT BUY 1 BTC at market: /);
  expect(eventLine(found[2] as SessionEvent)).toContain('(2 more since the last report)');
});

test('a denial by a kill or a pause, which are reported themselves, is no warning, and is news after the next one', () => {
  const at = (minutes: number): number => startTime + minutes * minute;
  const paused = (minutes: number) => denial({ at: at(minutes), code: 'paused', facts: { reason: 'looking' } });
  const found = eventsOf([
    kill({ kind: 'pause', strategy: 's' }),
    ...[paused(1), paused(2)],
    kill({ kind: 'resume', strategy: 'other' }),
    paused(3),
    kill({ kind: 'resume', strategy: 's' }),
    kill({ kind: 'pause', strategy: 's' }),
    ...[paused(4), denial({ at: at(5) })],
  ]);
  expect(found.flatMap((event) => (event.kind === 'denied' ? [`${event.rule} ${event.level}`] : []))).toEqual([
    ...['paused info', 'paused info', 'orderShare warn'],
  ]);
});

test('a resting order that nobody here cancelled is a warning once an hour, but not before recovery is through', () => {
  const closing = (minutes: number): Entry => ({
    ...step('closing', { status: 'CANCELED' }),
    at: startTime + minutes * minute,
  });
  const cancelled: WorkingOrder = {
    ...{ ...order, state: 'closing', venueStatus: 'CANCELED', executed: lots('0.25', btc, 'down') },
    intent: { ...order.intent, type: 'LIMIT' },
  };
  const orders: Record<string, WorkingOrder> = { c1: cancelled };
  const seen: SessionEvent[] = [];
  const events = new SessionEvents({
    ...{ speed: 1, instrument: () => btc, order: (id) => orders[id], now: () => startTime },
  });
  events.stream.subscribe((event) => event.kind === 'notice' && seen.push(event));
  events.state('info', 'recovering', false, '');
  events.see(closing(0));
  expect(seen).toEqual([]);
  events.state('info', 'ready', true, '');
  for (const minutes of [1, 2, 62]) events.see(closing(minutes));
  orders['c1'] = { ...cancelled, cancelRequested: true };
  events.see(closing(200));
  expect(seen).toMatchObject([
    {
      level: 'warn',
      topic: 'cancelledByOthers',
      text: expect.stringMatching(
        /^s BTCUSDT .*: the order was cancelled, but not by this daemon; 0\.25 BTC was filled\./,
      ),
    },
    { text: expect.stringMatching(/\(1 more since the last report\)$/) },
  ]);
});

test('an unknown outcome is reported once, and its end once, although the order is closed by then', () => {
  const orders: Record<string, WorkingOrder> = { c1: order };
  const seen: SessionEvent[] = [];
  const events = new SessionEvents({
    ...{ speed: 1, instrument: () => btc, order: (id) => orders[id], now: () => startTime },
  });
  events.stream.subscribe((event) => seen.push(event));
  events.see(step('unknown', { cause: 'HTTP 504' }));
  events.see(step('quarantined', { evidence: 'still not there' }));
  delete orders['c1'];
  events.see(step('found', { orderId: '7', status: 'PARTIALLY_FILLED' }));
  events.see(step('found', { orderId: '7', status: 'FILLED' }));
  expect(seen.map(({ kind, level }) => `${kind} ${level}`)).toEqual(['unknown warn', 'resolved info']);
  expect(seen.map((event) => 'text' in event && event.text)).toEqual([
    'HTTP 504',
    'Found at the exchange as order 7, partially filled: it had taken effect.',
  ]);
});

test('the alert of an unknown outcome says that it is unknown, what happens, and how to see more', () => {
  const [unknown] = eventsOf([step('unknown', { cause: 'HTTP 504' })], { c1: order });
  expect(eventText(unknown as SessionEvent)).toMatch(
    /: outcome unknown, HTTP 504\. Sluice asks the exchange until it knows: sluice why c1 shows each step$/,
  );
});

test('a stop that is reached is a warning before its fills, and no other order is', () => {
  const stop: WorkingOrder = { ...order, intent: { ...order.intent, purpose: 'stop' } };
  expect(eventsOf([step('sending', {})], { c1: order })).toEqual([]);
  const again = step('sending', {});
  expect(eventsOf([again, again, again], { c1: stop })).toEqual([
    expect.objectContaining({
      kind: 'notice',
      level: 'warn',
      topic: 'stopReached',
      text: expect.stringMatching(/^the stop of s on BTCUSDT/),
    }),
  ]);
});

test('a rejection has the exchange’s message and code', () => {
  const [rejected] = eventsOf([step('rejected', { code: -2010, message: 'Insufficient balance' })], { c1: order });
  expect(rejected).toMatchObject({ kind: 'rejected', level: 'warn', text: 'Insufficient balance (-2010)' });
});

test('an order that the exchange ends unexecuted is a rejection; that of an exit is an error, reported once an hour', () => {
  const ended = (given: Partial<WorkingOrder>, intent: Partial<WorkingOrder['intent']>): WorkingOrder => ({
    ...{ ...order, state: 'closing', executed: 0n as WorkingOrder['filled'], venueStatus: 'REJECTED', ...given },
    intent: { ...order.intent, type: 'MARKET', ...intent },
  });
  const closing = step('closing', { status: 'REJECTED' });
  const of = (given: Partial<WorkingOrder>, intent: Partial<WorkingOrder['intent']>, entries: Entry[] = [closing]) =>
    eventsOf(entries, { c1: ended(given, intent) });
  expect(of({}, { purpose: 'enter' })).toMatchObject([{ kind: 'rejected', level: 'warn' }]);
  const again = [0, 1, 2, 61].map((minutes) => ({ ...closing, at: startTime + minutes * minute }));
  const stops = of({}, { purpose: 'stop' }, again);
  expect(stops.map(({ kind, level }) => `${kind} ${level}`)).toEqual(['rejected error', 'rejected error']);
  expect(eventText(stops[0] as SessionEvent)).toMatch(
    /: the exchange ended it with the status REJECTED and executed nothing\. The position stays unprotected; the order is sent again$/,
  );
  expect(eventText(stops[1] as SessionEvent)).toMatch(/\(2 more since the last report\)$/);
  // After a fill the next one is news.
  const news = of({}, { purpose: 'stop' }, [closing, fill, closing]);
  expect(news.map(({ kind }) => kind)).toEqual(['rejected', 'fill', 'rejected']);
  expect(of({ venueStatus: 'CANCELED' }, { purpose: 'exit' })).toMatchObject([{ kind: 'rejected', level: 'error' }]);
  expect(of({ venueStatus: 'CANCELED', cancelRequested: true }, { purpose: 'exit' })).toEqual([]);
  expect(of({ venueStatus: 'CANCELED' }, { purpose: 'quote', type: 'LIMIT' })).toEqual([]);
  expect(of({ executed: 1n as WorkingOrder['filled'] }, { purpose: 'stop' })).toEqual([]);
});

test('a refused exit is an error, too', () => {
  const exit: WorkingOrder = { ...order, intent: { ...order.intent, purpose: 'exit' } };
  const [rejected] = eventsOf([step('rejected', { code: -2010, message: 'no balance' })], { c1: exit });
  expect(rejected).toMatchObject({
    level: 'error',
    text: 'no balance (-2010). The position stays open; Sluice tries again',
  });
});

test('kills and halts are errors with the way on, a resume is a warning', () => {
  const found = eventsOf([
    kill(),
    kill({ kind: 'halt', by: 'ledger', reason: 'they differ' }),
    kill({ kind: 'resume', strategy: 's', reason: 'mended' }),
  ]);
  expect(found.map(({ kind, level }) => `${kind} ${level}`)).toEqual(['kill error', 'halt error', 'resume warn']);
  expect(eventLine(found[0] as SessionEvent)).toMatch(
    /kill {7}All strategies were killed by operator: looks wrong\. Exits go on\. To continue, run: npx sluice resume$/,
  );
});

test('HALTs of one cause are one alarm; others of the cause are counted in a warning', () => {
  const seen: SessionEvent[] = [];
  let now = startTime;
  const events = new SessionEvents({ speed: 1, instrument: () => btc, order: () => undefined, now: () => now });
  events.stream.subscribe((event) => seen.push(event));
  const halt = (by: string, reason: string) => events.see(kill({ kind: 'halt', by, reason }));
  for (let order = 1; order <= 20; order++) halt('futureId', `order ${order}`);
  halt('ledger', 'they differ');
  events.countHalts();
  expect(seen.map(({ level }) => level)).toEqual(['error', 'error']);
  now += 10_000;
  events.countHalts();
  events.countHalts();
  expect(seen.map((event) => `${event.level} ${eventLine(event)}`).slice(2)).toEqual([
    expect.stringMatching(
      /^warn .*: order 20 \(and 18 more of this cause; sluice status\); an order at the exchange has/,
    ),
  ]);
  events.see(kill({ kind: 'resume' }));
  halt('futureId', 'order 21');
  expect(seen.at(-1)?.level).toBe('error');
});

test('to be ready without market data is not to trade, and is said so', () => {
  const state = { kind: 'state', time: 5, level: 'info', state: 'ready', hasMarketData: true } as const;
  expect(eventLine({ ...state, hasMarketData: false, text: 'No market data: ws://x: refused.' })).toBe(
    '1970-01-01T00:00:00.005Z ready, without data: No market data: ws://x: refused.',
  );
  expect(eventLine({ ...state, text: 'Trading.' })).toBe('1970-01-01T00:00:00.005Z ready: Trading.');
});

test('a line is text for people and one object for programs', () => {
  const [event] = eventsOf([fill]);
  expect(eventLine(event as SessionEvent)).toBe(
    `${new Date(startTime).toISOString()} fill       s BUY 0.25 BTCUSDT at 100`,
  );
  expect(eventJson(event as SessionEvent)).toEqual({
    ...{ kind: 'fill', level: 'info', tradeId: '2', orderId: '7', clientOrderId: 'c1', strategy: 's' },
    ...{
      symbol: 'BTCUSDT',
      side: 'BUY',
      price: '100',
      quantity: '0.25',
      fee: '0.0005',
      feeAsset: 'BTC',
      time: startTime,
    },
  });
});

test('an event is a line of the log at its level, with its fields', () => {
  const lines: unknown[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  for (const event of eventsOf([denial(), kill()])) logEvent(log, event);
  expect(lines).toMatchObject([
    { level: 40, kind: 'denied', at: startTime, rule: 'orderShare', msg: expect.stringContaining('BUY 1 BTC') },
    { level: 50, kind: 'kill', by: 'operator', msg: expect.stringContaining('killed by operator') },
  ]);
});

test('people read once that a daemon was killed: by the kill itself, or by a start that finds the kill in force', () => {
  const state = (name: 'recovering' | 'ready' | 'killed'): SessionEvent => ({
    ...{ kind: 'state', time: 0, level: 'info', hasMarketData: true, text: name },
    state: name,
  });
  const readOf = (...events: readonly SessionEvent[]) => events.filter(isForPeople()).map(eventText);
  const [killed] = eventsOf([kill()]) as [SessionEvent];
  expect(readOf(state('ready'), killed, state('killed'), state('ready'))).toEqual([
    'ready',
    eventText(killed),
    'ready',
  ]);
  expect(readOf(state('recovering'), state('killed'))).toEqual(['recovering', 'killed']);
});
