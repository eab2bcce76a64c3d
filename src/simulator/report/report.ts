/** Reads a truth log and reports what a client did wrong. It judges what was sent, not how the exchange reacted. */
import { getOrMake } from '../../domain/get-or-make.ts';
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
  [-1_021, 'window'],
  ...([-1_022, -1_023, -1_024] as const).map((code) => [code, 'signature'] as const),
  ...([-1_002, -2_014, -2_015] as const).map((code) => [code, 'key'] as const),
  [-1_111, 'precision'],
  [-1_136, 'minimum'],
  [-2_017, 'funds'],
]);

/** After a 429 or 418 nothing may come for this long (exchange ms), except what was already in flight. */
const stopMs = 60_000;
const underWayMs = 1_000;
/** The longest receive window that §5.3 advises, real ms. */
const usualWindowMs = 5_000;

/** Reads entries in the order in which they were written. */
export class Reporter {
  readonly #found = new Map<string, { -readonly [K in keyof Finding]: Finding[K] }>();
  readonly #spent = { ips: openSums(60_000), uids: openSums(60_000), calls: openSums(2_000) };
  readonly #isRepeated = openClientIds();
  /** By address, until when it is banned. */
  readonly #bans = new Map<string, number>();
  /** By address, when a fault made it stop, and the finding if it continues. */
  readonly #stops = new Map<string, { readonly at: number; readonly mistake: Wrong }>();
  readonly #counts = { requests: 0, orders: 0, fills: 0, faults: 0, bans: 0 };
  #limits: LimitSettings = specifiedLimits;
  /** Times real time. */
  #speed = 1;
  #from = Number.NaN;
  #to = Number.NaN;

  take(entry: LogEntry): void {
    if (Number.isNaN(this.#from)) this.#from = entry.at;
    this.#to = entry.at;
    if (entry.kind === 'start') {
      this.#limits = entry.limits;
      this.#speed = entry.speed ?? 1;
    } else if (entry.kind === 'fill') this.#counts.fills++;
    else if (entry.kind === 'fault') this.#counts.faults++;
    else if (entry.kind === 'ban') {
      this.#counts.bans++;
      this.#bans.set(entry.ip, entry.until);
    } else if (entry.kind === 'order') {
      const seen = this.#isRepeated(entry);
      if (seen !== 'known') this.#counts.orders++;
      if (seen === 'repeated') this.#add('repeatedClientId', entry.uid, entry.at, entry.clientOrderId);
    } else if (entry.kind === 'request' && entry.again === undefined) {
      this.#counts.requests++;
      const { method, target } = entry;
      const [path = '', query = ''] = target.split('?', 2);
      const name = `${method} ${path}`;
      this.#judgeAfterStop(entry, name);
      this.#judgeWeight(entry, name);
      if (entry.fault === undefined) this.#judgeAnswer(entry, name);
      this.#judgeParameters(entry, name, query);
    }
  }

  report(): Report {
    const rank = Object.keys(wrongs);
    const findings = [...this.#found.values()].sort(
      (a, b) => rank.indexOf(a.mistake) - rank.indexOf(b.mistake) || b.count - a.count,
    );
    const peakWeight = { ip: this.#spent.ips.peaks(), uid: this.#spent.uids.peaks() };
    return { version: 2, from: this.#from, to: this.#to, ...this.#counts, peakWeight, findings };
  }

  #add(mistake: Wrong, who: string, at: number, example: string): void {
    const one = getOrMake(this.#found, `${mistake} ${who}`, () => {
      return { mistake, who, count: 0, first: at, last: at, example };
    });
    one.count++;
    one.last = at;
  }

  /** A fault's answer is not the client's mistake, but continuing after it is, as after the exchange's own limits. */
  #judgeAfterStop({ at, ip, status, ageMs, fault }: Request, name: string): void {
    const before = this.#stops.get(ip);
    const sentAt = at - (ageMs ?? 0);
    if (before !== undefined && at - before.at < stopMs && sentAt - before.at > underWayMs)
      this.#add(before.mistake, ip, at, `${name} after an injected stop`);
    if (fault === undefined || (status !== 429 && status !== 418)) return;
    this.#stops.set(ip, { at, mistake: status === 418 ? 'duringBan' : 'refusedByLimit' });
  }

  #judgeWeight({ at, ip, uid, weight }: Request, name: string): void {
    const { ips, uids, calls } = this.#spent;
    const who = uid ?? ip;
    if (ips.add(ip, weight, at) > this.#limits.ipWeightPerMinute) this.#add('weight', ip, at, `${name} with ${weight}`);
    if (uid !== undefined && uids.add(uid, weight, at) > this.#limits.uidWeightPerMinute)
      this.#add('weight', uid, at, `${name} with ${weight}`);
    const max = operations[name]?.perTwoSeconds;
    if (max !== undefined && calls.add(`${who} ${name}`, 1, at) > max) this.#add('frequency', who, at, name);
  }

  /** By what the exchange itself answered. */
  #judgeAnswer({ at, ip, uid = ip, body, method, status, code }: Request, name: string): void {
    const isBanned = at < (this.#bans.get(ip) ?? this.#from);
    if (status === 418 || isBanned) this.#add('duringBan', ip, at, name);
    else if (status === 429 || status === 410) this.#add('refusedByLimit', uid, at, `${name}: ${status}`);
    else if (code !== undefined && operations[name] !== undefined) {
      const mistake = isProbe(name, method, body, code) ? 'probe' : (byCode.get(code) ?? 'otherRefusal');
      this.#add(mistake, uid, at, `${name}: ${code}`);
    }
  }

  #judgeParameters({ at, ip, uid = ip, method, body }: Request, name: string, query: string): void {
    const known = operations[name]?.params;
    if (known === undefined) {
      this.#add('unknownOperation', uid, at, name);
      return;
    }
    const add = (mistake: Wrong, example: string): void => this.#add(mistake, uid, at, `${name}: ${example}`);
    const inQuery = [...new URLSearchParams(query)];
    const inBody = Object.entries(fieldsOf(body));
    for (const [field] of method === 'GET' ? inQuery : inBody)
      if (!known.includes(field)) add('unknownParameter', field);
    if (method === 'GET' && body !== '') add('misplaced', 'a body');
    if (method === 'POST' && query !== '') add('misplaced', query);
    for (const [field, value] of [...inQuery, ...inBody])
      if (/^rec[vw]w?indow$/i.test(field) && Number(value) > usualWindowMs * this.#speed)
        add('wideWindow', `${field} ${String(value)}`);
  }
}

/** Whether a request was made to be refused, if need be: it would have changed nothing. What is wrong with its key or signature counts. */
function isProbe(name: string, method: string, body: string, code: number): boolean {
  const kind = byCode.get(code);
  if (name === 'POST /sapi/v1/order/test') return kind !== 'key' && kind !== 'signature';
  if (name === 'POST /sapi/v1/withdraw/query')
    return code === -2_015 && Object.keys(fieldsOf(body)).every((field) => windows.includes(field));
  return code === -1_121 && method === 'GET' && operations[name]?.params.includes('symbol') === true;
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
function openSums(windowMs: number) {
  const names = new Map<string, { readonly window: Window; peak: number }>();
  return {
    /** Adds at a time that does not step back; returns the sum of the window that ends there. */
    add(name: string, amount: number, at: number): number {
      const one = getOrMake(names, name, () => ({ window: new Window(windowMs), peak: 0 }));
      one.window.take(amount, at);
      const sum = one.window.used(at);
      one.peak = Math.max(one.peak, sum);
      return sum;
    },
    peaks: (): Record<string, number> => Object.fromEntries([...names].map(([name, { peak }]) => [name, peak])),
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
