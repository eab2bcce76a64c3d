/** The wire around the core: node:http and ws on loopback. */
import { once } from 'node:events';
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { causeOf, Refusal } from '../../domain/refusal.ts';
import { refusals } from '../core/errors.ts';
import type { ApiRequest } from './api.ts';
import { json } from './json.ts';
import { type Wire, wireOf } from './wire.ts';

const host = '127.0.0.1';
const socketPath = '/kline-api/ws';
const bodyLimit = 1_048_576;
const messageLimit = 65_536;
/** Longer than any client keeps an idle connection, so that the server is not the one that closes it. */
const keepAliveMs = 75_000;

export interface ServerSetup {
  readonly port: number;
  /** Answers a request, or never does; what goes wrong on the way is decided there. */
  readonly answer: (request: ApiRequest, wire: Wire) => void;
  readonly onSocket: (socket: WebSocket) => void;
  /** False for a connection that is to be cut before a byte is read from it. */
  readonly admits: () => boolean;
  /** False while no socket may be opened. */
  readonly admitsSockets: () => boolean;
}

export type Server = Awaited<ReturnType<typeof startServer>>;

/** Listens; throws one clear error when the port is taken. */
export async function startServer(setup: ServerSetup) {
  const server = createServer((request, response) => void serve(request, response, setup));
  server.keepAliveTimeout = keepAliveMs;
  server.on('connection', (connection) => {
    if (!setup.admits()) connection.resetAndDestroy();
  });
  const verifyClient = (_: object, decide: (admitted: boolean, status?: number) => void): void =>
    decide(setup.admitsSockets(), 503);
  const sockets = new WebSocketServer({ server, path: socketPath, maxPayload: messageLimit, verifyClient });
  sockets.on('connection', setup.onSocket);
  await listening(server, setup.port, host, sockets).catch((error: Error) => {
    throw listenError(error, setup.port);
  });
  return {
    port: (server.address() as AddressInfo).port,
    /** Cuts what is open: every connection, or the sockets alone. */
    cut(what: 'all' | 'sockets'): void {
      for (const socket of sockets.clients) socket.terminate();
      if (what === 'all') server.closeAllConnections();
    },
    close(): Promise<void> {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      return closed(server);
    },
  };
}

/** Resolves once the port is ours, rejects with what is against it. `ws` passes the errors of its server on, and would throw them. */
export async function listening(server: HttpServer, port: number, host: string, ws?: WebSocketServer): Promise<void> {
  const pass = (): void => {};
  ws?.on('error', pass);
  await once(server.listen(port, host), 'listening');
  ws?.off('error', pass);
}

/** Cuts every connection of a server and closes it. */
export const closed = (server: HttpServer): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

function listenError(error: Error, port: number): Error {
  const taken = 'code' in error && error.code === 'EADDRINUSE';
  const why = taken ? 'the port is taken: stop what uses it, or choose another (0 takes any free one)' : causeOf(error);
  return new Refusal(`the exchange cannot listen on ${host}:${port}: ${why}`, 1);
}

async function serve(message: IncomingMessage, response: ServerResponse, { answer }: ServerSetup): Promise<void> {
  const body = await bodyOf(message);
  if (body === 'gone') return;
  const wire = wireOf(response);
  const { method = '', url: target = '' } = message;
  if (body === 'tooLarge') {
    const { status, code, msg } = refusals.tooLarge;
    wire.send(status, json({ code, msg }));
    return;
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
  answer(request, wire);
}

/** The whole body; a client that went away before sending it has asked for nothing. */
export function bodyOf(message: IncomingMessage): Promise<{ readonly text: string } | 'tooLarge' | 'gone'> {
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
