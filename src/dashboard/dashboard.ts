/**
 * The dashboard and control API of a daemon: one page and a few calls on 127.0.0.1.
 *
 *     GET  /                 the page, without any secret; its script takes the token from `#token=…`
 *     GET  /api/view         the `View` as JSON
 *     GET  /api/live         a WebSocket of `Update`s
 *     POST /api/kill         { "reason": "…", "strategy": "…" }; without a strategy all of them
 *     POST /api/resume       { "reason": "…", "strategy": "…" }
 *     POST /api/cancel       { "strategy": "…" }, or {} for all
 *     POST /api/resolve      { "order": "…", "as": "absent", "reason": "…" }; the order by our client id
 *     POST /api/adopt        { "order": "…", "orderId": "…", "reason": "…" }; `orderId`: the exchange's id of what it is there
 *     POST /api/resolve-trade { "trade": "…", "as": "accepted"|"discarded", "reason": "…" }
 *     POST /api/adjust       { "asset": "…", "amount": "-12.5", "reason": "…" }
 *     POST /api/limits       { "what": "raise"|"release", "name": "…", "value": "…", "reason": "…" }
 *
 * Every call under `/api` takes the token as `Authorization: Bearer TOKEN`, a WebSocket also as its subprotocols `sluice, TOKEN`. The POSTs answer
 * `{ "ok": true|false, "message": "a sentence for the user" }`: 200 done, 400 it is refused or does not fit, 500 it failed.
 * Whoever may not speak to us at all gets 403 (see `access.ts`).
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import websocket from '@fastify/websocket';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../clock/clock.ts';
import { exchangeIdPattern, type TradeDecision, tradeDecisions } from '../domain/order.ts';
import { Refusal } from '../domain/refusal.ts';
import { type Guard, guard, leastTokenLength } from './access.ts';
import type { Assets } from './assets.ts';
import { type Connections, limitConnections } from './connections.ts';
import { commonHeaders, page } from './document.ts';
import { maxClients, type Pushed, type Pusher, pusher } from './push.ts';

/** What the dashboard shows and may do. The actions answer with a sentence that says what was done. */
export interface DashboardSource extends Pushed {
  /** Of one strategy, or of all. */
  kill(reason: string, strategy?: string): Promise<string>;
  resume(reason: string, strategy?: string): Promise<string>;
  /** The resting orders of one strategy, or of all. */
  cancelAll(strategy?: string): Promise<string>;
  /** Closes an order that only a human may close, or says why that cannot be. */
  resolve(order: string, as: string, reason: string): Promise<string>;
  /** Binds an order of unknown outcome to an order at the exchange, or says why that cannot be. */
  adopt(order: string, orderId: string, reason: string): Promise<string>;
  /** Books a quarantined trade as it is shown, or never, or says why that cannot be. */
  resolveTrade(trade: string, as: TradeDecision, reason: string): Promise<string>;
  /** Counts an amount that was paid in or, negative, out. */
  adjust(asset: string, amount: string, reason: string): Promise<string>;
  /** A human raises a limit, or releases a version of a strategy's code. */
  limits(what: 'raise' | 'release', name: string, value: string, reason: string): Promise<string>;
}

export interface DashboardOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly host?: '127.0.0.1';
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

/** The largest body of a call. */
const maxBodyBytes = 4_096;
const strategy = z.string().min(1).max(100).optional();
const reason = z.string().trim().min(1).max(500);
const reasonBody = z.strictObject({ reason, strategy });
const cancelBody = z.strictObject({ strategy });
const resolveBody = z.strictObject({ order: z.string().min(1).max(64), as: z.string().min(1).max(20), reason });
const adoptBody = z.strictObject({
  order: z.string().min(1).max(64),
  orderId: z.string().regex(exchangeIdPattern),
  reason,
});
const resolveTradeBody = z.strictObject({
  trade: z.string().min(1).max(100),
  as: z.enum(tradeDecisions),
  reason,
});
// The source checks assets, amounts and limits, with the messages of the commands.
const adjustBody = z.strictObject({ asset: z.string().max(64), amount: z.string().max(64), reason });
const limitsBody = z.strictObject({
  what: z.enum(['raise', 'release']),
  name: z.string().min(1).max(100),
  value: z.string().min(1).max(64),
  reason,
});

interface Served {
  readonly app: FastifyInstance;
  readonly assets: Assets;
  readonly source: DashboardSource;
  readonly pushes: Pusher;
  readonly connections: Connections;
  /** Set once the port is known; before that nobody can ask. */
  readonly guard: () => Guard;
}

/** Runs before every answer, the 404 and the WebSocket upgrade included. */
function guardEverything({ app, assets, guard, connections }: Served): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(commonHeaders);
    const { headers, method, url, raw } = request;
    const isPage = method === 'GET' && headers.upgrade === undefined && (url === '/' || assets.files.has(url));
    const admission = guard().admit({ headers, isPage });
    if (admission.kind === 'refused') return reply.code(403).send({ ok: false, message: admission.message });
    if (admission.kind === 'owner') connections.admit(raw.socket);
    return undefined;
  });
}

function servePage({ app, assets }: Served): void {
  app.get('/', (request, reply) => {
    const { html, headers } = page(assets, request.headers.host ?? '');
    return reply.headers(headers).send(html);
  });
  for (const [path, { type, body }] of assets.files) {
    app.get(path, (_request, reply) => reply.header('content-type', type).send(body));
  }
}

function serveLive({ app, pushes }: Served): void {
  app.get('/api/live', { websocket: true }, (socket) => {
    socket.on('close', () => pushes.remove(socket));
    // The page only listens; anything that it says is ignored and must stay small (`maxPayload`).
    if (!pushes.add(socket)) socket.close(1013, `at most ${maxClients} pages at once`);
  });
}

/** Checks the body, acts, answers with the sentence. */
async function act<T>(
  body: unknown,
  reply: FastifyReply,
  schema: z.ZodType<T>,
  action: (given: T) => Promise<string>,
): Promise<FastifyReply> {
  const given = schema.safeParse(body ?? {});
  if (given.success) return reply.send({ ok: true, message: await action(given.data) });
  return reply.code(400).send({ ok: false, message: z.prettifyError(given.error) });
}

function serveControl({ app, source }: Served): void {
  app.get('/api/view', () => source.view());
  app.post('/api/kill', ({ body }, reply) =>
    act(body, reply, reasonBody, ({ reason, strategy: id }) => source.kill(reason, id)),
  );
  app.post('/api/resume', ({ body }, reply) =>
    act(body, reply, reasonBody, ({ reason, strategy: id }) => source.resume(reason, id)),
  );
  app.post('/api/cancel', ({ body }, reply) =>
    act(body, reply, cancelBody, ({ strategy: id }) => source.cancelAll(id)),
  );
  app.post('/api/resolve', ({ body }, reply) =>
    act(body, reply, resolveBody, ({ order, as, reason: why }) => source.resolve(order, as, why)),
  );
  app.post('/api/adopt', ({ body }, reply) =>
    act(body, reply, adoptBody, ({ order, orderId, reason: why }) => source.adopt(order, orderId, why)),
  );
  app.post('/api/resolve-trade', ({ body }, reply) =>
    act(body, reply, resolveTradeBody, ({ trade, as, reason: why }) => source.resolveTrade(trade, as, why)),
  );
  app.post('/api/adjust', ({ body }, reply) =>
    act(body, reply, adjustBody, ({ asset, amount, reason: why }) => source.adjust(asset, amount, why)),
  );
  app.post('/api/limits', ({ body }, reply) =>
    act(body, reply, limitsBody, ({ what, name, value, reason: why }) => source.limits(what, name, value, why)),
  );
  app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) =>
    reply.code(error.statusCode ?? (error instanceof Refusal ? 400 : 500)).send({ ok: false, message: error.message }),
  );
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ ok: false, message: 'There is nothing here.' }));
}

/** The port that the system gave. */
function portOf(app: FastifyInstance): number {
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new Error('the dashboard does not listen on a port');
  return address.port;
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<number> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw portRefusal(error, host, port);
  }
  return portOf(app);
}

/** Why a port cannot be had, as a refusal; another error as it is. */
function portRefusal(error: unknown, host: string, port: number): unknown {
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
export async function refuseTaken(host: string, port: number): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    throw portRefusal(error, host, port);
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
  const { port, host = '127.0.0.1', token, assets, source, clock } = options;
  if (token.length < leastTokenLength) throw new RangeError(`the token needs ${leastTokenLength} characters or more`);
  const app = fastify({
    bodyLimit: maxBodyBytes,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  });
  const pushes = pusher(source, clock);
  let ready: Guard | undefined;
  const served: Served = {
    app,
    assets,
    source,
    pushes,
    connections: limitConnections(app.server, clock),
    guard: () => {
      ready ??= guard(token, portOf(app));
      return ready;
    },
  };
  await app.register(websocket, { options: { maxPayload: maxBodyBytes } });
  guardEverything(served);
  servePage(served);
  serveLive(served);
  serveControl(served);
  const listening = await listen(app, host, port);
  return {
    port: listening,
    url: `http://${host}:${listening}/#token=${token}`,
    async close() {
      pushes.close();
      await app.close();
    },
  };
}
