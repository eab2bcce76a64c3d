/**
 * The allocations over time. Equity is counted from them: after a change, earlier records move by the difference. Otherwise a changed
 * configuration would count as a daily loss that kills, or as a profit that hides one.
 */
import { minus, noUnits, plus, type Units, units, unitsText } from '../../domain/money.ts';
import { roundedMoney } from '../../domain/words.ts';
import type { Entry } from '../../journal/entries.ts';
import type { Loaded } from '../../journal/load.ts';

/** The memory's name; its value: from when on (UTC ms) which sum, oldest first. */
const name = 'allotted';
type Kept = readonly (readonly [at: number, sum: string])[];

interface Allotted {
  readonly amount: Units;
}

/** What an equity of a time, UTC ms, would be with the allocations of now. `memories`: those of a journal. */
export function withAllocationsOfNow(
  memories: ReadonlyMap<string, string>,
): <T extends { readonly at: number; readonly equity: string }>(point: T) => T {
  const kept = JSON.parse(memories.get(name) ?? '[]') as Kept;
  const [first, last] = [kept[0], kept.at(-1)];
  if (first === undefined || last === undefined || kept.every(([, sum]) => sum === last[1])) return (point) => point;
  const by = kept.map(([from, sum]) => ({ from, by: minus(units(last[1]), units(sum)) }));
  return (point) => {
    const moved = by.findLast(({ from }) => from <= point.at) ?? by[0];
    return { ...point, equity: unitsText(plus(units(point.equity), moved?.by ?? noUnits)) };
  };
}

export interface SinceAllotted {
  /** What was noted, as it would be with the sum of now. */
  readonly loaded: Loaded;
  /** To be written together: each without the other would be moved once more, or never. */
  readonly entries: readonly Entry[];
  readonly said: string | undefined;
}

/** A journal that never noted one is taken as it is. */
export function allocationChanges(loaded: Loaded, allocations: readonly Allotted[], now: number): SinceAllotted {
  const sum = allocations.reduce((all, { amount }) => plus(all, amount), noUnits);
  const kept = JSON.parse(loaded.memories.get(name) ?? '[]') as Kept;
  const [first, last] = [kept[0], kept.at(-1)];
  const isNew = last === undefined || units(last[1]) !== sum;
  const memory: Entry = { kind: 'memory', name, value: JSON.stringify([...kept, [now, unitsText(sum)]]) };
  if (first === undefined || last === undefined) return { loaded, entries: [memory], said: undefined };
  const moved = (amount: string, [, before]: Kept[number]): string =>
    unitsText(plus(units(amount), minus(sum, units(before))));
  const day = Math.max(...loaded.days.keys());
  const dayEquity = loaded.days.get(day);
  const days = dayEquity === undefined ? loaded.days : new Map([...loaded.days, [day, moved(dayEquity, last)]]);
  const dayRows: Entry[] = dayEquity === undefined ? [] : [{ kind: 'day', day, equity: moved(dayEquity, last) }];
  return {
    loaded: {
      ...loaded,
      days,
      firstEquity: loaded.firstEquity === undefined ? undefined : moved(loaded.firstEquity, first),
      equity: loaded.equity.map(({ at, equity }) => {
        return { at, equity: moved(equity, kept.findLast(([from]) => from <= at) ?? first) };
      }),
    },
    entries: isNew ? [memory, ...dayRows] : [],
    said: isNew
      ? `the allocations are ${roundedMoney(unitsText(sum))} in total, ${roundedMoney(last[1])} before: the daily loss and the profit since the start count as if that had been so from the start`
      : undefined,
  };
}
