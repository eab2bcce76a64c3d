/** From a run, just finished or saved, to its report. */

import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseSetting, readConfig } from '../../config/read.ts';
import { backtestSchema } from '../../config/schema.ts';
import { instrument } from '../../domain/instrument.ts';
import { rowAt } from '../../domain/market.ts';
import { units } from '../../domain/money.ts';
import type { Fill } from '../../domain/order.ts';
import { Refusal } from '../../domain/refusal.ts';
import { grouped } from '../../domain/words.ts';
import { momentText, shareText } from '../../report/figures.ts';
import type { ReportInput, ReportSeries, StopLevel } from '../../report/input.ts';
import { reportText } from '../../report/report.ts';
import { converted } from '../../research/currency-rates.ts';
import { walkEquity } from '../../research/equity-walk.ts';
import { fillTable } from '../../research/fill-table.ts';
import { marketCurves } from '../../research/market-curves.ts';
import type { RoundTripTable } from '../../research/round-trip-table.ts';
import { roundTripsOf, roundTripTable } from '../../research/round-trips.ts';
import { type Prepared, prepare } from '../prepare/prepare.ts';
import { indicatorsOf } from '../result/report-indicators.ts';
import { equityInput } from '../result/summary.ts';
import type { RunResult } from '../run.ts';
import { type CodeVersion, codeVersions, hashRows, sha256 } from './identity.ts';
import type { Finished } from './keep.ts';
import { readEquityCsv, readFillsCsv, readStopsCsv } from './rows.ts';
import { type KeptRun, readRun, readRunFile } from './store.ts';

/** `isChosen`: strategies whose code is still that of the run. */
const seriesOf = ({ input }: Prepared, isChosen?: (strategy: string) => boolean): readonly ReportSeries[] =>
  input.series.map((one) => {
    const at = input.instruments.get(one.symbol);
    if (at === undefined) throw new Error(`${one.symbol} has no instrument`);
    const { pricePrecision, quantityPrecision, base } = at;
    return { ...one, pricePrecision, quantityPrecision, base, indicators: indicatorsOf(input, one, isChosen) };
  });

function detailOf(fill: Fill | undefined): string {
  if (fill?.evidence === undefined) return '';
  const { rule: _, ambiguous: __, eventSeq, queueAhead, participation, dayShare, unmoved, ...more } = fill.evidence;
  return [
    ...(eventSeq === undefined ? [] : [`event ${grouped(eventSeq)}`]),
    ...(queueAhead === undefined ? [] : [`${queueAhead} ahead in the queue`]),
    ...(participation === undefined ? [] : [`${shareText(participation)} of the available quantity`]),
    ...(dayShare === undefined ? [] : [`${shareText(dayShare)} of a usual day`]),
    ...(unmoved === undefined ? [] : [`price of a small order: ${unmoved}`]),
    ...Object.entries(more).map(([name, value]) => `${name} ${String(value)}`),
  ].join(', ');
}

function provenanceOf(run: KeptRun): ReportInput['provenance'] {
  const { id, at, sluice, node, configuration, code, hash, fillsSha256, summary } = run;
  return [
    ['Run', id],
    ['Ran at', `${momentText(at)} UTC, Sluice ${sluice || '?'}, Node ${node}`],
    ['Configuration', `${configuration.file}${configuration.set.map((one) => ` --set ${one}`).join('')}`],
    ['Configuration SHA-256', configuration.sha256],
    ...hashRows(code, summary.dataHashes),
    ['Fills', fillsSha256],
    ['Everything', hash],
  ];
}

const titleOf = ({ code, configuration }: KeptRun): string =>
  `${[...new Set(code.map(({ strategy }) => strategy))].join(', ')} · ${basename(configuration.file).replace(/\.ya?ml$/, '')}`;

interface Given
  extends Pick<
    ReportInput,
    'table' | 'series' | 'missing' | 'stops' | 'days' | 'chart' | 'profitByMarket' | 'configuration'
  > {
  readonly trips: RoundTripTable;
  readonly fillAt: (index: number) => Fill | undefined;
}

const textOf = (run: KeptRun, { fillAt, trips, ...given }: Given): string =>
  reportText({
    ...given,
    trips: roundTripsOf(trips),
    open: trips.open,
    title: titleOf(run),
    asset: run.asset,
    summary: run.summary,
    detail: (fill) => detailOf(fillAt(fill)),
    tookMore: (fill) => (fillAt(fill)?.evidence?.participation ?? 0) > 1,
    provenance: provenanceOf(run),
  });

/** Of a run whose klines and fills are still in memory. */
export function reportOfRun(
  run: KeptRun,
  { prepared, summarised, result, file }: Finished,
  stops: readonly StopLevel[],
): string {
  const { walked, trips, fills } = summarised.measured;
  return textOf(run, {
    ...{ table: fills, trips, days: walked.days, chart: walked.chart, stops, missing: undefined },
    profitByMarket: marketCurves(
      equityInput(prepared.input, fills, result.cashFlows, run.summary.margin?.charges),
      walked.chart.time,
    ),
    series: seriesOf(prepared),
    fillAt: result.fillAt ?? ((index) => result.fills[index]),
    configuration: readFileSync(file, 'utf8'),
  });
}

/** Without the klines after the end of a run that was stopped. */
function upToItsEnd(prepared: Prepared, { summary }: KeptRun): Prepared {
  const series = prepared.input.series.map((one) => ({
    ...one,
    end: Math.max(one.first + 1, Math.min(one.end, rowAt(one.columns.openTime, summary.to + 1))),
  }));
  return { ...prepared, input: { ...prepared.input, series } };
}

interface Klines {
  readonly prepared: Prepared;
  /** As it is now. */
  readonly code: readonly CodeVersion[];
}

/** The klines of a saved run, or why they are not available. */
async function klinesOf(folder: string, run: KeptRun): Promise<Klines | string> {
  const { file, set } = run.configuration;
  if (!existsSync(file)) return `The configuration ${file} no longer exists, so the klines are not shown.`;
  try {
    const settings = set.map(parseSetting);
    const config = readConfig(join(folder, 'configuration.yaml'), backtestSchema, settings);
    const prepared = await prepare(join(dirname(file), basename(file)), config, settings);
    const changed = Object.entries(run.summary.dataHashes).filter(([symbol, of]) => prepared.dataHashes[symbol] !== of);
    return changed.length === 0
      ? { prepared: upToItsEnd(prepared, run), code: codeVersions(config, file) }
      : `The data of ${changed.map(([symbol]) => symbol).join(', ')} have changed since this run, so its klines are not shown.`;
  } catch (error) {
    if (error instanceof Refusal) return `The klines can no longer be read: ${error.message}`;
    throw error;
  }
}

const flowsOf = ({ summary }: KeptRun): RunResult['cashFlows'] =>
  summary.cashFlows.map((row) => ({ ...row, amount: units(row.amount), refused: row.refused ?? undefined }));

/** Of a saved run, with its klines where they have not changed. */
export async function reportOfKept(folder: string): Promise<string> {
  const run = readRun(folder);
  const instruments = new Map(run.instruments.map((one) => [one.symbol, instrument(one)]));
  const fillsText = readRunFile(folder, 'fills.csv') ?? '';
  if (sha256(fillsText) !== run.fillsSha256)
    throw new Refusal(`${folder}/fills.csv was changed since this run: run the backtest again`, 1);
  const fills = readFillsCsv(fillsText, instruments);
  const table = fillTable(fills, instruments);
  const found = await klinesOf(folder, run);
  const saved = {
    fillAt: (index: number) => fills[index],
    stops: readStopsCsv(readRunFile(folder, 'stops.csv') ?? ''),
    configuration: readRunFile(folder, 'configuration.yaml') ?? '',
  };
  if (typeof found === 'string') {
    const days = readEquityCsv(readRunFile(folder, 'equity.csv') ?? '');
    const trips = roundTripTable(table, [], instruments);
    return textOf(run, { ...saved, table, trips, series: [], missing: found, days, chart: days });
  }
  const { prepared, code } = found;
  const isUnchanged = (strategy: string): boolean =>
    code.find((one) => one.strategy === strategy)?.sha256 === run.code.find((one) => one.strategy === strategy)?.sha256;
  const input = equityInput(prepared.input, table, flowsOf(run), run.summary.margin?.charges);
  const { days, chart } = walkEquity(input);
  const shown = input.rates === undefined ? table : converted(table, input.rates);
  const trips = roundTripTable(shown, input.series, instruments);
  return textOf(run, {
    ...saved,
    table: shown,
    trips,
    series: seriesOf(prepared, isUnchanged),
    missing: undefined,
    days,
    chart,
    profitByMarket: marketCurves(input, chart.time),
  });
}
