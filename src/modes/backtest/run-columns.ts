/** Runs over columns: in short numbers where that is possible, else the long way; the rows are the same. */

import type { Pace } from '../pace.ts';
import { ColumnRun } from './column-run.ts';
import { lastClose } from './column-walk.ts';
import { closedAtEnd } from './end-close.ts';
import { type RunInput, type RunResult, spanOf } from './run.ts';
import { shortRun } from './short-run.ts';

/** A run that goes on when it is told to. */
interface Loop {
  /** Klines that are done, of all series, and the last close among them, UTC ms. */
  readonly done: number;
  readonly closedAt: number;
  /** Goes on for so many klines; where it cannot, nothing of it counts. */
  advance(klines: number): 'more' | 'through' | 'cannot';
  /** What it came to; `endedAt` where it was told to end before its time. */
  result(endedAt?: number): RunResult;
}

export function runColumns(input: RunInput): RunResult {
  const short = shortRun(input);
  const isShort = short?.advance(Number.POSITIVE_INFINITY) === 'through';
  return closedAtEnd(input, isShort ? short.result() : runLong(input));
}

/** With every rule asked, and every amount exact whatever its size. */
export function runLong(input: RunInput): RunResult {
  const run = new ColumnRun(input);
  run.advance(Number.POSITIVE_INFINITY);
  return run.result();
}

/** Klines between two looks at whether to go on: a strategy of a microsecond takes 4 ms for them, and a look costs as much as a few. */
const everyKlines = 4_096;

/** The same, told of as it goes on; it ends where it is told to, with what it has. */
export async function runColumnsPaced(input: RunInput, pace: Pace): Promise<RunResult> {
  const { of } = spanOf(input.series);
  const short = shortRun(input);
  const came = short === undefined ? undefined : await walked(short, pace, of);
  return closedAtEnd(input, came ?? (await walked(longLoop(input), pace, of)) ?? runLong(input));
}

function longLoop(input: RunInput): Loop {
  const run = new ColumnRun(input);
  return {
    get done() {
      return run.walks.reduce((sum, { row, series }) => sum + row - series.first, 0);
    },
    get closedAt() {
      return lastClose(run.walks);
    },
    advance: (klines) => run.advance(klines),
    result: (endedAt) => run.result(endedAt),
  };
}

async function walked(loop: Loop, pace: Pace, of: number): Promise<RunResult | undefined> {
  for (;;) {
    const came = loop.advance(everyKlines);
    if (came !== 'more') return came === 'through' ? loop.result() : undefined;
    if (await pace(loop.done, of)) return loop.result(loop.closedAt);
  }
}
