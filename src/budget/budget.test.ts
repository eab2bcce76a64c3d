import { describe, expect, it } from 'vitest';
import { fc, property } from '../../test/kit/properties.ts';
import { SimClock } from '../clock/sim-clock.ts';
import type { Lane } from '../venue/venue.ts';
import { noBans } from './bans.ts';
import { type BudgetOptions, budget } from './budget.ts';
import { type Shared, sharedWithNobody } from './shared.ts';

const start = Date.UTC(2026, 0, 1);
const minute = 60_000;
const hour = 60 * minute;

function desk(options: Partial<BudgetOptions> = {}) {
  const clock = new SimClock(start);
  const purse = budget({
    clock,
    shared: sharedWithNobody(),
    ipWeightPerMinute: 100,
    uidWeightPerMinute: 500,
    ...options,
  });
  const log: string[] = [];
  /** Asks, and writes down when and how it was answered. */
  const ask = (lane: Lane, weight: number, until?: number, endpoint?: { endpoint: string; max: number }): void => {
    const cost = endpoint === undefined ? { weight } : { weight, frequency: endpoint };
    void clock.track(purse.spend(lane, cost, until)).then((taken) => {
      log.push(`${taken ? 'go' : 'no'} ${lane} ${weight} @${clock.now() - start}`);
    });
  };
  return { clock, purse, log, ask, to: (ms: number) => clock.advanceTo(start + ms) };
}

describe('the two weight windows', () => {
  it('let requests pass at once while both have room', async () => {
    const { ask, to, log } = desk();
    ask('cancel', 60);
    ask('cancel', 40);
    await to(0);
    expect(log).toEqual(['go cancel 60 @0', 'go cancel 40 @0']);
  });

  it('make a request wait until a minute and the jitter have passed, whichever window is the tighter', async () => {
    for (const limits of [
      { ipWeightPerMinute: 100, uidWeightPerMinute: 500 },
      { ipWeightPerMinute: 500, uidWeightPerMinute: 100 },
    ]) {
      const { ask, to, log } = desk(limits);
      ask('kill', 100);
      await to(10);
      ask('kill', 1);
      await to(2 * minute);
      expect(log).toEqual(['go kill 100 @0', 'go kill 1 @60500']);
    }
  });

  it('are filled by each lane up to its share, so that something is left for every more urgent one', async () => {
    const { ask, to, log, purse } = desk();
    ask('market', 70);
    ask('market', 1);
    ask('create', 10);
    ask('create', 1);
    ask('reconcile', 10);
    ask('reconcile', 1);
    ask('cancel', 5);
    ask('kill', 5);
    await to(0);
    expect(log).toEqual(['go market 70 @0', 'go create 10 @0', 'go reconcile 10 @0', 'go cancel 5 @0', 'go kill 5 @0']);
    expect(purse.meter()).toMatchObject({ ip: { used: 100, max: 100 }, uid: { used: 100, max: 500 }, waiting: 3 });
  });

  it('take from all or from none: a call that its endpoint refuses leaves the windows alone', async () => {
    const { ask, to, log, purse } = desk();
    const twice = { endpoint: 'margin query', max: 2 };
    for (let index = 0; index < 3; index++) ask('reconcile', 10, undefined, twice);
    ask('create', 3);
    await to(2_000);
    expect(log).toEqual(['go reconcile 10 @0', 'go reconcile 10 @0', 'go create 3 @0']);
    expect(purse.meter().ip.used).toBe(23);
    await to(3_000);
    expect(log.at(-1)).toBe('go reconcile 10 @2500');
  });

  it('refuse at once what can never fit', async () => {
    const { ask, to, log } = desk();
    ask('create', 81);
    ask('cancel', 101);
    await to(0);
    expect(log).toEqual(['no create 81 @0', 'no cancel 101 @0']);
  });
});

describe('waiting', () => {
  it('is served by lane, and within a lane in order of arrival', async () => {
    const { ask, to, log } = desk();
    ask('kill', 100);
    await to(1);
    ask('market', 1);
    ask('create', 2);
    ask('reconcile', 3);
    ask('cancel', 4);
    ask('kill', 5);
    ask('create', 6);
    await to(2 * minute);
    expect(log.slice(1).map((line) => line.split(' @')[0])).toEqual([
      'go kill 5',
      'go cancel 4',
      'go reconcile 3',
      'go create 2',
      'go create 6',
      'go market 1',
    ]);
  });

  it('does not let small requests starve a large one that is more urgent', async () => {
    const { ask, to, log } = desk();
    ask('reconcile', 60);
    await to(minute / 2);
    ask('cancel', 50);
    for (let index = 0; index < 20; index++) ask('reconcile', 2);
    await to(minute);
    expect(log).toEqual(['go reconcile 60 @0']);
    await to(minute + 500);
    expect(log[1]).toBe('go cancel 50 @60500');
  });

  it('ends with a refusal when its time passes, and takes nothing', async () => {
    const { ask, to, log, purse } = desk();
    ask('kill', 100);
    ask('create', 5, start + 1_000);
    await to(2 * minute);
    expect(log).toEqual(['go kill 100 @0', 'no create 5 @1001']);
    expect(purse.meter()).toMatchObject({ ip: { used: 0 }, waiting: 0, refused: 1 });
  });

  it('is bounded in each lane, so that market data cannot shut out a cancel', async () => {
    const { ask, to, log } = desk({ maxQueue: 2 });
    ask('kill', 100);
    for (let index = 0; index < 3; index++) ask('market', 1);
    ask('cancel', 1);
    await to(0);
    expect(log).toEqual(['go kill 100 @0', 'no market 1 @0']);
    await to(2 * minute);
    expect(log.filter((line) => line.startsWith('go'))).toHaveLength(4);
  });

  it('ends for all when the budget is closed', async () => {
    const { ask, to, log, purse } = desk();
    ask('kill', 100);
    ask('cancel', 1);
    purse.close();
    await to(5 * minute);
    expect(log).toEqual(['go kill 100 @0', 'no cancel 1 @0']);
  });
});

describe('what the exchange says of its limits', () => {
  it('410 leaves only the kill lane for a minute', async () => {
    const { ask, to, log, purse } = desk();
    purse.notice({ status: 410, retryAfterMs: undefined });
    ask('cancel', 1);
    ask('kill', 1);
    await to(minute);
    expect(log).toEqual(['go kill 1 @0', 'go cancel 1 @60000']);
  });

  it('429 stops everything until the window has passed, or as long as it says', async () => {
    const { ask, to, log, purse } = desk();
    purse.notice({ status: 429, retryAfterMs: undefined });
    ask('kill', 1);
    await to(minute);
    purse.notice({ status: 429, retryAfterMs: 5_000 });
    ask('kill', 2);
    await to(2 * minute);
    expect(log).toEqual(['go kill 1 @60000', 'go kill 2 @65000']);
  });

  it('429 with room left in every known window halves the limits for ten minutes, except for cancels, and warns', async () => {
    const { ask, to, log, purse } = desk();
    const alarms: string[] = [];
    purse.onAlarm((text) => alarms.push(text));
    ask('create', 10);
    await to(0);
    purse.notice({ status: 429, retryAfterMs: 1_000 });
    expect(alarms).toEqual([expect.stringContaining('10 of 100 (address)')]);
    ask('create', 30);
    ask('create', 1);
    ask('cancel', 50);
    await to(2_000);
    expect(log.slice(1)).toEqual(['go cancel 50 @1000']);
    // Once the cancel counts no more there is room again, for half of the creates' share.
    await to(2 * minute);
    expect(log.slice(2)).toEqual(['go create 30 @61500', 'go create 1 @61500']);
    ask('create', 50);
    await to(10 * minute - 1);
    expect(log).toHaveLength(4);
    await to(10 * minute);
    expect(log.at(-1)).toBe('go create 50 @600000');
  });

  it('429 when much was spent is our own doing: nothing is halved', async () => {
    const { ask, to, log, purse } = desk();
    const alarms: string[] = [];
    purse.onAlarm((text) => alarms.push(text));
    ask('create', 60);
    await to(0);
    purse.notice({ status: 429, retryAfterMs: 1_000 });
    ask('create', 20);
    await to(1_000);
    expect([log.at(-1), alarms]).toEqual(['go create 20 @1000', []]);
  });

  it.each([410, 429] as const)('%i with a wait of 0 is heeded as if it named none', async (status) => {
    const { ask, to, log, purse } = desk();
    purse.notice({ status, retryAfterMs: 0 });
    ask('cancel', 1);
    await to(2 * minute);
    expect(log).toEqual(['go cancel 1 @60000']);
  });

  it('418 stops everything, two minutes at first, doubling to three days when it comes again', async () => {
    const { purse, to, clock } = desk();
    const lengths: number[] = [];
    for (let index = 0; index < 14; index++) {
      purse.notice({ status: 418, retryAfterMs: undefined });
      const until = purse.meter().stoppedUntil ?? 0;
      lengths.push((until - clock.now()) / minute);
      await to(until - start);
    }
    expect(lengths.slice(0, 4)).toEqual([2, 4, 8, 16]);
    expect(lengths.slice(-2)).toEqual([4_320, 4_320]);
  });

  it('418 several times within one ban is one ban, and after a clean day it begins at two minutes again', async () => {
    const { purse, to } = desk();
    purse.notice({ status: 418, retryAfterMs: undefined });
    await to(minute);
    purse.notice({ status: 418, retryAfterMs: undefined });
    expect(purse.meter().stoppedUntil).toBe(start + 2 * minute);
    await to(26 * hour);
    purse.notice({ status: 418, retryAfterMs: undefined });
    expect(purse.meter().stoppedUntil).toBe(start + 26 * hour + 2 * minute);
  });

  it('418 during a 429 is a ban of its own', () => {
    const { purse } = desk();
    purse.notice({ status: 429, retryAfterMs: undefined });
    purse.notice({ status: 418, retryAfterMs: undefined });
    expect(purse.meter().stoppedUntil).toBe(start + 2 * minute);
  });
});

const request = fc.record({
  lane: fc.constantFrom<Lane>('kill', 'cancel', 'reconcile', 'create', 'market'),
  weight: fc.integer({ min: 1, max: 60 }),
  afterMs: fc.integer({ min: 0, max: 20_000 }),
  waitMs: fc.option(fc.integer({ min: 0, max: 90_000 }), { nil: undefined }),
  limited: fc.boolean(),
});

property.prop([fc.array(request, { minLength: 1, maxLength: 80 })], { numRuns: 60 })(
  'no window of a minute ever holds more than the limit, nor one of two seconds more calls, and every request is answered',
  async (requests) => {
    const clock = new SimClock(start);
    const purse = budget({
      clock,
      shared: sharedWithNobody(),
      ipWeightPerMinute: 100,
      uidWeightPerMinute: 90,
    });
    const sent: { at: number; weight: number; lane: Lane; limited: boolean }[] = [];
    let answered = 0;
    for (const { lane, weight, afterMs, waitMs, limited } of requests) {
      await clock.advanceTo(clock.now() + afterMs);
      const cost = limited ? { weight, frequency: { endpoint: 'e', max: 3 } } : { weight };
      const until = waitMs === undefined ? undefined : clock.now() + waitMs;
      void clock.track(purse.spend(lane, cost, until)).then((taken) => {
        answered++;
        if (taken) sent.push({ at: clock.now(), weight, lane, limited });
        if (taken && until !== undefined) expect(clock.now()).toBeLessThanOrEqual(until);
      });
    }
    for (let index = 0; index < requests.length; index++) await clock.advanceTo(clock.now() + 2 * minute);
    expect(answered).toBe(requests.length);
    for (const { at } of sent) {
      const within = sent.filter((one) => one.at >= at && one.at - at < minute);
      expect(within.reduce((sum, one) => sum + one.weight, 0)).toBeLessThanOrEqual(90);
      const calls = sent.filter((one) => one.limited && one.at >= at && one.at - at < 2_000);
      expect(calls.length).toBeLessThanOrEqual(3);
    }
  },
);

it('an hour of steady demand above the limit is served at the limit', async () => {
  const { ask, to, log } = desk({ maxQueue: 100 });
  for (let second = 0; second < 3_600; second++) {
    await to(second * 1_000);
    ask('create', 5);
  }
  // 80 of 100 a minute (60.5 s with the jitter), 5 each: 16 a window.
  const served = log.filter((line) => line.startsWith('go')).length;
  expect(served).toBeGreaterThan(16 * 58);
  expect(served).toBeLessThanOrEqual(16 * 60);
});

describe('what another process spent', () => {
  it('so many real ms ago is that long ago by a clock that runs faster', async () => {
    const speed = 60;
    class FastClock extends SimClock {
      override machine(ms: number): number {
        return ms * speed;
      }
    }
    const clock = new FastClock(start);
    const news = [{ user: 'other', weight: 100, endpoint: undefined, agoMs: 900 }];
    const shared: Shared = {
      ...sharedWithNobody(),
      read: () => ({ news: news.splice(0), bans: noBans }),
    };
    const purse = budget({ clock, shared, ipWeightPerMinute: 100 });
    // 54 s of the exchange ago: for 6 s more, and the jitter.
    expect(purse.meter().others).toBe(100);
    await clock.advanceTo(start + 6_000 + speed * 500 - 1);
    expect(purse.meter().others).toBe(100);
    await clock.advanceTo(start + 6_000 + speed * 500);
    expect(purse.meter().others).toBe(0);
  });
});
