/** From an HTTP answer to the exchange's reply: a value, a refusal with its code, or nothing that decides anything. */
import { type Failure, failed } from '../../venue.ts';
import type { Endpoint } from './endpoints.ts';
import type { HttpReply } from './http.ts';
import { isFields, parseExact, textOf } from './json.ts';

export type Reply =
  | { readonly kind: 'ok'; readonly value: unknown }
  /** An error code under 200 or 4XX. Whether it is definite is for the caller to judge. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** Something was sent, and its effect is not known. */
  | { readonly kind: 'unclear'; readonly cause: string }
  | { readonly kind: 'notSent'; readonly cause: string };

/** Statuses of the exchange's limits (specification §7). They say nothing about the request itself. */
export const limitStatuses = [410, 418, 429] as const;
/** "Requests exceed the limit too frequently": the body form of a 429. */
export const tooManyRequests = '-1003';

const successCodes = new Set(['0', '200']);

/**
 * Errors come under 200 as well as 4XX, with codes of either sign as number or text; successes come plain or in an envelope:
 *
 *     {"code":-1121,"msg":"Invalid symbol."}      {"code":"110049","msg":"余额不足","data":null}
 *     {"code":"0","msg":"suc","data":{…}}         {"code":0,"msg":"成功","succ":true,"data":[…]}
 */
export function readReply(http: HttpReply): Reply {
  if (http.kind === 'failed') return { kind: http.written ? 'unclear' : 'notSent', cause: http.cause };
  const { status } = http;
  const definite = status === 200 || (status >= 400 && status < 500 && !undetermined.has(status));
  if (!definite) return { kind: 'unclear', cause: `HTTP ${status}${codeIn(http.body)}${excerpt(http.body)}` };
  let value: unknown;
  try {
    value = parseExact(http.body);
  } catch {
    return { kind: 'unclear', cause: `HTTP ${status} with a body that is not JSON${excerpt(http.body)}` };
  }
  // Some deployments answer null for an empty list: `rowsOf` accepts it, every other reader refuses it.
  if (typeof value !== 'object')
    return { kind: 'unclear', cause: `HTTP ${status} with a body that is not an object${excerpt(http.body)}` };
  const code = isFields(value) ? textOf(value['code']) : undefined;
  if (isFields(value) && (value['succ'] === false || (code !== undefined && !successCodes.has(code)))) {
    return { kind: 'refused', code: code ?? 'succ=false', message: textOf(value['msg']) ?? '' };
  }
  if (status !== 200) return { kind: 'unclear', cause: `HTTP ${status} without an error code${excerpt(http.body)}` };
  return { kind: 'ok', value: isFields(value) && code !== undefined && 'data' in value ? value['data'] : value };
}

/** 408 and the limit statuses say that a request was slow or too many, not that it was not carried out. */
const undetermined: ReadonlySet<number> = new Set([408, ...limitStatuses]);

/** The error code in a body of an answer that decides nothing, for the message. */
function codeIn(body: string): string {
  const code = /"code"\s*:\s*"?(-?\d{1,8})/.exec(body)?.[1];
  return code === undefined ? '' : ` (code ${code})`;
}

const excerptLength = 80;

/** The beginning of a body on one line, without control characters, for a message; empty for a body of spaces. Of a web page its title, or its text. */
export function excerpt(body: string): string {
  const isPage = /^\s*<(!doctype|html)/i.test(body);
  const text = (isPage ? textOfPage(body.slice(0, 10_000)) : body)
    .slice(0, excerptLength)
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim();
  return text === '' ? '' : `: ${text}`;
}

const textOfPage = (page: string): string =>
  /<title>([^<]+)</i.exec(page)?.[1] ?? page.replaceAll(/<[^<>]*>/g, ' ').trimStart();

/** The rows of a list reply: an array, `{"list":[…]}`, or null for an empty list; undefined when it is no list. */
export function rowsOf(value: unknown, key = 'list'): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (value === null) return [];
  if (!isFields(value)) return undefined;
  const rows = value[key];
  return Array.isArray(rows) ? rows : undefined;
}

/** Every row or none: a missing one would suggest that an order, a fill or a withdrawal does not exist. A text says why one cannot be read. */
export function readEach<T>(rows: readonly unknown[], read: (row: unknown) => T | string): T[] | string {
  const all: T[] = [];
  for (const row of rows) {
    const one = read(row);
    if (typeof one === 'string') return one;
    all.push(one);
  }
  return all;
}

/** The failure of a query that was not answered with a value. */
export function failure(endpoint: Endpoint, reply: Exclude<Reply, { kind: 'ok' }>): Failure {
  if (reply.kind !== 'refused') return failed(`${endpoint.name}: ${reply.cause}`);
  return failed(`${endpoint.name}: the exchange answered code ${reply.code} ${reply.message}`.trimEnd(), reply.code);
}

/** Requests whose last answer is kept; beyond it the oldest is dropped, and its next answer is parsed again. */
const maxKept = 16;
/** Shorter answers are parsed as fast as they are compared. */
const minLength = 256;

/**
 * Parses answers as `readReply` does, but the same text from the same target only once: most polls of own trades list the same
 * trades, and parsing them is most of a poll's cost. Callers share the value and must not change it.
 */
export function replyReader(): (target: string, answer: HttpReply) => Reply {
  const kept = new Map<string, { readonly status: number; readonly body: string; readonly reply: Reply }>();
  return (target, answer) => {
    if (answer.kind === 'failed' || answer.body.length < minLength) return readReply(answer);
    const { status, body } = answer;
    const last = kept.get(target);
    if (last !== undefined && last.status === status && last.body === body) return last.reply;
    const reply = readReply(answer);
    kept.delete(target);
    kept.set(target, { status, body, reply });
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
    return reply;
  };
}
