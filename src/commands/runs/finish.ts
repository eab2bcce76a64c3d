/** Saves a finished backtest: CSV, report, the saved run, the count of trials. */
import { resolve } from 'node:path';
import type { Prepared } from '../../backtest/prepare/prepare.ts';
import type { Summarised } from '../../backtest/result/summary.ts';
import type { RunResult } from '../../backtest/run.ts';
import { codeVersions, runHash, runLine } from '../../backtest/runs/identity.ts';
import { fewStops, fillsTextOf, idOf, keep, keptOf, writeCsv, writeWhole } from '../../backtest/runs/keep.ts';
import { readLedger } from '../../backtest/runs/store.ts';
import { machineWall } from '../../clock/clock.ts';
import type { BacktestConfig } from '../../config/schema.ts';
import { causeOf, orRefusal, Refusal } from '../../domain/refusal.ts';
import type { Measured } from '../../research/metrics.ts';
import { countTrials, type TrialCount } from '../../research/significance/trials.ts';
import type { Output } from '../../terminal/output.ts';

/** What a backtest leaves beside what it prints. */
export interface KeepOptions extends Output {
  readonly set: readonly string[];
  /** Where runs are kept and tries are counted; nowhere when left out. */
  readonly runs?: string;
  /** Where tries were counted before, of a run that is not kept: it is judged by them and leaves none. */
  readonly ledger?: string;
  /** A report into this file; true: a file beside the kept run, or `grid.html`. */
  readonly report?: string | true;
  /** A folder for orders, fills, equity and stops as CSV. */
  readonly csv?: string;
  /** The version of the program, for the record. */
  readonly sluice?: string;
}

interface Ended extends KeepOptions {
  readonly file: string;
  readonly config: BacktestConfig;
  readonly prepared: Prepared;
  /** As it was before the run was stopped: what was tried is the same try. */
  readonly whole: Prepared;
  readonly result: RunResult;
}

export function saveRun(ended: Ended) {
  const { file, config, whole, runs, ledger = runs, report, csv, json, say } = ended;
  const isWanted = runs !== undefined || report !== undefined || csv !== undefined;
  const code = isWanted || json || ledger !== undefined ? codeVersions(config, file) : [];
  const at = machineWall();
  return {
    /** How many trials the run is one of; called while the summary is made. */
    trials: (measured: Measured): TrialCount => {
      if (ledger === undefined) return { count: 1, variance: undefined };
      return countTrials(readLedger(ledger, say), runLine(whole, config, code, measured));
    },
    /** What it was made of, as hashes. */
    identity: () => ({ hash: runHash(whole, config, code), code }),
    /** Writes what was asked for; the table is out already, so that nobody waits for it. */
    async finish(summarised: Summarised): Promise<void> {
      if (!isWanted) return;
      const line = runLine(whole, config, code, summarised.measured);
      const hash = runHash(whole, config, code);
      const fillsText = fillsTextOf({ ...ended, summarised });
      const finished = { ...ended, sluice: ended.sluice ?? '', at, summarised, code, hash, line, fillsText };
      const part = ended.result.endedAt === undefined ? '' : ' (of a part: the run was stopped)';
      // What cannot be written has nothing to do with what else is to be written or kept.
      const faults: string[] = [];
      const attempt = (write: () => void): void => {
        const refusal = orRefusal(write);
        if (refusal instanceof Refusal) faults.push(refusal.message);
      };
      if (csv !== undefined)
        attempt(() => say(`${writeCsv(csv, finished).join(', ')} written to ${resolve(csv)}${part}`));
      if (runs !== undefined) keepOrSay(runs, finished, say);
      if (report !== undefined) {
        const { reportOfRun } = await import('../../backtest/runs/report-input.ts');
        const path = resolve(report === true ? `${idOf(finished)}.html` : report);
        const text = reportOfRun(keptOf(finished), finished, fewStops(finished));
        attempt(() => {
          writeWhole(path, [text]);
          say(`report: ${path}${part}`);
        });
      }
      if (faults.length > 0) throw new Refusal(faults.join('\n'), 1);
    },
  };
}

/** A result that is on the screen is not lost because a disk is full. */
function keepOrSay(runs: string, finished: Parameters<typeof keep>[1], say: (line: string) => void): void {
  try {
    keep(runs, finished);
    say(`saved as ${idOf(finished)}: sluice report ${idOf(finished)} -o report.html`);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    say(`warning: the run is not saved: ${causeOf(error)} (--no-save skips this)`);
  }
}
