/** One result of the doctor; Node, state directory, disk and weight plan as results, and the exchange's quirks. */

import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { TradingConfig } from '../../config/schema.ts';
import { spaceOf } from '../../journal/free-space.ts';
import { makeDirs } from '../../journal/open.ts';
import { planLines, weightPlanOf } from '../../session/preflight/weight-plan.ts';
import { stateAt } from '../../session/state.ts';
import type { Configured } from '../../trading/strategies.ts';
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
  recvWindow: 'the exchange reads the time window as recvWindow',
  recvwindow: 'the exchange reads the time window as recvwindow',
  recwwindow: 'the exchange reads the time window as recwwindow',
  none: 'the exchange reads no time-window parameter: its own window of 5 s applies',
} as const;

const cancels = {
  'at once': 'a cancel ends an order at once',
  asynchronous: 'a cancel is accepted and ends the order later',
  unknown: 'the first cancel shows whether it ends an order at once',
} as const;

export function quirksCheck(rest: RestCapabilities, { acknowledges, ping }: SocketCapabilities): Check {
  const facts = [
    `errors under HTTP ${rest.errorStatus} with codes as ${rest.errorCode}`,
    `lists ${rest.lists}, public trades ${rest.publicTrades}, klines ${rest.klines}`,
    ...(rest.recvWindow === 'unknown' ? [] : [windows[rest.recvWindow]]),
    textOf(rest.anySymbolCase, 'symbols in either case', 'symbols in upper case only', 'case of symbols unknown'),
    `socket ${acknowledges ? 'acknowledges subscriptions' : 'acknowledges nothing'}, pings: ${ping}`,
    cancels[rest.cancel],
  ];
  return ok('quirks', facts.join('; '));
}

/** `isHere`: the exchange is on this machine. `dedicated`: nobody else trades on the account. */
export function clientIdCheck(
  { clientIdEchoed, queryByClientId }: RestCapabilities,
  isHere: boolean,
  dedicated: boolean,
): Check {
  const missing = 'the exchange does not return the client id of an order in this journal';
  if (clientIdEchoed === 'no')
    return dedicated
      ? ok(
          'client ids',
          `${missing}; Sluice finds an order of unknown outcome by its terms, because the account is dedicated`,
        )
      : fail(
          'client ids',
          `${missing}: an order of unknown outcome could be confused with somebody else's`,
          'if nothing else trades on this account, set dedicatedAccount: true; otherwise give Sluice an account of its own',
        );
  const echoed =
    clientIdEchoed === 'yes'
      ? 'orders show their client id'
      : 'not known yet: run the doctor again after the first order of the daemon';
  const alone = textOf(
    queryByClientId,
    ', and can be queried by it alone; the daemon uses that from now on',
    ', and cannot be queried by it alone',
    '',
  );
  return clientIdEchoed === 'yes' || isHere ? ok('client ids', echoed + alone) : warn('client ids', echoed + alone);
}

const minNode = 20;
/** Free space, bytes: too little to start, and too little for months. */
const minBytes = 50e6;
const fewBytes = 1e9;

export const machineChecks = (stateDir: string): readonly Check[] => [
  nodeCheck(),
  stateCheck(stateDir),
  diskCheck(stateDir),
];

function nodeCheck(): Check {
  const version = process.versions.node;
  return Number(version.split('.')[0]) >= minNode
    ? ok('Node', version)
    : fail('Node', `${version} is too old`, `install Node ${minNode} or newer`);
}

function stateCheck(dir: string): Check {
  const { running, starting } = stateAt(dir);
  if (running !== undefined)
    return ok('state', `${dir}: a daemon trades on it (${running.mode}, process ${running.pid})`);
  if (starting !== undefined)
    return ok('state', `${dir}: a daemon starts on it (process ${starting.pid}): ${starting.text}`);
  try {
    makeDirs(dir);
    accessSync(dir, constants.W_OK);
    return ok('state', `${dir} is writable; no daemon runs on it`);
  } catch (error) {
    const cause = error instanceof Error ? error.message : '';
    return fail('state', `${dir} cannot be written: ${cause}`, 'give another directory with --state DIR');
  }
}

function diskCheck(dir: string): Check {
  let near = resolve(dir);
  while (!existsSync(near)) near = dirname(near);
  const bytes = spaceOf(near).free;
  const text = `${(bytes / 1e9).toFixed(1)} GB free`;
  if (bytes < minBytes) return fail('disk', text, 'free disk space: an order that cannot be journalled is not sent');
  return bytes < fewBytes ? warn('disk', text, 'free disk space: the journal grows for months') : ok('disk', text);
}

export function planCheck(config: TradingConfig, configured: readonly Configured[]): Check {
  const plan = weightPlanOf(config, configured);
  const sum = `${Math.round(plan.weightPerMinute)} of ${Math.floor(plan.room)} a minute, ${Math.ceil(plan.weightAtStart)} at the start`;
  const text = [sum, ...planLines(plan)].join('\n');
  return plan.faults.length === 0 ? ok('weight', text) : fail('weight', text, plan.faults.join('; '));
}
