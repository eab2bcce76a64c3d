import { describe, expect, test } from 'vitest';
import { alerts as schema } from '../config/alerts.ts';
import { type Alert, quietUntil, routed } from './routes.ts';

const channels = { phone: { type: 'ntfy' }, team: { type: 'slack' }, mail: { type: 'webhook' } };
const config = (given: object) => schema.parse({ channels, ...given });
const alert = (given: Partial<Alert> = {}): Alert => ({ kind: 'notice', level: 'error', time: 0, text: 'x', ...given });
const noon = Date.UTC(2026, 0, 5, 12);
const hour = 3_600_000;

describe('a route', () => {
  const routes = [
    { minLevel: 'error', to: ['phone', 'mail'] },
    { minLevel: 'info', kinds: ['fill', 'denied'], to: ['team', 'mail'], digestMs: hour },
  ];
  test.each([
    ['an error', alert(), { phone: 0, mail: 0 }],
    ['a fill', alert({ kind: 'fill', level: 'info' }), { team: hour, mail: hour }],
    ['a denial that is an error', alert({ kind: 'denied' }), { phone: 0, mail: 0, team: hour }],
    ['a notice that is none', alert({ level: 'warn' }), {}],
  ])('takes %s to its channels, each once and as early as any route says', (_, one, after) => {
    const { due } = routed(config({ routes }), one, noon);
    expect(Object.fromEntries(due.map(({ channel, at }) => [channel, at - noon]))).toEqual(after);
  });

  test('collects until the next full period, not for a whole one', () => {
    const { due } = routed(config({ routes }), alert({ kind: 'fill', level: 'info' }), noon + hour / 4);
    expect(due.map(({ at }) => at - noon)).toEqual([hour, hour]);
  });

  test('repeats an alarm at most once a minute', () => {
    const read = (repeatMs: number) =>
      schema.safeParse({
        channels,
        routes: [{ minLevel: 'error', to: ['phone'], escalate: { repeatMs, to: ['mail'] } }],
      });
    expect([read(60_000).success, read(59_999).error?.issues[0]?.message]).toEqual([
      true,
      'must be 60000 (a minute) or more',
    ]);
  });

  test('names who gets it when nobody acknowledges', () => {
    const escalate = { repeatMs: 60_000, to: ['mail'] };
    expect(
      routed(config({ routes: [{ minLevel: 'error', to: ['phone'], escalate }] }), alert(), noon).escalation,
    ).toEqual(escalate);
  });
});

describe('quiet hours', () => {
  const night = { from: '22:00', to: '07:00', zone: 'UTC', minLevel: 'error' } as const;
  test.each([
    ['before', '2026-01-05T21:59:59Z', '2026-01-05T21:59:59Z'],
    ['at their begin', '2026-01-05T22:00:00Z', '2026-01-06T07:00:00Z'],
    ['after midnight', '2026-01-06T03:30:30Z', '2026-01-06T07:00:00Z'],
    ['at their end', '2026-01-06T07:00:00Z', '2026-01-06T07:00:00Z'],
  ])('end at seven: %s', (_, time, ends) => {
    expect(new Date(quietUntil(night, Date.parse(time))).toISOString()).toBe(ends.replace('Z', '.000Z'));
  });

  test('are those of the zone', () => {
    const berlin = { ...night, zone: 'Europe/Berlin' };
    expect(new Date(quietUntil(berlin, Date.parse('2026-07-05T20:30:00Z'))).toISOString()).toBe(
      '2026-07-06T05:00:00.000Z',
    );
  });

  test('hold what is below their exception, and nothing else', () => {
    const midnight = Date.UTC(2026, 0, 6);
    const given = config({ routes: [{ minLevel: 'info', to: ['phone'] }], quietHours: night });
    const at = (level: Alert['level']): number | undefined => routed(given, alert({ level }), midnight).due[0]?.at;
    expect([at('error'), at('warn')]).toEqual([midnight, midnight + 7 * hour]);
  });
});

test('a route to a channel that is none is refused by its name', () => {
  const found = schema.safeParse({ channels, routes: [{ minLevel: 'info', to: ['fone'] }] });
  expect(found.error?.issues[0]?.message).toBe('names fone, which is none of the channels: phone, team, mail');
});

test.each([
  [{ my_hook: { type: 'slack' } }, 'the name of a channel must be lower case letters, digits and dashes'],
  [{ hook: { type: 'sms' } }, 'type must be telegram, slack, discord, ntfy, webhook or email'],
  [{ hook: { type: 'webhook', template: '{bad {{nope}}' } }, 'must be JSON in which only {{text}}'],
])('a channel that cannot be is refused in words: %j', (wrong, message) => {
  const found = schema.safeParse({ channels: wrong, routes: [{ minLevel: 'info', to: [Object.keys(wrong)[0]] }] });
  expect(JSON.stringify(found.error?.issues)).toContain(message);
});

test('quiet hours that begin when they end are refused', () => {
  const quietHours = { from: '22:00', to: '22:00' };
  const found = schema.safeParse({ channels, routes: [{ minLevel: 'info', to: ['phone'] }], quietHours });
  expect(found.error?.issues[0]?.message).toBe('begin when they end: give another time');
});
