/** One result of the doctor, and the exchange's habits as results. */
import type { Known, RestCapabilities } from '../../venue/exchange/capabilities.ts';
import type { SocketCapabilities } from '../../venue/exchange/probe-socket.ts';

export type Level = 'ok' | 'warn' | 'fail';

export interface Check {
  /** The subject, in a few words. */
  readonly name: string;
  readonly level: Level;
  readonly text: string;
  /** What to do; may be empty. */
  readonly advice: string;
}

export const ok = (name: string, text: string): Check => ({ name, level: 'ok', text, advice: '' });
export const warn = (name: string, text: string, advice = ''): Check => ({ name, level: 'warn', text, advice });
export const fail = (name: string, text: string, advice: string): Check => ({ name, level: 'fail', text, advice });

/** Depth that comes later than this after its subscription (real ms) means a quiet or a wrong symbol. */
const slowMs = 5_000;

export function socketCheck({ firstDataMs, closed }: SocketCapabilities, wsUrl: string): Check {
  if (firstDataMs === undefined)
    return fail(
      'socket',
      closed === undefined ? `${wsUrl} is open, but sends no data for a subscription` : `${wsUrl}: ${closed}`,
      'check exchange.wsUrl with its path, and whether the symbol is traded',
    );
  const text = `first data ${Math.round(firstDataMs)} ms after the subscription`;
  return firstDataMs > slowMs ? warn('socket', text) : ok('socket', text);
}

const textOf = (known: Known, yes: string, no: string, unknown: string): string =>
  known === 'yes' ? yes : known === 'no' ? no : unknown;

const windows = {
  recvWindow: 'the time window is read as recvWindow',
  recvwindow: 'the time window is read as recvwindow',
  recwwindow: 'the time window is read as recwwindow',
  none: "a time window is read under no name: the exchange's own of 5 s applies",
} as const;

const cancels = {
  'at once': 'a cancel ends an order at once',
  asynchronous: 'a cancel is accepted and ends the order later',
  unknown: 'the first cancel shows whether it ends an order at once',
} as const;

export function habitsCheck(rest: RestCapabilities, { acknowledges, ping }: SocketCapabilities): Check {
  const facts = [
    `errors under HTTP ${rest.errorStatus} with codes as ${rest.errorCode}`,
    `lists ${rest.lists}, public trades ${rest.publicTrades}, klines ${rest.klines}`,
    ...(rest.recvWindow === 'unknown' ? [] : [windows[rest.recvWindow]]),
    textOf(rest.anySymbolCase, 'symbols in either case', 'symbols in upper case only', 'case of symbols unknown'),
    `socket ${acknowledges ? 'acknowledges subscriptions' : 'acknowledges nothing'}, pings: ${ping}`,
    cancels[rest.cancel],
  ];
  return ok('habits', facts.join('; '));
}

/** `isHere`: the exchange is on this machine. `dedicated`: nobody else trades on the account. */
export function clientIdCheck(
  { clientIdEchoed, queryByClientId }: RestCapabilities,
  isHere: boolean,
  dedicated: boolean,
): Check {
  const missing = 'an order of this journal does not show the id that it was created with';
  if (clientIdEchoed === 'no')
    return dedicated
      ? ok(
          'client ids',
          `${missing}; an order of unknown outcome is found by its properties, since the account is dedicated to Sluice`,
        )
      : fail(
          'client ids',
          `${missing}: an order of unknown outcome could be confused with somebody else's`,
          'if nobody and nothing else trades on this account, set dedicatedAccount: true in the configuration; otherwise give Sluice an account of its own',
        );
  const echoed =
    clientIdEchoed === 'yes'
      ? 'orders show their client id'
      : 'no order to judge by: run the doctor again after the first order of a daemon';
  const alone = textOf(
    queryByClientId,
    ', and can be queried by it alone, which the daemon does from now on',
    ', and cannot be queried by it alone',
    '',
  );
  return clientIdEchoed === 'yes' || isHere ? ok('client ids', echoed + alone) : warn('client ids', echoed + alone);
}
