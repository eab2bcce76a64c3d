/** No file left to open, as when other programs take them all: the daemon goes on, and its kill file works. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { farBid, quotes, restingOrders } from '../kit/rig.ts';
import { exchange, rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { until } from '../kit/until.ts';

rigForEachTest();

const resting = (count: number) => restingOrders(exchange, count);
/** From now on the process can open so many files at most. */
const limitFiles = (pid: number, most: number): void =>
  void execFileSync('prlimit', ['--pid', String(pid), `--nofile=${most}:`]);

test.runIf(process.platform === 'linux')(
  'a daemon that can open no file goes on, reports it, obeys the file kill, and trades again when it can',
  async () => {
    rig.emit('maker', quotes(farBid(0), farBid(1)));
    rig.emit('other', quotes(farBid(0)));
    const daemon = await rig.start();
    await resting(3);
    limitFiles(daemon.pid, 0);
    await daemon.line(/this process has too many files open \(EMFILE\)/);
    writeFileSync(join(rig.state, 'kill-maker'), '');
    await resting(1);
    writeFileSync(join(rig.state, 'kill'), 'smoke');
    await resting(0);
    await until('the files are gone', () => !['kill', 'kill-maker'].some((name) => existsSync(join(rig.state, name))));
    expect(rig.read((reader) => reader.kills())).toMatchObject([
      { strategy: 'maker', by: 'file' },
      { strategy: null, by: 'file' },
    ]);
    // Connections that break cannot be made anew.
    exchange.beginOutage('all');
    exchange.endOutage();
    const log = (): readonly string[] => readFileSync(join(rig.state, 'sluice.log'), 'utf8').split('\n');
    await until('a socket that finds no file', () =>
      log().some((line) => line.includes('too many files are open: raise ulimit -n (EMFILE)')),
    );
    limitFiles(daemon.pid, 1_024);
    await daemon.line(/files can be opened again/);
    await rig.run('resume');
    await resting(3);
    expect((await daemon.end('SIGINT')).code).toBe(130);
    expect(log().filter((line) => line.includes(' killed by file: '))).toHaveLength(2);
    expect(log().filter((line) => line.includes('has too many files open (EMFILE)'))).toHaveLength(1);
  },
);

test.runIf(process.platform === 'linux')('the signal SIGUSR2 kills a daemon that can open no file', async () => {
  rig.emit('maker', quotes(farBid(0)));
  const daemon = await rig.start();
  await resting(1);
  limitFiles(daemon.pid, 0);
  await daemon.line(/this process has too many files open \(EMFILE\)/);
  process.kill(daemon.pid, 'SIGUSR2');
  await daemon.line(/^All strategies are killed/);
  await resting(0);
  limitFiles(daemon.pid, 1_024);
  expect(rig.read((reader) => reader.kills())).toMatchObject([
    { strategy: null, reason: expect.stringMatching(/^by the signal SIGUSR2; its file cannot be created in .*EMFILE/) },
  ]);
  expect((await daemon.end('SIGINT')).code).toBe(130);
});
