import { expect, test } from 'vitest';
import { fileSymbolNotes } from './file-symbol.ts';

const bitcoin = { symbol: 'BTCUSDT', base: 'BTC' };

test.for([
  ['ETHUSDT-15m-2025.csv.gz', 'ETHUSDT'],
  ['binance_ETHBTC_1h.csv', 'ETHBTC'],
])('%s is not of BTCUSDT, and that stands against the result', ([file, named]) => {
  const note = `BTCUSDT: the name of the file ${file} says ${named}: use the file of BTCUSDT, or rename it`;
  expect(fileSymbolNotes(bitcoin, `data/${file}`)).toEqual({ warnings: [note], doubts: [note] });
});

test.for([
  ...['BTCUSDT-15m.csv', 'XBTUSD-1m.csv.gz', 'BTC-USD.csv', 'klines.csv', 'x.csv', 'XXBTZUSD_60.csv'],
  ...['deribit_trades_2024-01-01_BTC-PERPETUAL.csv.gz', 'COINBASE_SPOT_BTC_USD.csv', 'USDT_BTC_1h.csv'],
  ...['klines_2024_BTC_USDT.csv', 'bitstampUSD_1-min_data_2012-01-01_to_2021-03-31.csv'],
])('%s may be', (file) => {
  expect(fileSymbolNotes(bitcoin, file, undefined)).toEqual({ warnings: [], doubts: [] });
});
