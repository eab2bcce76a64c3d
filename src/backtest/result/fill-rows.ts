/** The fills of a backtest, for `backtest --json` and `backtest()`. */
import type { Instrument } from '../../domain/instrument.ts';
import { fillRow } from '../../journal/fill-entries.ts';
import { fillJson } from '../../trading/format.ts';
import type { BacktestFill } from '../options.ts';
import type { RunInput, RunResult } from '../run.ts';

/** Oldest first. */
export const fillRows = (
  { fills }: Pick<RunResult, 'fills'>,
  instruments: RunInput['instruments'],
): readonly BacktestFill[] =>
  fills.map((fill) => ({
    ...fillJson(fillRow(fill, instruments.get(fill.symbol) as Instrument)),
    ...{ maker: fill.maker, evidence: fill.evidence ?? null },
  }));
