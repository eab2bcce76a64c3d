/** From a run, just finished or kept, to its report. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSetting, readConfig } from '../../config/read.ts';
import { backtestSchema } from '../../config/schema.ts';
import { rowAt } from '../../data/klines.ts';
import { instrument } from '../../domain/instrument.ts';
import { units } from '../../domain/money.ts';
import type { Fill } from '../../domain/order.ts';
import { Refusal } from '../../domain/refusal.ts';
import { grouped, momentText, shareText } from '../../report/figures.ts';
import type { ReportInput, ReportSeries, StopLevel } from '../../report/input.ts';
import { reportText } from '../../report/report.ts';
import { converted } from '../../research/currency-rates.ts';
import type { Walked } from '../../research/equity-walk.ts';
import { walk } from '../../research/equity-walk.ts';
import { fillTable } from '../../research/fill-table.ts';
import { tripsOf, tripTable } from '../../research/trips.ts';
import { type Prepared, prepare } from '../prepare/prepare.ts';
import { walkableOf } from '../result/summary.ts';
import type { RunResult } from '../run.ts';
import { sha256 } from './identity.ts';
import type { Finished } from './keep.ts';
import { readEquityCsv, readFillsCsv, readStopsCsv } from './rows.ts';
import { type KeptRun, readRun, readRunFile } from './store.ts';

const seriesOf = ({ input }: Prepared): readonly ReportSeries[] =>
  input.series.map((one) => {
    const at = input.instruments.get(one.symbol);
    if (at === undefined) throw new Error(`${one.symbol} has no instrument`);
    const { pricePrecision, quantityPrecision, base } = at;
    return { ...one, pricePrecision, quantityPrecision, base };
  });

/** What the evidence of a fill says beyond its rule. */
const detailOf =
  (fillAt: Given['fillAt']) =>
  (index: number): string => {
    const evidence = fillAt(index)?.evidence;
    if (evidence === undefined) return '';
    const { rule: _, ambiguous: __, eventSeq, queueAhead, participation, dayShare, unmoved, ...more } = evidence;
    return [
      ...(eventSeq === undefined ? [] : [`event ${grouped(eventSeq)}`]),
      ...(queueAhead === undefined ? [] : [`${queueAhead} ahead in the queue`]),
      ...(participation === undefined ? [] : [`${shareText(participation)} of what was there`]),
      ...(dayShare === undefined ? [] : [`${shareText(dayShare)} of a usual day`]),
      ...(unmoved === undefined ? [] : [`a small order would have had ${unmoved}`]),
      ...Object.entries(more).map(([name, value]) => `${name} ${String(value)}`),
    ].join(', ');
  };

function provenanceOf(run: KeptRun): readonly (readonly [string, string])[] {
  const { id, at, sluice, node, configuration, code, hash, fillsSha256, summary } = run;
  return [
    ['Run', id],
    ['Ran at', `${momentText(at)} UTC, Sluice ${sluice || '?'}, Node ${node}`],
    ['Configuration', `${configuration.file}${configuration.set.map((one) => ` --set ${one}`).join('')}`],
    ['Configuration SHA-256', configuration.sha256],
    ...code.map(({ strategy, use, sha256: of }): [string, string] => [`Code of ${strategy}`, `${use} ${of}`]),
    ...Object.entries(summary.dataHashes).map(([symbol, of]): [string, string] => [`Data of ${symbol}`, of]),
    ['Fills', fillsSha256],
    ['Everything', hash],
  ];
}

const titleOf = ({ code, configuration }: KeptRun): string =>
  `${[...new Set(code.map(({ strategy }) => strategy))].join(', ')} · ${configuration.file.replace(/^.*\//, '').replace(/\.ya?ml$/, '')}`;

type Given = Pick<ReportInput, 'table' | 'trips' | 'open' | 'series' | 'missing' | 'stops'> & {
  readonly days: Walked['days'];
  readonly chart: Walked['chart'];
  readonly fillAt: (index: number) => Fill | undefined;
  readonly configuration: string;
};

const inputOf = (run: KeptRun, { fillAt, ...given }: Given): ReportInput => ({
  ...given,
  title: titleOf(run),
  asset: run.asset,
  summary: run.summary,
  detail: detailOf(fillAt),
  isMore: (fill) => (fillAt(fill)?.evidence?.participation ?? 0) > 1,
  provenance: provenanceOf(run),
  extra: [],
});

/** Of a run whose klines and fills are still in memory. */
export function reportOfRun(run: KeptRun, finished: Finished, stops: readonly StopLevel[]): string {
  const { prepared, summarised, result, file } = finished;
  const { walked, trips } = summarised.measured;
  return reportText(
    inputOf(run, {
      table: summarised.table,
      trips: tripsOf(trips),
      open: trips.open,
      days: walked.days,
      chart: walked.chart,
      series: seriesOf(prepared),
      missing: undefined,
      stops,
      fillAt: result.fillAt ?? ((index) => result.fills[index]),
      configuration: readFileSync(file, 'utf8'),
    }),
  );
}

/** Without the klines after its end: a run that was stopped did not see them. */
function seenBy(prepared: Prepared, { summary }: KeptRun): Prepared {
  const series = prepared.input.series.map((one) => ({
    ...one,
    end: Math.max(one.first + 1, Math.min(one.end, rowAt(one.columns.openTime, summary.to + 1))),
  }));
  return { ...prepared, input: { ...prepared.input, series } };
}

/** The klines of a kept run, or why they are not those any more. */
async function klinesAgain(folder: string, run: KeptRun): Promise<Prepared | string> {
  const { file, set } = run.configuration;
  if (!existsSync(file)) return `The configuration ${file} is gone, so the klines are not shown.`;
  try {
    const settings = set.map(parseSetting);
    const config = readConfig(join(folder, 'configuration.yaml'), backtestSchema, settings);
    const prepared = await prepare(join(dirname(file), file.replace(/^.*\//, '')), config, settings);
    const changed = Object.entries(run.summary.dataHashes).filter(([symbol, of]) => prepared.dataHashes[symbol] !== of);
    return changed.length === 0
      ? seenBy(prepared, run)
      : `The data of ${changed.map(([symbol]) => symbol).join(', ')} have changed since this run, so its klines are not shown.`;
  } catch (error) {
    if (error instanceof Refusal) return `The klines cannot be read any more: ${error.message}`;
    throw error;
  }
}

/** What moved beside trading, as the run wrote it down. */
const flowsOf = ({ summary }: KeptRun): RunResult['cashFlows'] =>
  summary.cashFlows?.map((row) => ({ ...row, amount: units(row.amount), refused: row.refused ?? undefined }));

/** Of a kept run: fills as they were written; klines as well, where they are still the same. */
export async function reportOfKept(folder: string): Promise<string> {
  const run = readRun(folder);
  const instruments = new Map(run.instruments.map((one) => [one.symbol, instrument(one)]));
  const fillsText = readRunFile(folder, 'fills.csv') ?? '';
  if (sha256(fillsText) !== run.fillsSha256)
    throw new Refusal(`${folder}/fills.csv is not what this run wrote: run the backtest again`, 1);
  const fills = readFillsCsv(fillsText, instruments);
  const table = fillTable(fills, instruments);
  const days = readEquityCsv(readRunFile(folder, 'equity.csv') ?? '');
  const found = await klinesAgain(folder, run);
  const given = {
    table,
    fillAt: (index: number) => fills[index],
    stops: readStopsCsv(readRunFile(folder, 'stops.csv') ?? ''),
    configuration: readRunFile(folder, 'configuration.yaml') ?? '',
  };
  if (typeof found === 'string') {
    const trips = tripTable(table, [], instruments);
    return reportText(
      inputOf(run, {
        ...given,
        trips: tripsOf(trips),
        open: trips.open,
        series: [],
        missing: found,
        days,
        chart: days,
      }),
    );
  }
  const { input } = found;
  const walkable = walkableOf(input, table, flowsOf(run), run.summary.margin?.charges);
  const walked = walk(walkable);
  const shown = walkable.rates === undefined ? table : converted(table, walkable.rates);
  const trips = tripTable(shown, input.series, instruments);
  return reportText(
    inputOf(run, {
      ...given,
      table: shown,
      trips: tripsOf(trips),
      open: trips.open,
      series: seriesOf(found),
      missing: undefined,
      days: walked.days,
      chart: walked.chart,
    }),
  );
}
