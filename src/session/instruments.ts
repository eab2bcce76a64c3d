/** The instruments of a session, in steps that hold for the rows of its journal, too. */
import { type Instrument, inStepsOf, instrument } from '../domain/instrument.ts';
import type { Precision } from '../domain/money.ts';
import type { Entry, Notice } from '../journal/entries.ts';
import type { Loaded } from '../journal/load.ts';

/** A row of each instrument of this run. */
export const instrumentRows = (
  all: ReadonlyMap<string, Instrument>,
  current: ReadonlyMap<string, Instrument>,
): Entry[] =>
  [...all.values()]
    .filter(({ symbol }) => current.has(symbol))
    .map(({ symbol, base, quote, pricePrecision, quantityPrecision }) => {
      return { kind: 'instrument', symbol, base, quote, pricePrecision, quantityPrecision };
    });

/** The instruments of this run, and those of earlier ones that the journal's rows need. */
export function withFormer(current: ReadonlyMap<string, Instrument>, loaded: Loaded): Map<string, Instrument> {
  const all = new Map(loaded.instruments.map((entry) => [entry.symbol, instrument(entry)]));
  for (const [symbol, at] of current) all.set(symbol, inStepsOf(finest(at, all.get(symbol)), at));
  return all;
}

/** Rows may have been written in finer steps than the exchange takes now. */
function finest(at: Precision, former: Precision = at): Precision {
  const pricePrecision = Math.max(at.pricePrecision, former.pricePrecision);
  const quantityPrecision = Math.max(at.quantityPrecision, former.quantityPrecision);
  return pricePrecision + quantityPrecision > 18 ? at : { pricePrecision, quantityPrecision };
}

/** A symbol of a strategy's list that the exchange does not list. */
export interface LeftOut {
  readonly strategy: string;
  readonly symbol: string;
}

/** One report for each. */
export const leftOutNotices = (leftOut: readonly LeftOut[]): readonly Notice[] =>
  leftOut.map(({ strategy, symbol }) => ({
    level: 'warn',
    text: `strategy ${strategy} leaves out ${symbol}: the exchange does not list it. Start again once it is listed`,
  }));
