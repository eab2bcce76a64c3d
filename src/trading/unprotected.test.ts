import { describe, expect, test } from 'vitest';
import { fill, portfolio, resting, startTime, target } from '../../test/kit/builders.ts';
import { Protection } from '../portfolio/protection.ts';
import { Unprotected } from './unprotected.ts';

/** One BTC bought at the start under a target with these exits. */
function bench(exits: Parameters<typeof target>[1]) {
  const held = portfolio();
  const protection = new Protection(held, () => {});
  const signal = target(1, exits);
  protection.follow('s', 'BTCUSDT', signal);
  held.apply(fill());
  const kept: string[] = [];
  const watch = (aloneSince?: number, before?: string): Unprotected =>
    new Unprotected({ portfolio: held, protection, kept: before, keep: (json) => kept.push(json), aloneSince });
  return { held, protection, signal, kept, watch };
}

describe('a position without its protection', () => {
  const yes = (): boolean => true;
  const no = (): boolean => false;

  test('is measured from the first measurement that finds it so to the first that does not', () => {
    const { watch, kept } = bench({ stop: 90 });
    const unprotected = watch();
    unprotected.measure(startTime, yes);
    expect(unprotected.of('s', 'BTCUSDT')).toEqual({ longestMs: 0, since: undefined });
    unprotected.measure(startTime + 1_000, no);
    unprotected.measure(startTime + 4_000, no);
    expect(unprotected.of('s', 'BTCUSDT')).toEqual({ longestMs: 3_000, since: startTime + 1_000 });
    unprotected.measure(startTime + 5_000, yes);
    unprotected.measure(startTime + 9_000, no);
    unprotected.measure(startTime + 10_000, yes);
    expect(unprotected.of('s', 'BTCUSDT')).toEqual({ longestMs: 4_000, since: undefined });
    expect(watch(undefined, kept.at(-1)).of('s', 'BTCUSDT').longestMs).toBe(4_000);
  });

  test('is so while its exit is due and not on its way', () => {
    const { watch, protection, signal, held } = bench({ stop: 90 });
    const unprotected = watch();
    protection.exit('s', 'BTCUSDT', signal.size, 'stop hit', startTime);
    unprotected.measure(startTime, yes);
    unprotected.measure(startTime + 2_000, yes);
    expect(unprotected.of('s', 'BTCUSDT').longestMs).toBe(2_000);
    resting(held, { side: 'SELL', purpose: 'stop' });
    unprotected.measure(startTime + 3_000, yes);
    expect(unprotected.of('s', 'BTCUSDT')).toEqual({ longestMs: 3_000, since: undefined });
  });

  test('stood alone while nobody ran', () => {
    const unprotected = bench({ stop: 90 }).watch(startTime - 30_000);
    unprotected.measure(startTime, yes);
    expect(unprotected.of('s', 'BTCUSDT').longestMs).toBe(30_000);
  });

  test('is none where nothing was asked for, or nothing is held', () => {
    const plain = bench({}).watch();
    plain.measure(startTime, no);
    plain.measure(startTime + 9_000, no);
    expect(plain.of('s', 'BTCUSDT').longestMs).toBe(0);
    const { watch, held } = bench({ stop: 90 });
    held.apply(fill({ side: 'SELL' }));
    const flat = watch();
    flat.measure(startTime, no);
    flat.measure(startTime + 9_000, no);
    expect(flat.of('s', 'BTCUSDT').longestMs).toBe(0);
  });
});
