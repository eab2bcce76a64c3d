/** Reads a truth log and reports what a client did wrong. It judges what was sent, not how the exchange reacted. */
import { type LimitSettings, specifiedLimits, Window } from '../core/limits.ts';
import type { LogEntry } from '../log.ts';
import { operations, windows } from './operations.ts';

export type Wrong = keyof typeof wrongs;

/** Every finding, and what to do about it. */
export const wrongs = {
  weight: 'more weight in a minute than the limit: send less, or spread it',
  frequency: 'more calls of one operation in 2 s than its limit',
  refusedByLimit: 'requests that drew 429 or 410: stop until the window has passed',
  duringBan: 'requests during a ban (418), each of which can make it longer: send nothing until it is over',
  window: 'timestamps outside the receive window (-1021): follow the clock of /time',
  wideWindow: 'a receive window above 5000 ms of real time, which §5.3 advises against',
  signature: 'signatures that do not fit (-1022), or headers that are missing (-1023, -1024)',
  key: 'keys that are missing, unknown or may not do this (-1002, -2014, -2015)',
  precision: 'more decimals than the symbol has (-1111)',
  minimum: 'orders below a minimum (-1136)',
  funds: 'orders or withdrawals for more than is there (-2017)',
  repeatedClientId: 'a client id on several orders: the exchange takes each of them as a new order',
  unknownParameter: 'parameters that the operation does not have',
  unknownOperation: 'operations that there are not',
  misplaced: 'parameters of a POST in the query string, or a body in a GET',
  otherRefusal: 'other requests that were refused',
  probe:
    'questions that may be refused, and do nothing: the test of an order, a symbol that there is not, whether a key may withdraw (sluice doctor, and the first start of a daemon, ask them)',
} as const;

export interface Finding {
  readonly mistake: Wrong;
  /** The user's uid, or the address for what counts by address. */
  readonly who: string;
  readonly count: number;
  /** Exchange time of the first and the last, UTC ms. */
  readonly first: number;
  readonly last: number;
  /** The first of them in short. */
  readonly example: string;
}

export interface Report {
  readonly version: 2;
  readonly from: number;
  readonly to: number;
  readonly requests: number;
  readonly orders: number;
  readonly fills: number;
  readonly faults: number;
  readonly bans: number;
  /** Most weight in any minute, by address and by user. */
  readonly peakWeight: {
    readonly ip: Readonly<Record<string, number>>;
    readonly uid: Readonly<Record<string, number>>;
  };
  readonly findings: readonly Finding[];
}

type Request = Extract<LogEntry, { kind: 'request' }>;

/** Repeated client ids are found among this many of the newest; older ones are forgotten. */
const clientIdLimit = 1_000_000;
const byCode: ReadonlyMap<number, Wrong> = new Map([
  ...([-1_021] as const).map((code) => [code, 'window'] as const),
  ...([-1_022, -1_023, -1_024] as const).map((code) => [code, 'signature'] as const),
  ...([-1_002, -2_014, -2_015] as const).map((code) => [code, 'key'] as const),
  ...([-1_111] as const).map((code) => [code, 'precision'] as const),
  ...([-1_136] as const).map((code) => [code, 'minimum'] as const),
  ...([-2_017] as const).map((code) => [code, 'funds'] as const),
]);

/** Takes the entries in the order in which they were written. */
export interface Reporter {
  take(entry: LogEntry): void;
  report(): Report;
}

export function reporter(): Reporter {
  const found = openFindings();
  const spent = { ips: new Spent(60_000), uids: new Spent(60_000), calls: new Spent(2_000) };
  const clientIds = openClientIds();
  const bans = new Map<string, number>();
  const stops = new Map<string, Stop>();
  const counts = { requests: 0, orders: 0, fills: 0, faults: 0, bans: 0 };
  let limits: LimitSettings = specifiedLimits;
  let speed = 1;
  let [from, to] = [Number.NaN, Number.NaN];
  return {
    take(entry) {
      if (Number.isNaN(from)) from = entry.at;
      to = entry.at;
      if (entry.kind === 'start') {
        limits = entry.limits;
        speed = entry.speed ?? 1;
      } else if (entry.kind === 'fill') counts.fills++;
      else if (entry.kind === 'fault') counts.faults++;
      else if (entry.kind === 'ban') {
        counts.bans++;
        bans.set(entry.ip, entry.until);
      } else if (entry.kind === 'order') {
        const seen = clientIds(entry);
        if (seen !== 'known') counts.orders++;
        if (seen === 'repeated') found.add('repeatedClientId', entry.uid, entry.at, entry.clientOrderId);
      } else if (entry.kind === 'request' && entry.again === undefined) {
        counts.requests++;
        judgeAfterStop(entry, found.add, stops);
        judgeRequest(entry, found.add, { ...spent, limits, speed, bannedUntil: bans.get(entry.ip) ?? from });
      }
    },
    report() {
      const peakWeight = { ip: spent.ips.peaks(), uid: spent.uids.peaks() };
      return { version: 2, from, to, ...counts, peakWeight, findings: found.list() };
    },
  };
}

type Add = (wrong: Wrong, who: string, at: number, example: string) => void;

interface Judging {
  readonly ips: Spent;
  readonly uids: Spent;
  readonly calls: Spent;
  readonly limits: LimitSettings;
  /** Times real time. */
  readonly speed: number;
  readonly bannedUntil: number;
}

/** When a fault made an address stop, and the finding if it continues. */
interface Stop {
  readonly at: number;
  readonly wrong: 'refusedByLimit' | 'duringBan';
}

/** After a 429 or 418 nothing may come for this long (exchange ms), except what was already in flight. */
const stopMs = 60_000;
const underWayMs = 1_000;

/** A fault's answer is not the client's mistake, but continuing after it is, as after the exchange's own limits. */
function judgeAfterStop(
  { at, ip, method, target, status, ageMs, fault }: Request,
  add: Add,
  stops: Map<string, Stop>,
): void {
  const before = stops.get(ip);
  const sentAt = at - (ageMs ?? 0);
  if (before !== undefined && at - before.at < stopMs && sentAt - before.at > underWayMs)
    add(before.wrong, ip, at, `${method} ${target.split('?', 1)[0]} after an injected stop`);
  if (fault === undefined || (status !== 429 && status !== 418)) return;
  stops.set(ip, { at, wrong: status === 418 ? 'duringBan' : 'refusedByLimit' });
}

function judgeRequest(request: Request, add: Add, { ips, uids, calls, limits, speed, bannedUntil }: Judging): void {
  const { at, ip, uid, method, target, weight, fault } = request;
  const who = uid ?? ip;
  const [path = '', query = ''] = target.split('?', 2);
  const name = `${method} ${path}`;
  const operation = operations[name];
  if (ips.add(ip, weight, at) > limits.ipWeightPerMinute) add('weight', ip, at, `${name} with ${weight}`);
  if (uid !== undefined && uids.add(uid, weight, at) > limits.uidWeightPerMinute)
    add('weight', uid, at, `${name} with ${weight}`);
  const most = operation?.perTwoSeconds;
  if (most !== undefined && calls.add(`${who} ${name}`, 1, at) > most) add('frequency', who, at, name);
  if (fault === undefined)
    judgeAnswer(request, at < bannedUntil, (wrong, example) =>
      add(wrong, wrong === 'duringBan' ? ip : who, at, `${name}${example}`),
    );
  if (operation === undefined) add('unknownOperation', who, at, name);
  else
    judgeParameters({ request, known: operation.params, query, longestMs: usualWindowMs * speed }, (wrong, example) =>
      add(wrong, who, at, `${name}: ${example}`),
    );
}

/** By what the exchange itself answered. */
function judgeAnswer(request: Request, isBanned: boolean, add: (wrong: Wrong, example: string) => void): void {
  const { method, target, status, code } = request;
  if (status === 418 || isBanned) add('duringBan', '');
  else if (status === 429 || status === 410) add('refusedByLimit', `: ${status}`);
  else if (code !== undefined && operations[`${method} ${target.split('?', 1)[0]}`] !== undefined)
    add(isProbe(request, code) ? 'probe' : (byCode.get(code) ?? 'otherRefusal'), `: ${code}`);
}

/** The longest receive window that §5.3 advises, real ms. */
const usualWindowMs = 5_000;

/** Whether a request was made to be refused, if need be: it would have changed nothing. What is wrong with its key or signature counts. */
function isProbe({ method, target, body }: Request, code: number): boolean {
  const [path = ''] = target.split('?', 1);
  const name = `${method} ${path}`;
  const kind = byCode.get(code);
  if (name === 'POST /sapi/v1/order/test') return kind !== 'key' && kind !== 'signature';
  if (name === 'POST /sapi/v1/withdraw/query')
    return code === -2_015 && Object.keys(fieldsOf(body)).every((field) => windows.includes(field));
  return code === -1_121 && method === 'GET' && operations[name]?.params.includes('symbol') === true;
}

interface Sent {
  readonly request: Request;
  readonly known: readonly string[];
  readonly query: string;
  /** Of a receive window, ms of exchange time. */
  readonly longestMs: number;
}

function judgeParameters(
  { request: { method, body }, known, query, longestMs }: Sent,
  add: (wrong: Wrong, example: string) => void,
): void {
  const inQuery = [...new URLSearchParams(query)];
  const inBody = Object.entries(fieldsOf(body));
  for (const [name] of method === 'GET' ? inQuery : inBody) if (!known.includes(name)) add('unknownParameter', name);
  if (method === 'GET' && body !== '') add('misplaced', 'a body');
  if (method === 'POST' && query !== '') add('misplaced', query);
  for (const [name, value] of [...inQuery, ...inBody])
    if (/^rec[vw]w?indow$/i.test(name) && Number(value) > longestMs) add('wideWindow', `${name} ${String(value)}`);
}

/** The fields of a body; none of one that is no JSON object, or that was cut for the log. */
function fieldsOf(body: string): object {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/** Sums over a sliding window by name, and the greatest sum of each. */
class Spent {
  readonly #windowMs: number;
  readonly #names = new Map<string, { readonly window: Window; peak: number }>();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Adds at a time that does not step back; returns the sum of the window that ends there. */
  add(name: string, amount: number, at: number): number {
    const one = this.#names.get(name) ?? { window: new Window(this.#windowMs), peak: 0 };
    this.#names.set(name, one);
    one.window.take(amount, at);
    const sum = one.window.used(at);
    one.peak = Math.max(one.peak, sum);
    return sum;
  }

  peaks(): Record<string, number> {
    return Object.fromEntries([...this.#names].map(([name, { peak }]) => [name, peak]));
  }
}

function openFindings(): { readonly add: Add; readonly list: () => Finding[] } {
  const found = new Map<string, { -readonly [K in keyof Finding]: Finding[K] }>();
  return {
    add(wrong, who, at, example) {
      const key = `${wrong} ${who}`;
      const before = found.get(key);
      if (before === undefined) found.set(key, { mistake: wrong, who, count: 1, first: at, last: at, example });
      else {
        before.count++;
        before.last = at;
      }
    },
    list: () => {
      const rank = Object.keys(wrongs);
      return [...found.values()].sort((a, b) => rank.indexOf(a.mistake) - rank.indexOf(b.mistake) || b.count - a.count);
    },
  };
}

/** Whether an order is seen for the first time, and whether the client gave its id to another one before. */
function openClientIds(): (order: Extract<LogEntry, { kind: 'order' }>) => 'known' | 'new' | 'repeated' {
  const orders = new Set<string>();
  const ids = new Set<string>();
  const remember = (set: Set<string>, key: string): void => {
    set.add(key);
    if (set.size <= clientIdLimit) return;
    const [oldest] = set;
    if (oldest !== undefined) set.delete(oldest);
  };
  return ({ orderId, uid, account, clientOrderId, madeBy }) => {
    if (orders.has(orderId)) return 'known';
    remember(orders, orderId);
    if (madeBy !== undefined) return 'new';
    const key = `${uid} ${account} ${clientOrderId}`;
    const repeated = clientOrderId !== '' && ids.has(key);
    if (clientOrderId !== '') remember(ids, key);
    return repeated ? 'repeated' : 'new';
  };
}
