import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../test/kit/until.ts';
import { SimClock } from '../clock/sim-clock.ts';
import { supervisor } from './supervisor.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-supervisor-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Stands in for the program of systemd: it writes down what it was told. */
function notifier(code = 0): Readonly<Record<string, string>> {
  const path = join(dir, 'systemd-notify');
  writeFileSync(path, `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> ${dir}/told\nexit ${code}\n`);
  chmodSync(path, 0o755);
  return { PATH: `${dir}:/usr/bin:/bin`, NOTIFY_SOCKET: '/run/systemd/notify' };
}
const told = (): readonly string[] =>
  existsSync(join(dir, 'told')) ? readFileSync(join(dir, 'told'), 'utf8').trim().split('\n') : [];

test.skipIf(process.platform === 'win32')(
  'systemd is told that a start goes on, of its end, of life three times within its time, and of the end',
  async () => {
    const clock = new SimClock(0);
    const failures: string[] = [];
    const { ready, stopping } = supervisor({ ...notifier(), WATCHDOG_USEC: '60000000' }, clock, (why) =>
      failures.push(why),
    );
    await until('a start that goes on', () => told().length === 1);
    await clock.advanceTo(100_000);
    await until('the same again', () => told().length === 2);
    ready();
    await until('two words', () => told().length === 4);
    await clock.advanceTo(120_000);
    await until('a sign of life', () => told().length === 5);
    await clock.advanceTo(139_999);
    stopping();
    await until('the end', () => told().some((line) => line.includes('STOPPING')));
    await clock.advanceTo(900_000);
    expect(told().toSorted()).toEqual([
      '/run/systemd/notify --ready --status=Trading',
      '/run/systemd/notify EXTEND_TIMEOUT_USEC=300000000',
      '/run/systemd/notify EXTEND_TIMEOUT_USEC=300000000',
      '/run/systemd/notify STOPPING=1',
      '/run/systemd/notify WATCHDOG=1',
      '/run/systemd/notify WATCHDOG=1',
    ]);
    expect(failures).toEqual([]);
  },
);

test.skipIf(process.platform === 'win32')('a notifier that is missing or fails is reported once', async () => {
  for (const environment of [notifier(1), { PATH: dir.concat('/none'), NOTIFY_SOCKET: '/run/x' }]) {
    const failures: string[] = [];
    const { ready, stopping } = supervisor(environment, new SimClock(0), (why) => failures.push(why));
    ready();
    stopping();
    await until('a failure', () => failures.length > 0);
    expect(failures).toEqual([expect.stringMatching(/ended with code 1|ENOENT/)]);
  }
});

test('without systemd nobody is told', () => {
  const { ready, stopping } = supervisor({ ...notifier(), NOTIFY_SOCKET: undefined }, new SimClock(0), () =>
    expect.unreachable(),
  );
  ready();
  stopping();
  expect(told()).toEqual([]);
});
