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
import type { Server, Socket } from 'node:net';
import type { Clock } from '../clock/clock.ts';

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

/** Shorter tokens could be guessed. */
export const minTokenLength = 22;

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

/** Connections that showed no token yet. */
export const maxStrangers = 16;
/** Connections in all. */
export const maxConnections = 128;
/** Real ms until a connection must have shown a token: headers that never end are cut off by it, too. */
export const strangerMs = 30_000;

/**
 * One connection too many closes the oldest one without a token, never the new one: connections that others hold open must not keep the
 * owner out. Returns what is called when a request with a valid token came over a connection.
 */
export function limitConnections(server: Server, clock: Clock): (socket: Socket) => void {
  // In the order in which they were opened, each with what stops its timer.
  const strangers = new Map<Socket, () => void>();
  const owners = new Set<Socket>();
  const forget = (socket: Socket): void => {
    strangers.get(socket)?.();
    strangers.delete(socket);
    owners.delete(socket);
  };
  const end = (socket: Socket | undefined): void => {
    if (socket === undefined) return;
    forget(socket);
    socket.destroy();
  };
  const oldest = (of: Iterable<Socket>): Socket | undefined => of[Symbol.iterator]().next().value;
  server.on('connection', (socket: Socket) => {
    const isCrowded = strangers.size >= maxStrangers || strangers.size + owners.size >= maxConnections;
    if (isCrowded) end(oldest(strangers.keys()) ?? oldest(owners));
    strangers.set(
      socket,
      clock.at(clock.now() + clock.machine(strangerMs), () => end(socket)),
    );
    socket.once('close', () => forget(socket));
  });
  return (socket) => {
    if (!strangers.has(socket)) return;
    forget(socket);
    owners.add(socket);
  };
}
