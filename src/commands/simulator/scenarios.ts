/** The recorded markets that the built-in exchange replays, from the data that come with the program. */

import { join } from 'node:path';
import { readConfig } from '../../config/read.ts';
import { home, shippedInstruments } from '../../config/shipped.ts';
import { instrumentsSchema } from '../../data/instruments.ts';
import { loadKlines } from '../../data/klines.ts';
import { loadDepth, loadTrades } from '../../data/tape-files.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { mapColumns, rowAt } from '../../domain/market.ts';
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import type { MarketOptions } from '../../simulator/simulator.ts';

export interface Scenario {
  readonly symbol: string;
  readonly about: string;
  /** Times real time, unless the user says otherwise. */
  readonly speed: number;
  load(instrument: Instrument): MarketOptions;
}

const dataFile = (name: string): string => join(home(), 'backtests', 'data', name);

const crashStart = Date.UTC(2020, 2, 12, 9, 6);
/** The scenario ends with 13 March; then it loops. */
const crashEnd = Date.UTC(2020, 2, 14);
/** History served before the start, klines. */
const historyRows = 3_000;

export const scenarios: Readonly<Record<string, Scenario>> = {
  'crash-2020': {
    symbol: 'XBTUSD',
    about: 'BitMEX XBTUSD, 12 and 13 March 2020, prints made from minute klines',
    speed: 60,
    load({ symbol, pricePrecision }) {
      const { columns } = loadKlines({
        path: dataFile('XBTUSD-1m-2020-02_2020-04.csv.gz'),
        symbol,
        interval: '1min',
        pricePrecision,
      });
      const start = rowAt(columns.openTime, crashStart);
      const from = Math.max(0, start - historyRows);
      const to = rowAt(columns.openTime, crashEnd);
      const klines = mapColumns(columns, (column) => column.slice(from, to));
      return { kind: 'klines', symbol, klines, startIndex: start - from };
    },
  },
  'tape-2024': {
    symbol: 'BTCUSDT',
    about: 'Binance BTCUSDT, 11 minutes of recorded trades and books from 8 August 2024 23:54',
    speed: 1,
    load: ({ symbol }) => ({
      kind: 'tape',
      symbol,
      tape: {
        trades: loadTrades({ path: dataFile('BTCUSDT-trades-2024-08-08T2354_11min.csv.gz'), symbol }),
        depth: loadDepth({ path: dataFile('BTCUSDT-depth20-1s-2024-08-08T2354_11min.jsonl.gz'), symbol }),
      },
    }),
  },
};

/** Markets that are no recording. */
export const madeUp = ['synthetic', 'empty'] as const;
export const scenarioNames: readonly string[] = [...Object.keys(scenarios), ...madeUp];

export function scenarioOf(name: string): { readonly scenario: Scenario; readonly instrument: Instrument } {
  const scenario = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined;
  if (scenario === undefined)
    throw new Refusal(
      `unknown scenario ${name}${didYouMean(name, scenarioNames)}; there are ${scenarioNames.join(', ')}`,
    );
  const found = readConfig(shippedInstruments(), instrumentsSchema).get(scenario.symbol);
  if (found === undefined) throw new Refusal(`config/instruments.yaml has no ${scenario.symbol}`);
  return { scenario, instrument: found };
}
