/** Runs over columns that are told of as they go on, and end where they are told to, with what they have. */

import { fastRun } from '../../fast/run.ts';
import type { Pace } from '../../pace.ts';
import { type RunInput, type RunResult, spanOf } from '../../run.ts';
import type { Told } from './strategy-cursor.ts';

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

/** Klines between two looks at whether to go on: a strategy of a microsecond takes 4 ms for them, and a look costs as much as a few. */
const everyKlines = 4_096;

/** What `runColumns` gives; the long way is loaded where it is gone, since most runs go the short one. */
export async function runPaced(input: RunInput, pace: Pace = () => Promise.resolve(false)): Promise<RunResult> {
  const { of } = spanOf(input.series);
  const short = fastRun(input);
  const came = short === undefined ? undefined : await walked(short, pace, of);
  const result = came ?? (await walked(await longLoop(input, short?.told), pace, of));
  if (result === undefined) throw new Error('the long way can always go on');
  return input.rules.closeAtEnd ? (await import('../end-close.ts')).closedAtEnd(input, result) : result;
}

async function longLoop(input: RunInput, told?: Told): Promise<Loop> {
  const [{ KlineEngine }, { lastClose }] = await Promise.all([import('./engine.ts'), import('./series-walk.ts')]);
  const run = new KlineEngine(input, told);
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
