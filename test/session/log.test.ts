/** The log of a running daemon: trading goes on while it cannot be written, and no secret is in it. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startProgram } from '../kit/program.ts';
import { target, trader } from '../kit/rig.ts';
import { exchange, rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { until } from '../kit/until.ts';

rigForEachTest();

test.runIf(process.platform === 'linux')(
  'a log that takes no line stops no order, counts what is lost, and goes on when it can be written',
  async () => {
    rig.configure({ metrics: { port: 0 }, log: { format: 'pretty' } });
    const args = ['live', '--config', join(rig.dir, 'live.yaml'), '--state', rig.state];
    const daemon = startProgram(args, { ...rig, ownSession: true });
    await daemon.line(/Z ready: /);
    const address = /http:\S+/.exec(await daemon.line(/^metrics +http:/))?.[0] ?? '';
    const lost = async (): Promise<number> =>
      Number(/^sluice_log_lines_lost_total (\d+)$/m.exec(await (await fetch(address)).text())?.[1]);
    expect(await lost()).toBe(0);
    const log = join(rig.state, 'sluice.log');
    renameSync(log, `${log}.moved`);
    symlinkSync('/dev/full', log);
    process.kill(daemon.pid, 'SIGHUP');
    await daemon.line(/was read again: nothing in it has changed/);
    rig.emit('taker', target(0.1));
    await until('a fill', () => exchange.allTrades(trader.uid).length > 0);
    await daemon.line(/fill +taker BUY/);
    // What was read within a second is given again.
    await until('lines that are lost', async () => (await lost()) > 0);
    expect((await rig.run('kill', '--reason', 'a test')).code).toBe(0);
    rmSync(log);
    process.kill(daemon.pid, 'SIGHUP');
    await until(
      'that it says so',
      () =>
        readdirSync(rig.state).includes('sluice.log') &&
        /\d+ lines before the last one could not be written/.test(readFileSync(log, 'utf8')),
    );
    expect((await daemon.end('SIGTERM')).code).toBe(0);
  },
);

test('a log that cannot be opened again is written on, and no key is in any file of it', async () => {
  const args = ['live', '--config', join(rig.dir, 'live.yaml'), '--state', rig.state, '--log-level', 'trace'];
  const daemon = startProgram(args, { ...rig, ownSession: true });
  await daemon.line(/Z ready: /);
  const log = join(rig.state, 'sluice.log');
  renameSync(log, `${log}.moved`);
  mkdirSync(log);
  if (process.platform !== 'win32') process.kill(daemon.pid, 'SIGHUP');
  rig.emit('taker', target(0.1));
  await until('a fill', () => exchange.allTrades(trader.uid).length > 0);
  await until('the fill in the log', () => readFileSync(`${log}.moved`, 'utf8').includes('taker BUY'));
  const text = readFileSync(`${log}.moved`, 'utf8');
  expect(text).toContain('sluice.log cannot be opened again (EISDIR): the open file is written on');
  for (const secret of [trader.key, trader.secret]) expect(text).not.toContain(secret);
  expect((await daemon.end('SIGTERM')).code).toBe(0);
});
