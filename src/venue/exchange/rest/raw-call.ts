/** A request that the table does not know, for support: the exchange's answer as it came, with our signature on the question. */
import { type Answer, failed, ok } from '../../venue.ts';
import { type Endpoint, endpoints } from './endpoints.ts';
import type { Rest } from './rest.ts';

export interface RawCall {
  readonly method: 'GET' | 'POST';
  /** With its query, as it is to stand in the request line. */
  readonly path: string;
  /** The exact JSON text of a POST. */
  readonly body?: string;
  /** Whether to send key and signature; an open path of the table gets none in any case. */
  readonly signed: boolean;
}

/** The assumed weight of an unknown path: that of the most expensive operation. */
const unknownWeight = 100;

/** Fails with the reason when it may not be sent, or did not come through; a refusal by the exchange fails with its code. */
export type Raw = (call: RawCall) => Promise<Answer<unknown>>;

export function rawCaller(rest: Rest): Raw {
  return async ({ method, path, body, signed }) => {
    const against = whyNot(path);
    if (against !== undefined) return failed(against);
    const [base = '', search = ''] = path.split(/\?(.*)/s);
    const known = Object.values<Endpoint>(endpoints).find((one) => one.method === method && one.path === base);
    const endpoint: Endpoint = {
      name: `${method} ${base}`,
      method,
      path: base,
      weight: unknownWeight,
      ...known,
      // The caller may leave the signature out. Public paths never get one.
      security: signed ? (known?.security ?? 'USER_DATA') : 'NONE',
    };
    const reply = await rest.call({
      endpoint,
      lane: 'reconcile',
      // As typed: taken apart and encoded anew, names given twice and unusual escapes would be lost.
      ...(search !== '' && { search: `?${search}` }),
      ...(body !== undefined && { body }),
    });
    if (reply.kind === 'ok') return ok(reply.value);
    return reply.kind === 'refused'
      ? failed(`${reply.code} ${reply.message}`.trimEnd(), reply.code)
      : failed(reply.cause);
  };
}

/**
 * Why a path may not be called raw. Nothing about withdrawals may: that takes another program, with another key and an
 * allow-list. The check covers every disguise that a gateway might see through: escapes, also of escapes, case, dots, backslashes.
 */
export function whyNot(path: string): string | undefined {
  if (!/^\/[!-~]*$/.test(path)) return 'a path begins with / and holds neither spaces nor letters beyond ASCII';
  if (/[#\\]|\/\.{1,2}(\/|\?|$)|\/\//.test(path.split('?')[0] ?? ''))
    return 'a path holds neither #, \\, // nor . and ..';
  const plain = unescaped(path);
  if (plain === undefined) return 'a path whose escapes cannot be read is not sent';
  return /withdraw/i.test(plain.normalize('NFKC'))
    ? 'withdrawals are no business of this program: sluice-withdraw applies for them and lists them'
    : undefined;
}

function unescaped(path: string): string | undefined {
  let text = path;
  for (let round = 0; round < 10; round++) {
    let next: string;
    try {
      next = decodeURIComponent(text);
    } catch {
      return undefined;
    }
    if (next === text) return text;
    text = next;
  }
  return undefined;
}
