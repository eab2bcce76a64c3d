/**
 * Who may speak to the daemon. A page of any site can make the user's browser send requests to
 * 127.0.0.1, and a name of its own can be made to resolve there (DNS rebinding); hence Host, Origin and token.
 *
 * There is no cookie: browsers send cookies to every port of a host, and another user may listen on one. The token travels in a header that
 * only our own page and our commands set.
 *
 * There is no throttle on wrong tokens: 128 bits cannot be guessed, and a throttle would let any local process lock the
 * kill switch.
 */
import { createHash, timingSafeEqual } from 'node:crypto';

/** A request as the guard sees it; header names are lower case. */
export interface Visit {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The page and its files, in which there is no secret: a browser cannot send a token when it opens an address. */
  readonly isPage: boolean;
}

export type Admission =
  | { readonly kind: 'owner' }
  | { readonly kind: 'stranger' }
  | { readonly kind: 'refused'; readonly message: string };

/** `stranger`: may have the page, and nothing else. */
export type Guard = (visit: Visit) => Admission;

/** Shorter tokens could be guessed by a local process. */
export const leastTokenLength = 22;

const refused = (message: string): Admission => ({ kind: 'refused', message });
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
/** In constant time, whatever the lengths. */
const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));

/** A header that is there exactly once. */
const one = (value: string | string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** The token of a request; a browser can give a WebSocket no header but its subprotocols, of which the token is the second. */
const tokenIn = ({ authorization, 'sec-websocket-protocol': protocols }: Visit['headers']): string =>
  /^Bearer (\S+)$/.exec(one(authorization) ?? '')?.[1] ?? /^sluice, ?(\S+)$/.exec(one(protocols) ?? '')?.[1] ?? '';

/** A guard for the daemon that listens on `port` of this machine. */
export function guard(token: string, port: number): Guard {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  return ({ headers, isPage }) => {
    const host = one(headers['host']);
    if (host === undefined || !hosts.includes(host)) return refused(`Open the dashboard as http://${hosts[0]}/.`);
    if (headers['origin'] !== undefined && one(headers['origin']) !== `http://${host}`)
      return refused('Requests from other sites are refused.');
    if (same(tokenIn(headers), token)) return { kind: 'owner' };
    if (isPage) return { kind: 'stranger' };
    return refused('This request has no valid token: open the address that the terminal of the daemon printed.');
  };
}
