/** One line of the doctor, and what the exchange was found to do as such lines. */
import type { Known, RestCapabilities } from '../../venue/exchange/capabilities.ts';
import type { SocketCapabilities } from '../../venue/exchange/probe-socket.ts';

export type Level = 'ok' | 'warn' | 'fail';

export interface Check {
  /** What was looked at, in a few words. */
  readonly name: string;
  readonly level: Level;
  readonly text: string;
  /** What to do; empty where nothing has to be done. */
  readonly advice: string;
}

export const check = (name: string, level: Level, text: string, advice = ''): Check => ({ name, level, text, advice });

/** A book that comes later than this after its subscription is one of a quiet or a wrong symbol, real ms. */
const slowMs = 5_000;

export function capabilityChecks(
  rest: RestCapabilities,
  socket: SocketCapabilities,
  about: { readonly isHere: boolean; readonly wsUrl: string; readonly dedicated: boolean },
): readonly Check[] {
  return [socketCheck(socket, about.wsUrl), habits(rest, socket), clientIds(rest, about)];
}

function socketCheck({ firstDataMs, closed }: SocketCapabilities, wsUrl: string): Check {
  if (firstDataMs === undefined)
    return check(
      'socket',
      'fail',
      closed === undefined ? `${wsUrl} is open, but sends no data for a subscription` : `${wsUrl}: ${closed}`,
      'check exchange.wsUrl with its path, and whether the symbol is traded',
    );
  const text = `first data ${Math.round(firstDataMs)} ms after the subscription`;
  return check('socket', firstDataMs > slowMs ? 'warn' : 'ok', text);
}

const said = (known: Known, yes: string, no: string, unknown: string): string =>
  known === 'yes' ? yes : known === 'no' ? no : unknown;

const windows = {
  recvWindow: 'the time window is taken as recvWindow',
  recvwindow: 'the time window is taken as recvwindow',
  recwwindow: 'the time window is taken as recwwindow',
  none: 'a time window is taken under no name: the exchange’s own of 5 s holds',
} as const;

const cancels = {
  'at once': 'a cancel ends an order at once',
  asynchronous: 'a cancel is taken on and ends the order later',
} as const;

function habits(rest: RestCapabilities, { acknowledges, ping }: SocketCapabilities): Check {
  const facts = [
    `errors under HTTP ${rest.errorStatus} with codes as ${rest.errorCode}`,
    `lists ${rest.lists}, public trades ${rest.publicTrades}, klines ${rest.klines}`,
    ...(rest.recvWindow === 'unknown' ? [] : [windows[rest.recvWindow]]),
    said(rest.anySymbolCase, 'symbols in either case', 'symbols in upper case only', 'case of symbols unknown'),
    `socket ${acknowledges ? 'acknowledges subscriptions' : 'acknowledges nothing'}, pings: ${ping}`,
    rest.cancel === 'unknown' ? 'whether a cancel ends an order at once shows at the first one' : cancels[rest.cancel],
  ];
  return check('habits', 'ok', facts.join('; '));
}

function clientIds(
  { clientIdEchoed, queryByClientId }: RestCapabilities,
  { isHere, dedicated }: { readonly isHere: boolean; readonly dedicated: boolean },
): Check {
  const missing = 'an order of this journal does not show the id that it was created with';
  if (clientIdEchoed === 'no')
    return dedicated
      ? check(
          'client ids',
          'ok',
          `${missing}; an order of unknown outcome is found by what it is, since the account is dedicated to Sluice`,
        )
      : check(
          'client ids',
          'fail',
          `${missing}: an order of unknown outcome could be confused with somebody else's`,
          'if nobody and nothing else trades on this account, set dedicatedAccount: true in the configuration; otherwise give Sluice an account of its own',
        );
  const unknown = 'no order to judge by: run the doctor again after the first order of a daemon';
  const echoed = said(clientIdEchoed, 'orders show their client id', '', unknown);
  const alone = said(
    queryByClientId,
    'can be asked for by it alone, which the daemon does from now on',
    'cannot be asked for by it alone',
    '',
  );
  const text = [echoed, alone].filter((part) => part !== '').join(', and ');
  return check('client ids', clientIdEchoed === 'unknown' && !isHere ? 'warn' : 'ok', text);
}
