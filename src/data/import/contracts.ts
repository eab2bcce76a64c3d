/** What was traded in the base asset where a file counts contracts or the quote asset: by these orders would fill thousands of times too much. */

import { escapeLine } from '../../domain/printable.ts';
import type { Kind } from '../catalogue/kinds.ts';
import { numberFrom } from './csv-rows.ts';
import { type FieldPlaces, mostlyRight, type Rows } from './fields.ts';

/** Names, with everything but letters taken out, of columns that tell in one of the two assets what was traded; which one, the price says. */
const ofAssets: ReadonlySet<string> = new Set([
  ...['homenotional', 'foreignnotional', 'volccy', 'volquote', 'volccyquote', 'turnover'],
  ...['baseqty', 'basevolume', 'baseassetvolume', 'quoteqty', 'quotevolume', 'quoteassetvolume'],
]);

/** Of a price: so far what was traded in the quote asset may be from what it makes of the base asset. */
const nearly = 0.02;

/** What contracts of the quote asset are worth in it: on Binance 100 of BTC and 10 of others. */
const worths = [1, 10, 100];

/** Exchanges that count contracts, and what they call futures of which they do, in names of files, symbols and exchanges. */
const counting =
  /bitmex|deribit|binance-delivery|USD_(?:PERP|\d{6})|[-_]SWAP(?![a-z])|(?:okex|gate-io|kucoin)-futures|huobi-dm|cryptofacilities/i;
/** Sources whose volumes are of the quote asset; of Yahoo's those of pairs (`BTC-USD.csv`), not of shares. */
const ofQuote = /(?<![a-z])ftx(?![a-z])|[a-z]-(?:usd|eur|gbp|jpy|btc)(?![a-z]).*adj close/i;

/** Files of Coinbase as it gives trades; others turn the side, and name the exchange in a column. */
const ofMaker = /(?<![a-z])(?:coinbase|gdax)(?![a-z]).*(?<![a-z])trade_?id(?![a-z])/i;

/** What is done about quantities that may be of something else. */
export const readAsBase = 'they are read as those of the base asset, and orders may fill by far more than was traded';

/** What cannot be known of quantities beside which nothing else was counted, and of sides. */
export function unknownNotes(
  kind: Kind,
  name: string,
  header: readonly string[],
  rows: Rows,
  places: readonly number[],
): string[] {
  const text = [name, ...header, ...(rows[0] ?? [])].join(' ');
  if (kind === 'trades' && ofMaker.test(text) && !header.includes('exchange'))
    return [
      'sides are read as those of takers, and Coinbase gives those of makers: where nobody has turned them, sell and buy have to be swapped in the file',
    ];
  const [found] = counting.exec(text) ?? [];
  const isWhole = rows.every((cells) => places.every((at) => /^\d+(\.0*)?$/.test(cells[at] ?? '')));
  if (found !== undefined && isWhole)
    return [`quantities are whole numbers, as where contracts are counted (${found}): ${readAsBase}`];
  return kind === 'klines' && ofQuote.test(text)
    ? [`volumes of FTX, and of crypto at Yahoo, are of the quote asset: ${readAsBase}`]
    : [];
}

/**
 * BitMEX, Bybit, OKX and Binance's coin-margined futures count contracts, others the quote asset. Beside them stands what was traded in both
 * assets, of which that in the base asset is the one that the price turns into the other; or in one, which it turns into contracts of a round worth.
 */
export function inBase(fields: FieldPlaces, header: readonly string[], rows: Rows, name: string): FieldPlaces {
  const field = fields.kind === 'trades' ? 'quantity' : 'volume';
  const { [field]: given = -1, price = -1, low = price, high = price } = fields.values;
  const others = header.flatMap((name, at) =>
    at !== given && ofAssets.has(name.toLowerCase().replace(/[^a-z]/g, '')) ? [at] : [],
  );
  const at = (cells: readonly string[], place: number): number => numberFrom(cells[place] ?? '');
  const isPaid = (base: number, paid: number, worth = 1): boolean => {
    const traded = rows.filter((cells) => at(cells, base) > 0 && at(cells, paid) > 0);
    const fit = traded.filter((cells) => {
      const each = (worth * at(cells, paid)) / at(cells, base);
      return each > (1 - nearly) * at(cells, low) && each < (1 + nearly) * at(cells, high);
    });
    return traded.length > 0 && fit.length >= mostlyRight * traded.length;
  };
  const isOther = (base: number): boolean =>
    rows.some((cells) => Math.abs(at(cells, base) - at(cells, given)) > nearly * at(cells, given));
  const base =
    others.find((one) => others.some((other) => other !== one && isPaid(one, other))) ??
    (others.some((one) => isPaid(given, one)) ? given : undefined) ??
    others.find((one) => worths.some((worth) => isPaid(one, given, worth)));
  if (base === undefined)
    return { ...fields, notes: [...fields.notes, ...unknownNotes(fields.kind, name, header, rows, [given])] };
  if (!isOther(base)) return fields;
  const named = (place: number): string => escapeLine(header[place] || `column ${place + 1}`);
  const counts = isPaid(base, given) ? 'the quote asset' : 'contracts';
  const note = `what was traded is read from ${named(base)}, which is of the base asset: ${named(given)} counts ${counts}`;
  return { ...fields, values: { ...fields.values, [field]: base }, notes: [...fields.notes, note] };
}

/** Names of such columns in files that have no header: Binance's of trades and klines, and klines of OKX. */
export function namesByPlace({ kind, values }: FieldPlaces, width: number): readonly string[] {
  if (kind === 'trades') return values['makerBuys'] === 5 ? ['', '', '', 'quote_qty'] : [];
  const before = ['', '', '', '', '', '', ''];
  if (width === 9) return [...before.slice(1), 'vol_ccy', 'vol_quote'];
  return width === 11 || width === 12 ? [...before, 'quote_volume'] : [];
}
