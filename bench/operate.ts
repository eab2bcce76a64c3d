/**
 * A daemon as it is operated: ten shipped strategies on twenty symbols, alerts, metrics and the dashboard, started by `bin/sluice.js`, at the
 * built-in exchange in a process of its own. At full speed, at real time, and with ten pages open. Linux only: memory and processor time come from
 * /proc.
 *
 *     node bench/operate.ts [--hours 12] [--speed 60] [--minutes 30] [--pages 60] [--json]
 *
 * `--hours`: of the market, at `--speed`. `--minutes`, `--pages`: at real time, without pages and with ten. 0 leaves a part out.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { realMs, systemClock } from '../src/clock/clock.ts';
import { type Simulator, startSimulator } from '../src/simulator/simulator.ts';
import { type Measured, print } from './goals.ts';
import { exchangeAt, strategies } from './operate/market.ts';
import { growth, processor, resident, type Sample } from './operate/process.ts';

type Address = Pick<Simulator, 'restUrl' | 'wsUrl'>;
const user = { uid: '1', key: 'bench-key', secret: 'bench-secret', balances: { USDT: '10000000' } };
const pages = 10;
/** Real ms between two samples of memory. */
const sampleMs = 5_000;
const minuteMs = 60_000;

interface Part {
  readonly name: string;
  readonly speed: number;
  readonly minutes: number;
  readonly pages: number;
}

/** What is sent to us as alerts, and when the first byte came. */
async function webhook() {
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => response.end());
  });
  server.on('connection', (socket) => socket.on('data', () => server.emit('bytes')));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts`,
    next: () => once(server, 'bytes'),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Info {
  readonly pid: number;
  readonly control: string;
  readonly token: string;
}

/** Starts a daemon and waits until it trades. */
async function startDaemon(dir: string, { restUrl, wsUrl }: Address, speed: number, alerts: string) {
  const file = join(dir, 'live.yaml');
  const state = join(dir, 'state');
  writeFileSync(
    file,
    JSON.stringify({
      exchange: { restUrl, wsUrl, speed },
      strategies,
      risk: { maxOrderValue: '200000', maxPosition: '500000', maxDailyLoss: '1' },
      metrics: { port: 0 },
      alerts: { channels: { hook: { type: 'webhook' } }, routes: [{ minLevel: 'error', to: ['hook'] }] },
    }),
  );
  const since = realMs();
  const program = spawn(
    process.execPath,
    [join(import.meta.dirname, '..', 'bin', 'sluice.js'), 'live', '--config', file, '--state', state, '--json'],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        ...{ SLUICE_API_KEY: user.key, SLUICE_API_SECRET: user.secret, SLUICE_ALERT_HOOK: alerts },
        ...{ XDG_STATE_HOME: dir, HOME: dir },
      },
    },
  );
  const ended = once(program, 'exit');
  let metrics = '';
  const errors: string[] = [];
  createInterface({ input: program.stderr }).on('line', (line) => {
    errors.push(line);
    metrics = /^metrics\s+(http\S+)/.exec(line)?.[1] ?? metrics;
  });
  const readyMs = await new Promise<number>((resolve, reject) => {
    createInterface({ input: program.stdout }).on('line', (line) => {
      const { kind, state: now } = JSON.parse(line) as { readonly kind?: string; readonly state?: string };
      if (kind === 'state' && now === 'ready') resolve(realMs() - since);
    });
    void ended.then(() => reject(new Error(`the daemon ended:\n${errors.join('\n')}`)));
  });
  const info = JSON.parse(readFileSync(join(state, 'daemon.json'), 'utf8')) as Info;
  return { ...info, program, ended, metrics, readyMs };
}
type Daemon = Awaited<ReturnType<typeof startDaemon>>;

/** From SIGTERM to the end, ms. */
async function stop({ program, ended }: Daemon): Promise<number> {
  const since = realMs();
  program.kill('SIGTERM');
  await ended;
  return realMs() - since;
}

/** The value of a line of the metrics; reading them also begins the event loop's quantiles anew. */
async function metric({ metrics }: Daemon, line: RegExp): Promise<number> {
  const text = await (await fetch(metrics)).text();
  return Number(line.exec(text)?.[1]);
}
const lagP99 = /^sluice_event_loop_delay_seconds\{quantile="0.99"\} (\S+)$/m;
const fillsOf = async ({ metrics }: Daemon): Promise<number> =>
  [...(await (await fetch(metrics)).text()).matchAll(/^sluice_fills_total\{.*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );

/** Opens a page as a browser does: it receives the view and all that changes, and reads it. */
async function openPage({ control, token }: Daemon, received: (bytes: number) => void): Promise<WebSocket> {
  const socket = new WebSocket(`${control.replace('http', 'ws')}/api/live`, ['sluice', token]);
  socket.on('message', (data: Buffer) => received(data.length));
  await once(socket, 'open');
  return socket;
}

/** From the request to kill to the first byte at the server that takes alerts, ms. */
async function alertMs({ control, token }: Daemon, alerts: Awaited<ReturnType<typeof webhook>>): Promise<number> {
  const arrived = alerts.next();
  const since = realMs();
  await fetch(`${control}/api/kill`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ reason: 'bench', by: 'operator' }),
  });
  await arrived;
  return realMs() - since;
}

async function measure(part: Part): Promise<readonly Measured[]> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-operate-'));
  mkdirSync(join(dir, 'state'));
  const exchange: ChildProcess = fork(import.meta.filename, ['exchange', '--speed', String(part.speed)]);
  const alerts = await webhook();
  try {
    const [address] = (await once(exchange, 'message')) as [Address];
    // The first start of a journal waits until the balances have stood still.
    await stop(await startDaemon(dir, address, part.speed, alerts.url));
    const daemon = await startDaemon(dir, address, part.speed, alerts.url);
    const sockets: WebSocket[] = [];
    let bytes = 0;
    for (let page = 0; page < part.pages; page++)
      sockets.push(
        await openPage(daemon, (count) => {
          bytes += count;
        }),
      );
    const rows = await watch(part, daemon, () => bytes);
    const alert = await alertMs(daemon, alerts);
    for (const socket of sockets) socket.close();
    const stopMs = await stop(daemon);
    const ms = (value: number): string => `${value.toFixed(0)} ms`;
    return [
      { name: `${part.name}: start to Ready`, result: ms(daemon.readyMs), goal: "2 s and the exchange's answers" },
      ...rows,
      { name: `${part.name}: kill to the first byte of its alert`, result: ms(alert), goal: '1 s' },
      { name: `${part.name}: SIGTERM to exit`, result: ms(stopMs), goal: '5 s' },
    ];
  } finally {
    alerts.close();
    exchange.kill();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Memory, lag and processor time of a running daemon. The first third of the time is warm-up. */
async function watch(part: Part, daemon: Daemon, pushed: () => number): Promise<readonly Measured[]> {
  const { name, minutes } = part;
  const begun = realMs();
  const samples: Sample[] = [];
  const warm = (minutes * minuteMs) / 3;
  let since: { readonly at: number; readonly cpuMs: number } | undefined;
  while (realMs() - begun < minutes * minuteMs) {
    await systemClock.sleep(sampleMs);
    if (since === undefined && realMs() - begun >= warm) {
      await metric(daemon, lagP99);
      since = { at: realMs(), cpuMs: processor(daemon.pid) };
    }
    samples.push({ at: realMs() - begun, mb: resident(daemon.pid) });
    if (process.stderr.isTTY) process.stderr.write(`\r${name}: ${samples.at(-1)?.mb.toFixed(0)} MB `);
  }
  const settled = samples.filter(({ at }) => at >= warm);
  const used = since === undefined ? Number.NaN : (processor(daemon.pid) - since.cpuMs) / (realMs() - since.at);
  const lag = (await metric(daemon, lagP99)) * 1_000;
  const of = `${name}, ${minutes} min, ${await fillsOf(daemon)} fills`;
  const isReal = part.speed === 1;
  return [
    {
      name: `${of}: resident`,
      result: `at most ${Math.max(...samples.map(({ mb }) => mb)).toFixed(0)} MB, at the end ${samples.at(-1)?.mb.toFixed(0)} MB`,
      goal: '200 MB',
    },
    { name: `${name}: growth`, result: growth(settled), goal: 'none' },
    { name: `${name}: event loop lag, p99`, result: `${lag.toFixed(1)} ms`, goal: '20 ms' },
    { name: `${name}: of one core`, result: `${(100 * used).toFixed(0)} %`, goal: isReal ? '25 %' : '' },
    ...(part.pages > 0 ? [{ name: `${name}: received`, result: `${(pushed() / 1e6).toFixed(0)} MB`, goal: '' }] : []),
  ];
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    hours: { type: 'string', default: '12' },
    speed: { type: 'string', default: '60' },
    minutes: { type: 'string', default: '30' },
    pages: { type: 'string', default: '60' },
    json: { type: 'boolean' },
  },
});
const speed = Number(values.speed);
if (positionals[0] === 'exchange') {
  const now = Math.floor(systemClock.now() / minuteMs) * minuteMs;
  const { restUrl, wsUrl } = await startSimulator({ ...exchangeAt(speed, now), users: [user] });
  process.send?.({ restUrl, wsUrl });
  process.once('disconnect', () => process.exit());
} else {
  const parts: readonly Part[] = [
    { name: `${values.hours} h at ${speed}×`, speed, minutes: (Number(values.hours) * 60) / speed, pages: 0 },
    { name: 'real time', speed: 1, minutes: Number(values.minutes), pages: 0 },
    { name: `real time, ${pages} pages`, speed: 1, minutes: Number(values.pages), pages },
  ];
  const rows: Measured[] = [];
  for (const part of parts) if (part.minutes > 0) rows.push(...(await measure(part)));
  print(rows, values.json);
}
