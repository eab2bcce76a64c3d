/**
 * The control address: a port of its own on this machine alone, from which the exchange is steered while it runs. It has no
 * password, so three things keep others out: it binds to loopback only, answers only requests that name it as loopback
 * (a page whose name was made to point here names another host), and takes changes only as JSON without an `Origin`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { causeOf, Refusal } from '../../domain/refusal.ts';
import { bodyOf, closed, listening } from '../http/server.ts';
import type { ControlOptions } from '../options.ts';
import { type Steering, steer } from './routes.ts';

const loopback = /^(localhost|127(\.\d{1,3}){3}|::1)$/;
const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/;

/** Opens it; refuses any address that others could reach. */
export async function openControl({ port, host = '127.0.0.1' }: ControlOptions, steering: Steering) {
  if (!loopback.test(host))
    throw new Refusal(
      `the control address cannot be ${host}: it has no password, so it is for this machine alone (127.0.0.1)`,
    );
  const server = createServer((message, response) => void serve(message, response, steering));
  await listening(server, port, host).catch((error: Error) => {
    throw new Refusal(`the control address cannot be opened on ${host}:${port}: ${causeOf(error)}`, 1);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    /** `http://127.0.0.1:PORT` */
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`,
    close: () => closed(server),
  };
}

async function serve(message: IncomingMessage, response: ServerResponse, steering: Steering): Promise<void> {
  const { status, body } = await answered(message, steering);
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(body)}\n`);
}

interface Answered {
  readonly status: number;
  readonly body: unknown;
}

const refused = (status: number, error: string): Answered => ({ status, body: { error } });

async function answered(message: IncomingMessage, steering: Steering): Promise<Answered> {
  const { method = 'GET', url = '/', headers } = message;
  if (!loopbackHost.test(headers.host ?? ''))
    return refused(403, 'this address answers to 127.0.0.1 and localhost only');
  if (headers.origin !== undefined) return refused(403, 'this address is not for pages of a browser');
  const sent = await bodyOf(message);
  if (typeof sent === 'string') return refused(413, 'the body is larger than 1 MiB, or broke off');
  let body: unknown;
  try {
    body = sent.text === '' ? undefined : JSON.parse(sent.text);
  } catch {
    return refused(400, 'the body is not JSON');
  }
  try {
    const target = URL.parse(url, 'http://localhost');
    return target === null ? refused(400, 'the path is none') : steer({ method, url: target, body }, steering);
  } catch (error) {
    if (error instanceof Refusal) return refused(400, error.message);
    // A bug: the caller gets the message, and the exchange stays open for its clients.
    return refused(500, `the exchange failed at this: ${causeOf(error)}`);
  }
}
