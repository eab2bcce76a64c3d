/** Every operation of the exchange's socket (specification §6.2), and the names of its channels. */
import type { ExchangeInterval } from '../../../domain/interval.ts';

export interface SocketOperation {
  readonly name: string;
  /** What the client sends. The specification has no `unsub` for klines. */
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

const row = (event: SocketOperation['event'], kind: Kind): SocketOperation => ({
  name: `${event} ${kind}`,
  event,
  channel: names[kind],
});

export const socketOperations: readonly SocketOperation[] = [
  ...(['depth', 'trades', 'ticker'] as const).flatMap((kind) => [row('sub', kind), row('unsub', kind)]),
  row('sub', 'klines'),
  row('req', 'klines'),
  row('req', 'trades'),
];

/** A channel's name, in lower case: the exchange ignores upper case without an error. */
export const channelOf = (kind: Exclude<Kind, 'klines'>, symbol: string): string =>
  names[kind].replace('<symbol>', symbol.toLowerCase());

export const klineChannel = (symbol: string, interval: ExchangeInterval): string =>
  names.klines.replace('<symbol>', symbol.toLowerCase()).replace('<interval>', interval);

/** Klines cannot be unsubscribed. Frames that still arrive are dropped. */
export const hasUnsub = (channel: string): boolean => !channel.includes('_kline_');

/** Whether a minute without data proves that the subscription is dead. Trades and klines can be quiet. */
export const isSteady = (channel: string): boolean =>
  channel.endsWith('_ticker') ? !channel.endsWith('_trade_ticker') : channel.includes('_depth_');
