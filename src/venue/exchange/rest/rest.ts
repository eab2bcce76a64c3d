/** One request: weight first, then signature, then one attempt. Limits in the answer are reported. */
import type { Clock } from '../../../clock/clock.ts';
import { getOrMake } from '../../../domain/get-or-make.ts';
import { jsonText } from '../../../domain/json.ts';
import { type Answer, failed, type Gate, type Lane, type LimitNotice, ok, type Spend } from '../../venue.ts';
import type { Count } from '../counters.ts';
import { codeMeaning } from './codes.ts';
import { costOf, type Endpoint } from './endpoints.ts';
import type { Http, HttpReply, HttpRequest } from './http.ts';
import { excerpt, failure, limitStatuses, type Reply, replyReader, tooManyRequests } from './reply.ts';
import type { Signer } from './sign.ts';

/** "Timestamp for this request is outside of the recvWindow", or too far ahead. */
const outsideWindowCode = '-1021';

export interface Call {
  readonly endpoint: Endpoint;
  readonly lane: Lane;
  /** Undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** The query exactly as in the request line, with its question mark; replaces `query`. */
  readonly search?: string;
  /** The exact JSON text of a POST. */
  readonly body?: string;
}

/** A signed request whose bytes are fixed. */
export interface Signed {
  readonly signedAt: number;
  send(gate?: Gate): Promise<Reply>;
}

export type Rest = ReturnType<typeof rest>;

export interface RestOptions {
  readonly restUrl: string;
  readonly http: Http;
  readonly clock: Clock;
  readonly spend: Spend;
  readonly notice: (notice: LimitNotice) => void;
  /** Absent: market data only. */
  readonly signer: Signer | undefined;
  /** Gets every raw answer without key and signature: for finding out what a deployment does. */
  readonly observe?: (answer: HttpReply) => void;
  /** Counts unclear answers and unknown codes. */
  readonly count?: Count;
  /** Called when a request was refused for its time. */
  readonly outsideWindow?: () => void;
}

/** Signs requests and sends each once. */
function signing(options: RestOptions) {
  const { restUrl, http, clock, signer, observe, outsideWindow } = options;
  const base = restUrl.replace(/\/+$/, '');
  const read = replyReader();
  const urlOf = urls();

  async function attempt(
    target: string,
    request: HttpRequest,
    gate: Gate | undefined,
    isOfNow: boolean,
  ): Promise<Reply> {
    const answer = await clock.track(http.send(request, gate));
    observe?.(redacted(answer, signer, request.headers));
    // Parsed before it is redacted: a key that an answer happens to contain must not change its meaning.
    const reply = cleaned(read(target, answer), signer, request.headers);
    // A broken connection is no answer.
    if (answer.kind === 'reply') report(answer, reply, options);
    if (isOfNow && reply.kind === 'refused' && reply.code === outsideWindowCode) outsideWindow?.();
    return reply;
  }

  return function sign(endpoint: Endpoint, body: string | undefined, search = '', agedMs = 0): Signed {
    const url = urlOf(base + endpoint.path + search);
    const signedAt = clock.now() - agedMs;
    if (endpoint.security !== 'NONE' && signer === undefined) {
      return { signedAt, send: () => Promise.resolve({ kind: 'notSent', cause: 'no API key and secret are given' }) };
    }
    // Signed when it is sent, with the time that is fixed now: a create is being journalled meanwhile.
    const send = (gate?: Gate): Promise<Reply> => {
      // The URL class may escape more than we did, and the exchange verifies the target as it was sent.
      const target = url.pathname + url.search;
      const headers =
        endpoint.security === 'NONE' ? {} : (signer?.headers(endpoint.method, target, body ?? '', signedAt) ?? {});
      const request = { method: endpoint.method, url, headers };
      return attempt(target, body === undefined ? request : { ...request, body }, gate, agedMs === 0);
    };
    return { signedAt, send };
  };
}

export function rest(options: RestOptions) {
  const { spend, signer, count } = options;
  const sign = signing(options);

  /** A text of the exchange with key and secret struck out, to be shown. */
  const redact = (text: string): string => signer?.redact(text, {}) ?? text;

  /** Takes the weight, signs at that moment, sends once. */
  async function call({ endpoint, lane, query, search, body }: Call): Promise<Reply> {
    if (await spend(lane, costOf(endpoint))) return sign(endpoint, body, search ?? queryText(query)).send();
    return { kind: 'notSent', cause: `the request budget has no room for "${endpoint.name}" (lane ${lane})` };
  }

  /** Counts an answer that is no refusal and cannot be read. */
  const countUnreadable = ({ name }: Endpoint, why: string, answer: unknown): void =>
    count?.('unreadable answer', { question: name, why, answer });

  return {
    call,
    /**
     * Calls and reads the value of the answer. `read` returns the reason as text when it cannot: then the query fails and the answer
     * is counted.
     */
    async ask<T>(asked: Call, read: (value: unknown) => T | string): Promise<Answer<T>> {
      const { endpoint } = asked;
      const reply = await call(asked);
      if (reply.kind !== 'ok') return failure(endpoint, reply);
      const value = read(reply.value);
      if (typeof value !== 'string') return ok(value);
      countUnreadable(endpoint, value, reply.value);
      // Only an answer under HTTP 200 is read.
      return failed(redact(`${endpoint.name}: ${value}, HTTP 200${excerpt(jsonText(reply.value))}`));
    },
    /** Waits only for the weight of a request; false when `until` (UTC ms) passes first. */
    admit: (endpoint: Endpoint, lane: Lane, until: number): Promise<boolean> => spend(lane, costOf(endpoint), until),
    /** Whether that weight is available now, as far as is known. */
    isRoom: (endpoint: Endpoint, lane: Lane): boolean => spend.isRoom?.(lane, costOf(endpoint)) === true,
    /**
     * Signs now for sending later; `admit` has taken the weight. `agedMs` (ms of the clock) dates the request back, to test the
     * exchange's time window: then a refusal for its time says nothing about our clock.
     */
    sign: (endpoint: Endpoint, body?: string, agedMs?: number): Signed => sign(endpoint, body, '', agedMs),
    countUnreadable,
    redact,
  };
}

type Headers = HttpRequest['headers'];

function redacted(answer: HttpReply, signer: Signer | undefined, headers: Headers): HttpReply {
  if (signer === undefined) return answer;
  return answer.kind === 'reply'
    ? { ...answer, body: signer.redact(answer.body, headers) }
    : { ...answer, cause: signer.redact(answer.cause, headers) };
}

function cleaned(reply: Reply, signer: Signer | undefined, headers: Headers): Reply {
  if (signer === undefined || reply.kind === 'ok') return reply;
  return reply.kind === 'refused'
    ? { ...reply, message: signer.redact(reply.message, headers) }
    : { ...reply, cause: signer.redact(reply.cause, headers) };
}

/** Passes on the limits that an answer states, and counts what was not expected. */
function report(
  { status, retryAfter }: Extract<HttpReply, { kind: 'reply' }>,
  reply: Reply,
  { notice, count }: RestOptions,
): void {
  const retryAfterMs = secondsToMs(retryAfter);
  const limit = limitStatuses.find((known) => known === status);
  if (limit !== undefined) {
    notice({ status: limit, retryAfterMs });
    return;
  }
  if (reply.kind === 'unclear') count?.('unclear answer', reply.cause);
  if (reply.kind === 'refused' && codeMeaning(reply.code) === undefined)
    count?.('unknown error code', `${reply.code} ${reply.message}`);
  if (reply.kind === 'refused' && reply.code === tooManyRequests) notice({ status: 429, retryAfterMs });
}

/** Parsed URLs that are kept: nearly all requests go to the same few. Beyond it all are dropped. */
const maxUrls = 64;

/** Parses each URL once; callers must not change it. */
function urls(): (text: string) => URL {
  const known = new Map<string, URL>();
  return (text) => {
    if (known.size >= maxUrls) known.clear();
    return getOrMake(known, text, () => new URL(text));
  };
}

function queryText(query: Call['query'] = {}): string {
  let text = '';
  for (const key in query) {
    const value = query[key];
    if (value !== undefined) text += `${text === '' ? '?' : '&'}${key}=${encodeURIComponent(value)}`;
  }
  return text;
}

/** `Retry-After` in seconds; its date form was never seen on this stack and counts as absent. */
function secondsToMs(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : undefined;
}
