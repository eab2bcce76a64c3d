import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { decision, target } from '../../test/kit/builders.ts';
import { SimClock } from '../clock/sim-clock.ts';
import type { Decision } from '../domain/order.ts';
import { latestWhenFree } from '../trader.ts';

interface Lane {
  readonly signals: Subject<Decision>;
  /** What was begun, as `strategy quantity`. */
  readonly begun: string[];
  /** Ends the work that runs. */
  readonly free: () => Promise<void>;
  readonly fail: (error: Error) => Promise<void>;
  readonly state: () => string;
  readonly stop: () => void;
  readonly clock: SimClock;
}

/** A lane whose work takes until the test ends it; a quantity of 0 is nothing to do. */
function lane(): Lane {
  const clock = new SimClock(0);
  const signals = new Subject<Decision>();
  const begun: string[] = [];
  let state = 'running';
  let end: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;
  const executeDecision = ({ strategy, legs: [{ signal }] }: Decision): Promise<void> | undefined => {
    const quantity = signal.kind === 'target' && 'quantity' in signal.size ? signal.size.quantity : 0;
    if (quantity === 0) return undefined;
    begun.push(`${strategy} ${quantity}`);
    return new Promise((resolve, reject) => {
      end = { resolve, reject };
    });
  };
  const subscription = signals.pipe(latestWhenFree(clock, executeDecision)).subscribe({
    complete: () => {
      state = 'complete';
    },
    error: (error: Error) => {
      state = `failed: ${error.message}`;
    },
  });
  return {
    signals,
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

describe('a lane', () => {
  test('carries out one decision at a time', async () => {
    const { signals, begun, free } = lane();
    signals.next(decision(target(1), 's'));
    signals.next(decision(target(2), 't'));
    expect(begun).toEqual(['s 1']);
    await free();
    expect(begun).toEqual(['s 1', 't 2']);
  });

  test('keeps an exit on one market beside a decision on several', async () => {
    const { signals, begun, free } = lane();
    const exit = decision(target(2), 's');
    const [leg] = decision(target(3), 's').legs;
    signals.next(decision(target(1), 't'));
    signals.next(exit);
    signals.next({ strategy: 's', at: 0, legs: [leg, { ...leg, role: 'other', symbol: 'OTHER' }] });
    await free();
    await free();
    expect(begun).toEqual(['t 1', 's 2', 's 3']);
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
