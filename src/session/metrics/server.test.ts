import { request } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { metrics as schema } from '../../config/metrics.ts';
import { Metrics } from './metrics.ts';
import { type MetricsServer, metricsToken, refusedWith, serveMetrics } from './server.ts';

const token = 'a-token-of-enough-characters';
const asked = (headers: Record<string, string>, url = '/metrics', method = 'GET') => ({ headers, url, method });

describe('a request', () => {
  test.each([
    ['127.0.0.1:9464'],
    ['localhost:9464'],
    ['LOCALHOST'],
    ['[::1]:9464'],
    ['192.168.1.7:9464'],
    ['sluice:9464'],
  ])('to %s is answered', (host) => {
    expect(refusedWith(asked({ host }), ['sluice'], undefined)).toBeUndefined();
  });

  test.each([
    ['a name that resolves here', { host: 'evil.example:9464' }],
    ['a name that begins like an address', { host: '127.0.0.1.evil.example' }],
    ['a user before the address', { host: 'x@127.0.0.1' }],
    ['no host', {}],
    ['an empty host', { host: '' }],
    ['two ports', { host: '127.0.0.1:1:2' }],
    ['a page', { host: '127.0.0.1:9464', origin: 'http://127.0.0.1:9464' }],
    ['a page without an origin of its own', { host: '127.0.0.1', origin: 'null' }],
  ])('of %s is refused', (_, headers) => {
    for (const url of ['/health', '/ready', '/metrics'])
      expect(refusedWith(asked(headers as Record<string, string>, url), ['sluice'], undefined)).toBe(403);
  });

  test('by another method or to another path gets nothing', () => {
    const headers = { host: 'localhost' };
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'])
      expect(refusedWith(asked(headers, '/metrics', method), [], undefined)).toBe(405);
    for (const url of [
      '/',
      '/metrics/',
      '/metrics/../api/view',
      '/%6detrics',
      '/api/kill',
      '//metrics',
      '/metrics?x=1',
    ])
      expect(refusedWith(asked(headers, url), [], undefined)).toBe(404);
  });

  test('for metrics shows the token where there is one; probes need none', () => {
    const headers = { host: '10.0.0.5:9464' };
    for (const authorization of ['', 'Bearer', `Bearer ${token}x`, `Basic ${token}`, token])
      expect(refusedWith(asked({ ...headers, authorization }), [], token)).toBe(401);
    expect(refusedWith(asked({ ...headers, authorization: `Bearer ${token}` }), [], token)).toBeUndefined();
    expect(refusedWith(asked(headers, '/health'), [], token)).toBeUndefined();
    expect(refusedWith(asked(headers, '/ready'), [], token)).toBeUndefined();
  });
});

test('an address that others reach is refused without a token, and a token that can be guessed, too', () => {
  const open = schema.parse({ host: '0.0.0.0' });
  expect(() => metricsToken(open, undefined)).toThrow(
    'metrics.host 0.0.0.0 can be reached from other machines: put a token',
  );
  expect(() => metricsToken(open, '')).toThrow('put a token');
  expect(() => metricsToken(open, 'short')).toThrow('SLUICE_METRICS_TOKEN has 5 characters');
  expect(metricsToken(open, token)).toBe(token);
  for (const host of ['127.0.0.1', '127.8.0.1', '::1'])
    expect(metricsToken(schema.parse({ host }), undefined)).toBeUndefined();
});

describe('the server', () => {
  const open: MetricsServer[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
  });
  const served = async (config: object = {}): Promise<MetricsServer> => {
    const metrics = new Metrics({ mode: 'live', version: '1.2.3', stateDir: import.meta.dirname, log: { lost: 3 } });
    const server = await serveMetrics(schema.parse({ port: 0, ...config }), metrics, undefined);
    open.push(server);
    return server;
  };
  const get = (port: number, path: string, headers: Record<string, string> = {}): Promise<readonly [number, string]> =>
    new Promise((resolve, reject) => {
      request({ port, host: '127.0.0.1', path, headers }, (answer) => {
        let body = '';
        answer.setEncoding('utf8').on('data', (text: string) => {
          body += text;
        });
        answer.once('end', () => resolve([answer.statusCode ?? 0, body]));
      })
        .once('error', reject)
        .end();
    });

  test('before a session begins it is healthy, not ready, and has metrics', async () => {
    const { port } = await served();
    expect(await get(port, '/health')).toEqual([
      200,
      '{"ok":true,"state":"starting","reasons":[],"paused":[],"killed":[]}\n',
    ]);
    expect(await get(port, '/ready')).toEqual([
      503,
      '{"ok":false,"state":"starting","reasons":["starting"],"paused":[],"killed":[]}\n',
    ]);
    const [status, text] = await get(port, '/metrics');
    expect(status).toBe(200);
    expect(text).toContain('sluice_build_info{version="1.2.3",mode="live"');
    expect(text).toContain('sluice_log_lines_lost_total 3');
    expect(text).toMatch(/sluice_event_loop_delay_seconds\{quantile="0.99"\} [\d.e-]+/);
    expect(text).not.toContain('nodejs_eventloop_lag');
    expect(await get(port, '/metrics', { host: 'evil.example' })).toEqual([
      403,
      expect.stringContaining('call it by an IP address'),
    ]);
  });

  test('a port that is taken is refused with one message', async () => {
    const { port } = await served();
    await expect(served({ port })).rejects.toThrow(
      `metrics: 127.0.0.1:${port}: the port is taken (EADDRINUSE): set metrics.port`,
    );
  });
});
