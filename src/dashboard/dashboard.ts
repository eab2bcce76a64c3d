/**
 * The dashboard and control API of a daemon: one page and a few calls on 127.0.0.1.
 *
 *     GET  /                 the page, without any secret; its script takes the token from `#token=…`
 *     GET  /api/view         the `View` as JSON
 *     GET  /api/live         a WebSocket of `Update`s
 *     GET  /api/klines       the klines of a chart, see `klines.ts`
 *     GET  /api/indicators   the values of indicators on a chart, see `indicators.ts`
 *     GET  /api/history/NAME answers to the questions of `history.ts`
 *     POST /api/kill         { "reason": "…", "strategy": "…", "everything": true }; without a strategy all of them; `everything`: exits, too
 *     POST /api/pause        { "reason": "…", "strategy": "…" }
 *     POST /api/resume       { "reason": "…", "strategy": "…", "seen": "…" }; `seen`: `inForce.mark` of the view; once that has changed, 400
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
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { OperatorActions } from '../domain/operator-actions.ts';
import { exchangeIdPattern, tradeDecisions } from '../domain/order.ts';
import type { History } from './history.ts';
import { type Indicators, serveIndicators } from './indicators.ts';
import { type Klines, serveKlines } from './klines.ts';
import { maxClients, type Pushed, type Pusher, pusher } from './push.ts';
import { parsedRequest } from './request-schema.ts';
import { serveHistory } from './serve-history.ts';
import { type LocalServer, refuseTakenPort, type ServerOptions, startServer } from './server.ts';

/** What the dashboard shows and may do. */
export type DashboardSource = Pushed & Klines & Indicators & OperatorActions & { readonly history: History };

/** Whoever has the token may stop trading. */
export interface DashboardOptions extends Pick<ServerOptions, 'port' | 'token' | 'assets' | 'clock'> {
  readonly source: DashboardSource;
}

export type Dashboard = LocalServer;

const text = (max: number) => z.string().min(1).max(max);
const strategy = text(100).optional();
const reason = z.string().trim().min(1).max(500);
const by = z.enum(['operator', 'dashboard']).default('dashboard');
const asked = z.strictObject({ by, reason });
const order = text(64);

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
    app.post(`/api/${name}`, async ({ body }) => ({ ok: true, message: await act(parsedRequest(schema, body)) }));
  };
  const scope = asked.extend({ strategy });
  post('kill', scope.extend({ everything: z.boolean().optional() }), (given) => source.kill(given));
  post('pause', scope, (given) => source.pause(given));
  post('resume', scope.extend({ seen: text(64).optional() }), (given) => source.resume(given));
  post('cancel', z.strictObject({ by, strategy, order: order.optional(), reason: reason.optional() }), (given) =>
    source.cancel(given),
  );
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
}

/** What the user does about a port that cannot be had. */
const portAdvice = 'set dashboard.port (of the demo: --port)';

/** Refuses a port that cannot be had, before anything is given up for the start. */
export const refuseTaken = (port: number): Promise<void> => refuseTakenPort(port, portAdvice);

/** Starts to listen; throws a `Refusal` when the port is taken. */
export async function startDashboard({ source, ...options }: DashboardOptions): Promise<Dashboard> {
  const pushes = pusher(source, options.clock);
  const server = await startServer({ ...options, pages: { '/': options.assets.entry }, portAdvice }, (app) => {
    serveLive(app, pushes);
    serveKlines(app, source);
    serveIndicators(app, source);
    serveHistory(app, source.history);
    serveControl(app, source);
  });
  return {
    ...server,
    async close() {
      pushes.close();
      await server.close();
    },
  };
}
