/** Time exits, and how long positions stand without the protection that was asked for. */
import { describe, expect, test } from 'vitest';
import { fill, portfolio, resting, startTime, target } from '../../test/kit/builders.ts';
import { Protection, type SavedGuard } from './protection.ts';
import { Unprotected } from './unprotected.ts';

const minute = 60_000;

/** One BTC bought at the start under a target that leaves after five minutes. */
function bench(options: Parameters<typeof target>[1] = { exitAfterMs: 5 * minute }) {
  const held = portfolio();
  let saved: SavedGuard | null = null;
  const protection = new Protection(held, (_strategy, _symbol, now) => {
    saved = now();
  });
  const signal = target(1, options);
  protection.follow('s', 'BTCUSDT', signal);
  held.apply(fill());
  const kept: string[] = [];
  const watch = (aloneSince?: number, before?: string): Unprotected =>
    new Unprotected({ portfolio: held, protection, kept: before, keep: (json) => kept.push(json), aloneSince });
  return { held, protection, signal, saved: () => saved, kept, watch };
}
const due = (protection: Protection, afterMs: number): string[] =>
  protection.overdue('BTCUSDT', startTime + afterMs).map(({ strategy, why }) => `${strategy} ${why}`);

describe('a time exit', () => {
  test('is due once the position was held for as long as it may be', () => {
    const { protection } = bench();
    expect(due(protection, 5 * minute - 1)).toEqual([]);
    expect(due(protection, 5 * minute)).toEqual(['s time exit: held for 300 s']);
  });

  test('counts from the first fill, whatever is added', () => {
    const { protection, held } = bench();
    held.apply({ ...fill({ quantity: '0.5' }), time: startTime + 4 * minute });
    expect(due(protection, 5 * minute)).toHaveLength(1);
  });

  test('begins anew with the next position', () => {
    const { protection, held } = bench();
    held.apply({ ...fill({ side: 'SELL' }), time: startTime + minute });
    expect(due(protection, 6 * minute)).toEqual([]);
    held.apply({ ...fill(), time: startTime + 2 * minute });
    expect(due(protection, 6 * minute)).toEqual([]);
    expect(due(protection, 7 * minute)).toHaveLength(1);
  });

  test('is asked for once, and the position stays left', () => {
    const { protection, signal } = bench();
    protection.leave('s', 'BTCUSDT', signal.size, 'time exit', startTime);
    expect(due(protection, 6 * minute)).toEqual([]);
    expect(protection.override('s', 'BTCUSDT', signal).leave).toBe('time exit');
  });

  test('survives a restart', () => {
    const { saved } = bench();
    const again = portfolio();
    again.apply(fill());
    const protection = new Protection(again, () => {});
    protection.restore('s', 'BTCUSDT', saved() ?? {});
    expect(due(protection, 5 * minute - 1)).toEqual([]);
    expect(due(protection, 5 * minute)).toHaveLength(1);
  });
});

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
    protection.leave('s', 'BTCUSDT', signal.size, 'stop hit', startTime);
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
