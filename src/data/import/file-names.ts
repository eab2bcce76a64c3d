/** Reads exchange, symbol and interval from the name of a file. */
import { type ExchangeInterval, type Interval, intervals, isInterval, unknownInterval } from '../../domain/interval.ts';
import { escapeLine } from '../../domain/printable.ts';
import { Refusal } from '../../domain/refusal.ts';

const venues = [
  ...['binanceus', 'binanceum', 'binancefut', 'binance', 'bitmex', 'bitfinex', 'bitstamp', 'bybit', 'coinbase'],
  ...['cryptodatadownload', 'deribit', 'ftx', 'gateio', 'gemini', 'huobi', 'hyperliquid', 'kraken', 'kucoin'],
  ...['mtgox', 'okx', 'poloniex', 'standx', 'tardis', 'upbit'],
];
const quotes = 'USDT|USDC|FDUSD|TUSD|BUSD|PERP|USD|EUR|GBP|JPY|KRW|TRY|DAI|BTC|XBT|ETH|BNB';
const symbolText = new RegExp(`(?:^|[_\\-. ])([A-Z0-9]{2,12}?)[-_/]?(${quotes})(?=[_\\-. ,]|$)`);

const intervalNames: Readonly<Record<ExchangeInterval, readonly string[]>> = {
  '1min': ['1m', '1min', 'minute'],
  '5min': ['5m', '5min'],
  '15min': ['15m', '15min'],
  '30min': ['30m', '30min'],
  '60min': ['1h', '60m', '60min', 'hour'],
  '1day': ['1d', '1day', 'd', 'day', 'daily'],
  '1week': ['1w', '1week'],
  '1month': ['1mo', '1M', '1month'],
};

/** An interval in any usual spelling; undefined for others. */
export function intervalNamed(text: string): Interval | undefined {
  const find = (name: string): Interval | undefined => intervals.find((one) => intervalNames[one].includes(name));
  return find(text) ?? find(text.toLowerCase()) ?? minutesNamed(text.toLowerCase());
}

/** `3m`, `240min`, `4h`. */
function minutesNamed(text: string): Interval | undefined {
  const [, count, unit] = /^(\d+)(m|min|h)$/.exec(text) ?? [];
  const named = `${Number(count) * (unit === 'h' ? 60 : 1)}min`;
  return isInterval(named) ? named : undefined;
}

/** The same; throws a `Refusal` for others. */
export function intervalOf(text: string): Interval {
  const interval = intervalNamed(text);
  if (interval === undefined) throw new Refusal(unknownInterval(text));
  return interval;
}

/** `binance_BTCUSDT_1h.csv.xz`, `BTC_USDT-5m.json`, `BTCUSDT-aggTrades-2024-01.zip`. */
export function nameParts(fileName: string) {
  const name = fileName.replace(/(\.(csv|tsv|txt|json|jsonl|ndjson|parquet|gz|xz|zst|zip))+$/i, '');
  const source = venues.find((venue) => name.toLowerCase().includes(venue));
  const rest = source === undefined ? name : name.replace(new RegExp(`${source}[_\\-. ]?`, 'i'), '');
  const found = symbolText.exec(rest);
  // `hyperliquid_BTC_2025-09-04`: a word alone counts only where the exchange is named before it.
  const alone = source === undefined ? undefined : /^([A-Z][A-Z0-9]{1,11})(?=[_\-. ]|$)/.exec(rest)?.[1];
  const symbol = found === null ? alone : `${found[1]}${found[2]}`;
  const interval = rest
    .split(/[_\-. ,]+/)
    .map(intervalNamed)
    .find((one) => one !== undefined);
  return { source, symbol, interval };
}

/** As instruments are named: upper case letters and digits. */
export const symbolOf = (text: string): string => text.toUpperCase().replace(/[^A-Z0-9]/g, '');

const symbolForm = '2 to 30 letters and digits, such as BTCUSDT; BTC/USDT, BTC-USDT and btcusdt mean the same';

/** The symbol that a text spells. Throws a `Refusal` for others: `../x` is not the symbol X. */
export function namedSymbol(text: string): string {
  const symbol = symbolOf(text);
  if (/^[a-z0-9]+([-/_:. ][a-z0-9]+)*$/i.test(text.trim()) && symbol.length >= 2 && symbol.length <= 30) return symbol;
  throw new Refusal(`"${escapeLine(text.slice(0, 40))}" is not a symbol: ${symbolForm}`);
}
