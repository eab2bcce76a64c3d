/**
 * A request that waits for a gate, by `node:http`: the creation of an order. got needs about a millisecond more to the first byte
 * (docs/decisions/0031), and here it is the market that moves meanwhile.
 */
import type { Agent as HttpAgent, IncomingMessage } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { systemClock } from '../../../clock/clock.ts';
import type { Gate } from '../../venue.ts';
import type { HttpReply, HttpRequest, HttpTimeouts } from './http.ts';
import { cutOffText, maxReplyBytes, plainCause, textOfBytes, tooLargeText, watchWire } from './wire.ts';

export interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/**
 * Opens the connection at once, and writes headers and body when the gate opens: before a request is ended, Node sends no byte of it.
 * One attempt. The promise never rejects.
 */
export function sendGated(
  { method, url, headers, body = '' }: HttpRequest,
  gate: Gate,
  agents: Agents,
  { connectMs, requestMs }: HttpTimeouts,
): Promise<HttpReply> {
  const isSecure = url.protocol === 'https:';
  const wire = watchWire(isSecure);
  const request = wire.open(url, {
    method,
    agent: isSecure ? agents.https : agents.http,
    headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
  });
  return new Promise((resolve) => {
    let cause: string | undefined;
    const end = (why: string): void => {
      cause ??= why;
      request.destroy(new Error(why));
    };
    const after = (ms: number, act: () => void): (() => void) => systemClock.at(systemClock.now() + ms, act);
    const timers = [
      after(connectMs, () => {
        if (!wire.isConnected()) end(`no connection within ${connectMs} ms`);
      }),
      after(requestMs, () => end(`no answer within ${requestMs} ms`)),
    ];
    const done = (reply: HttpReply): void => {
      for (const cancel of timers) cancel();
      resolve(reply);
    };
    const failed = (why: string): void => done({ kind: 'failed', cause: cause ?? why, written: wire.mayHaveWritten() });
    request.on('error', (error) => failed(plainCause(error)));
    request.once('response', (response) => read(response, { end, done, failed }));
    gate.then(
      (against) => {
        if (against !== undefined) end(against);
        else if (!request.destroyed) request.end(body);
      },
      (error: unknown) => end(plainCause(error)),
    );
  });
}

interface Reader {
  readonly end: (why: string) => void;
  readonly done: (reply: HttpReply) => void;
  readonly failed: (why: string) => void;
}

function read(response: IncomingMessage, { end, done, failed }: Reader): void {
  const chunks: Buffer[] = [];
  let length = 0;
  response.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > maxReplyBytes) end(tooLargeText);
    else chunks.push(chunk);
  });
  // It is reported by the end of the answer, too.
  response.on('error', () => {});
  response.once('close', () => {
    if (!response.complete) return failed(cutOffText);
    const bytes = Buffer.concat(chunks);
    return done({
      kind: 'reply',
      status: response.statusCode ?? 0,
      retryAfter: response.headers['retry-after'],
      body: response.headers['content-encoding'] === undefined ? bytes.toString('utf8') : textOfBytes(bytes),
    });
  });
}
