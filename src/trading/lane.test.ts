import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { decision, target } from '../../test/kit/builders.ts';
import { SimClock } from '../clock/sim-clock.ts';
import type { Decision, Leg } from '../domain/order.ts';
import { latestWhenFree } from '../trader.ts';

interface Lane {
  readonly signals: Subject<Decision>;
  /** Those that only leave what protection closes. */
  readonly protective: Set<Decision>;
  /** What was begun, as `strategy quantity`; of work of several steps, each step. */
  readonly begun: string[];
  /** Ends the work that runs. */
  readonly free: () => Promise<void>;
  readonly fail: (error: Error) => Promise<void>;
  readonly state: () => string;
  readonly stop: () => void;
  readonly clock: SimClock;
}

/** A lane whose work takes until the test ends it, in so many steps; a quantity of 0 is nothing to do. */
function lane(steps = 1): Lane {
  const clock = new SimClock(0);
  const signals = new Subject<Decision>();
  const begun: string[] = [];
  let state = 'running';
  let end: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;
  const protective = new Set<Decision>();
  const step = (): Promise<void> =>
    new Promise((resolve, reject) => {
      end = { resolve, reject };
    });
  async function carryOut({ strategy, legs }: Decision, between: () => Promise<void> | undefined): Promise<void> {
    for (let done = 0; done < steps; done++) {
      begun.push(`${strategy} ${legs.map(quantityOf).join(' ')}`);
      await step();
      await between();
    }
  }
  const trader = {
    track: (work: Promise<void>) => clock.track(work),
    isProtective: (one: Decision) => protective.has(one),
  };
  const run = (one: Decision, between: () => Promise<void> | undefined): Promise<void> | undefined =>
    one.legs.every((leg) => quantityOf(leg) === 0) ? undefined : carryOut(one, between);
  const subscription = signals.pipe(latestWhenFree(trader, run)).subscribe({
    complete: () => {
      state = 'complete';
    },
    error: (error: Error) => {
      state = `failed: ${error.message}`;
    },
  });
  return {
    signals,
    protective,
    begun,
    clock,
    async free() {
      end?.resolve();
      await clock.turn();
    },
    async fail(error) {
      end?.reject(error);
      await clock.turn();
    },
    state: () => state,
    stop: () => subscription.unsubscribe(),
  };
}

const quantityOf = ({ signal }: Leg): number =>
  signal.kind === 'target' && 'quantity' in signal.size ? signal.size.quantity : 0;

/** A decision of `s` on markets by symbol. */
function legs(quantities: Readonly<Record<string, number>>): Decision {
  const [first, ...others] = Object.entries(quantities).map(
    ([symbol, quantity]): Leg => ({ strategy: 's', role: symbol, symbol, at: 0, signal: target(quantity) }),
  );
  return { strategy: 's', at: 0, legs: [first as Leg, ...others] };
}

describe('a lane', () => {
  test('carries out one decision at a time', async () => {
    const { signals, begun, free } = lane();
    signals.next(decision(target(1), 's'));
    signals.next(decision(target(2), 't'));
    expect(begun).toEqual(['s 1']);
    await free();
    expect(begun).toEqual(['s 1', 't 2']);
  });

  test('keeps the legs of a waiting decision about which a later one says nothing', async () => {
    const { signals, begun, free } = lane();
    signals.next(decision(target(1), 't'));
    signals.next(legs({ A: 1, B: 2, C: 3 }));
    signals.next(legs({ B: 4, D: 5 }));
    signals.next(legs({ C: 6 }));
    await free();
    await free();
    expect(begun).toEqual(['t 1', 's 1 4 6 5']);
  });

  test('leaves what protection closes between two requests of another decision, which then goes on', async () => {
    const { signals, protective, begun, free } = lane(2);
    const exits = [legs({ A: 3 }), decision(target(4), 'u')];
    for (const exit of exits) protective.add(exit);
    signals.next(decision(target(1), 't'));
    signals.next(decision(target(2), 'v'));
    for (const exit of exits) signals.next(exit);
    for (let step = 0; step < 7; step++) await free();
    expect(begun).toEqual(['t 1', 's 3', 's 3', 'u 4', 'u 4', 't 1', 'v 2', 'v 2']);
  });

  test('goes on with a decision although exits come again and again', async () => {
    const { signals, protective, begun, free } = lane(2);
    signals.next(decision(target(1), 't'));
    for (let step = 0; step < 4; step++) {
      const exit = legs({ A: 3 + step });
      protective.add(exit);
      signals.next(exit);
      await free();
    }
    expect(begun).toEqual(['t 1', 's 3', 's 3', 't 1', 's 6']);
  });

  test('keeps only the latest decision of each strategy while it is busy', async () => {
    const { signals, begun, free } = lane();
    for (const quantity of [1, 2, 3, 4]) signals.next(decision(target(quantity), 's'));
    for (const quantity of [5, 6]) signals.next(decision(target(quantity), 't'));
    await free();
    await free();
    await free();
    expect(begun).toEqual(['s 1', 's 4', 't 6']);
  });

  test('serves strategies in the order in which they came to wait', async () => {
    const { signals, begun, free } = lane();
    for (const [quantity, strategy] of [
      [1, 's'],
      [2, 't'],
      [3, 's'],
      [4, 't'],
    ] as const)
      signals.next(decision(target(quantity), strategy));
    await free();
    await free();
    expect(begun).toEqual(['s 1', 't 4', 's 3']);
  });

  test('is not busy with a decision without work', async () => {
    const { signals, begun, free } = lane();
    signals.next(decision(target(0)));
    signals.next(decision(target(1)));
    expect(begun).toEqual(['s 1']);
    signals.next(decision(target(0), 's'));
    signals.next(decision(target(2), 't'));
    await free();
    expect(begun).toEqual(['s 1', 't 2']);
  });

  test('holds simulated time until its work is done', async () => {
    const { signals, free, clock } = lane();
    expect(clock.busy).toBe(false);
    signals.next(decision(target(1)));
    expect(clock.busy).toBe(true);
    await free();
    expect(clock.busy).toBe(false);
  });

  test('never abandons work: it ends after it, and begins none once nobody listens', async () => {
    const ended = lane();
    ended.signals.next(decision(target(1), 's'));
    ended.signals.next(decision(target(2), 't'));
    ended.signals.complete();
    expect(ended.state()).toBe('running');
    await ended.free();
    expect(ended.begun).toEqual(['s 1', 't 2']);
    await ended.free();
    expect(ended.state()).toBe('complete');

    const left = lane();
    left.signals.next(decision(target(1), 's'));
    left.signals.next(decision(target(2), 't'));
    left.stop();
    await left.free();
    expect(left.begun).toEqual(['s 1']);
  });

  test('fails when its work throws, which is a bug and ends the program', async () => {
    const { signals, fail, state } = lane();
    signals.next(decision(target(1)));
    await fail(new Error('bug'));
    expect(state()).toBe('failed: bug');
  });
});
