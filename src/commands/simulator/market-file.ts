/** The markets that the built-in exchange opens: recorded ones that come with the program, made-up ones, or those of a file. */

import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { placesIn, problemsIn, readConfig } from '../../config/read.ts';
import { shippedInstruments } from '../../config/shipped.ts';
import { momentOf, momentWanted } from '../../config/times.ts';
import { instrumentsSchema } from '../../data/instruments.ts';
import { loadKlines } from '../../data/klines.ts';
import { loadDepth, loadTrades } from '../../data/tape-files.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { rowAt } from '../../domain/market.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { MarketOptions } from '../../simulator/simulator.ts';
import { type ExchangeTerms, exchangeTerms } from './exchange-terms.ts';
import { madeUp, scenarioOf } from './scenarios.ts';

/** What an exchange opens with. */
export interface Opened {
  readonly instruments: readonly Instrument[];
  readonly markets: readonly MarketOptions[];
  /** Times real time, unless the user says otherwise. */
  readonly speed: number;
  /** Of the exchange around the markets, where a file says so. */
  readonly terms: ExchangeTerms;
}

/** Made up where no recording is asked for, and where each begins. */
const usualPrices: Readonly<Record<string, string>> = { BTCUSDT: '60000', ETHUSDT: '3000', TRXUSDT: '0.12' };

/** Several names are separated by commas; each symbol is taken from the first of them that has it. */
export function openScenarios(names: string): Opened {
  const opened = names.split(',').map(openScenario);
  const instruments = new Map<string, Instrument>();
  const markets = new Map<string, MarketOptions>();
  for (const one of opened) {
    for (const instrument of one.instruments)
      if (!instruments.has(instrument.symbol)) instruments.set(instrument.symbol, instrument);
    for (const market of one.markets) if (!markets.has(market.symbol)) markets.set(market.symbol, market);
  }
  return {
    instruments: [...instruments.values()],
    markets: [...markets.values()],
    speed: opened[0]?.speed ?? 1,
    terms: {},
  };
}

function openScenario(name: string): Opened {
  const kind = madeUp.find((one) => one === name);
  if (kind === undefined) {
    const { scenario, instrument } = scenarioOf(name);
    return { instruments: [instrument], markets: [scenario.load(instrument)], speed: scenario.speed, terms: {} };
  }
  const listed = readConfig(shippedInstruments(), instrumentsSchema);
  const instruments = Object.keys(usualPrices).flatMap((symbol) => listed.get(symbol) ?? []);
  const markets = instruments.map(
    ({ symbol }): MarketOptions => ({
      kind,
      symbol,
      ...(kind === 'synthetic' && { price: usualPrices[symbol] ?? '' }),
    }),
  );
  return { instruments, markets, speed: 1, terms: {} };
}

const file = z.string().min(1);
const decimal = z.string().regex(/^\d+(\.\d+)?$/, "must be a decimal number in quotes, such as '0.12'");
const synthetic = z.strictObject({
  price: decimal.exactOptional(),
  volatility: z.number().min(0).max(10).exactOptional(),
  takersPerSecond: z.number().min(0).max(1_000).exactOptional(),
  historyMinutes: z.int().min(0).max(20_000).exactOptional(),
});
const market = z.strictObject({
  symbol: z.string().min(1),
  klines: file.optional(),
  /** The kline that is replayed first, UTC; those before it are history. */
  from: z
    .string()
    .transform(momentOf)
    .refine((time) => Number.isFinite(time), `must be ${momentWanted}`)
    .optional(),
  trades: file.optional(),
  depth: file.optional(),
  synthetic: synthetic.optional(),
  empty: z.literal(true).optional(),
});
const marketsSchema = z.strictObject({
  /** A file of instruments in place of the one that comes with the program. */
  instruments: file.optional(),
  speed: z.number().positive().max(1_000).default(1),
  markets: z.array(market).min(1),
  ...exchangeTerms,
});

/** Reads a file of markets; a `Refusal` says what is wrong, with its line. Paths in it start from its folder. */
export function openMarketFile(path: string): Opened {
  if (!existsSync(path))
    throw new Refusal(
      `file of markets ${path} does not exist: check --markets FILE (docs/reference/simulator.md shows one)`,
    );
  const read = readConfig(path, marketsSchema);
  const at = (name: string): string => resolve(dirname(path), name);
  const nameOf = placesIn(path, []);
  if (read.instruments !== undefined && !existsSync(at(read.instruments)))
    throw problemsIn(path, [`${nameOf(['instruments'])}: ${at(read.instruments)} is not there`]);
  const listed = readConfig(
    read.instruments === undefined ? shippedInstruments() : at(read.instruments),
    instrumentsSchema,
  );
  const instruments = read.markets.map(({ symbol }, index) => {
    const found = listed.get(symbol);
    if (found === undefined)
      throw problemsIn(path, [`${nameOf(['markets', index, 'symbol'])}: ${symbol} is not among the instruments`]);
    if (read.markets.findIndex((one) => one.symbol === symbol) < index)
      throw problemsIn(path, [`${nameOf(['markets', index, 'symbol'])}: ${symbol} has two markets`]);
    return found;
  });
  const markets = read.markets.map((one, index) => {
    for (const key of ['klines', 'trades', 'depth'] as const) {
      const named = one[key];
      if (named !== undefined && !existsSync(at(named)))
        throw problemsIn(path, [`${nameOf(['markets', index, key])}: ${at(named)} is not there`]);
    }
    const opened = openMarket(one, instruments[index] as Instrument, at);
    if (typeof opened === 'string') throw problemsIn(path, [`${nameOf(['markets', index])}: ${opened}`]);
    return opened;
  });
  const { instruments: _, markets: __, speed, ...terms } = read;
  return { instruments, markets, speed, terms };
}

/** The market, or what is wrong with what it says. */
function openMarket(
  { klines, from, trades, depth, synthetic: made, empty }: z.output<typeof market>,
  { symbol, pricePrecision }: Instrument,
  at: (name: string) => string,
): MarketOptions | string {
  const given = [klines !== undefined, trades !== undefined || depth !== undefined, made !== undefined, empty === true];
  if (given.filter(Boolean).length !== 1)
    return 'needs one of klines, trades with or without depth, synthetic, or empty: true';
  if (from !== undefined && klines === undefined) return 'from is for klines';
  if (klines !== undefined) {
    const { columns } = loadKlines({ path: at(klines), symbol, interval: '1min', pricePrecision, acceptJumps: true });
    const startIndex = from === undefined ? 0 : rowAt(columns.openTime, from);
    if (startIndex >= columns.openTime.length) return `from is after the last kline`;
    return { kind: 'klines', symbol, klines: columns, startIndex };
  }
  if (made !== undefined) return { kind: 'synthetic', symbol, ...made };
  if (empty) return { kind: 'empty', symbol };
  const tape = {
    trades: trades === undefined ? [] : loadTrades({ path: at(trades), symbol }),
    depth: depth === undefined ? [] : loadDepth({ path: at(depth), symbol }),
  };
  return tape.trades.length + tape.depth.length === 0 ? 'the recording is empty' : { kind: 'tape', symbol, tape };
}
