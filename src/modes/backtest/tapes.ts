/** Which trades and books a backtest fills by, beside its klines (configuration: `fidelity`, `trades`, `depth`). */
import { resolve } from 'node:path';
import type { BacktestConfig } from '../../config/schema.ts';
import { readBytes } from '../../data/bytes.ts';
import type { Kind } from '../../data/catalogue/kinds.ts';
import { storedTape } from '../../data/catalogue/tape.ts';
import { loadDepth } from '../../data/depth.ts';
import type { Tape } from '../../data/tape.ts';
import { bookColumns, silencesOf, tradeColumns } from '../../data/tape-files.ts';
import { loadTrades } from '../../data/trades.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { Refusal } from '../../domain/refusal.ts';

export interface LoadedTape extends Tape {
  readonly warnings: readonly string[];
  /** SHA-256 of what was read, hex, by kind. */
  readonly hashes: Readonly<Record<string, string>>;
}

/** The folder of imported data. */
export const catalogueOf = (dir: string, { catalogue }: Pick<BacktestConfig, 'catalogue'>): string =>
  catalogue === undefined ? resolve('var', 'data') : resolve(dir, catalogue);

/** Loads what the configuration asks for; undefined where klines alone speak. A `Refusal` where what it asks for is not there. */
export async function tapeOf(
  dir: string,
  config: BacktestConfig,
  instrument: Instrument,
): Promise<LoadedTape | undefined> {
  const { symbol } = instrument;
  const { fidelity } = config;
  if (fidelity === 'klines') return undefined;
  refuseTape(config, symbol);
  const fromFiles = ofFiles(dir, config, symbol);
  const stored = await ofCatalogue(dir, config, instrument);
  const trades = fromFiles.trades ?? stored?.trades;
  const books = fidelity === 'trades' ? undefined : (fromFiles.books ?? stored?.books);
  const missing = fidelity === 'auto' ? undefined : trades === undefined ? 'trades' : undefined;
  const absent = missing ?? (fidelity === 'depth' && books === undefined ? 'depth' : undefined);
  if (absent !== undefined)
    throw new Refusal(
      `fidelity: ${fidelity} needs ${absent} of ${symbol}, which ${catalogueOf(dir, config)} does not hold: import them (sluice data import FILE), name a file (${absent}: { ${symbol}: FILE }), or say fidelity: auto`,
    );
  if (trades === undefined && books === undefined) return undefined;
  const gaps = fromFiles.trades === undefined ? (stored?.gaps ?? []) : silencesOf(symbol, fromFiles.trades);
  return {
    ...(trades !== undefined && { trades }),
    ...(books !== undefined && { books }),
    gaps,
    warnings: [...(stored?.warnings ?? []), spanText(symbol, trades?.time ?? books?.time, books !== undefined)],
    hashes: { ...fromFiles.hashes, ...(stored !== undefined && { catalogue: stored.sha256.join(' ') }) },
  };
}

/** The rulesets of others are about klines: what they would make of trades and books nobody knows. */
function refuseTape({ rules, fidelity, trades, depth }: BacktestConfig, symbol: string): void {
  const named = trades[symbol] !== undefined ? 'trades' : depth[symbol] !== undefined ? 'depth' : undefined;
  const asked = fidelity === 'auto' ? named && `${named} of ${symbol}` : `fidelity: ${fidelity}`;
  if (rules === 'sluice' || asked === undefined) return;
  throw new Refusal(
    `rules: ${rules} fill by klines alone, and ${asked} ${fidelity === 'auto' ? 'are named' : 'is asked for'}: say fidelity: klines (--set fidelity=klines), or rules: sluice`,
  );
}

function ofFiles(
  dir: string,
  { trades: tradeFiles, depth: depthFiles }: BacktestConfig,
  symbol: string,
): Pick<Tape, 'trades' | 'books'> & { readonly hashes: Readonly<Record<string, string>> } {
  const pathOf = (given: string | undefined): string | undefined =>
    given === undefined || given === 'catalogue' ? undefined : resolve(dir, given);
  const [trades, depth] = [pathOf(tradeFiles[symbol]), pathOf(depthFiles[symbol])];
  return {
    ...(trades !== undefined && { trades: tradeColumns(loadTrades({ path: trades, symbol })) }),
    ...(depth !== undefined && { books: bookColumns(loadDepth({ path: depth, symbol })) }),
    hashes: {
      ...(trades !== undefined && { trades: readBytes(trades).sha256 }),
      ...(depth !== undefined && { depth: readBytes(depth).sha256 }),
    },
  };
}

/**
 * What is imported of the symbol. Unasked only where its klines come from there, too, and the rules are ours: a file's klines
 * may be of another market, and the rules of others know klines alone.
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
  const span = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  return await storedTape(catalogueOf(dir, config), { symbol, pricePrecision, kinds, ...span });
}

function spanText(symbol: string, time: Float64Array | undefined, withBooks: boolean): string {
  const day = (at: number | undefined): string =>
    at === undefined ? '?' : `${new Date(at).toISOString().slice(0, 16)}Z`;
  return `${symbol}: fills by ${withBooks ? 'trades and books' : 'trades'} from ${day(time?.[0])} to ${day(time?.at(-1))}, by klines elsewhere`;
}
