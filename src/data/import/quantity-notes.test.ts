/** Notes on quantities and sides that may mean something else than usual. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { detectLayout } from './detect-layout.ts';
import { formats } from './layout.ts';
import { openData } from './unpack.ts';

const at = Date.UTC(2024, 0, 1);

test.for<[string, string, string, RegExp | undefined]>([
  [
    'coin-margined of Binance',
    'BTCUSD_PERP-aggTrades-2024-01-01.csv',
    `1,8000,20,1,1,${at},true,true`,
    /whole numbers, so they may be contracts \(USD_PERP\)/,
  ],
  ['of Binance', 'BTCUSDT-aggTrades-2024-01-01.csv', `1,8000,20,1,1,${at},true,true`, undefined],
  ['of BitMEX in coins', 'bitmex_XBTUSD.csv', `1,8000,0.20,1,1,${at},true,true`, undefined],
  [
    'of Yahoo',
    'BTC-USD.csv',
    'Date,Open,High,Low,Close,Adj Close,Volume\n2024-01-01,8000,8100,7900,8000,8000,5000000\n2024-01-02,8000,8100,7900,8000,8000,6000000',
    /volumes of FTX, and of crypto at Yahoo, are in the quote asset/,
  ],
  [
    'of Yahoo, of shares',
    'AAPL.csv',
    'Date,Open,High,Low,Close,Adj Close,Volume\n2024-01-01,80,81,79,80,80,5000000\n2024-01-02,80,81,79,80,80,6000000',
    undefined,
  ],
  [
    'of trades of Coinbase',
    'coinbase_BTC-USD.csv',
    `time,trade_id,price,size,side\n${at},7,8000,2.5,buy`,
    /Coinbase gives those of makers/,
  ],
  [
    'of trades of Coinbase that others normalized',
    'coinbase_BTC-USD.csv',
    `time,price,size,side\n${at},8000,2.5,buy`,
    undefined,
  ],
  ['of trades of FTX', 'ftx_BTC-PERP.csv', `time,price,qty,side\n${at},8000,2.5,buy`, undefined],
  [
    'of BitMEX by Tardis',
    'XBTUSD.csv',
    'exchange,symbol,timestamp,local_timestamp,asks[0].price,asks[0].amount,bids[0].price,bids[0].amount\nbitmex,XBTUSD,1704067200000000,1704067200000000,8001,100,8000,200',
    /may be contracts \(bitmex\)/,
  ],
])('rows %s have a note where their meaning is not certain', async ([, name, content, expected]) => {
  const path = join(mkdtempSync(join(tmpdir(), 'sluice-contracts-')), name);
  writeFileSync(path, `${content}\n`);
  // What begins with a number has no header.
  const { notes } = detectLayout(await openData(path), /^\d/.test(content) ? { ...formats['binance-aggtrades'] } : {});
  expect(notes.find((note) => /whole|volumes of|Coinbase/.test(note)) ?? '').toMatch(expected ?? /^$/);
});

test('who buys is not guessed of a column that says that somebody does', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'sluice-contracts-')), 'BTCUSDT.csv');
  writeFileSync(path, `time,price,qty,is_buyer\n${at},8000,2.5,true\n`);
  const file = await openData(path);
  expect(() => detectLayout(file, {})).toThrow(/no column for side among .*--columns time,price,quantity,side;/);
});
