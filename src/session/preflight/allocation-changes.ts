/**
 * The allocations over time. Equity is counted from them: after a change, earlier records move by the difference. Otherwise a changed
 * configuration would count as a daily loss that kills, or as a profit that hides one.
 */
import { minus, noUnits, plus, type Units, units, unitsText } from '../../domain/money.ts';
import { roundedMoney } from '../../domain/words.ts';
import type { Entry, Notice } from '../../journal/entries.ts';
import type { Journal } from '../../journal/journal.ts';
import type { Loaded } from '../../journal/load.ts';
import type { Log } from '../log/log.ts';
import type { versionRows } from './limits.ts';

/** The memory's name; its value: from when on (UTC ms) which sum, oldest first. */
const name = 'allotted';
type KeptSums = readonly (readonly [at: number, sum: string])[];

interface Allotted {
  readonly amount: Units;
}

/** An equity that was counted from one sum, counted from another. */
const moved = (equity: string, [, before]: KeptSums[number], sum: Units): string =>
  unitsText(plus(units(equity), minus(sum, units(before))));

interface Point {
  readonly at: number;
  readonly equity: string;
}

/** Equity of other times, as it would be if the allocations had been this sum. */
const countedFrom =
  (kept: KeptSums, sum: Units) =>
  ({ at, equity }: Point): Point => {
    const before = kept.findLast(([from]) => from <= at) ?? kept[0];
    return { at, equity: before === undefined ? equity : moved(equity, before, sum) };
  };

const keptIn = (memories: ReadonlyMap<string, string>): KeptSums => JSON.parse(memories.get(name) ?? '[]') as KeptSums;

/** What an equity of a time, UTC ms, would be with the allocations of now. `memories`: those of a journal. */
export function withAllocationsOfNow(memories: ReadonlyMap<string, string>): (point: Point) => Point {
  const kept = keptIn(memories);
  const last = kept.at(-1);
  return last === undefined ? (point) => point : countedFrom(kept, units(last[1]));
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
  const kept = keptIn(loaded.memories);
  const [first, last] = [kept[0], kept.at(-1)];
  const isNew = last === undefined || units(last[1]) !== sum;
  const memory: Entry = { kind: 'memory', name, value: JSON.stringify([...kept, [now, unitsText(sum)]]) };
  if (first === undefined || last === undefined) return { loaded, entries: [memory], said: undefined };
  const day = Math.max(...loaded.days.keys());
  const dayEquity = loaded.days.get(day);
  const days = dayEquity === undefined ? loaded.days : new Map([...loaded.days, [day, moved(dayEquity, last, sum)]]);
  const dayRows: Entry[] = dayEquity === undefined ? [] : [{ kind: 'day', day, equity: moved(dayEquity, last, sum) }];
  return {
    loaded: {
      ...loaded,
      days,
      firstEquity: loaded.firstEquity === undefined ? undefined : moved(loaded.firstEquity, first, sum),
      equity: loaded.equity.map(countedFrom(kept, sum)),
    },
    entries: isNew ? [memory, ...dayRows] : [],
    said: isNew
      ? `the allocations are ${roundedMoney(unitsText(sum))} in total, ${roundedMoney(last[1])} before: the daily loss and the profit since the start count as if that had been so from the start`
      : undefined,
  };
}

/** Journals allocations and versions for the next start to compare with, once nothing refuses this one: what was refused never ran. */
export function recordStart(
  { journal, notice }: { readonly journal: Pick<Journal, 'append'>; readonly notice: (said: Notice) => void },
  { entries, said }: Pick<SinceAllotted, 'entries' | 'said'>,
  { config, versions, rows }: Pick<ReturnType<typeof versionRows>, 'config' | 'versions' | 'rows'>,
  log: Log,
): void {
  for (const row of [...entries, ...rows]) journal.append(row);
  if (said !== undefined) notice({ level: 'info', text: said });
  log.info({ config, strategies: Object.fromEntries(versions) }, 'versions');
}
