/** A grid as one HTML file. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Prepared } from '../../backtest/prepare/prepare.ts';
import { endsOf } from '../../backtest/run.ts';
import { type CodeVersion, sha256 } from '../../backtest/runs/identity.ts';
import { writeWhole } from '../../backtest/runs/keep.ts';
import { axisNames } from '../../backtest/search/axes.ts';
import { hasRun } from '../../backtest/search/outcome.ts';
import { overfittingTexts } from '../../backtest/search/overfitting.ts';
import { units, unitsNumber } from '../../domain/money.ts';
import { gridText } from '../../report/grid.ts';
import { fewText, findIn, type GridResult, stoppedText } from './show.ts';

interface Of {
  readonly file: string;
  readonly set: readonly string[];
  readonly code: readonly CodeVersion[];
  readonly prepared: Pick<Prepared, 'input' | 'warnings' | 'dataHashes'>;
}

/** Writes it, whole or not at all. */
export function writeGridReport(
  path: string,
  result: GridResult,
  { file, set, code, prepared: { input, warnings, dataHashes } }: Of,
): void {
  const { axes, sets, outcomes, tries, asset, klines, doubt } = result;
  const times = endsOf(input.series);
  const configuration = readFileSync(file, 'utf8');
  const found = findIn(result);
  const text = gridText({
    title: `Grid · ${resolve(file).replace(/^.*\//, '')}`,
    ...{ asset, klines, trials: tries, configuration },
    warnings: [...warnings, ...stoppedText(result, found.best).map((text) => `Stopped: ${text}.`)],
    ...found,
    doubts: found.best === undefined ? [] : overfittingTexts(doubt),
    notRanked: fewText(result),
    from: Math.min(...times),
    to: Math.max(...times),
    axes: axisNames(axes).map((name, index) => ({ name, values: axes[index]?.values.map(String) ?? [] })),
    sets: sets.map((set, index) => {
      const one = outcomes[index];
      const values = set.map(String);
      return hasRun(one) ? { values, ran: { ...one, finalEquity: unitsNumber(units(one.finalEquity)) } } : { values };
    }),
    provenance: [
      ['Configuration', `${resolve(file)}${set.map((one) => ` --set ${one}`).join('')}`],
      ['Configuration SHA-256', sha256(configuration)],
      ...code.map(({ strategy, use, sha256: of }): [string, string] => [`Code of ${strategy}`, `${use} ${of}`]),
      ...Object.entries(dataHashes).map(([symbol, of]): [string, string] => [`Data of ${symbol}`, of]),
    ],
  });
  writeWhole(resolve(path), [text]);
}
