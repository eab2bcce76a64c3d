/**
 * The dashboard and control API of a daemon: one page and a few calls on 127.0.0.1.
 *
 *     GET  /                 the page, without any secret; its script takes the token from `#token=…`
 *     GET  /api/view         the `View` as JSON
 *     GET  /api/live         a WebSocket of `Update`s
 *     GET  /api/history/NAME answers to the questions of `history.ts`
 *     POST /api/kill         { "reason": "…", "strategy": "…", "everything": true }; without a strategy all of them; `everything`: exits, too
 *     POST /api/pause        { "reason": "…", "strategy": "…" }
 *     POST /api/resume       { "reason": "…", "strategy": "…" }
 *     POST /api/cancel       { "order": "…" } or { "strategy": "…" }, or {} for all; the order by our client id
 *     POST /api/flatten      { "reason": "…", "strategy": "…", "symbol": "…", "maxSlippage": "0.01" }
 *     POST /api/resolve      { "order": "…", "as": "absent", "reason": "…" }; the order by our client id
 *     POST /api/adopt        { "order": "…", "orderId": "…", "reason": "…" }; `orderId`: the exchange's id of what it is there
 *     POST /api/resolve-trade { "trade": "…", "as": "accepted"|"discarded", "reason": "…" }
 *     POST /api/acknowledge  { "alarm": 3 }, or {} for all; the alarms of the view
 *     POST /api/adjust       { "asset": "…", "amount": "-12.5", "reason": "…" }
 *     POST /api/reload       { "strategy": "…", "reason": "…" }; without a strategy the configuration, "loosen": true confirms looser limits
 *     POST /api/limits       { "what": "raise"|"release", "name": "…", "value": "…", "reason": "…" }
 *
 * Each POST may also have `"by"`: `operator`, as the command line has, or `dashboard`, the standard. It is journalled.
 * Every call under `/api` takes the token as `Authorization: Bearer TOKEN`, a WebSocket also as its subprotocols `sluice, TOKEN`. The POSTs answer
 * `{ "ok": true|false, "message": "a sentence for the user" }`: 200 done, 400 it is refused or does not fit, 500 it failed.
 * Whoever may not speak to us at all gets 403 (see `access.ts`).
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import websocket from '@fastify/websocket';
import { type FastifyInstance, fastify } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../clock/clock.ts';
import type { OperatorActions } from '../domain/operator-actions.ts';
import { exchangeIdPattern, tradeDecisions } from '../domain/order.ts';
import { Refusal } from '../domain/refusal.ts';
import { type Guard, guard, leastTokenLength, limitConnections } from './access.ts';
import type { Assets } from './assets.ts';
import { commonHeaders, page } from './document.ts';
import type { History } from './history.ts';
import { maxClients, type Pushed, type Pusher, pusher } from './push.ts';
import { serveHistory } from './serve-history.ts';

/** What the dashboard shows and may do. */
export type DashboardSource = Pushed & OperatorActions & { readonly history: History };

export interface DashboardOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** At least 22 random characters; whoever has it may stop trading. */
  readonly token: string;
  /** The page, as `loadAssets` read it. */
  readonly assets: Assets;
  readonly source: DashboardSource;
  readonly clock: Clock;
}

export interface Dashboard {
  readonly port: number;
  /** With the token: for the user's own terminal, never for a log. */
  readonly url: string;
  close(): Promise<void>;
}

const host = '127.0.0.1';
/** The largest body of a call. */
const maxBodyBytes = 4_096;
const text = (most: number) => z.string().min(1).max(most);
const strategy = text(100).optional();
const reason = z.string().trim().min(1).max(500);
const by = z.enum(['operator', 'dashboard']).default('dashboard');
const asked = z.strictObject({ by, reason });
const order = text(64);

/** Runs before every answer, the 404 and the WebSocket upgrade included. `guard`: known once the port is; before that nobody can ask. */
function guardEverything(app: FastifyInstance, assets: Assets, guard: () => Guard, clock: Clock): void {
  const admit = limitConnections(app.server, clock);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(commonHeaders);
    const { headers, method, url, raw } = request;
    const isPage = method === 'GET' && headers.upgrade === undefined && (url === '/' || assets.files.has(url));
    const admission = guard()({ headers, isPage });
    if (admission.kind === 'refused') return reply.code(403).send({ ok: false, message: admission.message });
    if (admission.kind === 'owner') admit(raw.socket);
    return undefined;
  });
}

function servePage(app: FastifyInstance, assets: Assets): void {
  app.get('/', (request, reply) => {
    const { html, headers } = page(assets, request.headers.host ?? '');
    return reply.headers(headers).send(html);
  });
  for (const [path, { type, body }] of assets.files) {
    app.get(path, (_request, reply) => reply.header('content-type', type).send(body));
  }
}

function serveLive(app: FastifyInstance, pushes: Pusher): void {
  app.get('/api/live', { websocket: true }, (socket) => {
    socket.on('close', () => pushes.remove(socket));
    // The page only listens; anything that it says is ignored and must stay small (`maxPayload`).
    if (!pushes.add(socket)) socket.close(1013, `at most ${maxClients} pages at once`);
  });
}

function serveControl(app: FastifyInstance, source: DashboardSource): void {
  app.get('/api/view', () => source.view());
  const post = <T>(name: string, schema: z.ZodType<T>, act: (given: T) => Promise<string>): void => {
    app.post(`/api/${name}`, async ({ body }, reply) => {
      const given = schema.safeParse(body ?? {});
      if (given.success) return { ok: true, message: await act(given.data) };
      return reply.code(400).send({ ok: false, message: z.prettifyError(given.error) });
    });
  };
  const scope = asked.extend({ strategy });
  post('kill', scope.extend({ everything: z.boolean().optional() }), (given) => source.kill(given));
  post('pause', scope, (given) => source.pause(given));
  post('resume', scope, (given) => source.resume(given));
  post('cancel', z.strictObject({ by, strategy, order: order.optional() }), (given) => source.cancel(given));
  post('flatten', scope.extend({ symbol: text(40).optional(), maxSlippage: text(20).optional() }), (given) =>
    source.flatten(given),
  );
  post('acknowledge', z.strictObject({ by, alarm: z.int().min(1).optional() }), (given) => source.acknowledge(given));
  post('resolve', asked.extend({ order, as: text(20) }), (given) => source.resolve(given));
  post('adopt', asked.extend({ order, orderId: z.string().regex(exchangeIdPattern) }), (given) => source.adopt(given));
  post('resolve-trade', asked.extend({ trade: text(100), as: z.enum(tradeDecisions) }), (given) =>
    source.resolveTrade(given),
  );
  const loosen = z.boolean().default(false);
  post('reload', asked.extend({ strategy, loosen }), ({ strategy: id, ...given }) =>
    id === undefined ? source.reloadConfig(given) : source.reload({ by: given.by, reason: given.reason, strategy: id }),
  );
  // The source checks assets, amounts and limits, with the messages of the commands.
  post('adjust', asked.extend({ asset: z.string().max(64), amount: z.string().max(64) }), (given) =>
    source.adjust(given),
  );
  const limit = { what: z.enum(['raise', 'release']), name: text(100), value: text(64) };
  post('limits', asked.extend(limit), (given) => source.limits(given));
  app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) =>
    reply.code(error.statusCode ?? (error instanceof Refusal ? 400 : 500)).send({ ok: false, message: error.message }),
  );
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ ok: false, message: 'There is nothing here.' }));
}

function portOf(app: FastifyInstance): number {
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new Error('the dashboard does not listen on a port');
  return address.port;
}

/** Why a port cannot be had, as a refusal; another error as it is. */
function portRefusal(error: unknown, port: number): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const why =
    code === 'EADDRINUSE'
      ? 'is taken; set dashboard.port (of the demo: --port) to another one'
      : code === 'EACCES'
        ? "is for the system's own programs; set dashboard.port (of the demo: --port) to one above 1023"
        : undefined;
  return why === undefined
    ? error
    : new Refusal(`dashboard: port ${port} on ${host} ${why}, or to 0 for any free port`, 1);
}

/** Refuses a port that cannot be had, before anything is given up for the start. */
export async function refuseTaken(port: number): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    throw portRefusal(error, port);
  }
  server.close();
  await once(server, 'close');
}

/** What is sent to us is read by zod. Left out, fastify's own compilers of schemas would be loaded before anybody trades. */
const noSchemas = (): never => {
  throw new Error('the dashboard has no schemas of fastify');
};

/** Starts to listen; throws a `Refusal` when the port is taken. */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { port, token, assets, source, clock } = options;
  if (token.length < leastTokenLength) throw new RangeError(`the token needs ${leastTokenLength} characters or more`);
  const app = fastify({
    bodyLimit: maxBodyBytes,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  });
  const pushes = pusher(source, clock);
  let ready: Guard | undefined;
  const whoMay = (): Guard => {
    ready ??= guard(token, portOf(app));
    return ready;
  };
  await app.register(websocket, { options: { maxPayload: maxBodyBytes } });
  guardEverything(app, assets, whoMay, clock);
  servePage(app, assets);
  serveLive(app, pushes);
  serveHistory(app, source.history);
  serveControl(app, source);
  await app.listen({ host, port }).catch((error: unknown) => {
    throw portRefusal(error, port);
  });
  return {
    port: portOf(app),
    url: `http://${host}:${portOf(app)}/#token=${token}`,
    async close() {
      pushes.close();
      await app.close();
    },
  };
}
