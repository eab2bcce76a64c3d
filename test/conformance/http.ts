/** One HTTP exchange in plain `node:http`, signed by `node:crypto` (specification §4, §5.2). */
import { createHmac } from 'node:crypto';
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { now, within } from './time.ts';

/** Longer than any answer takes, ms. */
const patienceMs = 15_000;
const agent = new Agent({ keepAlive: true });

export interface Credentials {
  readonly key: string;
  readonly secret: string;
  /** What the signature covers of a target; all of it when left out. */
  readonly covers?: (target: string) => string;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON, whole numbers beyond 2^53 as bigint; undefined when it is none. */
  readonly value: unknown;
}

export interface Sending {
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A local address to send from, where it is not the usual one. */
  readonly from?: string;
}

/** A request that did not leave, because the suite is ending. */
export class Stopped extends Error {
  constructor() {
    super('the suite was stopped');
  }
}

/** Parses without losing digits: an id has 19. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' &&
      Number.isInteger(value) &&
      !Number.isSafeInteger(value) &&
      context?.source !== undefined
        ? wholeOf(context.source, value)
        : value,
    );
  } catch {
    return undefined;
  }
}
const wholeOf = (source: string, value: number): number | bigint => (/^-?\d+$/.test(source) ? BigInt(source) : value);

/** The hexadecimal HMAC-SHA-256 over timestamp + METHOD + requestPath + body, keyed with the secret. */
export const signatureOf = (
  secret: string,
  timestamp: number | string,
  method: string,
  target: string,
  body = '',
): string => createHmac('sha256', secret).update(`${timestamp}${method}${target}${body}`).digest('hex');

/** What a signature covers of a target at this address, where a gateway takes `strip` from the start of paths before it verifies. */
export const covered =
  (base: string, strip = '') =>
  (target: string): string => {
    const path = `${pathOf(base)}${target}`;
    return path.startsWith(strip) ? path.slice(strip.length) : path;
  };

export function signedHeaders(
  { key, secret, covers = (target) => target }: Credentials,
  { method, target, body }: Sending,
  timestamp: number,
): Record<string, string> {
  const sign = signatureOf(secret, timestamp, method, covers(target), body);
  return { 'X-CH-APIKEY': key, 'X-CH-TS': String(timestamp), 'X-CH-SIGN': sign };
}

/** What comes before `/sapi` at this address. */
const pathOf = (base: string): string => new URL(base).pathname.replace(/\/$/, '');

/** Sends it and reads the whole answer; fails where there is none. */
export function send(base: string, { method, target, body, headers = {}, from }: Sending): Promise<Reply> {
  const url = new URL(base);
  // The target is sent as it stands, because the signature is over that: URL would write it anew.
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const options = {
    host: url.hostname,
    port: url.port,
    method,
    path: `${pathOf(base)}${target}`,
    headers: {
      'Content-Type': 'application/json',
      ...(bytes !== undefined && { 'Content-Length': String(bytes.length) }),
      ...headers,
    },
    ...(from === undefined ? {} : { localAddress: from }),
  };
  const answer = new Promise<Reply>((resolve, reject) => {
    const read = (response: IncomingMessage): void => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, value: parse(text) });
      });
    };
    const request = url.protocol === 'https:' ? overHttps(options, read) : overHttp({ ...options, agent }, read);
    request.on('error', reject);
    request.end(bytes);
  });
  return within(patienceMs, `an answer to ${method} ${target}`, answer);
}

/** Milliseconds since then, for offsets of clocks. */
export const middleOf = (before: number): number => (before + now()) / 2;
