/**
 * What each web server of ours has: a port on 127.0.0.1, the guard before every answer, the page with its files, and errors as sentences. `routes`
 * adds the calls of one server.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import websocket from '@fastify/websocket';
import { type FastifyInstance, fastify } from 'fastify';
import type { Clock } from '../clock/clock.ts';
import { redact } from '../domain/redaction.ts';
import { Refusal } from '../domain/refusal.ts';
import { type Guard, guard, limitConnections, minTokenLength } from './access.ts';
import type { Assets } from './assets.ts';
import { commonHeaders, page } from './document.ts';

export interface ServerOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** At least 22 random characters. */
  readonly token: string;
  /** The page, as `loadAssets` read it. */
  readonly assets: Assets;
  readonly clock: Clock;
  /** Addresses of pages, such as `/` or `/daemons/:name/`, each with its first module. There is no secret in a page. */
  readonly pages: Readonly<Record<string, string>>;
  /** What the user does about a port that cannot be had. */
  readonly portAdvice: string;
  /** Addresses beside the pages that a browser opens without a token, such as one that cannot be guessed. */
  readonly isOpen?: (path: string) => boolean;
}

export interface LocalServer {
  readonly port: number;
  /** With the token: for the user's own terminal, never for a log. */
  readonly url: string;
  close(): Promise<void>;
}

const host = '127.0.0.1';
/** The largest body of a call, and the largest message of a page. */
export const maxBodyBytes = 4_096;

/** Fits the addresses of a page; `:name` stands for one step. */
const patternOf = (route: string): RegExp => new RegExp(`^${route.replace(/:\w+/g, '[^/?#]+')}$`);

/** Runs before every answer, the 404 and the WebSocket upgrade included. `whoMay`: known once the port is; before that nobody can ask. */
function guardEverything(app: FastifyInstance, options: ServerOptions, whoMay: () => Guard): void {
  const { assets, pages, isOpen = () => false, clock } = options;
  const admit = limitConnections(app.server, clock);
  const patterns = Object.keys(pages).map(patternOf);
  const isPublic = (url: string): boolean =>
    assets.files.has(url) || patterns.some((pattern) => pattern.test(url)) || isOpen(url);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(commonHeaders);
    const { headers, method, url, raw } = request;
    const isPage = method === 'GET' && headers.upgrade === undefined && isPublic(url);
    const admission = whoMay()({ headers, isPage });
    if (admission.kind === 'refused') return reply.code(403).send({ ok: false, message: admission.message });
    if (admission.kind === 'owner') admit(raw.socket);
    return undefined;
  });
}

function servePages(app: FastifyInstance, { assets, pages }: ServerOptions): void {
  for (const [path, entry] of Object.entries(pages)) {
    app.get(path, (request, reply) => {
      const { html, headers } = page(assets, entry, request.headers.host ?? '');
      return reply.headers(headers).send(html);
    });
  }
  for (const [path, { type, body }] of assets.files) {
    app.get(path, (_request, reply) => reply.header('content-type', type).send(body));
  }
}

function answerFaults(app: FastifyInstance): void {
  app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) =>
    reply.code(error.statusCode ?? (error instanceof Refusal ? 400 : 500)).send({
      ...{ ok: false, message: redact(error.message) },
      ...(error instanceof Refusal && { exitCode: error.exitCode }),
    }),
  );
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ ok: false, message: 'There is nothing here.' }));
}

function portOf(app: FastifyInstance): number {
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new Error('the dashboard does not listen on a port');
  return address.port;
}

/** Why a port cannot be had, as a refusal; another error as it is. */
function portRefusal(error: unknown, port: number, advice: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const why =
    code === 'EADDRINUSE'
      ? `is taken; ${advice} to another one`
      : code === 'EACCES'
        ? `is for the system's own programs; ${advice} to one above 1023`
        : undefined;
  return why === undefined
    ? error
    : new Refusal(`dashboard: port ${port} on ${host} ${why}, or to 0 for any free port`, 1);
}

/** Refuses a port that cannot be had, before anything is given up for the start. */
export async function refuseTakenPort(port: number, advice: string): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    throw portRefusal(error, port, advice);
  }
  server.close();
  await once(server, 'close');
}

/** What is sent to us is read by zod. Left out, fastify's own compilers of schemas would be loaded before anybody trades. */
const noSchemas = (): never => {
  throw new Error('the dashboard has no schemas of fastify');
};

/** Starts to listen; throws a `Refusal` when the port is taken. */
export async function startServer(
  options: ServerOptions,
  routes: (app: FastifyInstance) => void,
): Promise<LocalServer> {
  const { port, token, portAdvice } = options;
  if (token.length < minTokenLength) throw new RangeError(`the token needs ${minTokenLength} characters or more`);
  const app = fastify({
    bodyLimit: maxBodyBytes,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  });
  let ready: Guard | undefined;
  const whoMay = (): Guard => {
    ready ??= guard(token, portOf(app));
    return ready;
  };
  await app.register(websocket, { options: { maxPayload: maxBodyBytes } });
  guardEverything(app, options, whoMay);
  servePages(app, options);
  answerFaults(app);
  routes(app);
  await app.listen({ host, port }).catch((error: unknown) => {
    throw portRefusal(error, port, portAdvice);
  });
  return {
    port: portOf(app),
    url: `http://${host}:${portOf(app)}/#token=${token}`,
    close: () => app.close(),
  };
}
