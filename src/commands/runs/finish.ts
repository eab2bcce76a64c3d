/** What becomes of a finished backtest besides its table: CSV, report, the kept run, the count of tries. */
import { resolve } from 'node:path';
import type { Prepared } from '../../backtest/prepare/prepare.ts';
import type { Summarised } from '../../backtest/result/summary.ts';
import type { RunResult } from '../../backtest/run.ts';
import { type CodeVersion, codeVersions, runHash, runLine } from '../../backtest/runs/identity.ts';
import { fewStops, fillsTextOf, idOf, keep, keptOf, writeCsv, writeWhole } from '../../backtest/runs/keep.ts';
import { readLedger } from '../../backtest/runs/store.ts';
import { machineWall } from '../../clock/clock.ts';
import type { BacktestConfig } from '../../config/schema.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Measured } from '../../research/metrics.ts';
import { countTrials, type TrialCount } from '../../research/significance/trials.ts';

interface Ended {
  readonly file: string;
  readonly config: BacktestConfig;
  readonly set: readonly string[];
  readonly sluice?: string;
  readonly runs?: string;
  readonly ledger?: string;
  readonly report?: string | true;
  readonly csv?: string;
  readonly json: boolean;
  readonly prepared: Prepared;
  /** As it was before the run was stopped: what was tried is the same try. */
  readonly whole: Prepared;
  readonly result: RunResult;
  readonly say: (line: string) => void;
}

export interface RunSaver {
  /** How many trials the run is one of; called while the summary is made. */
  readonly trials: (measured: Measured) => TrialCount;
  /** What it was made of, as hashes. */
  readonly identity: () => { readonly hash: string; readonly code: readonly CodeVersion[] };
  /** Writes what was asked for; the table is out already, so that nobody waits for it. */
  readonly finish: (summarised: Summarised) => Promise<void>;
}

export function saveRun(ended: Ended): RunSaver {
  const { file, config, whole, runs, ledger = runs, report, csv, json, say } = ended;
  const isWanted = runs !== undefined || report !== undefined || csv !== undefined;
  const code = isWanted || json || ledger !== undefined ? codeVersions(config, file) : [];
  const at = machineWall();
  return {
    trials(measured) {
      if (ledger === undefined) return { count: 1, variance: undefined };
      return countTrials(readLedger(ledger, say), runLine(whole, config, code, measured));
    },
    identity: () => ({ hash: runHash(whole, config, code), code }),
    async finish(summarised) {
      if (!isWanted) return;
      const line = runLine(whole, config, code, summarised.measured);
      const hash = runHash(whole, config, code);
      const fillsText = fillsTextOf({ ...ended, summarised });
      const finished = { ...ended, sluice: ended.sluice ?? '', at, summarised, code, hash, line, fillsText };
      const refusals = [
        csv === undefined
          ? undefined
          : refusalOf(() => say(`${writeCsv(csv, finished).join(', ')} written to ${resolve(csv)}`)),
      ];
      if (runs !== undefined) keepOrSay(runs, finished, say);
      if (report !== undefined) {
        const { reportOfRun } = await import('../../backtest/runs/report-input.ts');
        const path = resolve(report === true ? `${idOf(finished)}.html` : report);
        const text = reportOfRun(keptOf(finished), finished, fewStops(finished));
        refusals.push(refusalOf(() => writeWhole(path, [text])));
        if (refusals.at(-1) === undefined) say(`report: ${path}`);
      }
      const faults = refusals.flatMap((one) => one ?? []);
      if (faults.length > 0) throw new Refusal(faults.join('\n'), 1);
    },
  };
}

/** What cannot be written, in words; what else is to be written or kept has nothing to do with it. */
function refusalOf(write: () => void): string | undefined {
  try {
    write();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

/** A result that is on the screen is not lost because a disk is full. */
function keepOrSay(runs: string, finished: Parameters<typeof keep>[1], say: (line: string) => void): void {
  try {
    keep(runs, finished);
    say(`kept as ${idOf(finished)}: sluice report ${idOf(finished)} -o report.html`);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    say(
      `note: the run is not kept: ${error instanceof Error ? error.message : String(error)} (--no-save does not try)`,
    );
  }
}
