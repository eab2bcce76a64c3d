/** Time exits. */
import { describe, expect, test } from 'vitest';
import { fill, portfolio, startTime, target } from '../../test/kit/builders.ts';
import { Protection, type SavedGuard } from './protection.ts';

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
  return { held, protection, signal, saved: () => saved };
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
    protection.exit('s', 'BTCUSDT', signal.size, 'time exit', startTime);
    expect(due(protection, 6 * minute)).toEqual([]);
    expect(protection.override('s', 'BTCUSDT', signal).exit).toBe('time exit');
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
