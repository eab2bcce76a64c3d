import { existsSync, linkSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Alert } from '../alerts/routes.ts';
import type { ThreadData } from '../alerts/thread.ts';
import { loopTurn } from '../clock/clock.ts';
import { SimClock } from '../clock/sim-clock.ts';
import { alerts as schema } from '../config/alerts.ts';
import { NoSpace, Refusal } from '../domain/refusal.ts';
import { takeLock } from '../journal/lock.ts';
import { refusedAsHeld } from '../journal/open.ts';
import { StoppedEarly } from '../process/signals.ts';
import { DaemonAlerts, keptAlerts } from './daemon-alerts.ts';
import { StartReports } from './start-reports.ts';
import { stateAt } from './state.ts';

const minute = 60_000;
const config = schema.parse({
  channels: { phone: { type: 'ntfy' } },
  routes: [{ minLevel: 'error', to: ['phone'] }],
});

let dir: string;
let clock: SimClock;
let sent: Alert[];
let said: string[];
/** Of the alerts' thread. */
let given: ThreadData | undefined;
let alerts: DaemonAlerts;
let reports: StartReports;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-starting-'));
  clock = new SimClock(0);
  sent = [];
  said = [];
  given = undefined;
  reports = reportsIn(dir);
});
afterEach(() => rmSync(dir, { recursive: true }));

/** Of a start on a state directory. */
function reportsIn(stateDir: string): StartReports {
  const common = { mode: 'live', stateDir, say: (line: string) => void said.push(line) };
  alerts = new DaemonAlerts({
    ...common,
    configured: { config, secrets: { channels: new Map(), ping: undefined } },
    send(data) {
      given = data;
      return {
        ...{ alarms: [], cameUp() {}, well() {}, configure() {} },
        acknowledge: () => Promise.resolve(0),
        add: (alert) => void sent.push(alert),
        end: () => Promise.resolve(),
      };
    },
  });
  return new StartReports({ ...common, clock, alerts });
}

/** Second by second, with all that follows from each. */
async function pass(ms: number): Promise<void> {
  for (const end = clock.now() + ms; clock.now() < end; ) {
    await loopTurn();
    await clock.advanceTo(clock.now() + 1_000);
  }
  await loopTurn();
}

const texts = (): readonly string[] => sent.map(({ text }) => text);

test('an exchange that answers within seconds is no alarm; one that does not is one each hour, whatever its cause', async () => {
  alerts.begin();
  reports.waits('the exchange does not answer (ECONNREFUSED)');
  reports.reached();
  for (let second = 0; second < 2 * 3_600; second += 2) {
    reports.waits(`the exchange does not answer (${second % 4 === 0 ? 'ECONNREFUSED' : `no answer in ${second} ms`})`);
    clock.skipTo(clock.now() + 2_000);
  }
  expect(texts().map((text) => text.slice(0, 46))).toEqual(
    Array(2).fill('starting: the exchange does not answer (ECONNREF'.slice(0, 46)),
  );
});

test('klines that do not arrive while strategies trade are no failure of the start', () => {
  alerts.begin();
  reports.waits('the exchange does not answer (its time)');
  reports.cameUp();
  for (let time = 0; time < 2 * minute; time += 2_000) {
    reports.waits('the exchange does not answer (klines)');
    clock.skipTo(time);
  }
  expect(sent).toEqual([]);
  // The console has a line a minute, with its time.
  expect(said).toEqual([
    expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z the exchange does not answer \(its time\)$/),
    expect.stringMatching(/Z the exchange does not answer \(klines\)$/),
  ]);
});

test('a start that ends on a full disk after it had finished is a start again', async () => {
  alerts.begin();
  const stop = new AbortController();
  const started = reports.whenThereIsSpace(() => {
    reports.cameUp();
    return Promise.reject(new NoSpace('no free space', 3));
  }, stop.signal);
  await loopTurn();
  stop.abort();
  await expect(started).rejects.toThrow(StoppedEarly);
  reports.waits('the exchange does not answer');
  clock.skipTo(clock.now() + minute);
  reports.waits('the exchange does not answer');
  expect(texts()).toEqual([
    expect.stringMatching(/^starting: the disk is full/),
    expect.stringMatching(/^starting: the exchange does not answer/),
  ]);
});

test('a ban is reported while the start waits for its end, and not after the start', async () => {
  let until: number | undefined = 10 * minute;
  alerts.begin();
  reports.watchBans({ clock, stoppedUntil: () => until });
  await pass(minute);
  until = undefined;
  await pass(minute);
  expect(texts()).toEqual([
    expect.stringMatching(/^starting: the exchange forbids requests until 1970-01-01 00:10:00 UTC, /),
    'starting: the exchange takes requests again',
  ]);
  reports.cameUp();
  until = 20 * minute;
  await pass(2 * minute);
  expect(sent).toHaveLength(2);
});

test('a full disk is tried again until there is space, and the directory stays held', async () => {
  alerts.begin();
  let left = 3;
  const started = reports.whenThereIsSpace(() => {
    if (left-- > 0) return Promise.reject(new NoSpace('no free space', 3));
    return Promise.resolve('trading');
  }, new AbortController().signal);
  await loopTurn();
  expect(takeLock(dir)).toBeUndefined();
  expect(stateAt(dir).starting?.text).toBe('the disk is full: no free space');
  await pass(minute);
  expect(await started).toBe('trading');
  expect(texts()).toEqual([expect.stringMatching(/^starting: the disk is full: no free space\. It goes on by itself/)]);
  expect(stateAt(dir).starting).toBeUndefined();
  const stop = new AbortController();
  const stopped = reports.whenThereIsSpace(() => Promise.reject(new Error('ENOSPC: no space left')), stop.signal);
  stop.abort();
  await expect(stopped).rejects.toThrow(StoppedEarly);
});

test('a failure is one line; a stop, and a directory that another daemon holds, are none', async () => {
  await reports.failed(new StoppedEarly('stopped'));
  await reports.failed(refusedAsHeld(dir));
  expect(sent).toEqual([]);
  await reports.failed(new Refusal('the key is wrong\n  it means: no\n  what to do: look'));
  expect(texts()[0]).toMatch(/^did not start: the key is wrong; it means: no; what to do: look\. What to do: /);
  await reports.failed(new Refusal('second.yaml has a problem:\n  line 9: unknown'));
  expect(texts().at(-1)).toMatch(/^did not start: second\.yaml has a problem: line 9: unknown\. /);
});

test('an error after the start is no failed start, and a start that failed does not finish', async () => {
  alerts.begin();
  reports.cameUp();
  await reports.failed(new Error('the recording cannot be written'));
  expect(sent).toEqual([]);
  expect(() => reports.cameUp()).toThrow(StoppedEarly);
});

test('a refused configuration makes no state directory', async () => {
  const made = join(dir, 'var', 'live');
  await reportsIn(made).failed(new Refusal('a strategy is missing'));
  expect([existsSync(made), given?.stateDir]).toEqual([false, undefined]);
  expect(texts()).toEqual([expect.stringMatching(/^did not start: a strategy is missing/)]);
});

test('the alerts of a start that finished are kept for one whose configuration cannot be read, without their secrets', () => {
  const environment = { SLUICE_ALERT_PHONE: 'https://ntfy.example/canary' };
  expect(keptAlerts(dir, environment)).toBeUndefined();
  reports.cameUp();
  expect(keptAlerts(dir, environment)).toMatchObject({
    config,
    secrets: { channels: new Map([['phone', 'https://ntfy.example/canary']]) },
  });
  expect(readFileSync(join(dir, 'alerts.json'), 'utf8')).not.toContain('canary');
  // Its secret is not set any more.
  expect(keptAlerts(dir, {})).toBeUndefined();
  new DaemonAlerts({ mode: 'live', stateDir: dir, configured: undefined }).cameUp();
  expect(existsSync(join(dir, 'alerts.json'))).toBe(false);
});

test('alerts of a reload are kept in place of those of the start, in a file that is replaced whole', () => {
  const next = schema.parse({ channels: { mail: { type: 'slack' } }, routes: [{ minLevel: 'warn', to: ['mail'] }] });
  const kept = (): unknown => keptAlerts(dir, { SLUICE_ALERT_MAIL: 'https://hooks.example/x' })?.config;
  reports.cameUp();
  linkSync(join(dir, 'alerts.json'), join(dir, 'before'));
  alerts.configure({ config: next, secrets: { channels: new Map(), ping: undefined } });
  expect(kept()).toEqual(next);
  expect(JSON.parse(readFileSync(join(dir, 'before'), 'utf8'))).toEqual(config);
});

test('beside a running daemon nothing is sent', async () => {
  const lock = takeLock(dir);
  await reports.failed(new Refusal('a strategy is missing'));
  lock?.release();
  expect([sent, alerts.sender]).toEqual([[], undefined]);
});
