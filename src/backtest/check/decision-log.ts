/** The decision log of a strategy: its inputs and its signal after each kline, also where it emitted none. */
import { type Observable, tap } from 'rxjs';
import type { Interval } from '../../domain/interval.ts';
import type { Columns, Kline } from '../../domain/market.ts';
import type { Signal } from '../../domain/order.ts';
import { Refusal } from '../../domain/refusal.ts';
import { type Context, isDeciding, isStreaming, type Strategy } from '../../strategy/contract.ts';
import { isStrategyFault } from '../../strategy/fault.ts';
import { aggregatedKlines } from '../../strategy/larger-kline-stream.ts';
import { over } from '../../strategy/override.ts';
import type { Params } from '../../strategy/params.ts';
import { flatValues, type Values } from '../../strategy/values.ts';
import { runBacktest } from '../engines.ts';
import type { RunInput } from '../run.ts';

/** What was decided after one kline. */
export interface Line {
  /** Indicator values and the position, as text that keeps every bit; empty for streaming strategies. */
  readonly seen: Readonly<Record<string, string>>;
  /** As JSON; `null` without a signal. */
  readonly signal: string;
}

export interface DecisionLog {
  /** By row of the columns; undefined where the strategy was not asked. */
  readonly lines: readonly (Line | undefined)[];
  /** A row at which two calls with the same input gave different answers. */
  readonly unsteady: number | undefined;
}

/** The strategy of a check, and the series of its symbol. */
export function onlyOf({ hosted: [hosted], series: [series] }: RunInput) {
  if (hosted === undefined || series === undefined) throw new Error('a check runs one strategy');
  return { hosted, series };
}

/** How `seen` names the position. */
export const positionName = 'position';

export const sameLine = (a: Line | undefined, b: Line | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && a.signal === b.signal && sameSeen(a.seen, b.seen));

const sameSeen = (a: Line['seen'], b: Line['seen']): boolean =>
  Object.keys(a).every((name) => a[name] === b[name]) && Object.keys(b).length === Object.keys(a).length;

/**
 * Runs the one strategy of `input` over these columns, from row `first` on. `isInvented`: the klines are made up, so the strategy may throw,
 * which ends the log.
 */
export async function decisionLog(
  input: RunInput,
  columns: Columns,
  first: number,
  isInvented = false,
): Promise<DecisionLog> {
  const { hosted, series } = onlyOf(input);
  // A check is hundreds of runs; signals of the system arrive between them.
  if ((await input.pace?.(0, 1)) === true) throw new Refusal('stopped before the check was complete', 1);
  const rows = new Map(Array.from(columns.openTime, (time, row) => [time, row]));
  const lines = new Array<Line | undefined>(columns.openTime.length).fill(undefined);
  let unsteady: number | undefined;
  const note = (openTime: number, line: Line): void => {
    const row = rows.get(openTime);
    if (row === undefined) return;
    const before = lines[row];
    if (before !== undefined && !isStreaming(hosted.strategy) && !sameLine(before, line)) unsteady ??= row;
    lines[row] = line;
  };
  const strategy = noting(hosted.strategy, note);
  const run: RunInput = {
    ...input,
    hosted: [{ ...hosted, strategy }],
    series: [{ ...series, columns, gaps: [], first, end: columns.openTime.length }],
  };
  try {
    await runBacktest(run, 'silent');
  } catch (error) {
    if (!isInvented || !isStrategyFault(error)) throw error;
  }
  return { lines, unsteady };
}

function noting(strategy: Strategy, note: (openTime: number, line: Line) => void): Strategy {
  if (isStreaming(strategy))
    return over(strategy, {
      signals(context: Context<Params>) {
        let at = Number.NaN;
        let signals: string[] = [];
        const klines = context.klines.pipe(
          tap(({ openTime }) => {
            if (openTime !== at) signals = [];
            at = openTime;
            note(at, { seen: {}, signal: JSON.stringify(signals) });
          }),
        );
        const klinesOf = (larger: Interval): Observable<Kline> => aggregatedKlines(klines, context.interval, larger);
        return strategy.signals({ ...context, klines, klinesOf }).pipe(
          tap((signal) => {
            signals.push(JSON.stringify(signal));
            note(at, { seen: {}, signal: JSON.stringify(signals) });
          }),
        );
      },
    });
  if (!isDeciding(strategy)) throw new Error('a check runs strategies of one market');
  let last: string | undefined;
  return over(strategy, {
    decide(values: Values, moment: Parameters<typeof strategy.decide>[1]): Signal | undefined {
      const signal = strategy.decide(values, moment);
      const seen: Record<string, string> = { [positionName]: String(moment.holding.quantity) };
      for (const [name, value] of flatValues(values)) seen[name] = String(value);
      const text = JSON.stringify(signal ?? null);
      note(moment.kline.openTime, { seen, signal: text });
      // A second call where the signal changes: a strategy that keeps state may answer differently only there.
      if (signal !== undefined && text !== last)
        note(moment.kline.openTime, { seen, signal: JSON.stringify(strategy.decide(values, moment) ?? null) });
      last = text;
      return signal;
    },
  });
}
