/** Fetched pages of a series, in a file that a crash can only cut at its end: nothing is fetched twice. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { jsonOf } from '../domain/json.ts';
import { Refusal } from '../domain/refusal.ts';
import { columnsOf, type SeriesKey, seriesName } from './catalogue/kinds.ts';

/** From `from` to before `until`, UTC ms. */
export interface Stretch {
  readonly from: number;
  readonly until: number;
}

const line = z.strictObject({
  from: z.number(),
  until: z.number(),
  /** Left out once the rows are in the catalogue. */
  rows: z.array(z.array(z.number())).optional(),
});
type Line = z.output<typeof line>;

/** The file of a series, in the folder of its catalogue. */
export const fetchedPath = (dir: string, key: SeriesKey): string =>
  join(dir, 'fetched', `${seriesName(key).replaceAll(' ', '-')}.jsonl`);

/** The lock of that file. */
export const fetchedLock = (dir: string, key: SeriesKey): string => `${fetchedPath(dir, key)}.lock`;

/** Fetched pages that are not in the catalogue yet, and the fetched time ranges. One process at a time: the caller holds the lock. */
export class Fetched {
  readonly #path: string;
  #lines: Line[];

  /** `isStored`: the catalogue has the series, so that stretches without rows still hold. */
  constructor(path: string, isStored: boolean) {
    this.#path = path;
    mkdirSync(dirname(path), { recursive: true });
    this.#lines = readLines(path).filter(({ rows }) => rows !== undefined || isStored);
  }

  get asked(): readonly Stretch[] {
    return joined(this.#lines);
  }

  /** Pages whose rows are not in the catalogue yet. */
  get waiting(): number {
    return this.#lines.filter(({ rows }) => rows !== undefined).length;
  }

  /**
   * The stretches between pages, which were not fetched. Only beside pages that wait: others are known, and may have been filled since.
   */
  get holes(): readonly (readonly [from: number, to: number])[] {
    const { asked } = this;
    const waiting = this.#lines.filter(({ rows }) => rows !== undefined);
    return asked
      .slice(1)
      .map(({ from }, index) => [asked[index]?.until ?? from, from] as const)
      .filter(([start, end]) => waiting.some(({ from, until }) => until === start || from === end));
  }

  /** All rows of a stretch, in the order of `columnsOf`; written at once, so that the next process knows them after a kill. */
  add({ from, until, rows }: Stretch & { readonly rows: readonly (readonly number[])[] }): void {
    const page: Line = { from, until, rows: rows.map((row) => [...row]) };
    appendFileSync(this.#path, `${JSON.stringify(page)}\n`);
    this.#lines.push(page);
  }

  /** Writes the rows that wait as a file to import, in the order of time; how many. */
  writeRows(path: string, { kind }: SeriesKey): number {
    const rows = this.#lines.flatMap((one) => one.rows ?? []).toSorted((a, b) => (a[0] ?? 0) - (b[0] ?? 0));
    const side = columnsOf[kind].findIndex(({ name }) => name === 'side');
    const cells = (row: readonly number[]): readonly (number | string)[] =>
      row.map((value, at) => (at !== side ? value : value > 0 ? 'buy' : 'sell'));
    const header = columnsOf[kind].map(({ name }) => name).join(',');
    writeFileSync(path, `${[header, ...rows.map((row) => cells(row).join(','))].join('\n')}\n`);
    return rows.length;
  }

  /** Drops the rows, which are in the catalogue now; the stretches stay. */
  settle(): void {
    this.#lines = joined(this.#lines).map(({ from, until }) => ({ from, until }));
    const unfinished = `${this.#path}.${process.pid}`;
    writeFileSync(unfinished, this.#lines.map((one) => `${JSON.stringify(one)}\n`).join(''));
    renameSync(unfinished, this.#path);
  }
}

/** Whole lines; a line that a crash cut off is removed from the file. */
function readLines(path: string): Line[] {
  if (!existsSync(path)) return [];
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf(10) + 1;
  if (end < bytes.length) truncateSync(path, end);
  const texts = bytes.toString('utf8', 0, end).split('\n').slice(0, -1);
  return texts.map((text, index) => {
    const read = line.safeParse(jsonOf(text));
    if (read.success) return read.data;
    throw new Refusal(`${path}, line ${index + 1} is damaged: remove the file; its rows are fetched again`);
  });
}

function joined(all: readonly Stretch[]): Stretch[] {
  const out: Stretch[] = [];
  for (const { from, until } of all.toSorted((a, b) => a.from - b.from)) {
    const last = out.at(-1);
    if (last !== undefined && from <= last.until)
      out[out.length - 1] = { from: last.from, until: Math.max(last.until, until) };
    else out.push({ from, until });
  }
  return out;
}

/** The parts of a stretch that were not fetched, the newest first. */
export function missingOf({ from, until }: Stretch, asked: readonly Stretch[]): readonly Stretch[] {
  const out: Stretch[] = [];
  let end = until;
  for (const known of asked.toReversed()) {
    if (known.from >= end || known.until <= from) continue;
    if (known.until < end) out.push({ from: known.until, until: end });
    end = known.from;
  }
  if (end > from) out.push({ from, until: end });
  return out;
}
