/** From a configuration to a run that is ready to start: strategies, instruments, data. Every fault of these is a `Refusal`. */

import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { systemClock } from '../../clock/clock.ts';
import { catalogueOf, placesIn, readConfig, type Setting } from '../../config/read.ts';
import type { BacktestConfig } from '../../config/schema.ts';
import { shippedInstruments } from '../../config/shipped.ts';
import type { SeriesKey } from '../../data/catalogue/kinds.ts';
import { listSeries } from '../../data/catalogue/manifest.ts';
import { type StoredKlines, storedKlines } from '../../data/catalogue/run-data.ts';
import { findGaps } from '../../data/check/gaps.ts';
import { futureNotes, type Notes, rowsWithin, type Stretch, together } from '../../data/data-warnings.ts';
import { instrumentsSchema } from '../../data/instruments.ts';
import { givenKlines, loadKlines } from '../../data/klines.ts';
import { resampleTrades } from '../../data/resample.ts';
import type { Tape, TradeColumns } from '../../data/tape.ts';
import { aggregationFault } from '../../domain/aggregator.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { compareIntervals, type Interval, intervalMs, isWithin } from '../../domain/interval.ts';
import type { Columns } from '../../domain/market.ts';
import { rateNumber, type Units } from '../../domain/money.ts';
import { Refusal } from '../../domain/refusal.ts';
import { feesFrom } from '../../fill/rules.ts';
import { RateLine } from '../../research/currency-rates.ts';
import { standardLimits } from '../../risk/control-list.ts';
import { marketsOf } from '../../trading/lanes.ts';
import {
  allocationsOf,
  configure,
  type GivenStrategies,
  hostedOf,
  instrumentsFor,
  refuseAboveCash,
} from '../../trading/strategies.ts';
import { cashFlowsOf, refuseOutside } from '../engine/cash-flows.ts';
import { pairsOf, rateNote } from '../engine/currencies.ts';
import { type RunInput, type RunSeries, spanOf } from '../run.ts';
import { refuseOtherIntervals, rowsOf, shortFault, spanNotes, warmingOn } from './data-checks.ts';
import { finerOf } from './detail-klines.ts';
import { beginNotes, endNotes } from './ended-series.ts';
import { marginRulesOf, refuseOtherSymbols } from './exclusions.ts';
import { fileSymbolNotes } from './file-symbol.ts';
import { rulesOf } from './fill-rules.ts';
import type { Other } from './run-money.ts';
import { levelNotes } from './tape-levels.ts';
import { tapeOf, tapeWithin } from './tapes.ts';

/** A run that is ready to start, and the warnings about its data. */
export interface Prepared {
  readonly input: RunInput;
  readonly warnings: readonly string[];
  /** In short, the warnings that make a result doubtful. */
  readonly doubts?: readonly string[];
  /** SHA-256 of each data file, hex, by symbol. */
  readonly dataHashes: Readonly<Record<string, string>>;
}

/** Strategies, instruments and klines that code gives instead of files, by symbol. */
export interface Given extends GivenStrategies {
  readonly instruments?: ReadonlyMap<string, Instrument>;
  readonly klines: ReadonlyMap<string, Columns>;
}

/** The strategies and instruments of a configuration; every fault is a `Refusal`. */
export async function castOf(file: string, config: BacktestConfig, settings: readonly Setting[] = [], given?: Given) {
  const where = config.instruments === undefined ? shippedInstruments() : resolve(dirname(file), config.instruments);
  if (config.instruments !== undefined && !existsSync(where))
    throw new Refusal(`${file}: instruments: file ${where} does not exist: correct the path, or leave it out`);
  const available = [...(given?.instruments ?? readConfig(where, instrumentsSchema)).values()];
  const configured = await configure(config.strategies, file, settings, { available, where }, given);
  refuseOtherSymbols(file, config, given?.placeOf ?? placesIn(file, settings));
  const instruments = instrumentsFor(configured, available, where, true);
  const byCurrency = Map.groupBy(configured, ({ config: { symbol } }) => instruments.get(symbol)?.quote ?? '');
  const margin = marginRulesOf(file, config, instruments.values());
  const pairs = pairsOf(file, config, [...byCurrency.keys()], available);
  const cashOf = (quote: string): Units => config.currencies[quote]?.cash ?? config.cash;
  for (const [quote, some] of byCurrency) refuseAboveCash(some, cashOf(quote), quote);
  return {
    hosted: hostedOf(configured, instruments),
    instruments,
    allocations: [...byCurrency].flatMap(([quote, some]) => allocationsOf(some, cashOf(quote))),
    cashFlows: config.cashFlows.length > 0 ? cashFlowsOf(file, config, byCurrency) : undefined,
    /** Where strategies may borrow. */
    margin,
    /** The instrument whose closes are the rate of another currency, by asset; none where there is one currency. */
    pairs,
    rules: rulesOf(dirname(file), config),
  };
}

/** Who trades what, before any data are loaded. */
export type Cast = Awaited<ReturnType<typeof castOf>>;

/** A run of this cast over these klines. */
export const inputOf = (
  config: BacktestConfig,
  { hosted, instruments, allocations, rules, cashFlows, margin }: Cast,
  series: readonly RunSeries[],
): RunInput => ({
  account: config.account,
  ...{ hosted, instruments, allocations, rules },
  ...(cashFlows !== undefined && { cashFlows }),
  ...(margin !== undefined && { margin }),
  series,
  cash: config.cash,
  limits: {
    ...(config.risk.controls === 'all' ? standardLimits : {}),
    ...config.risk,
    ...(margin !== undefined && { maxLeverage: margin.maxLeverage }),
  },
  fees: {
    ...feesFrom(config.fees),
    ...(config.symbolFees !== undefined && { bySymbol: config.symbolFees }),
    ...(config.feeTiers !== undefined && { tiers: config.feeTiers }),
  },
});

/** Reads the strategies, instruments and data of a configuration; every fault is a `Refusal`. */
export const prepare = async (
  file: string,
  config: BacktestConfig,
  settings: readonly Setting[] = [],
): Promise<Prepared> => prepared(file, config, await castOf(file, config, settings));

/** The same with strategies that are read already; `given`: klines that need not be read. */
export async function prepared(file: string, config: BacktestConfig, cast: Cast, given?: Given): Promise<Prepared> {
  const dir = dirname(file);
  const { hosted, instruments } = cast;
  const warnings: string[] = [];
  const doubts: string[] = [];
  const note = (notes: Notes): void => {
    warnings.push(...notes.warnings);
    doubts.push(...notes.doubts);
  };
  const dataHashes: Record<string, string> = {};
  const series: RunSeries[] = [];
  const tapes = new Map<string, Tape>();
  for (const instrument of instruments.values()) {
    const { symbol } = instrument;
    const interval = smallestInterval(file, symbol, hosted, config.dataIntervals[symbol]);
    const recorded = await tapeOf(dir, config, instrument);
    const inMemory = given?.klines.get(symbol);
    const { where: source, loaded } = await klinesOf(dir, config, instrument, interval, recorded, inMemory);
    const { columns, gaps, stored } = loaded;
    const made = loaded.source === undefined ? {} : { source: loaded.source };
    const klines = { symbol, interval, openTime: columns.openTime, source, ...(stored !== undefined && { stored }) };
    refuseOtherIntervals(klines);
    const rows = rowsOf(config, klines);
    const { start, end } = spanOf([{ interval, columns, ...rows }]);
    const { tape, ...taped } = tapeWithin(config, symbol, recorded, { from: start, to: end });
    note(taped);
    note(loaded);
    if (tape !== undefined) {
      tapes.set(symbol, tape);
      for (const [kind, hash] of Object.entries(tape.hashes)) dataHashes[`${symbol} ${kind}`] = hash;
      warnings.push(...levelNotes({ symbol, interval, columns }, tape));
    }
    dataHashes[symbol] = loaded.sha256;
    const warming = warmingOn(hosted, symbol);
    const short = shortFault(klines, rows.end, warming);
    if (short !== undefined) throw new Refusal(short);
    warnings.push(...spanNotes(config, klines, rows, warming));
    const finer = await finerOf(dir, config, instrument, { symbol, interval, columns, ...rows, ...made });
    if (finer !== undefined) {
      note(finer);
      dataHashes[`${symbol} within klines`] = finer.sha256;
    }
    const own = { symbol, interval, columns, gaps, ...made, ...rows };
    series.push(finer === undefined ? own : { ...own, finer: finer.columns });
  }
  warnings.push(...beginNotes(series), ...endNotes(series));
  refuseOutside(file, cast.cashFlows ?? [], spanOf(series));
  const input = inputOf(config, cast, series);
  const currencies = await currenciesIn(dir, config, cast.pairs, series);
  for (const { note, hash, other } of currencies) {
    if (note !== undefined) warnings.push(note);
    dataHashes[`${other.pair.symbol} as a rate`] = hash;
  }
  warnings.push(...feeNotes(config, input), ...tierNotes(input));
  const others = currencies.map(({ other }) => other);
  return {
    input: {
      ...input,
      ...(tapes.size > 0 && { tapes }),
      ...(config.currency !== undefined &&
        others.length > 0 && { currencies: { reporting: config.currency, cash: config.cash, others } }),
    },
    ...{ warnings, doubts, dataHashes },
  };
}

/** The rates of the other currencies: by klines of the run, of a file, or of the catalogue. */
async function currenciesIn(
  dir: string,
  config: BacktestConfig,
  pairs: ReadonlyMap<string, Instrument> | undefined,
  series: readonly RunSeries[],
): Promise<readonly { readonly other: Other; readonly note: string | undefined; readonly hash: string }[]> {
  const found = [];
  for (const [asset, pair] of pairs ?? []) {
    const given = config.currencies[asset];
    if (given === undefined) throw new Error(`${asset} has a pair but is not a currency`);
    const traded = given.data === undefined ? series.find(({ symbol }) => symbol === pair.symbol) : undefined;
    const interval = traded?.interval ?? given.interval;
    const data = given.data === undefined ? {} : { [pair.symbol]: given.data };
    const { columns, sha256 } =
      traded === undefined
        ? (await klinesOf(dir, { ...config, data }, pair, interval, undefined)).loaded
        : { columns: traded.columns, sha256: 'as traded' };
    const line = new RateLine(interval, columns);
    const note = rateNote({ asset, pair, line }, spanOf(series), intervalMs(interval, 0), given.maxRateAgeMs);
    const { cash, maxOrderValue, maxPosition } = given;
    found.push({ other: { asset, cash, pair, line, limits: { maxOrderValue, maxPosition } }, note, hash: sha256 });
  }
  return found;
}

/** The smallest interval of the strategies on a symbol: larger klines are made from it. */
function smallestInterval(
  file: string,
  symbol: string,
  hosted: RunInput['hosted'],
  recorded: Interval | undefined,
): Interval {
  const used = hosted.flatMap((one) =>
    marketsOf(one).flatMap((market) => (market.symbol === symbol ? [market.interval] : [])),
  );
  const smallest = recorded ?? used.toSorted(compareIntervals)[0];
  if (smallest === undefined) throw new Error(`no strategy trades ${symbol}`);
  for (const interval of used) {
    const fault = aggregationFault(smallest, interval);
    if (fault !== undefined)
      throw new Refusal(
        recorded === undefined
          ? `${file}: the strategies on ${symbol} use ${smallest} and ${interval}: ${fault}`
          : `${file}: dataIntervals.${symbol}: ${smallest}: a strategy uses ${interval}, and klines of that cannot be made from klines of ${smallest}`,
      );
  }
  return smallest;
}

/** Klines in memory, of the file that the configuration names, of the catalogue, or made from trades of a file. */
async function klinesOf(
  dir: string,
  config: BacktestConfig,
  instrument: Instrument,
  interval: Interval,
  tape: Tape | undefined,
  inMemory?: Columns,
): Promise<{ readonly where: string; readonly loaded: StoredKlines }> {
  const { symbol, pricePrecision } = instrument;
  const given = config.data[symbol];
  const part = { from: config.from, to: config.to };
  const query = { symbol, interval, pricePrecision };
  if (inMemory !== undefined) return { where: 'data', loaded: givenKlines({ ...query, ...part }, inMemory) };
  if (given !== undefined && given !== 'catalogue') {
    const path = resolve(dir, given);
    const loaded = loadKlines({ path, ...query, ...part, repair: config.repair });
    const future = futureNotes(basename(path), loaded.columns.openTime.at(-1) ?? 0, { interval }, systemClock.now());
    const notes = together(fileSymbolNotes(instrument, path), loaded, future);
    return { where: path, loaded: { ...loaded, ...notes } };
  }
  const where = catalogueOf(dir, config);
  if (tape?.trades !== undefined && isMadeOf(tape.trades, where, config, query))
    return { where: 'the recording of its trades', loaded: fromTrades(symbol, interval, tape.trades) };
  // Rows before `from` warm up: all of them are loaded, as from a file.
  return { where, loaded: await storedKlines(where, { ...query, to: config.to, part }) };
}

/** Whether klines are made of trades: where none are stored, or none of the time of the run, or of a named recording. */
function isMadeOf(
  { time }: TradeColumns,
  dir: string,
  config: BacktestConfig,
  { symbol, interval }: { readonly symbol: string; readonly interval: Interval },
): boolean {
  if (!isStored(dir, symbol, interval, {})) return true;
  const part = { from: config.from, to: config.to };
  const [row, end] = rowsWithin(time, part);
  const [from, to] = [time[row], time[end - 1]];
  if (row >= end || from === undefined || to === undefined) return false;
  return !isStored(dir, symbol, interval, config.trades[symbol] === undefined ? part : { from, to });
}

/** Whether klines are stored of which those of the interval are, or can be made, in a stretch of time. */
function isStored(dir: string, symbol: string, interval: Interval, { from = 0, to = Infinity }: Stretch): boolean {
  const isKlines = (one: Pick<SeriesKey, 'kind' | 'symbol'>): boolean => one.kind === 'klines' && one.symbol === symbol;
  return listSeries(dir, isKlines).some(
    (one) =>
      isKlines(one) &&
      one.zone === undefined &&
      one.interval !== undefined &&
      (one.interval === interval || isWithin(one.interval, interval)) &&
      one.months.some((month) => month.from <= to && month.to >= from),
  );
}

/** Klines of the intervals that trades cover completely. */
function fromTrades(symbol: string, interval: Interval, trades: TradeColumns): StoredKlines {
  const columns = resampleTrades(trades, { interval });
  const gaps = findGaps({ symbol, interval }, columns.openTime);
  const warnings = [`${symbol}: ${interval} made from trades`];
  const [from, to] = [trades.time[0], trades.time.at(-1)];
  const stored = from === undefined || to === undefined ? {} : { stored: { of: 'trades', from, to } };
  return { columns, gaps, ...stored, warnings, doubts: [], sha256: '' };
}

/** Which rates are assumed, and of which symbols where others have rates of their own. */
function feeNotes({ fees: given }: Pick<BacktestConfig, 'fees'>, { fees, series }: RunInput): readonly string[] {
  const symbols = series.map(({ symbol }) => symbol);
  const common = symbols.filter((symbol) => fees.bySymbol?.[symbol] === undefined);
  if (!fees.assumed || common.length === 0) return [];
  const missing = (['maker', 'taker'] as const).filter((kind) => given[kind] === undefined);
  const what = missing.map((kind) => `${kind} ${(rateNumber(fees[kind]) * 100).toFixed(2)} %`).join(' and ');
  const whose = common.length < symbols.length ? ` of ${common.join(', ')}` : '';
  const how = missing.map((kind) => `${kind}: "…"`).join(', ');
  return [`fees${whose} are not configured: ${what} ${missing.length === 1 ? 'is' : 'are'} assumed (fees: { ${how} })`];
}

/** Marks have no volume: with falling rates a position counts for slightly less than its sale would bring. */
const tierNotes = ({ fees, rules }: RunInput): readonly string[] =>
  fees.tiers === undefined || rules.name !== 'sluice'
    ? []
    : [
        'feeTiers: fills pay by tier; open positions are valued, and buy & hold enters, at the rates without earlier volume',
      ];
