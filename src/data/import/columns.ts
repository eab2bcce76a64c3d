/** Which column holds what: by the names in the header, or by those that the user or a format gave. */
import { escapeLine } from '../../domain/printable.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Kind } from '../catalogue/kinds.ts';
import { symbolOf } from './file-names.ts';
import { formats, type LayoutOptions } from './layout.ts';

type Field = (typeof klineFields)[number] | 'time' | 'volume' | 'price' | 'quantity' | 'side' | 'makerBuys' | 'symbol';
const klineFields = ['open', 'high', 'low', 'close'] as const;

/** Names of columns in lower case, letters and digits alone, the surest first. */
const fieldNames: Readonly<Record<Field | 'anySymbol', readonly string[]>> = {
  time: [
    ...['timems', 'timestampms', 'unix', 'unixtimestamp', 'opentime', 'timestamp', 'time', 'transacttime', 'ts', 't'],
    ...['datetime', 'date', 'starttime', 'start', 'gmttime', 'createdtime', 'createdat'],
  ],
  open: ['open', 'o', 'openprice'],
  high: ['high', 'h', 'highprice', 'max'],
  low: ['low', 'l', 'lowprice', 'min'],
  close: ['close', 'c', 'closeprice'],
  volume: ['volume', 'vol', 'v', 'basevolume', 'volumebase'],
  price: ['price', 'p', 'px', 'rate', 'tradeprice'],
  quantity: ['qty', 'quantity', 'amount', 'size', 'sz', 'q', 'volume', 'vol'],
  side: ['side', 'takerside', 'direction', 'takerorderside', 'type'],
  makerBuys: ['isbuyermaker', 'buyermaker', 'm'],
  symbol: ['symbol', 'instrument', 'market'],
  /** These tell symbols apart as well, but a series is not named after them: a coin is no symbol. */
  anySymbol: [
    ...['symbol', 'instrument', 'market', 'pair', 'currencypair', 'ticker', 'instrumentname', 'instid', 'productid'],
    ...['contract', 'coin', 's'],
  ],
};

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** The place of a field in a header; -1 when it has none. Where names differ in case alone, as `l` and `L`, lower case wins. */
export function columnNamed(header: readonly string[], field: keyof typeof fieldNames): number {
  const names = header.map(plain);
  for (const name of fieldNames[field]) {
    const at = header.includes(name) ? header.indexOf(name) : names.indexOf(name);
    if (at >= 0) return at;
  }
  return -1;
}

/** The column that names the symbol of each row; -1 when none does. It counts even where `--columns` leaves it out. */
export function symbolColumn(header: readonly string[], columns: readonly string[] | undefined): number {
  const named = columnNamed(columns ?? header, 'anySymbol');
  if (named >= 0 || columns === undefined) return named;
  const at = columnNamed(header, 'symbol');
  return (columns[at] ?? '-') === '-' ? at : -1;
}

/** Throws a `Refusal` where the name of a column that is read appears twice. */
export function refuseDuplicates(path: string, header: readonly string[], places: readonly number[]): void {
  // Exchanges tell single letters apart by their case, as `t` and `T`.
  const isAlike = (one: string, other: string): boolean =>
    one === other || (one.length > 1 && one.toLowerCase() === other.toLowerCase());
  const twice = places.find((at) => header.some((name, other) => other !== at && isAlike(name, header[at] ?? '')));
  if (twice === undefined) return;
  throw new Refusal(
    `${path}: its header has "${escapeLine(header[twice] ?? '')}" more than once: remove the wrong column, or name the columns in order (--columns; - skips one)`,
  );
}

/** In Binance's streams of trades `t` is a number and `T` the time; in those of klines `t` is the time. */
function timeColumn(header: readonly string[], kind: Kind | undefined): number {
  const at = columnNamed(header, 'time');
  return kind === 'trades' && header[at] === 't' && header.includes('T') ? header.indexOf('T') : at;
}

/**
 * The volume in the base asset; -1 when there is none. Of `Volume BTC` and `Volume USD` it is the one that the symbol begins with, or
 * else the one that it does not end with. With volume in the quote asset orders would fill thousands of times too much.
 */
function volumeColumn(header: readonly string[], symbol: string | undefined): number {
  const named = columnNamed(header, 'volume');
  if (named >= 0) return named;
  const assets = header.map((name) => /^volume[ _]\(?([a-z0-9]+)\)?$/i.exec(name.trim())?.[1]?.toUpperCase());
  if (symbol === undefined) return assets.findIndex((asset) => asset !== undefined);
  const text = symbolOf(symbol);
  // USDC and USD both begin USDCUSD: the longer one counts.
  const [base] = assets
    .filter((asset) => asset !== undefined && text.startsWith(asset))
    .toSorted((a, b) => (b?.length ?? 0) - (a?.length ?? 0));
  return assets.findIndex(
    (asset) => asset !== undefined && (base === undefined ? !text.endsWith(asset) : asset === base),
  );
}

const howToName = (kind: Kind | undefined): string =>
  `name them in order (--columns ${kind === 'trades' ? 'time,price,quantity,side' : 'time,open,high,low,close,volume'}; - skips one)`;

/** The places of the time and of each field, `symbol` -1 for none, and whether times are those of closes. Throws a `Refusal` where the header does not say. */
export function columnPlaces(header: readonly string[], given: LayoutOptions, path: string) {
  const at = (field: Field): number => columnNamed(header, field);
  const names = header.map(plain);
  const hasKlines = klineFields.every((field) => at(field) >= 0);
  const hasTrades = at('price') >= 0 && at('quantity') >= 0;
  const kind = given.kind ?? (hasKlines ? 'klines' : hasTrades ? 'trades' : undefined);
  const endStamps = at('time') < 0 && names.includes('closetime');
  const time = endStamps ? names.indexOf('closetime') : timeColumn(header, kind);
  const side = at('makerBuys') >= 0 ? 'makerBuys' : 'side';
  const fields: readonly Field[] = kind === 'trades' ? ['price', 'quantity', side] : [...klineFields, 'volume'];
  const values: Readonly<Partial<Record<Field, number>>> = Object.fromEntries(
    fields.map((field) => [field, field === 'volume' ? volumeColumn(header, given.symbol) : at(field)]),
  );
  const missing = [...(time < 0 ? ['time'] : []), ...fields.filter((field) => (values[field] ?? -1) < 0)];
  const among = `among "${escapeLine(header.join(',').slice(0, 120))}"`;
  if (kind !== undefined && missing.join() === 'volume')
    throw new Refusal(
      `${path}: no column for volume ${among}. Klines need the volume in the base asset, not in the quote asset, because it limits how much of an order fills. If a column holds it, name the columns in order (--columns time,open,high,low,close,volume; - skips one). If none does, fetch klines with volume, or add a column with your own estimate (with 0, limit orders do not fill)`,
    );
  if ((kind !== 'klines' && kind !== 'trades') || missing.length > 0)
    throw new Refusal(
      `${path}: no column for ${kind === undefined ? 'klines or trades' : missing.join(', ')} ${among}: ${howToName(kind)}`,
    );
  if (given.columns === undefined && names.includes('homenotional'))
    throw new Refusal(
      `${path} counts contracts beside the quantity in coins: give its format (--format bitmex-klines, bitmex-trades, bybit-trades or bybit-inverse-trades), or ${howToName(kind)}`,
    );
  refuseDuplicates(path, header, [time, ...Object.values(values)]);
  return { kind, time, values, symbol: at('symbol'), endStamps };
}

export type Rows = readonly (readonly string[])[];

/** Neither a header nor the user says what the columns are. */
export function refuseNameless(path: string, rows: Rows): never {
  const first = rows[0] ?? [];
  throw new Refusal(
    `${path} has no header, so its ${first.length} columns ("${escapeLine(first.join(',').slice(0, 80))}") are unknown: give its format (--format ${Object.keys(formats).slice(0, 3).join(', ')}, …; sluice data import --help lists them), or ${howToName('klines')}`,
  );
}

/** Exchanges that count contracts, and their names of such futures. */
const countsContracts =
  /bitmex|deribit|binance-delivery|USD_(?:PERP|\d{6})|[-_]SWAP(?![a-z])|(?:okex|gate-io|kucoin)-futures|huobi-dm|cryptofacilities/i;
/** Sources whose volume is in the quote asset: FTX, and Yahoo for pairs (`BTC-USD.csv`). */
const quoteVolume = /(?<![a-z])ftx(?![a-z])|[a-z]-(?:usd|eur|gbp|jpy|btc)(?![a-z]).*adj close/i;
/** Coinbase's own trades; other providers turn the side, and name the exchange in a column. */
const makerSides = /(?<![a-z])(?:coinbase|gdax)(?![a-z]).*(?<![a-z])trade_?id(?![a-z])/i;

export const readAsBase = 'they are read as quantities in the base asset, so orders may fill far too much';

/** Notes on quantities, in the columns `places`, and on sides that may mean something else than usual: nothing in the file proves it. */
export function quantityNotes(
  kind: Kind,
  name: string,
  header: readonly string[],
  rows: Rows,
  places: readonly (number | undefined)[],
): readonly string[] {
  const text = [name, ...header, ...(rows[0] ?? [])].join(' ');
  if (kind === 'trades' && makerSides.test(text) && !header.includes('exchange'))
    return [
      'sides are read as those of takers, but Coinbase gives those of makers: unless the provider converted them, swap sell and buy in the file',
    ];
  const [found] = countsContracts.exec(text) ?? [];
  const isWhole = rows.every((cells) => places.every((at) => /^\d+(\.0*)?$/.test(cells[at ?? -1] ?? '')));
  if (found !== undefined && isWhole)
    return [`quantities are whole numbers, so they may be contracts (${found}): ${readAsBase}`];
  return kind === 'klines' && quoteVolume.test(text)
    ? [`volumes of FTX, and of crypto at Yahoo, are in the quote asset: ${readAsBase}`]
    : [];
}
