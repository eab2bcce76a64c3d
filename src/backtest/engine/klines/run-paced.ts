/** Runs over klines that report how far they are, and end where they are told to, with what they have. */

import { fastRun } from '../../fast/run.ts';
import { type RunInput, type RunResult, spanOf } from '../../run.ts';
import type { Told } from './strategy-cursor.ts';

/** A run that goes on when it is told to. */
interface Loop {
  /** Klines that are done, of all series, and the last close among them, UTC ms. */
  readonly done: number;
  readonly closedAt: number;
  /** Goes on for so many klines; where it cannot, nothing of it counts. */
  advance(klines: number): 'more' | 'through' | 'cannot';
  /** Waits for what strategies still have to say. */
  finish?(): Promise<void>;
  /** What it came to; `endedAt` where it was told to end before its time. */
  result(endedAt?: number): RunResult;
}

/** Klines between two looks at whether to go on: a strategy of a microsecond takes 4 ms for them, and a look costs as much as a few. */
const everyKlines = 4_096;

/** Runs it; the full engine is loaded where it is needed. `isSilent`: streams that are not recorded stay silent. */
export async function runPaced(input: RunInput, isSilent = false): Promise<RunResult> {
  const short = fastRun(input);
  const came = short === undefined ? undefined : await walked(short, input);
  const result = came ?? (await walked(await longLoop(input, isSilent, short?.told), input));
  if (result === undefined) throw new Error('the full engine can always go on');
  return input.rules.closeAtEnd ? (await import('../end-close.ts')).closedAtEnd(input, result) : result;
}

async function longLoop(input: RunInput, isSilent: boolean, told: Told | undefined): Promise<Loop> {
  const [{ KlineEngine }, { lastClose }] = await Promise.all([import('./engine.ts'), import('./series-walk.ts')]);
  const run = new KlineEngine(input, { told, isSilent });
  return {
    get done() {
      return run.walks.reduce((sum, { row, series }) => sum + row - series.first, 0);
    },
    get closedAt() {
      return lastClose(run.walks);
    },
    advance: (klines) => run.advance(klines),
    finish: () => run.finish(),
    result: (endedAt) => run.result(endedAt),
  };
}

async function walked(loop: Loop, { pace, series }: RunInput): Promise<RunResult | undefined> {
  const { of } = spanOf(series);
  for (;;) {
    const came = loop.advance(pace === undefined ? Number.POSITIVE_INFINITY : everyKlines);
    if (came === 'cannot') return undefined;
    const isEnded = came === 'more' && (await pace?.(loop.done, of)) === true;
    if (came === 'more' && !isEnded) continue;
    await loop.finish?.();
    return isEnded ? loop.result(loop.closedAt) : loop.result();
  }
}
