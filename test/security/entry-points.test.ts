/** Every address that a daemon listens on, against pages of other sites, other programs of this machine, and whoever has no token or an old one. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { metrics as schema } from '../../src/config/metrics.ts';
import type { Dashboard } from '../../src/dashboard/dashboard.ts';
import { questions } from '../../src/dashboard/history.ts';
import { Metrics } from '../../src/session/metrics/metrics.ts';
import { type MetricsServer, serveMetrics } from '../../src/session/metrics/server.ts';
import { ask, bearer, FakeDaemon, json, serve, token, upgrade } from '../kit/dashboard.ts';

let daemon: FakeDaemon;
let dashboard: Dashboard;
let metrics: MetricsServer;
/** How many actions the daemon carried out. */
const done = (): number => daemon.told.length + daemon.flattened.length;
const metricsToken = 'a-token-of-enough-characters';
beforeAll(async () => {
  daemon = new FakeDaemon();
  dashboard = await serve(daemon);
  const shown = new Metrics({ mode: 'live', version: '1.2.3', stateDir: import.meta.dirname, log: { lost: 3 } });
  metrics = await serveMetrics(schema.parse({ port: 0 }), shown, metricsToken);
});
afterAll(async () => {
  await dashboard.close();
  await metrics.close();
});

const pages = ['/', '/page/main.ts', '/lib/preact.js'];
const reads = ['/api/view', ...Object.keys(questions).map((name) => `/api/history/${name}?subject=x&hours=1`)];
/** Every call that changes something, with a body that it takes. */
const calls: Readonly<Record<string, object>> = {
  ...{ kill: { reason: 'x' }, pause: { reason: 'x' }, resume: { reason: 'x' }, flatten: { reason: 'x' } },
  ...{ cancel: {}, acknowledge: {}, resolve: { order: 'a', as: 'absent', reason: 'x' } },
  ...{
    adopt: { order: 'a', orderId: '17', reason: 'x' },
    'resolve-trade': { trade: 'a', as: 'discarded', reason: 'x' },
  },
  ...{ reload: { reason: 'x', loosen: true }, adjust: { asset: 'BTC', amount: '1', reason: 'x' } },
  ...{ limits: { what: 'raise', name: 'maxOrderValue', value: '1', reason: 'x' } },
};

/** What somebody sends who must get nothing. `port`: of the address that is asked. */
const attacks: readonly (readonly [string, (port: number, its: string) => Record<string, string>])[] = [
  ['no token', () => ({})],
  ['no token from the page itself', (port) => ({ origin: `http://127.0.0.1:${port}` })],
  ['a wrong token', (_, its) => ({ authorization: `Bearer ${its}x` })],
  ['the beginning of the token', (_, its) => ({ authorization: `Bearer ${its.slice(0, -1)}` })],
  ['the token in another case', (_, its) => ({ authorization: `Bearer ${its.toUpperCase()}` })],
  ['the token of an earlier run', () => ({ authorization: `Bearer ${'e'.repeat(32)}` })],
  ['the token without its scheme', (_, its) => ({ authorization: its })],
  ['the token as a password', (_, its) => ({ authorization: `Basic ${Buffer.from(`x:${its}`).toString('base64')}` })],
  ['the token as a cookie', (_, its) => ({ cookie: `token=${its}; sluice=${its}` })],
  ['two tokens', (_, its) => ({ authorization: `Bearer ${its}, Bearer ${its}` })],
];
/** What is refused even with the token: the browser of its owner sends it for another site. */
const foreign: readonly (readonly [string, (port: number) => Record<string, string>])[] = [
  ['a foreign site', () => ({ origin: 'https://evil.example' })],
  ['a page without an origin of its own', () => ({ origin: 'null' })],
  ['another port of this machine', (port) => ({ origin: `http://127.0.0.1:${port + 1}` })],
  ['another name of this machine', (port) => ({ origin: `http://localhost:${port}` })],
  ['a name that resolves here', (port) => ({ host: `evil.example:${port}` })],
  ['a name that begins like an address', (port) => ({ host: `127.0.0.1.evil.example:${port}` })],
  ['a user before the address', (port) => ({ host: `x@127.0.0.1:${port}` })],
];

test('the tables name every call of the dashboard', () => {
  const source = readFileSync(new URL('../../src/dashboard/dashboard.ts', import.meta.url), 'utf8');
  const named = [...source.matchAll(/^ {2}post\('([\w-]+)'/gm)].map(([, name]) => name);
  expect(new Set(named)).toEqual(new Set(Object.keys(calls)));
});

describe.each(Object.entries(calls))('POST /api/%s', (name, given) => {
  const path = `/api/${name}`;
  const body = JSON.stringify(given);

  test.each([
    ...attacks,
    ...foreign.map(
      ([who, headers]) => [`the token from ${who}`, (port: number) => ({ ...bearer, ...headers(port) })] as const,
    ),
  ])('with %s is refused, and nothing is done', async (_, headersOf) => {
    const before = done();
    const answer = await ask(dashboard, path, { ...json, ...headersOf(dashboard.port, token) }, body);
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.body)).toMatchObject({ ok: false });
    expect(done()).toBe(before);
  });

  test('as a form, as plain text, as a GET, and with the token in the address does nothing', async () => {
    const before = done();
    // A form of another site sends these types without asking first.
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x'])
      expect((await ask(dashboard, path, { ...bearer, 'content-type': type }, body)).status, type).toBeOneOf([
        400, 415,
      ]);
    expect((await ask(dashboard, path, bearer)).status).toBe(404);
    expect((await ask(dashboard, `${path}?token=${token}`, json, body)).status).toBe(403);
    expect(done()).toBe(before);
  });

  test('of the page itself is carried out, however many wrong tokens came before', async () => {
    for (let tries = 0; tries < 20; tries++)
      await ask(dashboard, path, { ...json, authorization: 'Bearer guess' }, body);
    const before = done();
    const headers = { ...json, ...bearer, origin: `http://127.0.0.1:${dashboard.port}` };
    expect((await ask(dashboard, path, headers, body)).status).toBe(200);
    expect(done()).toBe(before + 1);
  });

  test('with what it does not know is refused', async () => {
    const before = done();
    for (const more of [{ admin: true }, { by: 'telegram Ann (7)' }, { by: 'dailyLoss' }])
      expect((await ask(dashboard, path, { ...json, ...bearer }, JSON.stringify({ ...given, ...more }))).status).toBe(
        400,
      );
    const polluted = `{"__proto__":{"by":"operator"},${body.slice(1)}`.replace(',}', '}');
    expect((await ask(dashboard, path, { ...json, ...bearer }, polluted)).status).toBe(400);
    expect(done()).toBe(before);
  });
});

test.each([...attacks, ...foreign])('what can be read gives nothing to %s', async (who, headersOf) => {
  const isForeign = foreign.some(([name]) => name === who);
  const headers = { ...(isForeign && bearer), ...headersOf(dashboard.port, token) };
  for (const path of [...reads, '/nowhere', `/?token=${token}`, `/api/view?token=${token}`])
    expect((await ask(dashboard, path, headers)).status, path).toBe(403);
  // The page has no secret: a browser opens it without a token.
  for (const path of pages) expect((await ask(dashboard, path, headers)).status, path).toBe(isForeign ? 403 : 200);
  expect(await upgrade(dashboard, headers)).toBe(403);
  expect(await upgrade(dashboard, headers, '/nowhere')).toBe(403);
});

test('the token as a subprotocol opens the WebSocket, but not from a foreign site', async () => {
  const protocol = { 'sec-websocket-protocol': `sluice, ${token}` };
  expect(await upgrade(dashboard, bearer)).toBe(101);
  for (const [who, headersOf] of foreign)
    expect(await upgrade(dashboard, { ...protocol, ...headersOf(dashboard.port) }), who).toBe(403);
});

test.each([
  ...[
    '/../src/main.ts',
    '/page/../../package.json',
    '/page/..%2f..%2fpackage.json',
    '/page/%2e%2e/%2e%2e/package.json',
  ],
  ...['/page//etc/passwd', '/lib/....//x', '/page/main.ts%00.html', '/PAGE/MAIN.TS', '/api/../api/view', '/api/%76iew'],
  ...[
    '/api/history/..%2Fview',
    '/api/history/constructor',
    '/api/history/__proto__',
    '\\page\\main.ts',
    '//evil.example/',
  ],
  ...['http://evil.example/', 'file:///etc/passwd'],
])('the path %s leads nowhere', async (path) => {
  const [owner, stranger, probe] = await Promise.all([
    raw(dashboard.port, path, host(), `Authorization: Bearer ${token}`),
    raw(dashboard.port, path, host()),
    raw(metrics.port, path, `Host: 127.0.0.1:${metrics.port}`, `Authorization: Bearer ${metricsToken}`),
  ]);
  expect(stranger).toMatch(/^HTTP\/1\.1 (400|403|404)/);
  expect(probe).toMatch(/^HTTP\/1\.1 (400|403|404)/);
  // For its owner it may be another way of writing an address of the dashboard, and never one of a file.
  expect(owner).not.toMatch(/"dependencies"|root:|^import /m);
});

const host = (): string => `Host: 127.0.0.1:${dashboard.port}`;
/** A request as it is written: no client has tidied its path and its headers. */
const raw = (port: number, path: string, ...headers: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`${[`GET ${path} HTTP/1.1`, ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`),
    );
    socket.on('data', (data) => {
      answer += String(data);
    });
    socket.on('close', () => resolve(answer)).on('error', reject);
  });

test.each<[string, number, (good: string) => readonly string[]]>([
  ['one host and one token', 200, (good) => [host(), good]],
  ['no host', 400, (good) => [good]],
  ['an empty host', 403, (good) => ['Host:', good]],
  ['a foreign host before ours', 403, (good) => ['Host: evil.example', host(), good]],
  ['another token before ours', 403, (good) => [host(), 'Authorization: Bearer x', good]],
  [
    'a second, foreign origin',
    403,
    (good) => [host(), good, `Origin: http://${host().slice(6)}`, 'Origin: https://evil.example'],
  ],
])('a request with %s gets %i', async (_, status, headersOf) => {
  const answer = await raw(dashboard.port, '/api/view', ...headersOf(`Authorization: Bearer ${token}`));
  expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
});

describe.each(['/health', '/ready', '/metrics'])('%s', (path) => {
  const get = (headers: Record<string, string>) => ask({ port: metrics.port } as Dashboard, path, headers);
  const its = { authorization: `Bearer ${metricsToken}` };

  test.each(foreign)('gives nothing to %s', async (_, headersOf) => {
    expect((await get({ ...its, ...headersOf(metrics.port) })).status).toBe(403);
  });

  test.each(attacks.filter(([who]) => who !== 'no token from the page itself'))('with %s', async (_, headersOf) => {
    const { status, body } = await get(headersOf(metrics.port, metricsToken));
    // Probes need no token, and say nothing about money.
    expect(status).toBe(path === '/metrics' ? 401 : path === '/health' ? 200 : 503);
    expect(body).not.toMatch(/equity|USDT|\d{3}/);
  });

  test('takes no POST', async () => {
    expect((await ask({ port: metrics.port } as Dashboard, path, { ...its, ...json }, '{}')).status).toBe(405);
  });
});
