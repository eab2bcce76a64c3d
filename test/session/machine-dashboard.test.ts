/** The page of all daemons as programs meet it, over HTTP: what is passed on to a daemon, and who may ask. */
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, rmdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { SimClock } from '../../src/clock/sim-clock.ts';
import { answerMs } from '../../src/dashboard/machine/daemons.ts';
import type { DaemonRow, Overview } from '../../src/dashboard/machine/overview.ts';
import { ownDaemon, removeDaemonInfo, writeStarting } from '../../src/session/state.ts';
import { ask, json, upgrade } from '../kit/dashboard.ts';
import { type Machine, machineToken, startOnMachine } from '../kit/machine.ts';
import { strategyView, view } from '../kit/view.ts';

let machine: Machine;
beforeEach(async () => {
  machine = await startOnMachine();
});
afterEach(() => machine.close());

const own = { authorization: `Bearer ${machineToken}` };
const rows = async (): Promise<readonly DaemonRow[]> =>
  (JSON.parse((await ask(machine.server, '/api/daemons', own)).body) as Overview).daemons;
const killBody = '{"reason":"x"}';

test('it says of each daemon what it does now', async () => {
  const [live] = machine.daemons;
  live.source.shown = view({
    mode: 'live',
    isRealMoney: true,
    strategies: [strategyView({ status: 'paused' }), strategyView({ id: 'odd', status: 'stopped' })],
    inForce: { mark: 'm', text: 'Strategy cross was paused by dashboard: news.' },
    alarms: [{ id: 1, time: 1, level: 'error', text: 'a stop is missing' }],
  });
  const [first, second] = await rows();
  expect(first).toMatchObject({ name: 'live', contact: 'answers', dir: live.dir });
  expect(first?.said).toMatchObject({
    ...{ mode: 'live', isRealMoney: true, openOrders: 6, strategies: 2, runningStrategies: 0 },
    ...{ inForce: 'Strategy cross was paused by dashboard: news.', threw: ['odd'], alarms: ['a stop is missing'] },
  });
  expect(second).toMatchObject({ name: 'paper', contact: 'answers', said: { inForce: '', threw: [], alarms: [] } });
});

test('a daemon that has stopped, hangs up or answers nonsense is never shown as fresh', async () => {
  const [live, paper] = machine.daemons;
  const [before] = await rows();
  await live.dashboard.close();
  const [silent] = await rows();
  expect(silent).toMatchObject({ contact: 'silent', lastContact: before?.lastContact, said: before?.said });
  expect(silent?.problem).toMatch(/^It does not answer: .*ECONNREFUSED/);
  await live.stop();
  expect((await rows())[0]).toMatchObject({ contact: 'stopped', lastContact: before?.lastContact });
  paper.source.view = () => ({ ...view(), version: 2 as 1 });
  expect((await rows())[1]).toMatchObject({ contact: 'silent', problem: expect.stringContaining('of this version') });
});

test('a daemon that takes a connection and never answers is silent after two seconds', async () => {
  const clock = new SimClock(0);
  await machine.close();
  machine = await startOnMachine(undefined, clock);
  const hangs = createServer(() => void clock.advanceTo(clock.now() + answerMs));
  await once(hangs.listen(0, '127.0.0.1'), 'listening');
  const { port } = hangs.address() as AddressInfo;
  rewrite(machine.daemons[0].dir, { control: `http://127.0.0.1:${port}` });
  const [first] = await rows();
  expect(first).toMatchObject({ contact: 'silent', problem: 'It does not answer: no answer within 2 s.' });
  hangs.closeAllConnections();
  hangs.close();
});

test('a daemon that is starting is shown as such, with what it waits for', async () => {
  const { dir } = machine.daemons[0];
  removeDaemonInfo(dir);
  writeStarting(dir, { pid: 7, mode: 'live', startedAt: 0, text: 'the disk is full' });
  const text = `the daemon on ${dir} (process 7) has been starting since 1970-01-01 00:00:00 UTC and takes no commands yet: the disk is full`;
  expect((await rows())[0]).toMatchObject({ contact: 'starting', problem: text });
  const killed = await ask(machine.server, '/daemons/live/api/kill', { ...own, ...json }, killBody);
  expect([killed.status, JSON.parse(killed.body)]).toMatchObject([
    502,
    { message: `${text}. To kill it, run sluice kill there: it is stored.` },
  ]);
});

test('a daemon whose event loop hangs is cut off from its page, which would look fresh', async () => {
  const clock = new SimClock(0);
  await machine.close();
  machine = await startOnMachine(undefined, clock);
  const hangs = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false });
  await once(hangs, 'listening');
  hangs.on('connection', (daemon) => {
    daemon.send('{"whole":true}');
    daemon.on('ping', () => void clock.advanceTo(clock.now() + 60_000));
  });
  const { port } = hangs.address() as AddressInfo;
  rewrite(machine.daemons[0].dir, { control: `http://127.0.0.1:${port}` });
  const path = `ws://127.0.0.1:${machine.server.port}/daemons/live/api/live`;
  const page = new WebSocket(path, ['sluice', machineToken]);
  const [[code]] = await Promise.all([once(page, 'close'), once(page, 'message')]);
  expect(code).toBe(1013);
  hangs.close();
});

const infoFile = (dir: string): string => join(dir, 'daemon.json');
function rewrite(dir: string, change: object): void {
  const info = JSON.parse(readFileSync(infoFile(dir), 'utf8')) as object;
  writeFileSync(infoFile(dir), JSON.stringify({ ...info, ...change }), { mode: 0o600 });
}

test('every call of a daemon goes through with its own token, and the answer comes back', async () => {
  const [live, paper] = machine.daemons;
  expect(JSON.parse((await ask(machine.server, '/daemons/paper/api/view', own)).body)).toMatchObject({ version: 1 });
  const why = await ask(machine.server, '/daemons/paper/api/history/why?subject=1954', own);
  expect(why.headers['content-type']).toContain('application/json');
  expect(JSON.parse(why.body)).toEqual(paper.source.answers.why);
  expect(paper.source.questions).toEqual(['why {"subject":"1954"}']);
  const killed = await ask(machine.server, '/daemons/paper/api/kill', { ...own, ...json }, '{"reason":"from afar"}');
  expect(JSON.parse(killed.body)).toMatchObject({ ok: true });
  expect(paper.source.told).toEqual(['kill: from afar, by dashboard']);
  const wrong = await ask(machine.server, '/daemons/live/api/kill', { ...own, ...json }, '{}');
  expect(wrong.status).toBe(400);
  expect(live.source.told).toEqual([]);
});

test.each<[string, () => Record<string, string>]>([
  ['no token', () => ({})],
  ['the token of the daemon itself', () => ({ authorization: `Bearer ${machine.daemons[0].token}` })],
  ['a foreign Host', () => ({ ...own, host: 'evil.example' })],
  ['the Host of the daemon', () => ({ ...own, host: `127.0.0.1:${machine.daemons[0].dashboard.port}` })],
  ['a foreign Origin', () => ({ ...own, origin: 'https://evil.example' })],
  ['the Origin of the daemon', () => ({ ...own, origin: `http://127.0.0.1:${machine.daemons[0].dashboard.port}` })],
  ['the token as a cookie', () => ({ cookie: `token=${machineToken}` })],
])('with %s nothing is read, done or joined', async (_, headersOf) => {
  const headers = headersOf();
  for (const path of [
    '/api/daemons',
    '/daemons/live/api/view',
    '/daemons/live/api/history/log',
    '/daemons/none/api/view',
  ])
    expect((await ask(machine.server, path, headers)).status, path).toBe(403);
  expect((await ask(machine.server, '/daemons/live/api/kill', { ...json, ...headers }, killBody)).status).toBe(403);
  expect(await upgrade(machine.server, headers, '/daemons/live/api/live')).toBe(403);
  expect(machine.daemons[0].source.told).toEqual([]);
});

test('the token of the page, and that of another daemon, are worth nothing to a daemon', async () => {
  const [live, paper] = machine.daemons;
  for (const token of [machineToken, paper.token]) {
    const headers = { ...json, authorization: `Bearer ${token}` };
    expect((await ask(live.dashboard, '/api/view', headers)).status).toBe(403);
    expect((await ask(live.dashboard, '/api/kill', headers, killBody)).status).toBe(403);
  }
  // A file that names another daemon's address: our page gives it no token but the one beside the address.
  rewrite(live.dir, { control: `http://127.0.0.1:${paper.dashboard.port}` });
  const answer = await ask(machine.server, '/daemons/live/api/kill', { ...own, ...json }, killBody);
  expect(answer.status).toBe(502);
  expect(JSON.parse(answer.body)).toMatchObject({ ok: false, message: expect.stringContaining('refused the token') });
  expect((await rows())[0]).toMatchObject({ contact: 'silent' });
  expect([...live.source.told, ...paper.source.told]).toEqual([]);
});

test('no name and no path leads anywhere but to the calls of a daemon that is shown', async () => {
  const { folder, daemons, server } = machine;
  const names = ['..', '%2e%2e', '..%2flive', 'live%2f..%2fpaper', '.', 'Live', 'nobody', 'constructor', '__proto__'];
  const absolute = encodeURIComponent(join(folder, 'live'));
  for (const name of [...names, absolute, 'live%00'])
    expect((await ask(server, `/daemons/${name}/api/view`, own)).status, name).toBe(404);
  const paths = [
    '../view',
    '..%2f..%2fpage%2fmain.ts',
    'view%2f..%2fkill',
    '%2fapi%2fview',
    'http:%2f%2fevil',
    'view%0d%0aX:%20y',
    '',
  ];
  for (const path of paths) expect((await ask(server, `/daemons/live/api/${path}`, own)).status, path).toBe(404);
  expect(daemons[0].source.questions).toEqual([]);
});

test('neither a page nor an answer has the token of a daemon in it', async () => {
  const said = await Promise.all(
    ['/', '/daemons/live/', '/api/daemons', '/daemons/live/api/view', '/daemons/live/api/nothing'].map((path) =>
      ask(machine.server, path, own),
    ),
  );
  for (const { body, headers } of said) {
    const all = body + JSON.stringify(headers);
    for (const { token } of machine.daemons) expect(all).not.toContain(token);
    expect(all).not.toContain(machineToken);
  }
});

test('the stream of a daemon goes through, what the page says does not, and it ends with the daemon', async () => {
  const [live] = machine.daemons;
  const { port } = machine.server;
  const socket = new WebSocket(`ws://127.0.0.1:${port}/daemons/live/api/live`, ['sluice', machineToken]);
  const [first] = (await once(socket, 'message')) as [Buffer];
  expect(JSON.parse(String(first))).toMatchObject({ whole: true, view: { version: 1 } });
  socket.send('{"action":"kill","reason":"x"}');
  live.source.shown = view({ stateText: 'changed' });
  const [next] = (await once(socket, 'message')) as [Buffer];
  expect(JSON.parse(String(next))).toMatchObject({ view: { stateText: 'changed' } });
  const closed = once(socket, 'close');
  await live.stop();
  expect((await closed)[0]).toBe(1013);
  expect(live.source.told).toEqual([]);
});

test('a stream to a daemon that is not there is closed at once', async () => {
  await machine.daemons[0].stop();
  for (const name of ['live', 'nobody']) {
    const socket = new WebSocket(`ws://127.0.0.1:${machine.server.port}/daemons/${name}/api/live`, [
      'sluice',
      machineToken,
    ]);
    expect((await once(socket, 'close'))[0]).toBe(1013);
  }
});

test.runIf(process.platform !== 'win32')(
  'only a file that is this user’s alone tells how to reach a daemon',
  async () => {
    const { dir, source } = machine.daemons[0];
    expect(ownDaemon(dir)).toMatchObject({ token: machine.daemons[0].token });
    chmodSync(infoFile(dir), 0o640);
    expect(() => ownDaemon(dir)).toThrow(/must belong to this user, with mode 0600/);
    expect((await rows())[0]).toMatchObject({ contact: 'refused' });
    expect((await ask(machine.server, '/daemons/live/api/kill', { ...own, ...json }, killBody)).status).toBe(502);
    chmodSync(infoFile(dir), 0o600);
    for (const control of [
      'http://evil.example:80',
      'http://127.0.0.1:1@evil.example',
      'http://127.0.0.1:80/x',
      'file:///x',
    ]) {
      rewrite(dir, { control });
      expect(() => ownDaemon(dir), control).toThrow(/is not what a daemon wrote/);
    }
    rewrite(dir, { control: 'http://127.0.0.1:1', token: 'a\r\nX:%20y' });
    expect(() => ownDaemon(dir)).toThrow(/is not what a daemon wrote/);
    const elsewhere = join(machine.folder, 'planted.json');
    writeFileSync(elsewhere, readFileSync(infoFile(dir)), { mode: 0o600 });
    unlinkSync(infoFile(dir));
    symlinkSync(elsewhere, infoFile(dir));
    expect(() => ownDaemon(dir)).toThrow(/cannot be read \(ELOOP\)/);
    expect(source.told).toEqual([]);
    unlinkSync(infoFile(dir));
    mkdirSync(infoFile(dir));
    expect(() => ownDaemon(dir)).toThrow(/the daemon there is not asked/);
    rmdirSync(infoFile(dir));
  },
);
