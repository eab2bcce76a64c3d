/** Files of known sources, for `--format`: their columns in their order, since most have no header, or one that misleads. */
import type { Told } from './layout.ts';

const klines = (source: string | undefined, columns: string, more: Told = {}): Told => ({
  ...{ kind: 'klines', columns: columns.split(','), ...more },
  ...(source !== undefined && { source }),
});
const trades = (source: string | undefined, columns: string): Told => ({ ...klines(source, columns), kind: 'trades' });

/** Volumes and quantities are those of the base asset: where a source counts contracts, a column beside them. */
export const formats: Readonly<Record<string, Told>> = {
  'binance-klines': klines('binance', 'time,open,high,low,close,volume'),
  'binance-coin-klines': klines('binance', 'time,open,high,low,close,-,-,volume'),
  'binance-trades': trades('binance', '-,price,quantity,-,time,is_buyer_maker'),
  'binance-coin-trades': trades('binance', '-,price,-,quantity,time,is_buyer_maker'),
  'binance-aggtrades': trades('binance', '-,price,quantity,-,-,time,is_buyer_maker'),
  'bitfinex-klines': klines('bitfinex', 'time,open,close,high,low,volume'),
  // timestamp,symbol,open,high,low,close,trades,volume,vwap,lastSize,turnover,homeNotional,foreignNotional
  'bitmex-klines': klines('bitmex', 'time,-,open,high,low,close,-,-,-,-,-,volume', { endStamps: true }),
  // timestamp,symbol,side,size,price,tickDirection,trdMatchID,grossValue,homeNotional,foreignNotional
  'bitmex-trades': trades('bitmex', 'time,-,side,-,price,-,-,-,quantity'),
  'bybit-trades': trades('bybit', 'time,-,side,quantity,price'),
  'bybit-inverse-trades': trades('bybit', 'time,-,side,-,price,-,-,-,-,quantity'),
  'coinbase-klines': klines('coinbase', 'time,low,high,open,close,volume'),
  'freqtrade-klines': klines(undefined, 'time,open,high,low,close,volume'),
  'freqtrade-trades': trades(undefined, 'time,-,-,side,price,quantity'),
  'gateio-klines': klines('gateio', 'time,volume,close,high,low,open'),
  'kraken-klines': klines('kraken', 'time,open,high,low,close,volume'),
  'kraken-api-klines': klines('kraken', 'time,open,high,low,close,-,volume'),
  'okx-klines': klines('okx', 'time,open,high,low,close,volume'),
  'okx-swap-klines': klines('okx', 'time,open,high,low,close,-,volume'),
};
