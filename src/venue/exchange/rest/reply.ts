/** From an HTTP answer to what the exchange said: a value, a refusal with its code, or nothing that anything follows from. */
import type { HttpReply } from './http.ts';
import { isFields, parseExact, textOf } from './json.ts';

export type Reply =
  | { readonly kind: 'ok'; readonly value: unknown }
  /** An error code under 200 or 4XX. Whether it is definite is for the caller to judge. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** Something left this machine and what became of it is not known. */
  | { readonly kind: 'unclear'; readonly cause: string }
  | { readonly kind: 'notSent'; readonly cause: string };

/** Statuses that speak of limits (specification §7). They say nothing about the request itself. */
export const limitStatuses = [410, 418, 429] as const;
/** "Requests exceed the limit too frequently": the body form of a 429. */
export const tooManyRequests = '-1003';

const successCodes = new Set(['0', '200']);

/**
 * Errors come under 200 as well as 4XX, with codes of either sign as number or text; successes come bare or wrapped:
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
  // Some deployments answer null for a list without rows: `rowsOf` reads it as one, every other reader refuses it.
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

/** The beginning of a body on one line, without control characters, for a message; empty for a body of spaces. */
export function excerpt(body: string): string {
  const text = body
    .slice(0, excerptLength)
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim();
  return text === '' ? '' : `: ${text}`;
}

/** The rows of a list reply: bare, `{"list":[…]}`, or null, bare or in an envelope, where there are none; undefined when it is no list. */
export function rowsOf(value: unknown, key = 'list'): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (value === null) return [];
  if (!isFields(value)) return undefined;
  const rows = value[key];
  return Array.isArray(rows) ? rows : undefined;
}
