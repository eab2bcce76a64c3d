/** Every operation of the exchange's socket (specification §6.2): the names of its channels and what may be said about them. */
import type { Interval } from '../../../domain/interval.ts';
import type { Found } from '../rest/endpoints.ts';

export interface SocketOperation extends Found {
  /** The word that the client sends; the specification has no `unsub` for klines. */
  readonly event: 'sub' | 'unsub' | 'req';
  /** The channel's name, `<symbol>` in lower case. */
  readonly channel: string;
}

const names = {
  depth: 'market_<symbol>_depth_step0',
  trades: 'market_<symbol>_trade_ticker',
  ticker: 'market_<symbol>_ticker',
  klines: 'market_<symbol>_kline_<interval>',
} as const;

type Kind = keyof typeof names;

const row = (event: SocketOperation['event'], kind: Kind, more: Pick<Found, 'call' | 'command' | 'test'>) => ({
  name: `${event} ${kind}`,
  event,
  channel: names[kind],
  section: '6.2',
  ...more,
});
const follow = (kind: Kind, test: string) => ({
  call: `feed.${kind}`,
  command: `sluice market ${kind} --follow`,
  test,
});

export const socketOperations: readonly SocketOperation[] = [
  row('sub', 'depth', follow('depth', 'market/feed')),
  row('unsub', 'depth', follow('depth', 'market/feed')),
  row('sub', 'trades', follow('trades', 'market/trade-stream')),
  row('unsub', 'trades', follow('trades', 'market/trade-stream')),
  row('sub', 'ticker', follow('ticker', 'market/feed')),
  row('unsub', 'ticker', follow('ticker', 'market/feed')),
  row('sub', 'klines', follow('klines', 'market/kline-stream')),
  row('req', 'klines', {
    call: 'past.klines',
    command: 'sluice market klines --socket',
    test: 'market/socket-history',
  }),
  row('req', 'trades', {
    call: 'past.trades',
    command: 'sluice market trades --socket',
    test: 'market/socket-history',
  }),
];

/** A channel's name. It is lower case; upper case is ignored without a word. */
export const channelOf = (kind: Exclude<Kind, 'klines'>, symbol: string): string =>
  names[kind].replace('<symbol>', symbol.toLowerCase());

export const klineChannel = (symbol: string, interval: Interval): string =>
  names.klines.replace('<symbol>', symbol.toLowerCase()).replace('<interval>', interval);

/** Klines cannot be unsubscribed; what still comes of them is dropped. */
export const hasUnsub = (channel: string): boolean => !channel.includes('_kline_');

/** Whether data comes all the time, so that a minute without any means that the subscription is dead; trades and klines can be quiet. */
export const isSteady = (channel: string): boolean =>
  channel.endsWith('_ticker') ? !channel.endsWith('_trade_ticker') : channel.includes('_depth_');
