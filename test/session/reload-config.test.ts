/** `sluice reload` and SIGHUP: limits, alerts and the log change in a running daemon, or everything stays as it was. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { type Program, startProgram } from '../kit/program.ts';
import { farBid, quotes, restingOrders, target, trader } from '../kit/rig.ts';
import { exchange, rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { pass, until } from '../kit/until.ts';

rigForEachTest();

const configRows = () =>
  rig
    .read((reader) => reader.limits())
    .filter(({ what }) => what === 'config')
    .map(({ by, reason }) => ({ by, reason }));
const reload = (...args: readonly string[]) => rig.run('reload', ...args);

test('a tighter limit holds at once and is journalled, a looser one once it is confirmed', async () => {
  const daemon = await rig.start();
  rig.emit('taker', target(0.1));
  await until('a fill', () => exchange.allTrades(trader.uid).length > 0);
  rig.configure({ risk: { maxOrderValue: '500' } });
  const tighter = await reload('--reason', 'a calm week');
  expect(tighter).toMatchObject({ code: 0 });
  expect(tighter.stdout).toContain('was reloaded by operator, in force now: risk.maxOrderValue 100000 → 500.');
  rig.emit('taker', target(0.3));
  await daemon.line(/denied .*taker .*the limit is 500/);
  rig.configure({ risk: { maxOrderValue: '6000' } });
  const before = exchange.allTrades(trader.uid).length;
  const looser = await reload();
  expect(looser.code).toBe(3);
  expect(looser.stderr).toContain(
    `a limit would be looser (risk.maxOrderValue 500 → 6000). To confirm: sluice reload --loosen --state ${rig.state} --reason "…"`,
  );
  expect((await reload('--loosen', '--reason', 'I want more')).stdout).toContain('risk.maxOrderValue 500 → 6000');
  await until('the order that was denied', () => exchange.allTrades(trader.uid).length > before);
  expect(configRows().slice(1)).toEqual([
    { by: 'operator', reason: 'risk.maxOrderValue 100000 → 500 (a calm week)' },
    { by: 'operator', reason: 'risk.maxOrderValue 500 → 6000 (I want more)' },
  ]);
  expect((await rig.run('limits')).stdout).toMatch(
    /live\.yaml was reloaded by operator as \w+: risk\.maxOrderValue 500 → 6000/,
  );
  expect((await daemon.end('SIGINT')).code).toBe(130);
  // The next start runs the same configuration, which is no new one.
  const next = await rig.start();
  expect((await next.end('SIGINT')).code).toBe(130);
  expect(configRows()).toHaveLength(3);
});

test.each([
  ['broken YAML', (text: string) => `${text}\n  oh: [`, /live\.yaml.*line \d+/s],
  ['an unknown key', (text: string) => text.replace('"risk":', '"risks": 1, "risk":'), /risks: is not a known key/],
  [
    'another exchange',
    (text: string) => text.replace(/"restUrl":"[^"]*"/, '"restUrl":"http://127.0.0.1:1"'),
    /only a restart can change exchange\.restUrl: restart the daemon, or take that back/,
  ],
  ['no file', () => undefined, /does not exist/],
])('%s changes nothing, with one message, and a tighter limit beside it does not either', async (_, broken, says) => {
  const daemon = await rig.start();
  const file = rig.configure({ risk: { maxOrderValue: '1' } });
  const text = broken(readFileSync(file, 'utf8'));
  if (text === undefined) renameSync(file, `${file}.gone`);
  else writeFileSync(file, text);
  const { code, stderr, stdout } = await reload();
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(says);
  expect(stderr).not.toMatch(/\n {4}at /);
  rig.emit('taker', target(0.1));
  await until('a fill', () => exchange.allTrades(trader.uid).length > 0);
  expect(configRows()).toHaveLength(1);
  await daemon.line(/the configuration was not reloaded, the running one goes on/);
  expect((await daemon.end('SIGINT')).code).toBe(130);
});

test('a reload without a daemon, and one that mixes a strategy with --loosen, are refused', async () => {
  await (await rig.start()).end('SIGINT');
  expect(await reload()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The next one there reads the newest code and configuration'),
  });
  expect(await reload('taker', '--loosen')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('without a strategy'),
  });
});

test('alerts and the log follow, their secrets are checked first, and who gives commands does not change', async () => {
  const bodies: string[] = [];
  const server = createServer((request, answer) => {
    request.on('data', (part) => bodies.push(String(part)));
    request.on('end', () => answer.end());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  Object.assign(rig.env, { SLUICE_ALERT_HOOK: `http://127.0.0.1:${(server.address() as AddressInfo).port}/path` });
  const hook = { type: 'webhook' };
  rig.configure({ alerts: { channels: { hook }, routes: [{ minLevel: 'error', to: ['hook'] }] } });
  const daemon = await rig.start();
  const alerts = { channels: { hook }, routes: [{ minLevel: 'info', kinds: ['fill'], to: ['hook'] }] };
  rig.configure({ alerts: { ...alerts, channels: { hook, team: { type: 'slack' } } } });
  expect((await reload()).stderr).toContain('SLUICE_ALERT_TEAM is not set');
  rig.configure({
    alerts: { ...alerts, channels: { hook, bot: { type: 'telegram', chat: '1', commandsFrom: ['1'] } } },
  });
  writeFileSync(join(rig.cwd, '.env'), 'SLUICE_ALERT_BOT=12:token\n', { mode: 0o600 });
  expect((await reload()).stderr).toContain('only a restart can change alerts.channels.bot:');
  rig.configure({ alerts, log: { level: 'warn', maxMb: 3 }, risk: { maxOrderValue: '90000' } });
  expect((await reload('--reason', 'fills by night')).stdout).toContain(
    'in force now: risk.maxOrderValue 100000 → 90000, alerts.routes, log.level, log.maxMb.',
  );
  // For a next start whose configuration cannot be read.
  expect(JSON.parse(readFileSync(join(rig.state, 'alerts.json'), 'utf8'))).toMatchObject(alerts);
  rig.emit('taker', target(0.1));
  await until('the message of the fill', () => bodies.some((body) => /taker BUY [\d.]+ BTCUSDT/.test(body)));
  expect(readFileSync(join(rig.state, 'sluice.log'), 'utf8')).not.toContain('taker BUY');
  expect(configRows().slice(1)).toEqual([
    {
      by: 'operator',
      reason: 'risk.maxOrderValue 100000 → 90000, alerts.routes, log.level, log.maxMb (fills by night)',
    },
  ]);
  expect((await daemon.end('SIGINT')).code).toBe(130);
});

/** A daemon as a supervisor starts it, without a terminal: in a session of its own. */
async function supervised(): Promise<Program> {
  const daemon = startProgram(['live', '--config', join(rig.dir, 'live.yaml'), '--state', rig.state], {
    ...rig,
    ownSession: true,
  });
  await daemon.line(/Z ready: /);
  return daemon;
}

test.runIf(process.platform !== 'win32')(
  'SIGHUP reloads under a supervisor, twice in a row, too, never loosens, and opens the log again',
  async () => {
    const daemon = await supervised();
    const log = join(rig.state, 'sluice.log');
    renameSync(log, `${log}.moved`);
    rig.configure({ risk: { maxOrderValue: '500' } });
    process.kill(daemon.pid, 'SIGHUP');
    process.kill(daemon.pid, 'SIGHUP');
    await daemon.line(/was reloaded by signal, in force now: risk\.maxOrderValue 100000 → 500/);
    expect(existsSync(log)).toBe(true);
    rig.configure({ risk: { maxOrderValue: '600' } });
    process.kill(daemon.pid, 'SIGHUP');
    await daemon.line(/the configuration was not reloaded.*risk\.maxOrderValue 500 → 600.*sluice reload --loosen/);
    writeFileSync(join(rig.dir, 'live.yaml'), 'strategies: [');
    process.kill(daemon.pid, 'SIGHUP');
    await daemon.line(/the configuration was not reloaded.*live\.yaml/);
    rig.emit('taker', target(0.1));
    await daemon.line(/denied .*taker .*the limit is 500/);
    expect(configRows().slice(1)).toEqual([{ by: 'signal', reason: 'risk.maxOrderValue 100000 → 500 (SIGHUP)' }]);
    expect(readFileSync(log, 'utf8')).toContain('was reloaded by signal');
    expect((await daemon.end('SIGTERM')).code).toBe(0);
  },
);

test.runIf(process.platform === 'linux')(
  'a terminal that closes stops the daemon with its orders, as before',
  async () => {
    rig.emit('maker', quotes(farBid(1)));
    const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
    const command = [process.execPath, main, 'live', '--config', join(rig.dir, 'live.yaml'), '--state', rig.state].join(
      ' ',
    );
    const terminal = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: rig.cwd,
      env: rig.env,
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    const ended = once(terminal, 'exit');
    await restingOrders(exchange, 1);
    const pid = Number(execFileSync('pgrep', ['-P', String(terminal.pid)], { encoding: 'utf8' }).split('\n')[0]);
    expect(pid).toBeGreaterThan(0);
    terminal.kill('SIGKILL');
    await ended;
    await restingOrders(exchange, 0);
    await pass(10);
  },
);
