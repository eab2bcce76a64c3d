/** The cells of a grid as trials: how many its best cell is the best of, and their line in the ledger. */

import { machineWall } from '../../clock/clock.ts';
import type { BacktestConfig } from '../../config/schema.ts';
import { yearDays } from '../../research/ratios.ts';
import { familyOf, type Try, triesOf } from '../../research/significance/trials.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { endsOf } from '../run.ts';
import { type CodeVersion, settingsHash, sha256, trialOf } from '../runs/identity.ts';
import { noteTry, readTries } from '../runs/store.ts';
import type { Axis, Cell } from './axes.ts';
import { hasRun, type Outcome } from './outcome.ts';

interface Ledger {
  /** Where trials are noted; nowhere when left out. */
  readonly runs?: string;
  /** Where they were noted before. */
  readonly ledger?: string;
  readonly say: (line: string) => void;
}

interface Tried {
  readonly prepared: Prepared;
  readonly config: BacktestConfig;
  readonly code: readonly CodeVersion[];
  readonly axes: readonly Axis[];
  readonly cells: readonly Cell[];
  readonly outcomes: readonly (Outcome | undefined)[];
}

/** How many trials the best of a grid is the best of. Those that the ledger does not have with these settings are noted, in one line. */
export function countTries({ runs, ledger = runs, say }: Ledger, tried: Tried): number {
  const trials = trialsOf(tried);
  if (ledger === undefined) return trials.length;
  const { prepared, config, code } = tried;
  const { input } = prepared;
  const times = endsOf(input.series);
  const settings = settingsHash(config, input);
  const line = (those: typeof trials): Try => ({
    hash: sha256(JSON.stringify([settings, those.map(([trial]) => trial).toSorted()])),
    settings,
    family: familyOf(code.map(({ use }) => use)),
    symbols: input.series.map(({ symbol }) => symbol),
    from: Math.min(...times),
    to: Math.max(...times),
    sharpe: null,
    trials: those,
  });
  const before = readTries(ledger, say);
  const noted = new Set(
    before
      .filter((one) => one.settings === settings)
      .flatMap((one) => one.trials?.map(([trial]) => trial) ?? one.trial ?? []),
  );
  const fresh = trials.filter(([trial]) => !noted.has(trial));
  if (runs !== undefined && fresh.length > 0) noteTry(runs, machineWall(), line(fresh));
  return triesOf(before, line(trials)).count;
}

/** Each cell that ran: the trial that a run of it alone is, and its ratio of one day. */
function trialsOf({ prepared, code, axes, cells, outcomes }: Tried): NonNullable<Try['trials']> {
  const { input, dataHashes } = prepared;
  return cells.flatMap((cell, index) => {
    const outcome = outcomes[index];
    if (!hasRun(outcome)) return [];
    const hosted = input.hosted.map((one) => {
      const own = axes.flatMap(({ strategy, param }, axis) => (strategy === one.id ? [[param, cell[axis]]] : []));
      return { ...one, params: { ...one.params, ...Object.fromEntries(own) } };
    });
    const sharpe = outcome.sharpe === null ? null : outcome.sharpe / Math.sqrt(yearDays);
    return [[trialOf({ ...input, hosted }, dataHashes, code), sharpe] as const];
  });
}
