/**
 * Who may speak to the daemon (order-protocol §6). A page of any site can make the user's browser send requests to
 * 127.0.0.1, and a name of its own can be made to resolve there (DNS rebinding); hence Host, Origin, token and CSRF.
 *
 * There is no throttle on wrong tokens: 128 bits cannot be guessed, and a throttle would let any local process lock the
 * kill switch.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** What the guard looks at; header names are lower case. */
export interface Visit {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The `token` of the address, only where the page is asked for. */
  readonly loginToken: string | undefined;
  readonly upgrade: boolean;
}

export type Admission =
  | { readonly kind: 'admitted'; readonly setCookie: string | undefined }
  | { readonly kind: 'refused'; readonly message: string };

export interface Guard {
  /** Given to the page in its document; the page sends it back with each mutation. */
  readonly csrf: string;
  admit(visit: Visit): Admission;
}

export const csrfHeader = 'x-sluice-csrf';
/** Shorter tokens could be guessed by a local process. */
export const leastTokenLength = 22;

const refused = (message: string): Admission => ({ kind: 'refused', message });
const derived = (token: string, use: string): string => createHmac('sha256', token).update(use).digest('base64url');
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
/** In constant time, whatever the lengths. */
const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));

/** A header that is there exactly once. */
const one = (value: string | string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

function cookie(header: string | undefined, name: string): string | undefined {
  const pair = (header ?? '').split(/;\s*/).find((part) => part.startsWith(`${name}=`));
  return pair?.slice(name.length + 1);
}

/** A guard for the daemon that listens on `port` of this machine. */
export function guard(token: string, port: number): Guard {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  // Derived, so that an open page goes on when the daemon comes back with the same token; neither gives the token away.
  const session = derived(token, 'session');
  const csrf = derived(token, 'csrf');
  // Browsers send a cookie to every port of a host: named by port, two daemons do not overwrite each other's.
  const cookieName = `sluice-${port}`;

  function admitCookie(visit: Visit, origin: string | undefined): Admission {
    const mutates = visit.method !== 'GET' && visit.method !== 'HEAD';
    if ((mutates || visit.upgrade) && origin === undefined) return refused('This request must name its Origin.');
    if (mutates && !same(one(visit.headers[csrfHeader]) ?? '', csrf)) {
      return refused(`This request lacks the ${csrfHeader} header: reload the page and try again.`);
    }
    return { kind: 'admitted', setCookie: undefined };
  }

  function admit(visit: Visit): Admission {
    const { host: hostHeader, origin: originHeader, authorization, cookie: cookies } = visit.headers;
    const host = one(hostHeader);
    if (host === undefined || !hosts.includes(host)) return refused(`Open the dashboard as http://${hosts[0]}/.`);
    const origin = one(originHeader);
    if (originHeader !== undefined && origin !== `http://${host}`) {
      return refused('Requests from other sites are refused.');
    }
    const bearer = /^Bearer (\S+)$/.exec(one(authorization) ?? '')?.[1];
    if (bearer !== undefined && same(bearer, token)) return { kind: 'admitted', setCookie: undefined };
    if (visit.loginToken !== undefined && same(visit.loginToken, token)) {
      return { kind: 'admitted', setCookie: `${cookieName}=${session}; Path=/; HttpOnly; SameSite=Strict` };
    }
    const held = cookie(one(cookies), cookieName);
    if (held !== undefined && same(held, session)) return admitCookie(visit, origin);
    return refused('Open the address with its token, as the terminal of the daemon printed it.');
  }

  return { csrf, admit };
}
