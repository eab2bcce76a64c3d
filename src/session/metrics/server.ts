/**
 * The server of /health, /ready and /metrics. It reads only, and answers GET alone.
 *
 * A page of any site can make a browser send requests to this machine, and a name of its own can be made to resolve to it (DNS rebinding). Then Host is that
 * name: only IP addresses, localhost and the configured names are answered, and nothing that has an Origin.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import type { MetricsConfig } from '../../config/metrics.ts';
import { minTokenLength } from '../../dashboard/access.ts';
import { causeOf, Refusal } from '../../domain/refusal.ts';
import type { Metrics, Readiness } from './metrics.ts';

/** The variable of the environment with the token. */
export const tokenName = 'SLUICE_METRICS_TOKEN';
/** Connections at once: a scraper and a probe need one each. Further ones are closed. */
const maxConnections = 32;
/** Until a request must have arrived, real ms. */
const requestMs = 5_000;

export interface MetricsServer {
  /** Of the metrics. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const isLoopback = (host: string): boolean => host === '::1' || host.startsWith('127.');

/** The token for `/metrics`; undefined where none is needed. Refuses an address that others reach without one. */
export function metricsToken({ host }: MetricsConfig, given: string | undefined): string | undefined {
  const token = given === '' ? undefined : given;
  if (token === undefined && !isLoopback(host))
    throw new Refusal(
      `metrics.host ${host} can be reached from other machines: put a token of ${minTokenLength} characters or more into ${tokenName} (environment or .env), or leave metrics.host out`,
    );
  if (token !== undefined && token.length < minTokenLength)
    throw new Refusal(
      `${tokenName} has ${token.length} characters: use ${minTokenLength} or more, such as openssl rand -hex 16 makes`,
    );
  return token;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Why a request is refused: its status; undefined if it may be answered. */
export function refusedWith(
  { method, headers, url = '' }: Pick<IncomingMessage, 'method' | 'headers' | 'url'>,
  names: readonly string[],
  token: string | undefined,
): 401 | 403 | 404 | 405 | undefined {
  const host = /^(\[[0-9a-f:.]+\]|[^:/@[\]]+)(?::\d{1,5})?$/i.exec(headers.host ?? '')?.[1]?.replace(/^\[|\]$/g, '');
  if (host === undefined || !(isIP(host) > 0 || ['localhost', ...names].includes(host.toLowerCase()))) return 403;
  if (headers.origin !== undefined) return 403;
  if (method !== 'GET' && method !== 'HEAD') return 405;
  if (!['/health', '/ready', '/metrics'].includes(url)) return 404;
  if (url !== '/metrics' || token === undefined) return undefined;
  const shown = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(shown), digest(token)) ? undefined : 401;
}

const texts = {
  401: `a token is needed: Authorization: Bearer ${tokenName}`,
  403: 'call it by an IP address, localhost, or a name in metrics.names, and not from a page',
  404: 'there are /health, /ready and /metrics',
  405: 'only GET is answered',
};

const headers = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
};

/** Starts to listen; throws a `Refusal` where the port cannot be had. */
export async function serveMetrics(
  { port, host, names }: MetricsConfig,
  metrics: Pick<Metrics, 'health' | 'ready' | 'text' | 'contentType'>,
  token: string | undefined,
): Promise<MetricsServer> {
  const send = (answer: ServerResponse, status: number, type: string, body: string): void =>
    void answer.writeHead(status, { ...headers, 'content-type': type }).end(body);
  const stand = (answer: ServerResponse, { isOk, ...readiness }: Readiness): void =>
    send(answer, isOk ? 200 : 503, 'application/json', `${JSON.stringify({ ok: isOk, ...readiness })}\n`);
  const server = createServer({ requestTimeout: requestMs, headersTimeout: requestMs }, (request, answer) => {
    const against = refusedWith(request, names, token);
    if (against !== undefined) send(answer, against, 'text/plain', `${texts[against]}\n`);
    else if (request.url === '/health') stand(answer, metrics.health());
    else if (request.url === '/ready') stand(answer, metrics.ready());
    else
      metrics.text().then(
        (text) => send(answer, 200, metrics.contentType, text),
        () => send(answer, 500, 'text/plain', 'the metrics could not be read\n'),
      );
  });
  server.maxConnections = maxConnections;
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    throw new Refusal(
      `metrics: ${host}:${port}: ${causeOf(error)}: set metrics.port to another one, or to 0 for any free one`,
      1,
    );
  }
  // Neither a probe that stays nor the server keeps a stopped daemon alive.
  server.unref();
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${taken}/metrics`,
    port: taken,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
