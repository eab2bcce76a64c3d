/** The trades and depth that a backtest fills by, beside its klines (configuration: `fidelity`, `trades`, `depth`). */

import { basename, resolve } from 'node:path';
import { systemClock } from '../../clock/clock.ts';
import { catalogueOf } from '../../config/read.ts';
import type { BacktestConfig } from '../../config/schema.ts';
import type { Kind } from '../../data/catalogue/kinds.ts';
import { storedTape } from '../../data/catalogue/run-data.ts';
import { type Notes, rowsWithin, type Stretch, together, warned } from '../../data/data-warnings.ts';
import { booksOf, type Tape } from '../../data/tape.ts';
import { depthNotes, readDepth, readTrades, silencesOf, type TapeFile, tradeNotes } from '../../data/tape-files.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { Refusal } from '../../domain/refusal.ts';
import { momentOf } from './data-checks.ts';
import { fileSymbolNotes } from './file-symbol.ts';

export interface LoadedTape extends Tape, Notes {
  /** SHA-256 of what was read, hex, by kind. */
  readonly hashes: Readonly<Record<string, string>>;
}

/** Loads what the configuration asks for; undefined where only klines are used. Throws a `Refusal` where something is missing. */
export async function tapeOf(
  dir: string,
  config: BacktestConfig,
  instrument: Instrument,
): Promise<LoadedTape | undefined> {
  const { symbol } = instrument;
  const { fidelity } = config;
  if (fidelity === 'klines') return undefined;
  refuseTape(config, symbol);
  const fromFiles = ofFiles(dir, config, instrument);
  const stored = await ofCatalogue(dir, config, instrument);
  const trades = fromFiles.trades ?? stored?.trades;
  const books = fidelity === 'trades' ? undefined : (fromFiles.books ?? stored?.books);
  const missing = fidelity === 'auto' ? undefined : trades === undefined ? 'trades' : undefined;
  const absent = missing ?? (fidelity === 'depth' && books === undefined ? 'depth' : undefined);
  if (absent !== undefined)
    throw new Refusal(
      `fidelity: ${fidelity} needs ${absent} of ${symbol}, which ${catalogueOf(dir, config)} does not have: import them (sluice data import FILE), name a file (${absent}: { ${symbol}: FILE }), or set fidelity: auto`,
    );
  refuseUnstored(dir, config, symbol, { trades, depth: books });
  if (trades === undefined && books === undefined) return undefined;
  const gaps = fromFiles.gaps ?? stored?.gaps ?? [];
  return {
    ...(trades !== undefined && { trades }),
    ...(books !== undefined && { books }),
    gaps,
    ...together(...fromFiles.notes, ...(stored === undefined ? [] : [stored])),
    hashes: { ...fromFiles.hashes, ...(stored !== undefined && { catalogue: stored.sha256.join(' ') }) },
  };
}

/** Throws a `Refusal` where the configuration names the catalogue for something that it does not hold. */
function refuseUnstored(
  dir: string,
  config: BacktestConfig,
  symbol: string,
  found: { readonly trades: unknown; readonly depth: unknown },
): void {
  const kinds = (['trades', 'depth'] as const).filter((kind) => kind !== 'depth' || config.fidelity !== 'trades');
  const kind = kinds.find((one) => config[one][symbol] === 'catalogue' && found[one] === undefined);
  if (kind === undefined) return;
  throw new Refusal(
    `${kind}: { ${symbol}: catalogue } needs ${kind} that ${catalogueOf(dir, config)} does not have: import them (sluice data import FILE), name a file (${kind}: { ${symbol}: FILE }), or leave it out`,
  );
}

/** Imitated rulesets are defined for klines only. */
function refuseTape({ rules, fidelity, trades, depth }: BacktestConfig, symbol: string): void {
  const named = trades[symbol] !== undefined ? 'trades' : depth[symbol] !== undefined ? 'depth' : undefined;
  const asked = fidelity === 'auto' ? named && `${named} of ${symbol}` : `fidelity: ${fidelity}`;
  if (rules === 'sluice' || asked === undefined) return;
  throw new Refusal(
    `rules: ${rules} fill by klines alone, but ${asked} ${fidelity === 'auto' ? 'are configured' : 'is set'}: set fidelity: klines (--set fidelity=klines), or rules: sluice`,
  );
}

interface FromFiles extends Partial<Tape> {
  readonly notes: readonly Notes[];
  readonly hashes: Readonly<Record<string, string>>;
}

const fileOf = (path: string, { from, to }: BacktestConfig, ended: boolean): TapeFile => ({
  ...{ name: basename(path), ended, now: systemClock.now(), from, to },
});

/** The named files, with the warnings that an import would give. */
function ofFiles(dir: string, config: BacktestConfig, instrument: Instrument): FromFiles {
  const { symbol } = instrument;
  const pathOf = (given: string | undefined): string | undefined =>
    given === undefined || given === 'catalogue' ? undefined : resolve(dir, given);
  const path = pathOf(config.trades[symbol]);
  const depth = config.fidelity === 'trades' ? undefined : pathOf(config.depth[symbol]);
  const trades = path === undefined ? nothing : ofTradeFile(path, config, symbol);
  const books = depth === undefined ? nothing : ofDepthFile(depth, config, symbol);
  return {
    ...trades,
    ...books,
    notes: [fileSymbolNotes(instrument, path, depth), ...trades.notes, ...books.notes],
    hashes: { ...trades.hashes, ...books.hashes },
  };
}

const nothing: FromFiles = { notes: [], hashes: {} };

function ofTradeFile(path: string, config: BacktestConfig, symbol: string): FromFiles {
  const { columns: trades, ended, sha256 } = readTrades(path);
  const gaps = silencesOf(symbol, trades);
  return { trades, gaps, notes: [tradeNotes(fileOf(path, config, ended), trades, gaps)], hashes: { trades: sha256 } };
}

function ofDepthFile(path: string, config: BacktestConfig, symbol: string): FromFiles {
  const { rows, ended, sha256 } = readDepth(path);
  const notes = [depthNotes(fileOf(path, config, ended), symbol, rows)];
  return { books: booksOf(rows), notes, hashes: { depth: sha256 } };
}

/**
 * Loads the symbol's tape from the catalogue. Unasked only where its klines come from there, too, and the rules are ours: a file's
 * klines may be of another market, and imitated rules use klines only.
 */
async function ofCatalogue(dir: string, config: BacktestConfig, { symbol, pricePrecision }: Instrument) {
  const { data, trades, depth, fidelity, rules, from, to } = config;
  const ownKlines = data[symbol] !== undefined && data[symbol] !== 'catalogue';
  const unasked = fidelity !== 'auto' || (!ownKlines && rules === 'sluice');
  const isAsked = (given: string | undefined): boolean => given === 'catalogue' || (given === undefined && unasked);
  const kinds: Kind[] = [];
  if (isAsked(trades[symbol])) kinds.push('trades');
  if (isAsked(depth[symbol]) && fidelity !== 'trades') kinds.push('depth');
  if (kinds.length === 0) return undefined;
  return await storedTape(catalogueOf(dir, config), { symbol, pricePrecision, kinds, from, to });
}

/**
 * The part of a tape within the run (UTC ms), with notes on what lies outside. Throws a `Refusal` where `fidelity` needs more.
 */
export function tapeWithin(
  { fidelity, trades: named, depth }: Pick<BacktestConfig, 'fidelity' | 'trades' | 'depth'>,
  symbol: string,
  tape: LoadedTape | undefined,
  run: { readonly from: number; readonly to: number },
): Notes & { readonly tape?: LoadedTape } {
  if (tape === undefined) return warned();
  const { trades, books, ...rest } = tape;
  const lines = [
    { what: 'trades', time: trades?.time, isNamed: named[symbol] !== undefined },
    { what: 'depth', time: books?.time, isNamed: depth[symbol] !== undefined },
  ].flatMap(({ time, ...one }) =>
    time === undefined || time.length === 0 ? [] : [{ ...one, time, ...within(time, run) }],
  );
  const [inside, beside] = [lines.filter(({ rows }) => rows > 0), lines.filter(({ rows }) => rows === 0)];
  const needed: readonly string[] = { auto: [], klines: [], trades: ['trades'], depth: ['trades', 'depth'] }[fidelity];
  for (const what of needed) {
    if (inside.some((one) => one.what === what)) continue;
    const time = beside.find((one) => one.what === what)?.time;
    const there = time === undefined ? 'lie outside it' : `span ${spanText(time[0], time.at(-1))}`;
    throw new Refusal(
      `fidelity: ${fidelity} needs ${what} of ${symbol} within the run (${spanText(run.from, run.to)}), but those available ${there}: import more, choose dates within, or set fidelity: auto`,
    );
  }
  const missed = beside
    .filter(({ isNamed }) => isNamed)
    .map(
      ({ what, time }) =>
        `${symbol}: its ${what} ${spanText(time[0], time.at(-1))}: outside the run, so no order fills by ${what}`,
    );
  if (inside.length === 0) return warned(...missed);
  const spans = inside.map(({ what, first, last }) => `by ${what} ${spanText(first, last)}`);
  const used = `${symbol}: fills ${spans.join(', ')}, by klines elsewhere`;
  const left = {
    ...rest,
    ...(inside.some(({ what }) => what === 'trades') && trades !== undefined && { trades }),
    ...(inside.some(({ what }) => what === 'depth') && books !== undefined && { books }),
  };
  return { tape: left, ...together(tape, warned(used, ...missed)) };
}

function within(time: Float64Array, run: Stretch) {
  const [row, end] = rowsWithin(time, run);
  return { rows: end - row, first: time[row], last: time[end - 1] };
}

const spanText = (from: number | undefined, to: number | undefined): string =>
  `from ${momentOf(from)} to ${momentOf(to)}`;
