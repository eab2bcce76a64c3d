import { describe, expect, test } from 'vitest';
import { type LimitSettings, Limits } from './limits.ts';

const small: LimitSettings = { ipWeightPerMinute: 100, uidWeightPerMinute: 150 };
const minute = 60_000;

function open(settings = small) {
  const bans: number[] = [];
  const limits = new Limits(settings, (_, until) => bans.push(until));
  const ask = (now: number, weight = 10, ip = 'a') => limits.admitAddress(ip, weight, now);
  return { limits, bans, ask };
}

describe('weight of an address', () => {
  test('the last 60 s count, whenever the minute began', () => {
    const { ask } = open();
    for (let index = 0; index < 10; index++) expect(ask(30_000)).toBe(200);
    expect(ask(30_000 + minute - 1)).toBe(429);
    expect(ask(30_000 + minute)).toBe(200);
  });

  test('addresses are counted apart', () => {
    const { ask } = open();
    expect(ask(0, 100, 'a')).toBe(200);
    expect(ask(0, 100, 'b')).toBe(200);
    expect(ask(0, 1, 'a')).toBe(429);
  });

  test('who goes on draws 429, then one 410, then a ban of two minutes with 418', () => {
    const { ask, bans } = open();
    ask(0, 100);
    const answers = Array.from({ length: 13 }, () => ask(1));
    expect(answers).toEqual([...Array(10).fill(429), 410, 418, 418]);
    expect(bans).toEqual([1 + 2 * minute]);
    expect(ask(2 * minute)).toBe(418);
    expect(ask(1 + 2 * minute)).toBe(200);
  });

  test('who waits a minute after a 429 starts with a clean slate', () => {
    const { ask } = open();
    for (let round = 0; round < 5; round++) {
      const now = round * 2 * minute;
      ask(now, 100);
      for (let index = 0; index < 10; index++) expect(ask(now + 1)).toBe(429);
    }
  });

  test('bans double up to three days, also for those who go on during one', () => {
    const { ask, bans } = open();
    ask(0, 100);
    for (let index = 0; index < 12; index++) ask(1);
    let now = 1;
    for (let index = 0; index < 200; index++) ask(++now);
    const lengths = bans.map((until) => Math.round((until - now) / minute));
    expect(lengths.slice(0, 4)).toEqual([2, 4, 8, 16]);
    expect(Math.max(...lengths)).toBe(3 * 1_440);
  });
});

describe('weight and frequency of a user', () => {
  const call = { ip: 'a', uid: '1', weight: 1, path: '/order', max: undefined, now: 0 };

  test('the user has a window of its own', () => {
    const { limits } = open();
    expect(limits.admitUser({ ...call, weight: 150 })).toBe(200);
    expect(limits.admitUser(call)).toBe(429);
    expect(limits.admitUser({ ...call, uid: '2' })).toBe(200);
    expect(limits.admitUser({ ...call, now: minute })).toBe(200);
  });

  test('an endpoint allows so many calls in 2 s', () => {
    const { limits } = open();
    for (let index = 0; index < 3; index++) expect(limits.admitUser({ ...call, max: 3 })).toBe(200);
    expect(limits.admitUser({ ...call, max: 3 })).toBe(429);
    expect(limits.admitUser({ ...call, max: 3, path: '/other' })).toBe(200);
    expect(limits.admitUser({ ...call, max: 3, now: 2_000 })).toBe(200);
  });
});

test('the window keeps counting right over hours of traffic', () => {
  const { ask, limits } = open();
  for (let now = 0; now < 180 * minute; now += 700) expect(ask(now, 1)).toBe(200);
  expect(limits.used('a', '1', 180 * minute).ip).toBe(86);
});
