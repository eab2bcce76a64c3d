/** What a run was made of, as hashes: the same ones give the same result. */
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type { BacktestConfig } from '../../config/schema.ts';
import type { Measured } from '../../research/metrics.ts';
import { yearDays } from '../../research/ratios.ts';
import { familyOf, type Try } from '../../research/significance/trials.ts';
import { codeHash } from '../../strategy/code-version.ts';
import { isPath } from '../../strategy/load.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { endsOf, type RunInput } from '../run.ts';

export interface CodeVersion {
  readonly strategy: string;
  /** The name of a shipped one; a file by its path from the configuration's folder, however it is spelled there: `./breakout.ts`. */
  readonly use: string;
  readonly sha256: string;
}

/** BigInts are amounts; as text they keep their digits. */
const plain = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner));

export const sha256 = (text: string | Uint8Array): string => sha256Of([text]);

/** Of a text in pieces. */
export function sha256Of(pieces: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}

export function codeVersions(config: BacktestConfig, file: string): readonly CodeVersion[] {
  const dir = realpathSync(dirname(file));
  return config.strategies.map(({ id, use: spelled }) => {
    const use = isPath(spelled) ? pathFrom(dir, spelled) : spelled;
    return { strategy: id, use, sha256: codeHash(use, dir) };
  });
}

function pathFrom(dir: string, spelled: string): string {
  const path = relative(dir, realpathSync(resolve(dir, spelled)));
  return path.startsWith('..') ? path : `./${path}`;
}

/** Keys of a configuration that choose data and strategies: they make the trial. All others are settings. */
const trialKeys: ReadonlySet<string> = new Set<keyof BacktestConfig>([
  'data',
  'dataIntervals',
  'trades',
  'depth',
  'fidelity',
  'detail',
  'repair',
  'catalogue',
  'instruments',
  'from',
  'to',
  'strategies',
]);

/** Hash of all settings except code, parameters and data. Only Sharpe ratios with equal settings are compared. */
export const settingsHash = (config: BacktestConfig, { fees }: Pick<RunInput, 'fees'>): string => {
  const settings = Object.entries(config).filter(([key]) => !trialKeys.has(key));
  return shortHash(plain({ settings: Object.fromEntries(settings), fees }));
};

/** The trial that a run is: code, parameters and data. A run that differs in its settings alone is the same trial. */
export const trialOf = (
  { hosted, series }: Pick<RunInput, 'hosted' | 'series'>,
  dataHashes: Prepared['dataHashes'],
  code: readonly CodeVersion[],
): string =>
  shortHash(
    plain({
      strategies: hosted.map(({ symbol, interval, params }) => ({ symbol, interval, params })),
      code: code.map((one) => one.sha256),
      dataHashes,
      times: endsOf(series),
    }),
  );

/** A grid notes one for each of its cells: sixteen digits are enough. */
const shortHash = (text: string): string => sha256(text).slice(0, 16);

/** This run as a try: another one is the same run only if code, parameters, settings and data are. */
export function tryOf(
  { input, dataHashes }: Prepared,
  config: BacktestConfig,
  code: readonly CodeVersion[],
  { metrics }: Pick<Measured, 'metrics'>,
): Try {
  const times = endsOf(input.series);
  const { data: _, catalogue: __, instruments: ___, ...all } = config;
  // As the code has it: the same file spelled otherwise is no other try.
  const strategies = all.strategies.map((one, index) => ({ ...one, use: code[index]?.use }));
  const said = { ...all, strategies };
  const hash = sha256(plain({ said, code: code.map((one) => one.sha256), dataHashes, fees: input.fees, times }));
  return {
    hash,
    trial: trialOf(input, dataHashes, code),
    settings: settingsHash(config, input),
    family: familyOf(code.map(({ use }) => use)),
    symbols: input.series.map(({ symbol }) => symbol),
    from: Math.min(...times),
    to: Math.max(...times),
    sharpe: metrics.sharpe === null ? null : metrics.sharpe / Math.sqrt(yearDays),
  };
}
