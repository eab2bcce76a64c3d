/** What the name of a file says about what is in it: the exchange, the symbol, the interval. */
import type { Interval } from '../../domain/interval.ts';
import { escapeLine } from '../../domain/printable.ts';
import { Refusal } from '../../domain/refusal.ts';

const venues = [
  ...['binanceus', 'binanceum', 'binancefut', 'binance', 'bitmex', 'bitfinex', 'bitstamp', 'bybit', 'coinbase'],
  ...['cryptodatadownload', 'deribit', 'ftx', 'gateio', 'gemini', 'huobi', 'hyperliquid', 'kraken', 'kucoin'],
  ...['mtgox', 'okx', 'poloniex', 'standx', 'tardis', 'upbit'],
];
const quotes = 'USDT|USDC|FDUSD|TUSD|BUSD|PERP|USD|EUR|GBP|JPY|KRW|TRY|DAI|BTC|XBT|ETH|BNB';
const symbolText = new RegExp(`(?:^|[_\\-. ])([A-Z0-9]{2,12}?)[-_/]?(${quotes})(?=[_\\-. ,]|$)`);

const intervalNames: Readonly<Record<string, Interval>> = {
  '1m': '1min',
  '1min': '1min',
  minute: '1min',
  '5m': '5min',
  '5min': '5min',
  '15m': '15min',
  '15min': '15min',
  '30m': '30min',
  '30min': '30min',
  '1h': '60min',
  '60m': '60min',
  '60min': '60min',
  hour: '60min',
  '1d': '1day',
  '1day': '1day',
  d: '1day',
  day: '1day',
  daily: '1day',
  '1w': '1week',
  '1week': '1week',
  '1mo': '1month',
  '1M': '1month',
  '1month': '1month',
};

/** An interval however the sources of data spell it; undefined when it is none of the exchange's. */
export const intervalNamed = (text: string): Interval | undefined =>
  intervalNames[text] ?? intervalNames[text.toLowerCase()];

export interface Named {
  readonly source?: string;
  readonly symbol?: string;
  readonly interval?: Interval;
}

/** `binance_BTCUSDT_1h.csv.xz`, `BTC_USDT-5m.json`, `BTCUSDT-aggTrades-2024-01.zip`. */
export function namedBy(fileName: string): Named {
  const name = fileName.replace(/(\.(csv|tsv|txt|json|jsonl|ndjson|parquet|gz|xz|zst|zip))+$/i, '');
  const source = venues.find((venue) => name.toLowerCase().includes(venue));
  const bare = source === undefined ? name : name.replace(new RegExp(`${source}[_\\-. ]?`, 'i'), '');
  const found = symbolText.exec(bare);
  // `hyperliquid_BTC_2025-09-04`: a word alone counts only where the exchange is named before it.
  const alone = source === undefined ? undefined : /^([A-Z][A-Z0-9]{1,11})(?=[_\-. ]|$)/.exec(bare)?.[1];
  const symbol = found === null ? alone : `${found[1]}${found[2]}`;
  const interval = bare
    .split(/[_\-. ,]+/)
    .map(intervalNamed)
    .find((one) => one !== undefined);
  return {
    ...(source !== undefined && { source }),
    ...(symbol !== undefined && { symbol }),
    ...(interval !== undefined && { interval }),
  };
}

/** As the instruments are named: upper case letters and digits alone. */
export const symbolOf = (text: string): string => text.toUpperCase().replace(/[^A-Z0-9]/g, '');

/** What a symbol looks like, for a message. */
export const symbolWanted =
  '2 to 30 letters and digits, such as BTCUSDT; BTC/USDT, BTC-USDT and btcusdt are read as that';

/** The symbol that a text spells. A `Refusal` for what is none: `../x` is not the symbol X. */
export function namedSymbol(text: string): string {
  const symbol = symbolOf(text);
  if (/^[a-z0-9]+([-/_:. ][a-z0-9]+)*$/i.test(text.trim()) && symbol.length >= 2 && symbol.length <= 30) return symbol;
  throw new Refusal(`"${escapeLine(text.slice(0, 40))}" is not a symbol: ${symbolWanted}`);
}

type Field =
  | 'time'
  | 'open'
  | 'high'
  | 'low'
  | 'close'
  | 'volume'
  | 'price'
  | 'quantity'
  | 'side'
  | 'makerBuys'
  | 'symbol'
  | 'anySymbol';

/** Names of columns with everything but letters and digits taken out, the surest first. */
const fieldNames: Readonly<Record<Field, readonly string[]>> = {
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
  /** Those by which rows of several symbols are told, too; a series is not named by them: a coin is none. */
  anySymbol: [
    ...['symbol', 'instrument', 'market', 'pair', 'currencypair', 'ticker', 'instrumentname', 'instid', 'productid'],
    ...['contract', 'coin', 's'],
  ],
};

const bare = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Which of a header's columns is the one; -1 when none is. Where names differ in their case alone, such as `l` and `L`, that of small letters. */
export function columnNamed(header: readonly string[], field: Field): number {
  const names = header.map(bare);
  for (const name of fieldNames[field]) {
    const at = header.includes(name) ? header.indexOf(name) : names.indexOf(name);
    if (at >= 0) return at;
  }
  return -1;
}

/** A `Refusal` where a column that is read has the name of another one: which of the two it is nobody knows. */
export function refuseTwice(path: string, header: readonly string[], places: readonly number[]): void {
  // Exchanges tell letters apart by their case, as `t` and `T`.
  const isAlike = (one: string, other: string): boolean =>
    one === other || (one.length > 1 && one.toLowerCase() === other.toLowerCase());
  const twice = places.find((at) => header.some((name, other) => other !== at && isAlike(name, header[at] ?? '')));
  if (twice === undefined) return;
  throw new Refusal(
    `${path}: its header has "${escapeLine(header[twice] ?? '')}" more than once: take the wrong column out, or name the columns in their order (--columns; - for one to leave out)`,
  );
}

/** The column that names the symbol of each row; -1 when none does. One that is left out of the columns told by hand does so all the same. */
export function symbolColumn(header: readonly string[], columns: readonly string[] | undefined): number {
  const named = columnNamed(columns ?? header, 'anySymbol');
  if (named >= 0 || columns === undefined) return named;
  const at = columnNamed(header, 'symbol');
  return (columns[at] ?? '-') === '-' ? at : -1;
}

/** Trades of Binance's streams have their number in `t` and their time in `T`, where klines have their opening and their end. */
export function timeOfTrade(header: readonly string[]): number {
  const at = columnNamed(header, 'time');
  return header[at] === 't' && header.includes('T') ? header.indexOf('T') : at;
}

/**
 * `Volume BTC`, `volume_btc` beside `Volume USD`: the one of the base asset, which the symbol begins with, or that is not of the quote, which
 * it ends with: by volume in the quote orders would fill thousands of times too much. -1 when there is none.
 */
export function volumeOfBase(header: readonly string[], symbol: string | undefined): number {
  const named = columnNamed(header, 'volume');
  if (named >= 0) return named;
  const assets = header.map((name) => /^volume[ _]\(?([a-z0-9]+)\)?$/i.exec(name.trim())?.[1]?.toUpperCase());
  if (symbol === undefined) return assets.findIndex((asset) => asset !== undefined);
  const text = symbolOf(symbol);
  // USDC and USD both begin USDCUSD: the longer one is it.
  const [base] = assets
    .filter((asset) => asset !== undefined && text.startsWith(asset))
    .toSorted((a, b) => (b?.length ?? 0) - (a?.length ?? 0));
  return assets.findIndex(
    (asset) => asset !== undefined && (base === undefined ? !text.endsWith(asset) : asset === base),
  );
}
