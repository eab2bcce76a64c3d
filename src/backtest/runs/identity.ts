/** Hashes of everything that a result depends on: equal hashes give equal results. */
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type { BacktestConfig } from '../../config/schema.ts';
import type { Measured } from '../../research/metrics.ts';
import { yearDays } from '../../research/ratios.ts';
import { familyOf, type LedgerLine, type Trial } from '../../research/significance/trials.ts';
import { codeHash } from '../../strategy/code-version.ts';
import { isPath } from '../../strategy/load.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { endsOf, type RunInput } from '../run.ts';

export interface CodeVersion {
  readonly strategy: string;
  /** The name of a shipped strategy, or the path of a file from the configuration's folder, such as `./breakout.ts`. */
  readonly use: string;
  readonly sha256: string;
}

/** BigInts are amounts; as text they keep their digits. */
export const plain = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner));

export function sha256(...pieces: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}

/** The hashes of code and data, for a table. */
export const hashRows = (code: readonly CodeVersion[], dataHashes: Prepared['dataHashes']) => [
  ...code.map(({ strategy, use, sha256: of }) => [`Code of ${strategy}`, `${use} ${of}`] as const),
  ...Object.entries(dataHashes).map(([symbol, of]) => [`Data of ${symbol}`, of] as const),
];

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

/** Keys of a configuration that choose data and strategies. All others are settings. */
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

/** The trial of a run: code, parameters and data. A run that differs only in its settings is the same trial. */
export const trialHash = (
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

/** A grid writes one for each of its parameter sets: sixteen digits are enough. */
const shortHash = (text: string): string => sha256(text).slice(0, 16);

/** The hash of code, parameters, settings and data: equal hashes are the same run. */
export function runHash({ input, dataHashes }: Prepared, config: BacktestConfig, code: readonly CodeVersion[]): string {
  const { data: _, catalogue: __, instruments: ___, ...all } = config;
  // With the path of the code, so that the spelling in the configuration does not count.
  const strategies = all.strategies.map((one, index) => ({ ...one, use: code[index]?.use }));
  const hashes = { code: code.map((one) => one.sha256), dataHashes };
  return sha256(plain({ config: { ...all, strategies }, ...hashes, fees: input.fees, times: endsOf(input.series) }));
}

export function ledgerLine(
  input: RunInput,
  config: BacktestConfig,
  code: readonly CodeVersion[],
  trials: readonly Trial[],
): LedgerLine {
  const times = endsOf(input.series);
  return {
    settings: settingsHash(config, input),
    family: familyOf(code.map(({ use }) => use)),
    symbols: input.series.map(({ symbol }) => symbol),
    from: Math.min(...times),
    to: Math.max(...times),
    trials,
  };
}

export const runLine = (
  { input, dataHashes }: Prepared,
  config: BacktestConfig,
  code: readonly CodeVersion[],
  { metrics }: Pick<Measured, 'metrics'>,
): LedgerLine => ledgerLine(input, config, code, [[trialHash(input, dataHashes, code), dailyRatio(metrics.sharpe)]]);

/** The Sharpe ratio of one day, from a yearly one. */
export const dailyRatio = (yearly: number | null): number | null =>
  yearly === null ? null : yearly / Math.sqrt(yearDays);
