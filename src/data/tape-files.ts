/** Gaps of trades and depth that come from files, and the notes on them. */
import type { FeedGap } from '../domain/market.ts';
import { DepthChecks } from './check/depth.ts';
import { futureFinding } from './check/future-rows.ts';
import { type Gap, leastGap } from './check/quiet-periods.ts';
import { TradeChecks } from './check/trades.ts';
import {
  cutNotes,
  gapNotes,
  gapsWithin,
  type Notes,
  notesOf,
  rowsWithin,
  type Stretch,
  together,
} from './data-warnings.ts';
import type { DepthRows, TradeColumns } from './tape.ts';

const gapOf = (symbol: string, channel: 'trades' | 'depth', [from, to]: Gap): FeedGap => ({
  ...{ symbol, channel, from, to, cause: 'not in the recorded data', healed: false },
});

/** Silences too long for a quiet market, as the catalogue records them. */
export function silencesOf(symbol: string, { time }: TradeColumns): readonly FeedGap[] {
  const rows = time.length;
  if (rows === 0) return [];
  const least = leastGap('trades', (time[rows - 1] as number) - (time[0] as number), rows);
  const gaps: FeedGap[] = [];
  for (let row = 1; row < rows; row++) {
    const [from, to] = [time[row - 1] as number, time[row] as number];
    if (to - from >= least) gaps.push(gapOf(symbol, 'trades', [from, to]));
  }
  return gaps;
}

/** A file of trades or depth, and the stretch that the notes are about. */
export interface TapeFile extends Stretch {
  readonly name: string;
  /** Whether its last line has an end. */
  readonly ended?: boolean;
  /** The present, UTC ms. */
  readonly now: number;
}

/** What an import would find in the trades. */
export function tradeNotes(file: TapeFile, columns: TradeColumns, gaps: readonly FeedGap[]): Notes {
  const { time, price, quantity, side } = columns;
  const checks = new TradeChecks();
  return tapeNotes(file, checks, [time, price, quantity, side], () => gapsWithin(gaps, file));
}

/** What an import would find in the depth. */
export function depthNotes(file: TapeFile, symbol: string, rows: DepthRows): Notes {
  const { time, book, side, price, quantity } = rows;
  const checks = new DepthChecks();
  return tapeNotes(file, checks, [time, book, side, price, quantity], () =>
    checks.gaps.map((gap) => gapOf(symbol, 'depth', gap)),
  );
}

function tapeNotes(
  { name, ended = true, now, ...stretch }: TapeFile,
  checks: TradeChecks | DepthChecks,
  columns: readonly [time: Float64Array, ...Float64Array[]],
  gaps: () => readonly FeedGap[],
): Notes {
  const [time] = columns;
  const [first, end] = rowsWithin(time, stretch);
  checks.add(
    columns.map((column) => column.subarray(first, end)),
    end - first,
  );
  const found = [...checks.findings(), ...futureFinding(time[end - 1] ?? 0, undefined, now)];
  return together(gapNotes(name, gaps()), cutNotes(name, ended), notesOf(name, found));
}
