/** The HTTP wire port and its one real implementation, by got. */
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import got from 'got';
import type { Gate } from '../../venue.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type HttpReply =
  | { readonly kind: 'reply'; readonly status: number; readonly retryAfter: string | undefined; readonly body: string }
  /** `written` is false only when it is proven that not one byte of the request left this machine. */
  | { readonly kind: 'failed'; readonly cause: string; readonly written: boolean };

/** One request, one attempt, one value: nothing is retried and nothing is thrown. With a gate no byte leaves before that says so. */
export interface Http {
  send(request: HttpRequest, gate?: Gate): Promise<HttpReply>;
  close(): void;
}

export interface HttpTimeouts {
  /** Real ms until the connection must stand, TLS included. */
  readonly connectMs: number;
  /** Real ms until the whole answer must be there. */
  readonly requestMs: number;
}

const standardTimeouts: HttpTimeouts = { connectMs: 5_000, requestMs: 10_000 };
/** Answers above this are cut off: 1,000 orders are 0.4 MB, all symbols of the largest venues 2 MB. */
const maxReplyBytes = 8 * 1024 * 1024;
/** More sockets than this at once would only queue at the exchange. */
const maxSockets = 32;

/**
 * got with one keep-alive agent. Its retries and redirects are off: a retried request would carry a stale signature, spend
 * weight twice and could create an order twice; a redirect would carry the key elsewhere. Its errors never leave this file:
 * they hold the request with key and signature.
 */
export function gotHttp(timeouts: HttpTimeouts = standardTimeouts): Http {
  const agentOptions = { keepAlive: true, maxSockets, scheduling: 'lifo' } as const;
  const agent = { http: new HttpAgent(agentOptions), https: new HttpsAgent(agentOptions) };
  const client = got.extend({
    agent,
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    timeout: {
      lookup: timeouts.connectMs,
      connect: timeouts.connectMs,
      secureConnect: timeouts.connectMs,
      request: timeouts.requestMs,
    },
    headers: { 'user-agent': 'sluice', 'content-type': 'application/json' },
  });
  return {
    async send(outgoing, gate) {
      const { method, url, headers, body } = outgoing;
      const door = doorOf(outgoing, gate);
      const wire = watchWire(url.protocol === 'https:', door.hold);
      let tooLarge = false;
      try {
        const call = client(url, { method, headers, ...(body === undefined ? {} : { body }), request: wire.open });
        void call.on('downloadProgress', ({ transferred }) => {
          if (transferred <= maxReplyBytes || tooLarge) return;
          tooLarge = true;
          wire.cut();
        });
        const response = await call;
        if (!response.complete) return { kind: 'failed', cause: 'the answer was cut off', written: true };
        return {
          kind: 'reply',
          status: response.statusCode,
          retryAfter: response.headers['retry-after'],
          body: textOf(response.body),
        };
      } catch (error) {
        const cause =
          door.against() ?? (tooLarge ? `the answer is larger than ${maxReplyBytes} bytes` : plainCause(error));
        return { kind: 'failed', cause, written: wire.mayHaveWritten() };
      }
    },
    close() {
      agent.http.destroy();
      agent.https.destroy();
    },
  };
}

/** Unrequested compressed answers come as bytes, whatever got's types say. They are no JSON and decide nothing. */
const textOf = (body: unknown): string =>
  typeof body === 'string'
    ? body
    : body instanceof Uint8Array
      ? Buffer.from(body.subarray(0, 1_000)).toString('latin1')
      : '';

type Door = ReturnType<typeof doorOf>;

/**
 * Has got work everything out, open the request with its headers and its connection, and write the body; what it writes waits here until
 * the gate opens. Before a request is written to or ended, Node sends no byte, not even its headers, and got ends a request
 * when its body is written. (A body that comes piece by piece could wait as well: got takes up to 0.1 ms more for one.)
 */
function doorOf({ body = '' }: HttpRequest, gate: Gate | undefined) {
  let against: string | undefined;
  if (gate !== undefined && body === '')
    throw new Error('a gate holds back a body: a request without one would leave at once');
  /** To be called with a request before got has it. */
  function hold(request: ClientRequest): void {
    if (gate === undefined) return;
    const write = request.write.bind(request);
    request.write = (...given: readonly unknown[]): boolean => {
      void gate.then(
        (reason) => {
          against = reason;
          if (reason !== undefined) request.destroy(new Error(reason));
          else if (!request.destroyed) Reflect.apply(write, undefined, given);
        },
        (error: Error) => request.destroy(error),
      );
      return true;
    };
  }
  /** `against`: why the gate did not let the request through. */
  return { hold, against: (): string | undefined => against };
}

/**
 * Watches one request's socket for the proof that nothing was written.
 *
 * A socket that never got connected (for TLS: never finished its handshake) cannot have carried a byte of the request, whatever
 * its counter says: Node counts bytes that wait in memory for the connection. On a connected socket, also one reused from an
 * earlier request, the counter must not have moved. Anything else may have been written.
 */
function watchWire(tls: boolean, hold: Door['hold']) {
  let request: ClientRequest | undefined;
  let socket: Socket | undefined;
  let connected = false;
  let before = 0;
  const onSocket = (given: Socket): void => {
    socket = given;
    if (request?.reusedSocket === true || !given.connecting) {
      connected = true;
      before = given.bytesWritten;
      return;
    }
    given.once(tls ? 'secureConnect' : 'connect', () => {
      connected = true;
    });
  };
  return {
    /** Opens a request for got and watches it from its first moment: got writes before it emits the request. */
    open: (url: URL, options: RequestOptions): ClientRequest => {
      const opened = tls ? httpsRequest(url, options) : httpRequest(url, options);
      hold(opened);
      request = opened;
      if (opened.socket === null) opened.once('socket', onSocket);
      else onSocket(opened.socket);
      return opened;
    },
    mayHaveWritten: (): boolean => socket !== undefined && connected && socket.bytesWritten !== before,
    cut(): void {
      request?.destroy();
    },
  };
}

/** Code and first line of an error, never the error itself: got's carry the whole request. */
function plainCause(error: unknown): string {
  if (!(error instanceof Error)) return 'the request failed';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const line = error.message.split('\n', 1)[0] ?? '';
  return `${code}: ${line.replaceAll(/https?:\/\/\S+/g, 'the exchange').slice(0, 120)}`;
}
