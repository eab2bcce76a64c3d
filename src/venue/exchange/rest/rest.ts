/** One request: weight first, then signature, then one attempt; limits heard are passed on. */
import type { Clock } from '../../../clock/clock.ts';
import { jsonText } from '../../../domain/json-text.ts';
import { type Failure, failed, type Gate, type Lane, type LimitNotice, type Spend } from '../../venue.ts';
import type { Count } from '../counters.ts';
import { codeMeaning } from './codes.ts';
import { costOf, type Endpoint } from './endpoints.ts';
import type { Http, HttpReply, HttpRequest } from './http.ts';
import { replyReader } from './repeated.ts';
import { excerpt, limitStatuses, type Reply, tooManyRequests } from './reply.ts';
import type { Signer } from './sign.ts';

/** "Timestamp for this request is outside of the recvWindow", or too far ahead. */
const outsideWindowCode = '-1021';

export interface Call {
  readonly endpoint: Endpoint;
  readonly lane: Lane;
  readonly query?: Readonly<Record<string, string>>;
  /** The query as it is to stand in the request line, from the question mark on; in place of `query`. */
  readonly search?: string;
  /** The exact JSON text of a POST. */
  readonly body?: string;
}

/** A signed request whose bytes are fixed. */
export interface Signed {
  readonly signedAt: number;
  send(gate?: Gate): Promise<Reply>;
}

export interface Rest {
  /** Takes the weight, signs at that moment, sends once. */
  call(call: Call): Promise<Reply>;
  /** Waits for the weight of a request alone; false when `until` (UTC ms) passes first. */
  admit(endpoint: Endpoint, lane: Lane, until: number): Promise<boolean>;
  /** Whether that weight would be there at once, as far as is known. */
  isRoom(endpoint: Endpoint, lane: Lane): boolean;
  /**
   * Signs now, where a signature is wanted, for sending later; the weight has been taken by `admit`. `agedMs` (ms of the clock) makes it a
   * request of so long ago, to find out what the exchange makes of it: then a refusal for its time says nothing of our clock.
   */
  sign(endpoint: Endpoint, body?: string, agedMs?: number): Signed;
  /** The failure of an answer that refuses nothing and cannot be read all the same, such as one without its list; it is counted. */
  unreadable(endpoint: Endpoint, why: string, answer: unknown): Failure;
  /** A text of the exchange's with key and secret struck out, for whoever shows it. */
  redact(text: string): string;
}

export interface RestOptions {
  readonly baseUrl: string;
  readonly http: Http;
  readonly clock: Clock;
  readonly spend: Spend;
  readonly notice: (notice: LimitNotice) => void;
  /** Absent: market data only. */
  readonly signer: Signer | undefined;
  /** Shown every answer as it came, key and signature taken out: for finding out what a deployment does. */
  readonly observe?: (answer: HttpReply) => void;
  /** Told of answers from which nothing follows, and of codes that nobody has described. */
  readonly count?: Count;
  /** Told when a request was refused for its time. */
  readonly outsideWindow?: () => void;
}

export function rest(options: RestOptions): Rest {
  const { baseUrl, http, clock, spend, notice, signer, observe, count, outsideWindow } = options;
  const base = baseUrl.replace(/\/+$/, '');
  const read = replyReader();
  const urlOf = urls();

  const redact = (text: string): string => signer?.redact(text, {}) ?? text;

  function sign(endpoint: Endpoint, body: string | undefined, search = '', agedMs = 0): Signed {
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
  }

  async function attempt(
    target: string,
    request: HttpRequest,
    gate: Gate | undefined,
    isOfNow: boolean,
  ): Promise<Reply> {
    const answer = await clock.track(http.send(request, gate));
    observe?.(redacted(answer, signer, request.headers));
    // Read as it came, and cleaned only then: a key that happens to stand in an answer must not change what the answer says.
    const reply = cleaned(read(target, answer), signer, request.headers);
    if (answer.kind === 'reply') {
      const status = limitStatuses.find((known) => known === answer.status);
      // A limit is told by itself; a connection that broke is no answer.
      if (status === undefined) unexpected(reply, count);
      const retryAfterMs = secondsToMs(answer.retryAfter);
      if (status !== undefined) notice({ status, retryAfterMs });
      else if (reply.kind === 'refused' && reply.code === tooManyRequests) notice({ status: 429, retryAfterMs });
    }
    if (isOfNow && reply.kind === 'refused' && reply.code === outsideWindowCode) outsideWindow?.();
    return reply;
  }

  return {
    async call({ endpoint, lane, query, search, body }) {
      if (!(await spend(lane, costOf(endpoint)))) {
        return { kind: 'notSent', cause: `the request budget has no room for "${endpoint.name}" (lane ${lane})` };
      }
      return sign(endpoint, body, search ?? queryText(query)).send();
    },
    admit: (endpoint, lane, until) => spend(lane, costOf(endpoint), until),
    isRoom: (endpoint, lane) => spend.isRoom?.(lane, costOf(endpoint)) === true,
    sign: (endpoint, body, agedMs) => sign(endpoint, body, '', agedMs),
    unreadable({ name }, why, answer) {
      count?.('unreadable answer', { question: name, why, answer });
      // Only an answer under HTTP 200 is read.
      return failed(redact(`${name}: ${why}, HTTP 200${excerpt(jsonText(answer))}`));
    },
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

function unexpected(reply: Reply, count: Count | undefined): void {
  if (reply.kind === 'unclear') count?.('unclear answer', reply.cause);
  if (reply.kind === 'refused' && codeMeaning(reply.code) === undefined)
    count?.('unknown error code', `${reply.code} ${reply.message}`);
}

/** URLs that are kept: nearly all requests go to the same few. Past it all are read anew. */
const mostUrls = 64;

/** Reads a URL once; nobody may change it. */
function urls(): (text: string) => URL {
  const known = new Map<string, URL>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    if (known.size >= mostUrls) known.clear();
    const url = new URL(text);
    known.set(text, url);
    return url;
  };
}

function queryText(query: Call['query'] = {}): string {
  let text = '';
  for (const key in query) text += `${text === '' ? '?' : '&'}${key}=${encodeURIComponent(query[key] ?? '')}`;
  return text;
}

/** `Retry-After` in seconds; its date form was never seen on this stack and counts as absent. */
function secondsToMs(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : undefined;
}
