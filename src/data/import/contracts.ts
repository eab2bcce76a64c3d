/** Files that may count contracts or the quote asset: by these orders would fill thousands of times too much. */

import type { Kind } from '../catalogue/kinds.ts';
import type { FieldPlaces, Rows } from './fields.ts';

/** Exchanges that count contracts, and what they call futures of which they do, in names of files, symbols and exchanges. */
const counting =
  /bitmex|deribit|binance-delivery|USD_(?:PERP|\d{6})|[-_]SWAP(?![a-z])|(?:okex|gate-io|kucoin)-futures|huobi-dm|cryptofacilities/i;
/** Sources whose volumes are of the quote asset; of Yahoo's those of pairs (`BTC-USD.csv`), not of shares. */
const ofQuote = /(?<![a-z])ftx(?![a-z])|[a-z]-(?:usd|eur|gbp|jpy|btc)(?![a-z]).*adj close/i;

/** Files of Coinbase as it gives trades; others turn the side, and name the exchange in a column. */
const ofMaker = /(?<![a-z])(?:coinbase|gdax)(?![a-z]).*(?<![a-z])trade_?id(?![a-z])/i;

/** What is done about quantities that may be of something else. */
export const readAsBase = 'they are read as those of the base asset, and orders may fill by far more than was traded';

/** What cannot be known of quantities and of sides. */
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

/** The same of the places of a layout. */
export function withNotes(fields: FieldPlaces, header: readonly string[], rows: Rows, name: string): FieldPlaces {
  const { [fields.kind === 'trades' ? 'quantity' : 'volume']: given = -1 } = fields.values;
  return { ...fields, notes: [...fields.notes, ...unknownNotes(fields.kind, name, header, rows, [given])] };
}
