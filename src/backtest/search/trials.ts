/** The parameter sets of a grid as trials, and their line in the ledger. */
import { machineWall } from '../../clock/clock.ts';
import type { BacktestConfig } from '../../config/schema.ts';
import { countTrials, type Trial } from '../../research/significance/trials.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { type CodeVersion, dailyRatio, ledgerLine, trialHash } from '../runs/identity.ts';
import { appendToLedger, readLedger } from '../runs/store.ts';
import { type Axis, type ParameterSet, paramsIn } from './axes.ts';
import { hasRun, type Outcome } from './outcome.ts';

interface Ledger {
  /** Where trials are written; nowhere when left out. */
  readonly runs?: string;
  /** Where earlier trials are. */
  readonly ledger?: string;
  readonly say: (line: string) => void;
}

interface Tried {
  readonly prepared: Prepared;
  readonly config: BacktestConfig;
  readonly code: readonly CodeVersion[];
  readonly axes: readonly Axis[];
  readonly sets: readonly ParameterSet[];
  readonly outcomes: readonly (Outcome | undefined)[];
}

/** How many trials the best of a grid is the best of. One line gets those that the ledger does not have with these settings. */
export function countGridTrials({ runs, ledger = runs, say }: Ledger, tried: Tried): number {
  const trials = trialsOf(tried);
  if (ledger === undefined) return trials.length;
  const { prepared, config, code } = tried;
  const line = ledgerLine(prepared.input, config, code, trials);
  const before = readLedger(ledger, say);
  const known = new Set(
    before.filter(({ settings }) => settings === line.settings).flatMap((one) => one.trials.map(([hash]) => hash)),
  );
  const fresh = trials.filter(([hash]) => !known.has(hash));
  if (runs !== undefined && fresh.length > 0) appendToLedger(runs, machineWall(), { ...line, trials: fresh });
  return countTrials(before, line).count;
}

/** Each set that ran, as the trial of a single run with its parameters. */
function trialsOf({ prepared, code, axes, sets, outcomes }: Tried): readonly Trial[] {
  const { input, dataHashes } = prepared;
  return sets.flatMap((set, index): readonly Trial[] => {
    const outcome = outcomes[index];
    if (!hasRun(outcome)) return [];
    const hosted = input.hosted.map((one) => ({ ...one, params: { ...one.params, ...paramsIn(axes, one.id, set) } }));
    return [[trialHash({ ...input, hosted }, dataHashes, code), dailyRatio(outcome.sharpe)]];
  });
}
