/** The dashboard as programs meet it, over HTTP. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Dashboard } from '../../src/dashboard/dashboard.ts';
import type { View } from '../../src/dashboard/view.ts';
import * as kit from '../kit/dashboard.ts';
import { bearer, FakeDaemon, json, serve } from '../kit/dashboard.ts';

let daemon: FakeDaemon;
let dashboard: Dashboard;
const ask = (path: string, headers: Record<string, string>, body?: string) => kit.ask(dashboard, path, headers, body);
const upgrade = (headers: Record<string, string>, path?: string) => kit.upgrade(dashboard, headers, path);

describe('the dashboard server', () => {
  beforeAll(async () => {
    daemon = new FakeDaemon();
    dashboard = await serve(daemon);
  });
  afterAll(() => dashboard.close());

  it('answers the questions of the page, with the values that an address can have', async () => {
    const asked = async (path: string) => ask(`/api/history/${path}`, bearer);
    expect(JSON.parse((await asked('why?subject=1954')).body)).toMatchObject({ title: daemon.answers.why.title });
    expect((await asked('decision?strategy=grid&symbol=XBTUSD&at=1584011719263')).status).toBe(200);
    expect((await asked('log')).status).toBe(200);
    expect(daemon.questions).toEqual([
      'why {"subject":"1954"}',
      'decision {"strategy":"grid","symbol":"XBTUSD","at":1584011719263}',
      'log {"level":"info"}',
    ]);
    for (const wrong of [
      'why',
      'why?subject=',
      'denials?hours=0',
      'log?level=x',
      'log?file=/etc/passwd',
      'log?text=a&text=b',
    ])
      expect((await asked(wrong)).status, wrong).toBe(400);
    expect(daemon.questions).toHaveLength(3);
  });

  it('gives the page a policy under which nothing foreign runs or is asked for', async () => {
    const { status, headers } = await ask('/', {});
    expect(status).toBe(200);
    expect(headers['content-security-policy']).toMatch(/default-src 'none'; script-src 'nonce-[^']+';/);
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(headers['referrer-policy']).toBe('no-referrer');
  });

  it('is the control API of the command line', async () => {
    const killed = await ask('/api/kill', { ...bearer, ...json }, '{"reason":"sluice kill"}');
    expect(JSON.parse(killed.body)).toEqual({ ok: true, message: 'Killed: 6 resting orders are being cancelled.' });
    await ask('/api/resume', { ...bearer, ...json }, '{"reason":"sluice resume"}');
    await ask('/api/cancel', { ...bearer, ...json }, '{"strategy":"grid"}');
    await ask('/api/cancel', { ...bearer, ...json }, '{}');
    await ask('/api/pause', { ...bearer, ...json }, '{"reason":"news","strategy":"grid","by":"operator"}');
    expect(daemon.told).toEqual([
      'kill: sluice kill, by dashboard',
      'resume: sluice resume, dashboard',
      'cancel: dashboard, grid',
      'cancel: dashboard',
      'pause: operator, news, grid',
    ]);
    expect((JSON.parse((await ask('/api/view', bearer)).body) as View).version).toBe(1);
  });

  it('says what is wrong with a call and does nothing', async () => {
    const before = daemon.told.length;
    const missing = await ask('/api/kill', { ...bearer, ...json }, '{}');
    expect(missing.status).toBe(400);
    expect(missing.body).toContain('reason');
    expect((await ask('/api/cancel', { ...bearer, ...json }, '{"stategy":"grid"}')).status).toBe(400);
    expect((await ask('/api/kill', { ...bearer, ...json }, `{"reason":"${'x'.repeat(5_000)}"}`)).status).toBe(413);
    expect(daemon.told.length).toBe(before);
  });

  it('serves its owner while strangers hold more connections open than it keeps', async () => {
    const held = new Set<Socket>();
    const crowd = Promise.withResolvers<void>();
    for (let count = 0; count < 40; count++) {
      const socket = connect(dashboard.port, '127.0.0.1');
      held.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => held.delete(socket) && held.size <= 16 && crowd.resolve());
      await once(socket, 'connect');
      // The header never ends.
      socket.write('GET / HTTP/1.1\r\nX-Slow: ');
    }
    await crowd.promise;
    const before = daemon.told.length;
    const killed = await ask('/api/kill', { ...bearer, ...json }, '{"reason":"crowded"}');
    expect(killed.status).toBe(200);
    expect((await ask('/', {})).status).toBe(200);
    expect(await upgrade(bearer)).toBe(101);
    daemon.told.length = before;
    for (const socket of held) socket.destroy();
  });

  it('names the port that is taken and what to do', async () => {
    await expect(serve(daemon, dashboard.port)).rejects.toThrow(
      `port ${dashboard.port} on 127.0.0.1 is taken; set dashboard`,
    );
  });
});
