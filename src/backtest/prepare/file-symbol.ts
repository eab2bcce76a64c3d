/** Warns when the name of a file that the configuration names shows another symbol. */
import { basename } from 'node:path';
import type { Notes } from '../../data/data-warnings.ts';
import { nameParts } from '../../data/import/file-names.ts';
import type { Instrument } from '../../domain/instrument.ts';

/** Bitcoin has two names. */
const spelt = (text: string): string => text.toUpperCase().replaceAll('XBT', 'BTC');

/** `bitstampUSD_1-min.csv`: the currency alone names no asset. */
const currency = /^(USD.?|EUR|GBP|JPY|KRW|TRY)$/;

/** `USDT_BTC`, `SPOT_BTC_USD`, `trades_2024-01-01_BTC-PERPETUAL`: any word may be the asset; Kraken writes an X before it. */
const speaksOf = (name: string, base: string): boolean =>
  spelt(name)
    .split(/[^A-Z0-9]+/)
    .some((word) => word.startsWith(base) || word.startsWith(`X${base}`));

/** A warning, also in doubts, where a name shows another asset. Quotes are not compared: USD and USDT are worth the same. */
export function fileSymbolNotes(
  { symbol, base }: Pick<Instrument, 'symbol' | 'base'>,
  ...paths: readonly (string | undefined)[]
): Notes {
  const notes = paths.flatMap((path): readonly string[] => {
    const name = basename(path ?? '');
    const named = nameParts(name).symbol;
    if (named === undefined || currency.test(named) || speaksOf(name, spelt(base))) return [];
    return [`${symbol}: the name of the file ${name} says ${named}: use the file of ${symbol}, or rename it`];
  });
  return { warnings: notes, doubts: notes };
}
