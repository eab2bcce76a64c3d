import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { alerts as schema } from '../config/alerts.ts';
import { registerSecrets } from '../domain/redaction.ts';
import type { Outgoing, Send } from './channels.ts';
import { Outbox, outboxFile } from './outbox.ts';
import type { Alert } from './routes.ts';
import { Sender } from './sender.ts';

let dir: string;
let outbox: Outbox;
let now: number;
let sent: (Outgoing & { channel: string })[];
let failing: Record<string, string | undefined>;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-alerts-'));
  outbox = new Outbox(dir);
  now = Date.UTC(2026, 0, 5, 12);
  sent = [];
  failing = {};
});
afterEach(() => {
  outbox.close();
  rmSync(dir, { recursive: true });
});

const minute = 60_000;
const channels = { phone: { type: 'ntfy' }, team: { type: 'slack' } };
const alert = (text: string, given: Partial<Alert> = {}): Alert => ({
  ...{ kind: 'notice', level: 'error', time: now, text },
  ...given,
});
const sendOn =
  (channel: string): Send =>
  async (message) => {
    const failure = failing[channel];
    if (failure === undefined) sent.push({ channel, ...message });
    return failure;
  };

function sender(given: object = {}, senders: Readonly<Record<string, Send>> = {}): Sender {
  return new Sender({
    config: schema.parse({ channels, routes: [{ minLevel: 'info', to: ['phone'] }], ...given }),
    channels: new Map(Object.keys(channels).map((name) => [name, senders[name] ?? sendOn(name)])),
    ...{ outbox, now: () => now },
  });
}
const texts = (channel = 'phone'): readonly string[] =>
  sent.filter((one) => one.channel === channel).map(({ text }) => text);

test('an alert is sent once, with its level', async () => {
  const one = sender();
  one.add(alert('killed'));
  await one.send();
  await one.send();
  expect(sent).toEqual([{ channel: 'phone', level: 'error', time: now, text: 'ERROR killed' }]);
});

test('alerts that are due together are one message; what does not fit is counted', async () => {
  const one = sender();
  for (let index = 0; index < 100; index++) one.add(alert(`denied ${index} ${'x'.repeat(50)}`, { level: 'warn' }));
  await one.send();
  expect(texts()).toHaveLength(1);
  expect(texts()[0]).toMatch(/^100 alerts \(times in UTC\):\n• 12:00:00 WARN denied 0 /);
  expect(texts()[0]).toMatch(/and \d+ more: sluice\.log has them$/);
  expect(texts()[0]?.length).toBeLessThan(2_000);
});

test('an error is never among those that do not fit', async () => {
  const one = sender();
  for (let index = 0; index < 40; index++) one.add(alert(`fill ${index} ${'x'.repeat(60)}`, { level: 'info' }));
  one.add(alert('HALT'));
  for (let index = 0; index < 20; index++) one.add(alert(`killed ${index} ${'x'.repeat(200)}`));
  await one.send();
  await one.send();
  await one.send();
  expect(texts()[0]).toMatch(/^61 alerts \(times in UTC\):\n• 12:00:00 ERROR HALT\n/);
  for (let index = 0; index < 20; index++) expect(texts().join('\n')).toContain(`killed ${index} `);
});

test('a digest has the worst first, and those of one level by time', async () => {
  const one = sender({ routes: [{ minLevel: 'info', to: ['phone'], digestMs: minute }] });
  const levels = ['info', 'warn', 'error', 'info', 'warn', 'error'] as const;
  for (const [index, level] of levels.entries()) one.add(alert(`${index}`, { level, time: now + index * 1_000 }));
  now += minute;
  await one.send();
  expect(texts()[0]?.split('\n').slice(1)).toEqual([
    '• 12:00:02 ERROR 2',
    '• 12:00:05 ERROR 5',
    '• 12:00:01 WARN 1',
    '• 12:00:04 WARN 4',
    '• 12:00:00 0',
    '• 12:00:03 3',
  ]);
});

test('an alert that comes while a message is on its way is sent right after it', async () => {
  const one = sender(
    {},
    {
      phone: async (message) => {
        sent.push({ channel: 'phone', ...message });
        if (sent.length === 1) one.add(alert('killed'));
        return undefined;
      },
    },
  );
  one.add(alert('a fill', { level: 'info' }));
  await one.send();
  expect(texts()).toEqual(['a fill', 'ERROR killed']);
});

test('other channels and routes hold from then on, and a channel that stays sends nothing twice', async () => {
  let answer = (): void => undefined;
  const slow: Send = (message) =>
    new Promise((resolve) => {
      sent.push({ channel: 'phone', ...message });
      answer = () => resolve(undefined);
    });
  const one = sender({}, { phone: slow });
  one.add(alert('first'));
  const sending = one.send();
  one.configure({
    config: schema.parse({
      channels: { ...channels, web: { type: 'webhook' } },
      routes: [{ minLevel: 'info', to: ['web'] }],
    }),
    channels: new Map([
      ['phone', sendOn('phone')],
      ['web', sendOn('web')],
    ]),
  });
  one.add(alert('second'));
  await Promise.resolve();
  answer();
  await sending;
  await one.send();
  expect(texts('phone')).toEqual(['ERROR first']);
  expect(texts('web')).toEqual(['ERROR second']);
});

test('the end waits for the message on its way', async () => {
  let answer = (): void => undefined;
  const slow: Send = (message) =>
    new Promise((resolve) => {
      answer = () => {
        sent.push({ channel: 'phone', ...message });
        resolve(undefined);
      };
    });
  const one = new Sender({
    config: schema.parse({ channels, routes: [{ minLevel: 'info', to: ['phone'] }] }),
    ...{ channels: new Map([['phone', slow]]), outbox, now: () => now },
  });
  one.add(alert('stopping'));
  void one.send();
  const last = one.send();
  answer();
  await last;
  expect(texts()).toEqual(['ERROR stopping']);
  expect(outbox.waiting().size).toBe(0);
});

test('a secret is in no message', async () => {
  registerSecrets(['abc-123']);
  const one = sender();
  one.add(alert('the exchange answered: bad key abc-123'));
  await one.send();
  expect(texts()).toEqual(['ERROR the exchange answered: bad key •••']);
});

describe('a channel that fails', () => {
  test('is tried again later and ever more rarely, another one says so, and nothing is lost', async () => {
    const one = sender();
    failing = { phone: 'HTTP 500' };
    one.add(alert('killed'));
    const tries: number[] = [];
    for (let second = 0; second < 40; second++, now += 1_000) {
      const before = texts('team').length;
      await one.send();
      if (texts('team').length > before) tries.push(second);
    }
    expect(texts('team')).toEqual([
      'ERROR alerts by phone fail: HTTP 500. They wait, and are tried again (docs/how-to/alarms/channel-failed.md)',
    ]);
    // Three tries, after 5 and 10 more seconds.
    expect(tries).toEqual([16]);
    failing = {};
    now += 11 * minute;
    await one.send();
    await one.send();
    expect(texts()).toEqual(['ERROR killed']);
    expect(texts('team').at(-1)).toBe('alerts by phone work again');
  });

  test('goes on after a restart', async () => {
    failing = { phone: 'ETIMEDOUT' };
    const one = sender();
    one.add(alert('killed'));
    await one.send();
    outbox.close();
    outbox = new Outbox(dir);
    failing = {};
    await sender().send();
    expect(texts()).toEqual(['ERROR killed']);
  });

  test('that hangs keeps no other one', async () => {
    const never = new Promise<undefined>(() => undefined);
    const one = new Sender({
      config: schema.parse({ channels, routes: [{ minLevel: 'info', to: ['phone', 'team'] }] }),
      channels: new Map<string, Send>([
        ['phone', () => never],
        ['team', sendOn('team')],
      ]),
      ...{ outbox, now: () => now },
    });
    one.add(alert('first'));
    void one.send();
    one.add(alert('second'));
    void one.send();
    await Promise.resolve();
    await Promise.resolve();
    expect(texts('team').join('\n')).toContain('first');
  });
});

test('a flood is spaced: what is above the rate becomes few messages, and none is lost', async () => {
  const one = sender({ maxPerHour: 60 });
  for (let second = 0; second < 600; second++, now += 1_000) {
    one.add(alert(`fill ${second}`, { level: 'info' }));
    await one.send();
  }
  now += minute;
  await one.send();
  // Ten at once, then one a minute.
  expect(texts().length).toBeLessThanOrEqual(22);
  expect(outbox.waiting().size).toBe(0);
});

test('a clock that is set back takes away nothing that may be sent', async () => {
  const one = sender();
  one.add(alert('before', { level: 'info' }));
  await one.send();
  now -= 60 * minute;
  one.add(alert('after', { level: 'info' }));
  await one.send();
  expect(texts()).toEqual(['before', 'after']);
});

test('an error never waits behind others: it has its own share, and the outbox drops it last', async () => {
  const one = sender({ maxPerHour: 60 });
  for (let fills = 0; fills < 20; fills++) {
    one.add(alert(`fill ${fills}`, { level: 'info' }));
    await one.send();
  }
  expect(texts()).toHaveLength(10);
  one.add(alert('killed'));
  await one.send();
  expect(texts()).toHaveLength(11);
  expect(texts()[10]).toMatch(/^11 alerts \(times in UTC\):\n• 12:00:00 ERROR killed\n• 12:00:00 fill 10\n/);
  failing = { phone: 'HTTP 500' };
  one.add(alert('halted'));
  for (let fills = 0; fills < 1_100; fills++) one.add(alert(`late ${fills}`, { level: 'info' }));
  expect(outbox.waiting().get('phone')).toBe(1_000);
  expect(outbox.due('phone', now)[0]?.text).toBe('halted');
});

describe('an alarm', () => {
  const escalate = { repeatMs: 5 * minute, to: ['team'] };
  const routes = [{ minLevel: 'error', to: ['phone'], escalate }];

  test('is sent again, to others too, until somebody acknowledges it', async () => {
    const one = sender({ routes });
    one.add(alert('killed'));
    await one.send();
    expect(sent.map(({ channel, text }) => `${channel}: ${text}`)).toEqual([
      'phone: ERROR killed (alarm 1: sluice alerts ack 1)',
    ]);
    now += 5 * minute;
    await one.send();
    expect(texts('team')).toEqual(['ERROR not acknowledged yet: killed (alarm 1: sluice alerts ack 1)']);
    expect(texts()).toHaveLength(2);
    now += minute;
    await one.send();
    expect(texts()).toHaveLength(2);
    expect(outbox.acknowledge(1, 'operator', now)).toBe(1);
    now += 60 * minute;
    await one.send();
    expect(texts()).toHaveLength(2);
  });

  test('of a kill, a pause or a HALT ends with a resume of all, and another goes on', async () => {
    const one = sender({ routes });
    for (const kind of ['kill', 'halt', 'unknown']) one.add(alert(kind, { kind }));
    one.add(alert('trend may trade again', { kind: 'resume', level: 'warn', resumesAll: false }));
    expect(outbox.alarms()).toHaveLength(3);
    one.add(alert('all may trade again', { kind: 'resume', level: 'warn', resumesAll: true }));
    expect(outbox.alarms().map(({ text }) => text)).toEqual(['unknown']);
  });

  test('waits once on a channel that does not answer', async () => {
    failing = { team: 'ETIMEDOUT' };
    const one = sender({ routes });
    one.add(alert('killed'));
    for (let minutes = 0; minutes < 60; minutes++, now += minute) await one.send();
    expect(outbox.waiting().get('team')).toBe(1);
  });
});

describe('the end', () => {
  test('sends what digests, spacing and a failure made wait, but not what quiet hours hold', async () => {
    const one = sender({
      maxPerHour: 1,
      quietHours: { from: '11:00', to: '13:00', minLevel: 'warn' },
      routes: [
        { minLevel: 'error', to: ['phone'] },
        { minLevel: 'info', to: ['team'], digestMs: 60 * minute },
      ],
    });
    failing = { phone: 'HTTP 500' };
    one.add(alert('killed'));
    await one.send();
    failing = {};
    one.add(alert('denied', { level: 'warn' }));
    one.add(alert('a fill', { level: 'info' }));
    await one.send();
    expect(sent).toEqual([]);
    await one.send(true);
    expect(texts()).toEqual(['ERROR killed']);
    expect(texts('team')[0]).toMatch(/^2 alerts .*ERROR killed.*WARN denied$/s);
    expect(outbox.waiting()).toEqual(new Map([['team', 1]]));
  });

  test('does not let a channel that hangs keep another from its chance', () => {
    const one = sender(
      { routes: [{ minLevel: 'info', to: ['phone', 'team'], digestMs: minute }] },
      {
        phone: () => new Promise<undefined>(() => undefined),
      },
    );
    one.add(alert('stopping'));
    void one.send(true);
    expect(texts('team')).toEqual(['ERROR stopping']);
  });
});

describe('quiet hours', () => {
  test('hold the repetitions of an alarm that they hold', async () => {
    const quietHours = { from: '22:00', to: '07:00' };
    const routes = [{ minLevel: 'warn', to: ['phone'], escalate: { repeatMs: 5 * minute, to: ['team'] } }];
    const one = sender({ routes, quietHours });
    now = Date.UTC(2026, 0, 5, 23);
    one.add(alert('denied', { level: 'warn' }));
    for (let minutes = 0; minutes < 7 * 60; minutes += 5, now += 5 * minute) await one.send();
    expect(sent).toEqual([]);
    now = Date.UTC(2026, 0, 6, 7);
    await one.send();
    await one.send();
    expect(texts('team')).toHaveLength(1);
  });
});

describe('a disk that takes nothing any more', () => {
  test('loses no alert: what waits is kept in memory, and an alarm is acknowledged there', async () => {
    outbox.close();
    let code = '';
    outbox = new Outbox(dir, (given) => {
      code = given;
    });
    const routes = [{ minLevel: 'error', to: ['phone'], escalate: { repeatMs: minute, to: ['phone'] } }];
    const one = sender({ routes });
    failing = { phone: 'ETIMEDOUT' };
    one.add(alert('first'));
    await one.send();
    // From now on each write fails, as on a full disk.
    const holder = new Database(join(dir, outboxFile));
    holder.exec('ALTER TABLE messages RENAME TO gone');
    one.add(alert('the disk is full'));
    expect(code).toMatch(/^SQLITE_/);
    failing = {};
    now += minute;
    await one.send();
    await one.send();
    expect(texts().join('\n')).toContain('the disk is full');
    expect(outbox.acknowledge(undefined, 'telegram', now)).toBeGreaterThan(0);
    holder.close();
  });

  test('is reported when the file cannot be opened, and alerts go', async () => {
    outbox.close();
    writeFileSync(join(dir, outboxFile), 'not a database, by far: something else wrote over it');
    expect(() => new Outbox(dir)).toThrow();
    let code = '';
    outbox = new Outbox(dir, (given) => {
      code = given;
    });
    expect(code).toBe('SQLITE_NOTADB');
    const one = sender();
    one.add(alert('killed'));
    await one.send();
    expect(texts()).toEqual(['ERROR killed']);
  });
});

test('what waits for a channel that is not configured any more is dropped', async () => {
  outbox.add(alert('old'), [{ channel: 'gone', at: 0 }]);
  sender();
  expect(outbox.waiting().size).toBe(0);
});

test('what keeps a daemon from starting is sent once an hour, however often and with whatever numbers it is tried', async () => {
  const failed = (process: number): Promise<void> => {
    const one = sender();
    one.add(alert(`did not start: process ${process} holds it`, { isOfStart: true }));
    return one.send();
  };
  for (let time = 0; time < 60; time++) {
    await failed(1_000 + time);
    now += minute;
  }
  expect(texts()).toEqual(['ERROR did not start: process 1000 holds it']);
  await failed(2_000);
  expect(texts()).toHaveLength(2);
});

test('a clock that is set back delays neither a retry nor an alarm', async () => {
  const escalate = { repeatMs: 5 * minute, to: ['phone'] };
  const one = sender({ routes: [{ minLevel: 'error', to: ['phone'], escalate }] });
  failing['phone'] = 'HTTP 500';
  one.add(alert('killed'));
  await one.send();
  now -= 60 * minute;
  failing = {};
  await one.send();
  expect(texts()[0]).toMatch(/killed/);
  now += 5 * minute;
  await one.send();
  expect(texts().join('\n')).toMatch(/not acknowledged yet: killed/);
});
