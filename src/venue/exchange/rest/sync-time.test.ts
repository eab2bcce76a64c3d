import { beforeEach, describe, expect, it } from 'vitest';
import type { Reply } from './reply.ts';
import { ExchangeTime, type SetClock } from './sync-time.ts';

const noon = Date.UTC(2026, 0, 1, 12);

/** Three clocks that a test moves, and an exchange that answers `/time` with one of them. All in real ms; the clock runs at `speed`. */
function world(speed = 1) {
  let steadyMs = 0;
  let wallOffset = noon;
  let ours = { epoch: noon + 3_000, at: 0 };
  const at = {
    /** How far the exchange's clock is off, in its own ms; a list is gone through answer by answer. */
    exchangeOff: 0 as number | number[],
    tripMs: 20,
    /** The share of the round trip that lies before the exchange reads its clock. */
    early: 0.5,
    /** How many times as fast as it should the exchange's clock runs. */
    pace: 1,
    answers: true,
    hasWeight: true,
    asked: 0,
    /** The machine goes on for so many real ms. */
    pass: (ms: number): void => {
      steadyMs += ms;
    },
    /** The machine sleeps: its wall clock goes on, its steady clock stands still. */
    sleep: (ms: number): void => {
      wallOffset += ms;
    },
    ahead: () => clock.exact() - noon - steadyMs * speed,
  };
  const clock: SetClock = {
    exact: () => ours.epoch + (steadyMs - ours.at) * speed,
    now: () => Math.floor(clock.exact()),
    set(epoch) {
      ours = { epoch, at: steadyMs };
    },
    monotonic: () => steadyMs * speed,
    machine: (ms) => ms * speed,
  };
  const answer = async (): Promise<Reply> => {
    at.asked++;
    steadyMs += at.tripMs * at.early;
    const off = typeof at.exchangeOff === 'number' ? at.exchangeOff : (at.exchangeOff.shift() ?? 0);
    const serverTime = Math.floor(noon + steadyMs * speed * at.pace + off);
    steadyMs += at.tripMs * (1 - at.early);
    return at.answers ? { kind: 'ok', value: { serverTime: `${serverTime}` } } : { kind: 'unclear', cause: 'cut off' };
  };
  const rest = {
    admit: async () => at.hasWeight,
    sign: () => ({ signedAt: 0, send: answer }),
  };
  return { ...at, at, clock, time: new ExchangeTime(rest, clock, () => wallOffset + steadyMs) };
}

let { at, clock, time, pass, sleep, ahead } = world();
beforeEach(() => {
  ({ at, clock, time, pass, sleep, ahead } = world());
});

/** A look each second, as the daemon takes it. */
async function look(seconds: number, one: Pick<ExchangeTime, 'tend'> = time): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    pass(1_000);
    await one.tend();
  }
}

describe('a reading', () => {
  it('sets the clock by the middle of the round trip, right to within half of it', async () => {
    for (const early of [0, 0.5, 1]) {
      at.early = early;
      at.tripMs = 80;
      expect(await time.sync()).toMatchObject({ kind: 'ok' });
      expect(Math.abs(ahead())).toBeLessThanOrEqual(time.known()?.uncertaintyMs ?? 0);
      expect(time.known()?.uncertaintyMs).toBeLessThan(41);
    }
  });

  it('counts in ms of the clock where that runs faster', async () => {
    const fast = world(60);
    await fast.time.sync();
    expect(Math.abs(fast.ahead())).toBeLessThanOrEqual(60 * 10 + 1);
    expect(fast.time.known()?.uncertaintyMs).toBeGreaterThan(60 * 9);
    expect(fast.time.against()).toBeUndefined();
  });

  it('contradicts what is believed by real time only, whatever the speed', async () => {
    for (const [speed, off, asked] of [
      [1, 90, 1],
      [1, 200, 3],
      [60, 60 * 90, 1],
      [60, 60 * 200, 3],
    ] as const) {
      const other = world(speed);
      await other.time.sync();
      const before = other.at.asked;
      other.at.exchangeOff = off;
      await other.time.sync();
      expect(other.at.asked - before).toBe(asked);
    }
  });

  it('is believed at first when three in a row agree', async () => {
    at.exchangeOff = [0, 5_000, 0, 0, 0];
    expect(await time.sync()).toMatchObject({ kind: 'ok' });
    expect(at.asked).toBe(5);
    expect(Math.abs(ahead())).toBeLessThan(12);
  });

  it('fails where answers never agree, and then nothing is created', async () => {
    at.exchangeOff = [0, 9_000, 0, 9_000, 0, 9_000, 0, 9_000];
    expect(await time.sync()).toMatchObject({ kind: 'failed', cause: expect.stringContaining('contradict') });
    expect(time.against()).toMatch(/contradict each other by 9\d\d\d ms/);
  });

  it.each([
    [1, 60],
    [1, 30],
    [10, 300],
  ])('says where the clock was taken to run %i times as fast as real time and runs %i times', async (speed, pace) => {
    const other = world(speed);
    other.at.pace = pace / speed;
    const answer = await other.time.sync();
    expect(answer).toMatchObject({
      kind: 'failed',
      cause: expect.stringMatching(
        new RegExp(`contradict .*runs about ${pace} times as fast as .*--speed ${pace} beside`),
      ),
    });
    expect(other.time.pace()).toBe(pace);
    other.at.pace = 1;
    await other.time.sync();
    expect(other.time.pace()).toBeUndefined();
  });

  it.each([
    ['a step', [0, 0, 9_000, 0, 9_000, 9_000, 0, 9_000]],
    ['two gateways', [0, 9_000, 0, 9_000, 0, 9_000, 0, 9_000]],
    ['noise', [0, 700, 150, 900, 300, 1_100, 200, 1_300]],
  ])('takes %s for no other speed', async (_, exchangeOff) => {
    at.exchangeOff = [...exchangeOff];
    expect(await time.sync()).toMatchObject({ kind: 'failed' });
    expect(time.pace()).toBeUndefined();
  });

  it('fails without an answer or without weight', async () => {
    at.answers = false;
    expect(await time.sync()).toMatchObject({ kind: 'failed' });
    at.answers = true;
    at.hasWeight = false;
    expect(await time.sync()).toMatchObject({ kind: 'failed', cause: expect.stringContaining('budget') });
    expect(time.against()).toBe('the time of the exchange has not been read yet');
  });
});

describe('watching the time', () => {
  beforeEach(async () => {
    await time.sync();
    at.asked = 0;
  });

  it('asks once a minute', async () => {
    await look(601);
    expect(at.asked).toBe(10);
    expect(time.against()).toBeUndefined();
  });

  it('follows a clock that drifts', async () => {
    for (let second = 0; second < 600; second++) {
      at.exchangeOff = second * 0.05;
      await look(1);
    }
    expect(Math.abs(ahead() - 30)).toBeLessThan(20);
    expect(time.against()).toBeUndefined();
  });

  it.each([10_000, -10_000])(
    'stops creation at a step of the exchange’s clock by %i ms until it is sure of it',
    async (step) => {
      at.exchangeOff = step;
      let blocked: string | undefined;
      const watched = {
        async tend() {
          const answer = time.tend();
          // While the exchange is being asked.
          for (let turn = 0; turn < 6; turn++) await Promise.resolve();
          blocked ??= time.against();
          return answer;
        },
      };
      await look(61, watched);
      expect(blocked).toMatch(/contradict each other by (9|10)\d\d\d ms/);
      expect(time.against()).toBeUndefined();
      expect(Math.abs(ahead() - step)).toBeLessThan(12);
    },
  );

  it('goes on asking each second while answers contradict each other, and lifts by itself', async () => {
    at.exchangeOff = Array.from({ length: 30 }, (_, index) => ((index + 1) % 2) * 9_000);
    await look(62);
    expect(time.against()).toContain('contradict');
    expect(at.asked).toBeGreaterThan(10);
    await look(6);
    expect(time.against()).toBeUndefined();
    expect(Math.abs(ahead())).toBeLessThan(12);
  });

  it('notices that the machine slept before anything is created, whichever check comes first', async () => {
    sleep(3_600_000);
    expect(time.against()).toMatch(/was set, or it slept: it jumped by 3600000 ms/);
    at.exchangeOff = 3_600_000;
    await look(1);
    expect(time.against()).toBeUndefined();
    expect(Math.abs(ahead() - 3_600_000)).toBeLessThan(12);
  });

  it('is not moved by a wall clock that somebody sets, but asks', async () => {
    sleep(-90_000);
    await look(1);
    expect(at.asked).toBe(3);
    expect(Math.abs(ahead())).toBeLessThan(12);
  });

  it('asks again at once when a request was refused for its time', async () => {
    time.doubt('a request was refused for its time');
    expect(time.against()).toContain('refused');
    await look(1);
    expect(at.asked).toBe(3);
    expect(time.against()).toBeUndefined();
  });

  it('grows less certain with age, and stops creation above half a second until the next answer', async () => {
    at.answers = false;
    await look(2_700);
    expect(time.against()).toMatch(/known only to within 5\d\d ms, 500 ms are allowed/);
    at.answers = true;
    await look(1);
    expect(time.against()).toBeUndefined();
  });

  it('keeps the sharper of two readings, and does not create by a blunt one alone', async () => {
    at.tripMs = 1_400;
    await look(61);
    expect(time.known()?.uncertaintyMs).toBeLessThan(30);
    const blunt = world();
    blunt.at.tripMs = 1_400;
    await blunt.time.sync();
    expect(blunt.time.against()).toMatch(/within 7\d\d ms/);
    blunt.at.tripMs = 20;
    await blunt.time.tend();
    expect(blunt.time.against()).toBeUndefined();
    expect(clock.now()).toBeGreaterThan(noon);
  });
});
