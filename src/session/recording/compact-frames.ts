/** Recorded frames into the catalogue: file by file, each of which counts as done only when all that it holds is stored. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../clock/clock.ts';
import { type Kind, type SeriesKey, seriesName } from '../../data/catalogue/kinds.ts';
import { readManifest } from '../../data/catalogue/manifest.ts';
import { compactable, frameFiles, framesIn, lockCompaction, markDone } from '../../data/frames/folder.ts';
import { type ImportResult, importFile } from '../../data/import/import.ts';
import { isInterval } from '../../domain/interval.ts';
import type { Depth, Kline, Trade } from '../../domain/market.ts';
import { Refusal } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';
import { lateDepth, lateTrades } from './late-rows.ts';
import { type FileContent, type Found, Replay, type Unseen } from './replay-frames.ts';

export interface Compacted {
  readonly files: number;
  readonly results: readonly ImportResult[];
  /** What the readers of the feed do not take, by what is wrong with it. */
  readonly leftOut: ReadonlyMap<string, number>;
  /** What was cut off at the ends of files, and files that stay as they are, each with what to do; a line each. */
  readonly said: readonly string[];
  /** Files that could not be stored whole; they wait for the next time. */
  readonly failed: number;
}

/**
 * Moves recorded files into the catalogue. A file that the catalogue refuses stays and is reported. Throws a `Refusal` while another
 * process compacts.
 */
export async function compactFrames(dir: string): Promise<Compacted> {
  const unlock = frameFiles(dir).length === 0 ? () => {} : lockCompaction(dir);
  try {
    return await compactAll(dir);
  } finally {
    unlock();
  }
}

async function compactAll(dir: string): Promise<Compacted> {
  const replay = new Replay();
  const results: ImportResult[] = [];
  const said: string[] = [];
  let [files, failed] = [0, 0];
  for (const path of compactable(dir)) {
    const content = replay.read(readFileSync(path));
    if (content === undefined) {
      said.push(`${path} is not a file of frames: remove it`);
      failed++;
      continue;
    }
    if (content.isUnknown) {
      said.push(`${path} is left unchanged: its header is damaged, so its contents are unknown. Remove it`);
      failed++;
      continue;
    }
    if (content.damagedBytes > 0)
      said.push(
        `${path}: ${counted(content.damagedBytes, 'byte')} are damaged and left out; the data before and after are stored, with a gap between. Check the disk`,
      );
    if (content.lostBytes > 0)
      said.push(`${path}: ${counted(content.lostBytes, 'byte')} at its end were cut off when the recording ended`);
    try {
      for (const { key, text, unseen } of seriesIn(dir, content))
        results.push(await stored(dir, content.source, key, await text(), unseen));
      markDone(path);
      files++;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      said.push(`${path} is left unchanged: ${error.message}`);
      failed++;
    }
  }
  return { files, results, leftOut: replay.leftOut, said, failed };
}

interface Series {
  readonly key: SeriesKey;
  /** In the layout of an import. */
  readonly text: () => Promise<string>;
  readonly unseen: readonly Unseen[];
}

function seriesIn(dir: string, { trades, depth, klines }: FileContent): readonly Series[] {
  const of = <T>(
    all: ReadonlyMap<string, Found<T>>,
    keyOf: (name: string) => SeriesKey,
    text: (rows: T[], key: SeriesKey) => Promise<string>,
  ): Series[] =>
    [...all].flatMap(([name, { rows, unseen }]) => {
      const key = keyOf(name);
      return rows.length === 0 ? [] : [{ key, text: () => text(rows, key), unseen }];
    });
  const plain =
    (kind: Kind) =>
    (symbol: string): SeriesKey => ({ kind, symbol });
  return [
    ...of(trades, plain('trades'), async (rows, key) => tradesText(await lateTrades(dir, key, rows))),
    ...of(depth, plain('depth'), async (rows, key) => depthText(await lateDepth(dir, key, rows))),
    ...of(klines, klinesKey, async (rows) => klinesText(rows)),
  ];
}

function klinesKey(name: string): SeriesKey {
  const [symbol = '', text] = name.split(' ');
  return { kind: 'klines', symbol, interval: isInterval(text) ? text : '1min' };
}

const tradesText = (rows: readonly Trade[]): string =>
  `time_ms,price,qty,side\n${rows
    .map(({ time, price, quantity, side }) => `${time},${price},${quantity},${side.toLowerCase()}\n`)
    .join('')}`;

const depthText = (rows: readonly Depth[]): string =>
  rows.map(({ time, bids, asks }) => `${JSON.stringify({ t: time, b: bids, a: asks })}\n`).join('');

function klinesText(rows: Kline[]): string {
  const each = new Map(rows.map((one) => [one.openTime, one]));
  const lines = [...each.values()]
    .toSorted((a, b) => a.openTime - b.openTime)
    .map((one) => {
      const { openTime, open, high, low, close, volume } = one;
      return `${[openTime, open, high, low, close, volume].join(',')}\n`;
    });
  return `time_ms,open,high,low,close,volume\n${lines.join('')}`;
}

async function stored(
  dir: string,
  source: string,
  key: SeriesKey,
  text: string,
  unseen: readonly Unseen[],
): Promise<ImportResult> {
  const folder = join(framesIn(dir), 'work');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${seriesName(key).replaceAll(' ', '-')}.${key.kind === 'depth' ? 'jsonl' : 'csv'}`);
  writeFileSync(path, text);
  const before = readManifest(dir, key)?.months.at(-1)?.to;
  const holes = unseen.flatMap(({ from = before, to }): [number, number][] =>
    from !== undefined && from < to ? [[from, to]] : [],
  );
  try {
    const options = {
      dir,
      ...key,
      source,
      endStamps: false,
      repair: new Set<never>(),
      replace: false,
      acceptJumps: true,
    };
    return await importFile(path, { ...options, now: systemClock.now(), ...(key.kind !== 'klines' && { holes }) });
  } finally {
    rmSync(path, { force: true });
  }
}
