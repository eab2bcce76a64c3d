import { expect, test } from 'vitest';
import { units, unitsText } from '../../domain/money.ts';
import { emptyLoaded, type Loaded } from '../../journal/load.ts';
import { riskMemory } from '../../trading/restore.ts';
import { allocationChanges } from './allocation-changes.ts';

const day = Date.UTC(2026, 0, 5);

/** What the next start finds of what one wrote. */
function after(
  loaded: Loaded,
  sum: string,
  now: number,
): { readonly loaded: Loaded; readonly said: string | undefined } {
  const since = allocationChanges(loaded, [{ amount: units(sum) }], now);
  const memories = new Map(loaded.memories);
  const days = new Map(loaded.days);
  for (const entry of since.entries)
    if (entry.kind === 'memory') memories.set(entry.name, entry.value);
    else if (entry.kind === 'day') days.set(entry.day, entry.equity);
  expect(since.loaded.days).toEqual(days);
  return { loaded: { ...loaded, memories, days }, said: since.said };
}

test('an allocation that is changed is neither a profit nor a loss, also after further restarts', () => {
  const first = after(emptyLoaded, '50000', day + 1);
  expect(first.said).toBeUndefined();
  const noted: Loaded = {
    ...first.loaded,
    days: new Map([[day, '49900']]),
    firstEquity: '50000',
    equity: [{ at: day + 5, equity: '49864' }],
  };
  const less = after(noted, '30000', day + 10);
  expect(less.said).toBe(
    'the allocations are 30,000 in total, 50,000 before: the daily loss and the profit since the start count as if that had been so from the start',
  );
  const start = riskMemory(less.loaded).dayStart;
  expect([start?.day, unitsText(start?.equity ?? units('0'))]).toEqual([day, '29900']);
  const again = allocationChanges(
    { ...less.loaded, equity: [...noted.equity, { at: day + 20, equity: '29850' }] },
    [{ amount: units('30000') }],
    day + 30,
  );
  expect(again.entries).toEqual([]);
  expect(again.loaded.firstEquity).toBe('30000');
  expect(again.loaded.equity.map(({ equity }) => equity)).toEqual(['29864', '29850']);
  expect(again.loaded.days.get(day)).toBe('29900');
  const more = after(less.loaded, '65000', day + 40);
  expect(more.loaded.days.get(day)).toBe('64900');
});

test('a journal that never noted what was allotted is taken as it is', () => {
  const old: Loaded = { ...emptyLoaded, days: new Map([[day, '49900']]), firstEquity: '50000' };
  const { loaded, entries } = allocationChanges(old, [{ amount: units('30000') }], day + 1);
  expect(loaded).toBe(old);
  expect(entries).toHaveLength(1);
});
