/** The HTTP client of the exchange: by got, and by `node:http` where a request waits for a gate. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got from 'got';
import { sendGated } from './gated-request.ts';
import type { Http, HttpReply, HttpRequest, HttpTimeouts } from './http.ts';
import { cutOffText, maxReplyBytes, plainCause, textOfBytes, tooLargeText, watchWire } from './wire.ts';

const standardTimeouts: HttpTimeouts = { connectMs: 5_000, requestMs: 10_000 };
/** More sockets than this at once would only queue at the exchange. */
const maxSockets = 32;
const commonHeaders = { 'user-agent': 'sluice', 'content-type': 'application/json' };

/**
 * One keep-alive agent for all requests. got's retries and redirects are off: a retried request would carry a stale signature, spend
 * weight twice and could create an order twice; a redirect would carry the key elsewhere. Its errors never leave this file:
 * they hold the request with key and signature.
 */
export function openHttp(timeouts: HttpTimeouts = standardTimeouts): Http {
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
    headers: commonHeaders,
  });
  async function sendByGot({ method, url, headers, body }: HttpRequest): Promise<HttpReply> {
    const wire = watchWire(url.protocol === 'https:');
    let tooLarge = false;
    try {
      const call = client(url, { method, headers, ...(body === undefined ? {} : { body }), request: wire.open });
      void call.on('downloadProgress', ({ transferred }) => {
        if (transferred <= maxReplyBytes || tooLarge) return;
        tooLarge = true;
        wire.cut();
      });
      const response = await call;
      if (!response.complete) return { kind: 'failed', cause: cutOffText, written: true };
      return {
        kind: 'reply',
        status: response.statusCode,
        retryAfter: response.headers['retry-after'],
        body: textOf(response.body),
      };
    } catch (error) {
      return {
        kind: 'failed',
        cause: tooLarge ? tooLargeText : plainCause(error),
        written: wire.mayHaveWritten(),
      };
    }
  }
  return {
    send: (request, gate) =>
      gate === undefined
        ? sendByGot(request)
        : sendGated({ ...request, headers: { ...commonHeaders, ...request.headers } }, gate, agent, timeouts),
    close() {
      agent.http.destroy();
      agent.https.destroy();
    },
  };
}

/** Compressed answers come as bytes, whatever got's types say. */
const textOf = (body: unknown): string =>
  typeof body === 'string' ? body : body instanceof Uint8Array ? textOfBytes(body) : '';
