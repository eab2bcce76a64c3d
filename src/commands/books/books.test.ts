import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTime } from '../../../test/kit/builders.ts';
import { eventOf, fillRowOf, orderRowOf } from '../../../test/kit/journal-rows.ts';
import { openDuck } from '../../data/catalogue/duckdb.ts';
import { readParquetRows } from '../../data/catalogue/parquet-rows.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Entry } from '../../journal/entries.ts';
import { type Identity, journalFile, openState } from '../../journal/open.ts';
import { openForWriting } from '../../journal/open-for-writing.ts';
import { writer } from '../../journal/writer.ts';
import { showPositions } from '../show/show.ts';
import { showStatus } from '../show/status.ts';
import { type ExportOptions, exportJournal, exportState } from './export.ts';
import type { ExportLayout } from './formats.ts';
import { type PnlOptions, showPnl } from './pnl.ts';

let root: string;
let dir: string;
let identity: Identity;
let out: string[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-books-'));
  dir = join(root, 'state');
  const state = openState(dir, { mode: 'live', account: 'spot', venue: 'v' }, ['s']);
  ({ identity } = state);
  state.lock.release();
  out = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(...entries: readonly Entry[]): void {
  const db = openForWriting(join(dir, journalFile));
  writer(db, identity.epoch)(entries);
  db.close();
}

const listed = (symbol: string, base: string): Entry => ({
  kind: 'instrument',
  ...{ symbol, base, quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 },
});
const trading: readonly Entry[] = [
  listed('BTCUSDT', 'BTC'),
  listed('ETHUSDT', 'ETH'),
  fillRowOf({ tradeId: '1' }),
  fillRowOf({ tradeId: '2', side: 'SELL', quantity: '0.3', price: '121.07', time: startTime + 90_000_000 }),
  fillRowOf({ tradeId: '3', symbol: 'ETHUSDT', strategy: 'other', quantity: '3', fee: '0.003', feeAsset: 'ETH' }),
  fillRowOf({ tradeId: '4', symbol: 'ETHUSDT', strategy: 'other', side: 'SELL', price: '90', feeAsset: 'BNB' }),
  { kind: 'memory', name: 'prices', value: JSON.stringify({ BTCUSDT: { price: '110', at: startTime + 95_000_000 } }) },
  { kind: 'adjustment', at: startTime, what: 'adjust', asset: 'USDT', amount: '50', by: 'me', reason: 'deposit' },
  { kind: 'audit', at: startTime + 90_000_000, outcome: 'even', differences: {}, held: {} },
];
const shown = { json: false, out: (line: string) => void out.push(line), say: () => undefined };
const pnl = (given: Partial<PnlOptions> = {}): string => {
  out = [];
  showPnl({ state: dir, method: 'average', ...shown, ...given });
  return out.join('\n');
};
const pnlJson = (given: Partial<PnlOptions> = {}) => JSON.parse(pnl({ json: true, ...given })) as never;

describe('sluice pnl', () => {
  test('equals what status and positions show', () => {
    put(...trading);
    const { totals } = pnlJson() as { totals: { realised: string; fees: string }[] };
    out = [];
    showStatus({ state: dir, ...shown, json: true });
    const { profit } = JSON.parse(out.join('')) as { profit: object[] };
    expect(profit).toEqual([{ quote: 'USDT', realised: totals[0]?.realised, fees: totals[0]?.fees }]);
    out = [];
    showPositions({ state: dir, ...shown, json: true });
    const rows = out.map((line) => JSON.parse(line) as { strategy: string; realised: string; fees: string });
    expect(pnlJson({ by: ['strategy'] })).toMatchObject({
      rows: rows
        .map(({ strategy, realised, fees }) => ({ group: { strategy }, realised, fees }))
        .sort((a, b) => a.group.strategy.localeCompare(b.group.strategy)),
    });
  });

  test('says at which price it values, what is not in it, and whether account and ledger agree', () => {
    put(...trading);
    const text = pnl();
    expect(text).toContain(
      'open       s BTCUSDT: 0.7 BTC for 70 USDT, now 7 at the last known price, 110 of 2020-03-13 02:23:20 UTC',
    );
    expect(text).toContain('not in it  fees in another asset: 0.1 BNB; they are not converted');
    expect(text).toContain('not in it  deposits, withdrawals and corrections by sluice adjust: 50 USDT');
    expect(text).not.toContain('that Sluice did not make');
    expect(text).toContain('account    2020-03-13 even at 01:00:00');
    expect(text).toContain('strategies their positions add up to the fills');
  });

  test('counts trades of others, and none of its own whose order a restored journal lacks', () => {
    const trade = {
      ...({ kind: 'venueTrade', symbol: 'BTCUSDT', side: 'BUY' } as const),
      ...{ price: '100', quantity: '1', fee: '0', feeAsset: 'USDT', maker: false, time: startTime, seenAt: startTime },
    };
    put(...trading, { ...trade, tradeId: '1', orderIds: ['1'] });
    expect(pnl()).not.toContain('that Sluice did not make');
    put({ ...trade, tradeId: '9', orderIds: ['99'] });
    expect(pnl()).toContain('not in it  1 trade on the account that Sluice did not make');
  });

  test('by day shows the proof of each day', () => {
    put(...trading);
    expect(pnl({ by: ['day'] })).toMatch(/│ 2020-03-12 .*│ not compared +│\n│ 2020-03-13 .*│ even at 01:00:00 +│/);
  });

  test('of an empty journal, and of a time without fills, says so', () => {
    expect(pnl()).toMatch(/^no fills in this time\naccount {4}never compared/);
    expect(() => pnl({ from: 2, to: 2 })).toThrow('--from is not before --to');
    expect(() => pnl({ by: ['day', 'day'] })).toThrow('--by day is given twice');
  });
});

describe('sluice export', () => {
  async function exported(layout: ExportLayout, given: Partial<ExportOptions> = {}) {
    const [lines, said]: [string[], string[]] = [[], []];
    await exportJournal(layout, {
      ...{ dir, table: [], json: false },
      out: (line) => lines.push(line),
      say: (line) => said.push(line),
      ...given,
    });
    return { out: lines, said };
  }
  const refused = async (...given: Parameters<typeof exported>): Promise<string> => {
    const error: unknown = await exported(...given).catch((thrown: unknown) => thrown);
    if (error instanceof Refusal) return error.message;
    throw new Error('nothing was refused', { cause: error });
  };

  test('writes each fill once in the layout that was asked for', async () => {
    put(...trading);
    expect((await exported('fills')).out).toHaveLength(5);
    expect((await exported('koinly')).out[1]).toBe(
      '2020-03-12 00:00:00 UTC,100,USDT,1,BTC,0.1,USDT,,,,"s BUY BTCUSDT, order 1001",1',
    );
    expect((await exported('cointracker', { from: startTime + 1 })).out).toEqual([
      'Date,Received Quantity,Received Currency,Sent Quantity,Sent Currency,Fee Amount,Fee Currency,Tag',
      '03/13/2020 01:00:00,36.321,USDT,0.3,BTC,0.1,USDT,',
    ]);
  });

  test('never lets a spreadsheet run a name as a formula', async () => {
    put(listed('BTCUSDT', 'BTC'), fillRowOf({ strategy: '=HYPERLINK("x")' }));
    for (const layout of ['fills', 'koinly'] as const) {
      const [, row = ''] = (await exported(layout)).out;
      expect(row).toMatch(/"'=HYPERLINK\(""x""\)/);
    }
  });

  test('writes Parquet with exact decimals that comes back as it was', async () => {
    put(...trading);
    const file = join(root, 'fills.parquet');
    expect((await exported('fills', { output: file })).said).toEqual([`4 rows in ${file}`]);
    const duck = await openDuck();
    const rows = await Array.fromAsync(readParquetRows(duck, file));
    duck.close();
    expect(rows[3]).toEqual([
      ...['2020-03-13T01:00:00.000Z', 's', 'BTCUSDT', 'SELL', '0.300000000000000000', 'BTC', '121.070000000000000000'],
      ...['36.321000000000000000', 'USDT', '0.100000000000000000', 'USDT', 'taker', 'enter', 'spot', '2', '1001', 'c1'],
    ]);
  });

  test('overwrites nothing without --replace, and leaves no incomplete file', async () => {
    put(...trading);
    const file = join(root, 'fills.csv');
    writeFileSync(file, 'mine');
    expect(await refused('fills', { output: file })).toBe(
      `${file} exists: choose another name with -o, or overwrite it with --replace`,
    );
    expect(readFileSync(file, 'utf8')).toBe('mine');
    await exported('fills', { output: file, replace: true });
    expect(readFileSync(file, 'utf8')).toMatch(/^time,strategy,/);
    for (const name of ['x.csv', 'x.parquet'])
      expect(await refused('fills', { output: join(file, name) })).toMatch(
        /cannot be written \(.* is below a file, not a folder \(ENOTDIR\)\)/,
      );
    expect(readdirSync(root).sort()).toEqual(['fills.csv', 'state']);
  });

  test('refuses what does not go together', async () => {
    expect(await refused('koinly', { format: 'jsonl' })).toContain('the layout koinly is a CSV file');
    expect(await refused('fills', { output: join(dir, 'fills.xlsx') })).toContain(
      'export writes no .xlsx files: use .csv, .jsonl, .parquet',
    );
    expect(await refused('fills', { format: 'parquet' })).toContain('give it with -o FILE.parquet');
    expect(await refused('fills', { table: ['orders'] })).toContain('sluice export tables --table orders');
    expect(await refused('fills', { from: 30, to: 30 })).toContain('--from is not before --to');
  });

  test('of a journal that something else changed is said not to be relied on', async () => {
    put(...trading);
    const db = new Database(join(dir, journalFile));
    db.exec("UPDATE fills SET price = '1'");
    db.close();
    await expect(exportState('fills', { state: dir, table: [], ...shown })).rejects.toThrow(
      /^do not rely on this output: /,
    );
    expect(out).not.toEqual([]);
  });

  describe('tables', () => {
    test('have every row, with its numbers as they are, and not the key of our ids', async () => {
      put(
        fillRowOf({ price: '0.000000000000000001', tradeId: '9007199254740993123' }),
        orderRowOf(),
        eventOf('sending'),
      );
      const rows = (await exported('tables')).out.map((line) => JSON.parse(line) as Record<string, unknown>);
      const db = new Database(join(dir, journalFile), { readonly: true });
      for (const table of ['orders', 'events', 'fills', 'venue_trades', 'openings', 'chain'])
        expect(rows.filter((row) => row['table'] === table)).toEqual(
          (db.prepare(`SELECT * FROM ${table}`).all() as object[]).map((row) => ({ table, ...row })),
        );
      db.close();
      expect(rows.find((row) => row['table'] === 'fills')).toMatchObject({
        price: '0.000000000000000001',
        trade_id: '9007199254740993123',
      });
      expect(JSON.stringify(rows)).not.toContain(Buffer.from(identity.idKey).toString('hex'));
    });

    test('as CSV come back as they were, with commas, quotes, line breaks, nothing and the empty text', async () => {
      put(
        orderRowOf({ clientOrderId: 'a', reason: 'a "b", c\nd', orderId: '' }),
        orderRowOf({ clientOrderId: 'b', reason: '' }),
      );
      const { out: lines } = await exported('tables', { format: 'csv', table: ['orders'] });
      expect(lines[0]?.split(',').slice(0, 3)).toEqual(['client_order_id', 'order_id', 'decision']);
      expect(lines[1]).toMatch(/^a,"",1,s,/);
      expect(lines[1]).toContain(',"a ""b"", c\nd",');
      expect(lines[2]).toMatch(/^b,,1,s,/);
    });

    test('are those, and of the time, that were asked for', async () => {
      put(eventOf('sending', { at: 10 }), eventOf('accepted', { at: 20 }), eventOf('closed', { at: 30 }), orderRowOf());
      const { out: lines } = await exported('tables', { table: ['events'], from: 20, to: 30 });
      expect(lines.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(['accepted']);
      expect(await refused('tables', { table: ['event'] })).toContain('did you mean "events"?');
    });

    test('go into a directory, a file for each', async () => {
      put(...trading);
      const folder = join(root, 'all/');
      await exported('tables', { format: 'csv', output: folder });
      expect(readdirSync(folder)).toContain('orders.csv');
      expect(readdirSync(folder).filter((name) => name.endsWith('.new'))).toEqual([]);
      const file = join(root, 'fills.jsonl');
      await exported('tables', { table: ['fills'], output: file });
      expect(await refused('tables', { output: `${file}/x/` })).toBe(
        `${file}/x/ cannot be made (ENOTDIR): choose another path with -o`,
      );
      expect(await refused('tables', { table: ['fills'], output: join(root, 'nowhere', 'f.jsonl') })).toContain(
        'cannot be written',
      );
      expect(existsSync(join(root, 'nowhere'))).toBe(false);
      expect(await refused('tables', { format: 'csv', output: join(root, 'one.csv') })).toContain('--table NAME');
    });
  });
});
