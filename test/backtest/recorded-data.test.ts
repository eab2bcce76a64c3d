/** Every recorded file beside the checkout goes through import and check, and its described defects are found; skipped where there is none. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { audit } from '../../src/data/catalogue/audit.ts';
import { ledgerOf } from '../../src/data/catalogue/gap-ledger.ts';
import { type Manifest, readManifest } from '../../src/data/catalogue/manifest.ts';
import { storedKlines } from '../../src/data/catalogue/run-data.ts';
import type { Finding, Repair } from '../../src/data/check/finding.ts';
import { importFile } from '../../src/data/import/import.ts';
import { intervalMs } from '../../src/domain/interval.ts';
import { max, noUnits, unitsText } from '../../src/domain/money.ts';
import smaCross from '../../strategies/sma-cross/index.ts';
import { backtestHere } from '../kit/command.ts';
import { runNow } from '../kit/run-now.ts';
import { cut, inputOf } from './agreement.ts';

/** The time of the tests: behind all data. */
const now = Date.UTC(2026, 5, 1);

const root = join(import.meta.dirname, '..', '..', '..', 'shared', 'data');
const folders = ['recorded/klines', 'recorded/trades', 'recorded/depth', 'bundle'];
const files = folders
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name)))
  // Frames of a socket are no series: src/venue/exchange/market/frames.test.ts reads them.
  .filter((path) => /\.(csv|jsonl)\.(xz|gz)$/.test(path) && !path.includes('chainup-frames'));
/** Markets of a trade or a book so seldom that their longest silence is none. */
const quiet = /mtgox_BTCUSD|BTCUSD-trades-mtgox|binance_XRPETH|standx_BTCUSD_2026-01-06T15/;
const described = existsSync(root) ? readFileSync(join(root, 'MANIFEST.md'), 'utf8').split('\n') : [];

/** What the manifest says of a file: rows of data or books, and its defects. */
function expected(path: string): { readonly rows: number; readonly defects: string } {
  const line = described.find((text) => text.includes(`/${basename(path)} |`))?.split('|') ?? [];
  return { rows: Number((line[3] ?? '').replaceAll(',', '')), defects: line[5] ?? '' };
}

const number = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);
const countOf = (findings: readonly Finding[], check: Finding['check']): number =>
  findings.find((one) => one.check === check)?.count ?? 0;

describe.skipIf(files.length === 0)('recorded data', () => {
  test.for(files)('%s', async (path) => {
    const dir = mkdtempSync(join(tmpdir(), 'sluice-recorded-'));
    const { rows, defects } = expected(path);
    const disorder = number(defects, /(\d+) out of order/);
    const options = { dir, endStamps: false, replace: false, now };
    const plain = importFile(path, { ...options, repair: new Set<Repair>() });
    if (disorder > 0) await expect(plain).rejects.toThrow(`${disorder} trades earlier than the one before`);
    const result =
      disorder > 0 ? await importFile(path, { ...options, repair: new Set<Repair>(['sort']) }) : await plain;
    const manifest = readManifest(dir, result.key);
    if (manifest === undefined) throw new Error('nothing was stored');
    const again = await audit(dir, manifest, now);
    expect(again.damage).toEqual([]);
    // What the import found is what the stored rows hold.
    // What the file alone tells: its rows do not.
    const ofFile: readonly string[] = ['assumed', 'cut-off', 'contracts'];
    const found = result.findings.filter(({ check }) => !ofFile.includes(check));
    expect(again.findings.map(({ check, count }) => [check, count])).toEqual(
      found.map(({ check, count }) => [check, count]),
    );
    expect(result.repaired.map((one) => [one.repair, one.rows])).toEqual(disorder > 0 ? [['sort', disorder]] : []);
    expect(result.key.kind === 'depth' || result.rows === rows).toBe(true);

    expect(countOf(found, 'zero-volume')).toBe(number(defects, /(\d+) zero-volume/));
    expect(countOf(found, 'opens-outside')).toBe(number(defects, /(\d+) opens outside/));
    expect(countOf(found, 'locked')).toBe(number(defects, /(\d+) locked/));
    expect(countOf(found, 'same-time')).toBe(number(defects, /(\d+) repeated t/));
    expect(countOf(found, 'one-sided')).toBe(/buy 0 \//.test(defects) ? rows : 0);
    if (result.key.kind === 'klines') {
      expect(countOf(found, 'gaps')).toBe(number(defects, /(\d+) gaps/));
      expect(ledgerOf(manifest)).toHaveLength(number(defects, /(\d+) gaps/));
    }
    if (result.key.kind !== 'klines') {
      const longest = number(defects, /max gap ([\d.]+) s/);
      const gaps = ledgerOf(manifest).map(({ from, to }) => (to - from) / 1_000);
      if (quiet.test(path) || longest === 0) expect(gaps).toEqual([]);
      else expect(Math.max(...gaps)).toBeCloseTo(longest, 0);
    }
    // What the notes of the manifest say, and how many books are followed by more than three seconds of nothing.
    const isReconnect = path.includes('trades/hyperliquid_BTC_2025-09-03T1255');
    expect(countOf(found, 'delivered-twice')).toBe(isReconnect ? 1 : 0);
    expect(countOf(found, 'old-books')).toBe(path.includes('standx_BTCUSD_2026-01-06T15') ? 100 : 0);
    // Sorting brings equal trades together that lay apart.
    const identical = number(defects, /(\d+) identical rows/);
    if (result.key.kind === 'trades') expect(countOf(found, 'identical')).toBe(identical);
    const { run, warnings } = await backtested(dir, manifest, path);
    expect(run.klines).toBeGreaterThanOrEqual(5);
    if (result.key.kind === 'depth')
      expect(warnings).toMatch(/: fills by trades from \S+ to \S+, by depth from \S+ to \S+, by klines elsewhere/);
    // What was mended or is doubtful stands in the result.
    if (disorder > 0) expect(warnings).toContain(`repaired (sort): ${disorder} rows`);
    if (/buy 0 \//.test(defects)) expect(warnings).toContain('every trade is a SELL');
    if (/ locked/.test(defects)) expect(warnings).toContain('with bid and ask at one price');
    rmSync(dir, { recursive: true });
  });
});

const minutes = files.find((path) => path.includes('bitmex_XBTUSD_1m'));

/** What four other engines give for the same rule on the same klines: vectorbt, backtesting.py, backtrader and jesse. */
describe.skipIf(minutes === undefined)('the recorded minutes of five years', () => {
  let dir = '';
  const symbol = 'XBTUSD';
  const fees = { maker: '0.001', taker: '0.001' };
  const precision = { base: 'XBT', quote: 'USD', pricePrecision: 2, quantityPrecision: 5 };
  const instrument = { ...precision, minQuantity: '0.00001', minNotional: '0.01' };
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'sluice-recorded-'));
    await importFile(minutes ?? '', { dir, endStamps: false, replace: false, now, repair: new Set<Repair>() });
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  test('give the round trips and the money of other engines', async () => {
    const params = { fast: 10, slow: 50, quantity: 1 };
    writeFileSync(join(dir, 'instruments.yaml'), JSON.stringify({ [symbol]: instrument }));
    const risk = { maxOrderValue: '1000000000', maxPosition: '1000000000', maxDailyLoss: '1' };
    const strategies = [{ id: 'a', use: 'sma-cross', symbol, interval: '1min', params }];
    const config = { catalogue: '.', instruments: 'instruments.yaml', rules: 'plain', cash: '10000000', risk, fees };
    writeFileSync(join(dir, 'run.yaml'), JSON.stringify({ ...config, strategies }));
    const { out, refusal } = await backtestHere(join(dir, 'run.yaml'), { json: true });
    if (refusal !== undefined) throw refusal;
    expect(JSON.parse(out)).toMatchObject({
      klines: 2_771_223,
      finalEquity: '9563694.47043',
      metrics: { roundTrips: 38_657 },
    });
  });

  test('have the best of 200 pairs of averages over their first 100,000 that other engines find', async () => {
    const all = await storedKlines(dir, { symbol, interval: '1min', pricePrecision: 2 });
    const columns = cut(all.columns, 0, 100_000);
    const given = { symbol, interval: '1min', instrument, columns, rules: 'plain', fees, cash: '10000000' } as const;
    let best = noUnits;
    for (let fast = 5; fast <= 24; fast++)
      for (let slow = 30; slow <= 75; slow += 5) {
        const params = { fast, slow, quantity: 1, share: 0, stop: 0 };
        const { finalEquity } = runNow(inputOf({ ...given, strategy: smaCross, params }));
        best = max(best, finalEquity);
      }
    expect(unitsText(best)).toBe('9999423.50894');
  });
});

/** A run over a stretch of the series; books have the trades of their market beside them, which say what happened. */
async function backtested(dir: string, manifest: Manifest, path: string) {
  const { kind, symbol, months, priceDecimals } = manifest;
  const tape = kind === 'depth' ? await withTrades(dir, manifest, path) : manifest;
  const interval = kind === 'klines' ? (manifest.interval ?? '1min') : '1min';
  const from = months[0]?.from ?? 0;
  const to = Math.min(months[0]?.to ?? 0, from + (kind === 'klines' ? 400 : 60) * intervalMs(interval, from));
  const base = {
    base: 'BASE',
    quote: 'QUOTE',
    pricePrecision: Math.max(priceDecimals, tape.priceDecimals),
    quantityPrecision: 5,
  };
  writeFileSync(join(dir, 'instruments.yaml'), JSON.stringify({ [symbol]: base }));
  const strategy = { id: 'a', use: 'sma-cross', symbol, interval, params: { fast: 1, slow: 2, quantity: 1 } };
  const config = { catalogue: '.', instruments: 'instruments.yaml', cash: '100000000', strategies: [strategy] };
  const risk = { maxOrderValue: '10000000', maxPosition: '10000000' };
  const span = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  writeFileSync(
    join(dir, 'run.yaml'),
    JSON.stringify({ ...config, ...span, risk, fees: { maker: '0.001', taker: '0.001' } }),
  );
  const { out, refusal } = await backtestHere(join(dir, 'run.yaml'), { json: true });
  if (refusal !== undefined) throw refusal;
  const run = JSON.parse(out) as { readonly klines: number; readonly warnings: readonly string[] };
  return { run, warnings: run.warnings.join('\n') };
}

/** The trades that were recorded beside the books: of the same market and day, in a file named so. */
async function withTrades(dir: string, { symbol }: Manifest, path: string): Promise<Manifest> {
  const [market = '', day = ''] = basename(path).match(/(BTC|ETH)[A-Z]*(?=[_-])|\d{4}-\d\d-\d\d/g) ?? [];
  const folder = path.includes('/bundle/') ? '/bundle/' : '/trades/';
  const beside = files.find((one) => [folder, 'trades', market, day].every((part) => one.includes(part)));
  if (beside === undefined) throw new Error(`no trades are recorded beside ${path}`);
  await importFile(beside, {
    dir,
    symbol,
    endStamps: false,
    replace: false,
    now,
    repair: new Set<Repair>(['sort']),
  });
  const trades = readManifest(dir, { kind: 'trades', symbol });
  if (trades === undefined) throw new Error('no trades were stored');
  return trades;
}
