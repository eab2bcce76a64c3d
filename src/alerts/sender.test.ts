import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { channels, minute, SenderRig } from '../../test/kit/sender-rig.ts';
import { alerts as schema } from '../config/alerts.ts';
import { registerSecrets } from '../domain/redaction.ts';
import type { Send } from './channels.ts';
import { Outbox } from './outbox.ts';
import { Sender } from './sender.ts';

let rig: SenderRig;
beforeEach(() => {
  rig = new SenderRig();
});
afterEach(() => rig.close());

test('an alert is sent once, with its level', async () => {
  const one = rig.sender();
  one.add(rig.alert('killed'));
  await one.send();
  await one.send();
  expect(rig.sent).toEqual([{ channel: 'phone', level: 'error', time: rig.now, text: 'ERROR killed' }]);
});

test('alerts that are due together are one message; what does not fit is counted', async () => {
  const one = rig.sender();
  for (let index = 0; index < 100; index++) one.add(rig.alert(`denied ${index} ${'x'.repeat(50)}`, { level: 'warn' }));
  await one.send();
  expect(rig.texts()).toHaveLength(1);
  expect(rig.texts()[0]).toMatch(/^100 alerts \(times in UTC\):\n• 12:00:00 WARN denied 0 /);
  expect(rig.texts()[0]).toMatch(/and \d+ more: sluice\.log has them$/);
  expect(rig.texts()[0]?.length).toBeLessThan(2_000);
});

test('an error is never among those that do not fit', async () => {
  const one = rig.sender();
  for (let index = 0; index < 40; index++) one.add(rig.alert(`fill ${index} ${'x'.repeat(60)}`, { level: 'info' }));
  one.add(rig.alert('HALT'));
  for (let index = 0; index < 20; index++) one.add(rig.alert(`killed ${index} ${'x'.repeat(200)}`));
  await one.send();
  await one.send();
  await one.send();
  expect(rig.texts()[0]).toMatch(/^61 alerts \(times in UTC\):\n• 12:00:00 ERROR HALT\n/);
  for (let index = 0; index < 20; index++) expect(rig.texts().join('\n')).toContain(`killed ${index} `);
});

test('every message begins with the name of its daemon, that of the configuration first', async () => {
  const named = { config: schema.parse({ name: 'home', channels, routes: [{ minLevel: 'info', to: ['phone'] }] }) };
  const parts = { channels: new Map([['phone', rig.sendOn('phone')]]), outbox: rig.outbox, now: () => rig.now };
  const one = new Sender({ ...parts, config: { ...named.config, name: undefined }, daemon: 'live\u202e' });
  one.add(rig.alert('killed'));
  await one.send();
  one.configure({ ...parts, ...named });
  one.add(rig.alert('first', { level: 'info' }));
  one.add(rig.alert('second', { level: 'info' }));
  await one.send();
  expect(rig.texts()).toEqual([
    '[live\\u202e] ERROR killed',
    expect.stringMatching(/^\[home\] 2 alerts \(times in UTC\):\n/),
  ]);
});

test('a digest has the worst first, and those of one level by time', async () => {
  const one = rig.sender({ routes: [{ minLevel: 'info', to: ['phone'], digestMs: minute }] });
  const levels = ['info', 'warn', 'error', 'info', 'warn', 'error'] as const;
  for (const [index, level] of levels.entries())
    one.add(rig.alert(`${index}`, { level, time: rig.now + index * 1_000 }));
  rig.now += minute;
  await one.send();
  expect(rig.texts()[0]?.split('\n').slice(1)).toEqual([
    '• 12:00:02 ERROR 2',
    '• 12:00:05 ERROR 5',
    '• 12:00:01 WARN 1',
    '• 12:00:04 WARN 4',
    '• 12:00:00 0',
    '• 12:00:03 3',
  ]);
});

test('an alert that comes while a message is on its way is sent right after it', async () => {
  const one = rig.sender(
    {},
    {
      phone: async (message) => {
        rig.sent.push({ channel: 'phone', ...message });
        if (rig.sent.length === 1) one.add(rig.alert('killed'));
        return undefined;
      },
    },
  );
  one.add(rig.alert('a fill', { level: 'info' }));
  await one.send();
  expect(rig.texts()).toEqual(['a fill', 'ERROR killed']);
});

test('other channels and routes hold from then on, and a channel that stays sends nothing twice', async () => {
  let answer = (): void => undefined;
  const slow: Send = (message) =>
    new Promise((resolve) => {
      rig.sent.push({ channel: 'phone', ...message });
      answer = () => resolve(undefined);
    });
  const one = rig.sender({}, { phone: slow });
  one.add(rig.alert('first'));
  const sending = one.send();
  one.configure({
    config: schema.parse({
      channels: { ...channels, web: { type: 'webhook' } },
      routes: [{ minLevel: 'info', to: ['web'] }],
    }),
    channels: new Map([
      ['phone', rig.sendOn('phone')],
      ['web', rig.sendOn('web')],
    ]),
  });
  one.add(rig.alert('second'));
  await Promise.resolve();
  answer();
  await sending;
  await one.send();
  expect(rig.texts('phone')).toEqual(['ERROR first']);
  expect(rig.texts('web')).toEqual(['ERROR second']);
});

test('the end waits for the message on its way', async () => {
  let answer = (): void => undefined;
  const slow: Send = (message) =>
    new Promise((resolve) => {
      answer = () => {
        rig.sent.push({ channel: 'phone', ...message });
        resolve(undefined);
      };
    });
  const one = new Sender({
    config: schema.parse({ channels, routes: [{ minLevel: 'info', to: ['phone'] }] }),
    ...{ channels: new Map([['phone', slow]]), outbox: rig.outbox, now: () => rig.now },
  });
  one.add(rig.alert('stopping'));
  void one.send();
  const last = one.send();
  answer();
  await last;
  expect(rig.texts()).toEqual(['ERROR stopping']);
  expect(rig.outbox.waiting().size).toBe(0);
});

test('a secret is in no message', async () => {
  registerSecrets(['abc-123']);
  const one = rig.sender();
  one.add(rig.alert('the exchange answered: bad key abc-123'));
  await one.send();
  expect(rig.texts()).toEqual(['ERROR the exchange answered: bad key •••']);
});

describe('a channel that fails', () => {
  test('is tried again later and ever more rarely, another one says so, and nothing is lost', async () => {
    const one = rig.sender();
    rig.failing = { phone: 'HTTP 500' };
    one.add(rig.alert('killed'));
    const tries: number[] = [];
    for (let second = 0; second < 40; second++, rig.now += 1_000) {
      const before = rig.texts('team').length;
      await one.send();
      if (rig.texts('team').length > before) tries.push(second);
    }
    expect(rig.texts('team')).toEqual([
      'ERROR alerts by phone fail: HTTP 500. They wait, and are tried again (docs/how-to/alarms/channel-failed.md)',
    ]);
    // Three tries, after 5 and 10 more seconds.
    expect(tries).toEqual([16]);
    rig.failing = {};
    rig.now += 11 * minute;
    await one.send();
    await one.send();
    expect(rig.texts()).toEqual(['ERROR killed']);
    expect(rig.texts('team').at(-1)).toBe('alerts by phone work again');
  });

  test('goes on after a restart', async () => {
    rig.failing = { phone: 'ETIMEDOUT' };
    const one = rig.sender();
    one.add(rig.alert('killed'));
    await one.send();
    rig.outbox.close();
    rig.outbox = new Outbox(rig.dir);
    rig.failing = {};
    await rig.sender().send();
    expect(rig.texts()).toEqual(['ERROR killed']);
  });

  test('that hangs keeps no other one', async () => {
    const never = new Promise<undefined>(() => undefined);
    const one = new Sender({
      config: schema.parse({ channels, routes: [{ minLevel: 'info', to: ['phone', 'team'] }] }),
      channels: new Map<string, Send>([
        ['phone', () => never],
        ['team', rig.sendOn('team')],
      ]),
      ...{ outbox: rig.outbox, now: () => rig.now },
    });
    one.add(rig.alert('first'));
    void one.send();
    one.add(rig.alert('second'));
    void one.send();
    await Promise.resolve();
    await Promise.resolve();
    expect(rig.texts('team').join('\n')).toContain('first');
  });
});

test('a flood is spaced: what is above the rate becomes few messages, and none is lost', async () => {
  const one = rig.sender({ maxPerHour: 60 });
  for (let second = 0; second < 600; second++, rig.now += 1_000) {
    one.add(rig.alert(`fill ${second}`, { level: 'info' }));
    await one.send();
  }
  rig.now += minute;
  await one.send();
  // Ten at once, then one a minute.
  expect(rig.texts().length).toBeLessThanOrEqual(22);
  expect(rig.outbox.waiting().size).toBe(0);
});

test('a clock that is set back takes away nothing that may be sent', async () => {
  const one = rig.sender();
  one.add(rig.alert('before', { level: 'info' }));
  await one.send();
  rig.now -= 60 * minute;
  one.add(rig.alert('after', { level: 'info' }));
  await one.send();
  expect(rig.texts()).toEqual(['before', 'after']);
});

test('an error never waits behind others: it has its own share, and the outbox drops it last', async () => {
  const one = rig.sender({ maxPerHour: 60 });
  for (let fills = 0; fills < 20; fills++) {
    one.add(rig.alert(`fill ${fills}`, { level: 'info' }));
    await one.send();
  }
  expect(rig.texts()).toHaveLength(10);
  one.add(rig.alert('killed'));
  await one.send();
  expect(rig.texts()).toHaveLength(11);
  expect(rig.texts()[10]).toMatch(/^11 alerts \(times in UTC\):\n• 12:00:00 ERROR killed\n• 12:00:00 fill 10\n/);
  rig.failing = { phone: 'HTTP 500' };
  one.add(rig.alert('halted'));
  for (let fills = 0; fills < 1_100; fills++) one.add(rig.alert(`late ${fills}`, { level: 'info' }));
  expect(rig.outbox.waiting().get('phone')).toBe(1_000);
  expect(rig.outbox.due('phone', rig.now)[0]?.text).toBe('halted');
});

describe('an alarm', () => {
  const escalate = { repeatMs: 5 * minute, to: ['team'] };
  const routes = [{ minLevel: 'error', to: ['phone'], escalate }];

  test('is sent again, to others too, until somebody acknowledges it', async () => {
    const one = rig.sender({ routes });
    one.add(rig.alert('killed'));
    await one.send();
    expect(rig.sent.map(({ channel, text }) => `${channel}: ${text}`)).toEqual([
      'phone: ERROR killed (alarm 1: sluice alerts ack 1)',
    ]);
    rig.now += 5 * minute;
    await one.send();
    expect(rig.texts('team')).toEqual(['ERROR not acknowledged yet: killed (alarm 1: sluice alerts ack 1)']);
    expect(rig.texts()).toHaveLength(2);
    rig.now += minute;
    await one.send();
    expect(rig.texts()).toHaveLength(2);
    expect(rig.outbox.acknowledge(1, 'operator', rig.now)).toBe(1);
    rig.now += 60 * minute;
    await one.send();
    expect(rig.texts()).toHaveLength(2);
  });

  test('of a kill, a pause or a HALT ends with a resume of all, and another goes on', async () => {
    const one = rig.sender({ routes });
    for (const kind of ['kill', 'halt', 'unknown']) one.add(rig.alert(kind, { kind }));
    one.add(rig.alert('trend may trade again', { kind: 'resume', level: 'warn', resumesAll: false }));
    expect(rig.outbox.alarms()).toHaveLength(3);
    one.add(rig.alert('all may trade again', { kind: 'resume', level: 'warn', resumesAll: true }));
    expect(rig.outbox.alarms().map(({ text }) => text)).toEqual(['unknown']);
  });

  test('waits once on a channel that does not answer', async () => {
    rig.failing = { team: 'ETIMEDOUT' };
    const one = rig.sender({ routes });
    one.add(rig.alert('killed'));
    for (let minutes = 0; minutes < 60; minutes++, rig.now += minute) await one.send();
    expect(rig.outbox.waiting().get('team')).toBe(1);
  });
});

describe('the end', () => {
  test('sends what digests, spacing and a failure made wait, but not what quiet hours hold', async () => {
    const one = rig.sender({
      maxPerHour: 1,
      quietHours: { from: '11:00', to: '13:00', minLevel: 'warn' },
      routes: [
        { minLevel: 'error', to: ['phone'] },
        { minLevel: 'info', to: ['team'], digestMs: 60 * minute },
      ],
    });
    rig.failing = { phone: 'HTTP 500' };
    one.add(rig.alert('killed'));
    await one.send();
    rig.failing = {};
    one.add(rig.alert('denied', { level: 'warn' }));
    one.add(rig.alert('a fill', { level: 'info' }));
    await one.send();
    expect(rig.sent).toEqual([]);
    await one.send(true);
    expect(rig.texts()).toEqual(['ERROR killed']);
    expect(rig.texts('team')[0]).toMatch(/^2 alerts .*ERROR killed.*WARN denied$/s);
    expect(rig.outbox.waiting()).toEqual(new Map([['team', 1]]));
  });

  test('does not let a channel that hangs keep another from its chance', () => {
    const one = rig.sender(
      { routes: [{ minLevel: 'info', to: ['phone', 'team'], digestMs: minute }] },
      {
        phone: () => new Promise<undefined>(() => undefined),
      },
    );
    one.add(rig.alert('stopping'));
    void one.send(true);
    expect(rig.texts('team')).toEqual(['ERROR stopping']);
  });
});
