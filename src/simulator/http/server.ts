/** The wire around the core: node:http and ws on loopback, with the faults that hit requests in between. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../clock/clock.ts';
import { Refusal } from '../../domain/refusal.ts';
import { refusals } from '../core/errors.ts';
import type { Faults } from '../faults/engine.ts';
import type { FaultAction } from '../faults/rules.ts';
import { type ApiReply, type ApiRequest, pathOf } from './api.ts';
import { json } from './json.ts';

const host = '127.0.0.1';
const socketPath = '/kline-api/ws';
const bodyLimit = 1_048_576;
const messageLimit = 65_536;
/** Longer than any client keeps an idle connection, so that the server is not the one that closes it. */
const keepAliveMs = 75_000;

export interface ServerSetup {
  readonly port: number;
  readonly clock: Clock;
  readonly faults: Faults;
  /** Carries out a request and saves what it changed. */
  readonly process: (request: ApiRequest) => ApiReply;
  /** Pushes what changed to the sockets, after the answer has left. */
  readonly publish: () => void;
  readonly onFault: (method: string, path: string, action: FaultAction) => void;
  readonly onSocket: (socket: WebSocket) => void;
}

export interface Server {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens; throws one clear error when the port is taken. */
export async function startServer(setup: ServerSetup): Promise<Server> {
  const pending = openPending(setup.clock);
  const server = createServer((request, response) => void serve(request, response, { ...setup, pending }));
  server.keepAliveTimeout = keepAliveMs;
  const sockets = new WebSocketServer({ server, path: socketPath, maxPayload: messageLimit });
  sockets.on('connection', setup.onSocket);
  await new Promise<void>((resolve, reject) => {
    // ws passes the http server's errors on, so both are listened to until the port is ours.
    const fail = (error: Error): void => reject(listenError(error, setup.port));
    sockets.once('error', fail);
    server.once('error', fail);
    server.listen(setup.port, host, () => {
      sockets.off('error', fail);
      server.off('error', fail);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      pending.close();
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

/** Delays that have not passed; once closed none ends, so that no request of a stopped exchange goes on. */
interface Pending {
  readonly closed: boolean;
  wait(ms: number): Promise<void>;
  close(): void;
}

function openPending(clock: Clock): Pending {
  const cancels = new Set<() => void>();
  let closed = false;
  return {
    get closed() {
      return closed;
    },
    wait: (ms) =>
      new Promise((resolve) => {
        const cancel = clock.at(clock.now() + ms, () => {
          cancels.delete(cancel);
          resolve();
        });
        cancels.add(cancel);
      }),
    close() {
      closed = true;
      for (const cancel of cancels) cancel();
    },
  };
}

interface Serving extends ServerSetup {
  readonly pending: Pending;
}

function listenError(error: Error, port: number): Error {
  const taken = 'code' in error && error.code === 'EADDRINUSE';
  const why = taken ? 'the port is taken: stop what uses it, or choose another (0 takes any free one)' : error.message;
  return new Refusal(`the exchange cannot listen on ${host}:${port}: ${why}`, 1);
}

async function serve(message: IncomingMessage, response: ServerResponse, setup: Serving): Promise<void> {
  const body = await bodyOf(message);
  if (body === 'gone') return;
  const { method = '', url: target = '' } = message;
  if (body === 'tooLarge') {
    const { status, code, msg } = refusals.tooLarge;
    return send(response, status, json({ code, msg }));
  }
  const header = (name: string): string | undefined => {
    const value = message.headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  const request: ApiRequest = {
    method,
    target,
    body: body.text,
    ip: message.socket.remoteAddress ?? '',
    key: header('x-ch-apikey'),
    timestamp: header('x-ch-ts'),
    signature: header('x-ch-sign'),
  };
  const path = pathOf(target);
  const fault = setup.faults.pick({ method, path }, setup.clock.now());
  if (fault === undefined) {
    const reply = setup.process(request);
    send(response, reply.status, reply.body);
    setup.publish();
    return;
  }
  setup.onFault(method, path, fault);
  if ((await spoils(fault, 'before', response, setup)) || setup.pending.closed) return;
  const reply = setup.process(request);
  setup.publish();
  if (await spoils(fault, 'after', response, setup)) return;
  if ('truncate' in fault) truncate(response, reply);
  else send(response, reply.status, reply.body);
}

/** Applies a fault if it belongs to this moment; true when the request has been answered, or never will be. */
async function spoils(
  fault: FaultAction,
  moment: 'before' | 'after',
  response: ServerResponse,
  { faults, clock, pending }: Serving,
): Promise<boolean> {
  if ('drop' in fault && fault.drop === moment) {
    response.destroy();
    return true;
  }
  if (!('when' in fault) || fault.when !== moment) return false;
  if ('hold' in fault) await faults.hold(fault.hold);
  else if ('delayMs' in fault) await pending.wait(clock.machine(fault.delayMs));
  else {
    const { status } = fault;
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end(`<html><head><title>${status}</title></head><body><h1>${status}</h1></body></html>`);
    return true;
  }
  return false;
}

function send(response: ServerResponse, status: number, body: string): void {
  if (response.destroyed) return;
  response.writeHead(status, {
    'content-type': 'application/json;charset=UTF-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

function truncate(response: ServerResponse, reply: ApiReply): void {
  if (response.destroyed) return;
  const bytes = Buffer.from(reply.body);
  response.writeHead(reply.status, {
    'content-type': 'application/json;charset=UTF-8',
    'content-length': bytes.length,
  });
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
}

type Body = { readonly text: string } | 'tooLarge' | 'gone';

/** The whole body; a client that went away before sending it has asked for nothing. */
function bodyOf(message: IncomingMessage): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    message.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > bodyLimit) resolve('tooLarge');
      else chunks.push(chunk);
    });
    message.on('end', () => resolve({ text: Buffer.concat(chunks).toString('utf8') }));
    message.on('error', () => resolve('gone'));
    message.on('close', () => resolve('gone'));
  });
}
