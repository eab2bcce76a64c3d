import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../config/read.ts';
import { backtestSchema } from '../../config/schema.ts';
import { home } from '../../config/shipped.ts';
import { importFile } from '../../data/import/import.ts';
import { type Prepared, prepare } from './prepare.ts';

const data = (name: string): string => join(home(), 'backtests', 'data', name);
const trades = data('BTCUSDT-trades-2024-08-08T2354_11min.csv.gz');
const depth = data('BTCUSDT-depth20-1s-2024-08-08T2354_11min.jsonl.gz');

/** A run of the maker on BTCUSDT, configured by these lines, beside an empty catalogue unless it is filled. */
function place(): { readonly dir: string; readonly ready: (...lines: readonly string[]) => Promise<Prepared> } {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-tapes-'));
  return {
    dir,
    ready(...lines) {
      const file = join(dir, 'backtest.yaml');
      const fixed = [
        'strategies: [{ id: m, use: maker, symbol: BTCUSDT, interval: 1min }]',
        'risk: { maxOrderValue: "100000", maxPosition: "100000" }',
        'fees: { maker: "0", taker: "0.0004" }',
        'cash: "100000"',
        'catalogue: catalogue',
      ];
      writeFileSync(file, [...fixed, ...lines].join('\n'));
      return prepare(file, readConfig(file, backtestSchema));
    },
  };
}

const shown = ({ input: { tapes, series } }: Prepared): unknown => {
  const tape = tapes?.get('BTCUSDT');
  return [tape?.trades?.time.length, tape?.books?.time.length, series[0]?.columns.openTime.length];
};

describe('what a backtest fills by', () => {
  test('files of trades and books, and klines made from the trades', async () => {
    const ready = await place().ready(`trades: { BTCUSDT: ${trades} }`, `depth: { BTCUSDT: ${depth} }`);
    expect(shown(ready)).toEqual([19_904, 650, 10]);
    expect(Object.keys(ready.dataHashes)).toEqual(['BTCUSDT trades', 'BTCUSDT depth', 'BTCUSDT']);
    expect(ready.warnings).toContain('BTCUSDT: 1min made from trades');
    expect(ready.input.fees.assumed).toBe(false);
    expect(ready.input.fees.maker).toBe(0n);
  });

  test('files whose last line has no end, and rows that are still to come, which the result reports', async () => {
    const { dir, ready } = place();
    const at = Date.UTC(2200, 0, 1);
    const rows = (row: (at: number) => string): string =>
      Array.from({ length: 1_200 }, (_, second) => row(at + second * 1_000)).join('\n');
    writeFileSync(
      join(dir, 't.csv'),
      `time_ms,price,qty,side\n${rows((time) => `${time},100,${1 + (time % 7_000)},buy`)}`,
    );
    writeFileSync(
      join(dir, 'd.jsonl'),
      rows((time) => `{"t":${time},"b":[[99,${1 + (time % 7_000)}]],"a":[[101,1]]}`),
    );
    const klines = Array.from({ length: 20 }, (_, count) => `${at + count * 60_000},100,101,99,100,${count}`);
    writeFileSync(join(dir, 'k.csv'), `time_ms,open,high,low,close,volume\n${klines.join('\n')}`);
    const named = ['data: { BTCUSDT: k.csv }', 'trades: { BTCUSDT: t.csv }', 'depth: { BTCUSDT: d.jsonl }'];
    const { warnings, doubts } = await ready(...named);
    for (const name of ['k.csv', 't.csv', 'd.jsonl']) {
      expect(warnings).toContain(`${name}: the last line is incomplete: the file may be cut off`);
      expect(doubts).toContainEqual(expect.stringMatching(new RegExp(`^${name}: times reach to 2200-.*, today$`)));
    }
  });

  test('what is imported, as far as it is asked for', async () => {
    const { dir, ready } = place();
    const given = { dir: join(dir, 'catalogue'), endStamps: false, repair: new Set<never>(), replace: false, now: 5 };
    await importFile(trades, given);
    await importFile(depth, given);
    expect(shown(await ready())).toEqual([19_904, 650, 10]);
    expect(shown(await ready('fidelity: trades'))).toEqual([19_904, undefined, 10]);
    expect(shown(await ready('fidelity: depth'))).toEqual([19_904, 650, 10]);
    await expect(ready('rules: plain')).rejects.toThrow('BTCUSDT 1min is not in the catalogue');
    await expect(ready('fidelity: klines')).rejects.toThrow('BTCUSDT 1min is not in the catalogue');
  });

  test('is klines alone by the rules of others, which refuse whatever else is asked for', async () => {
    const { ready } = place();
    const alone = 'fill by klines alone, but';
    const todo = 'set fidelity: klines (--set fidelity=klines), or rules: sluice';
    await expect(ready('rules: plain', 'fidelity: depth')).rejects.toThrow(
      `rules: plain ${alone} fidelity: depth is set: ${todo}`,
    );
    await expect(ready('rules: backtrader', `trades: { BTCUSDT: ${trades} }`)).rejects.toThrow(
      `rules: backtrader ${alone} trades of BTCUSDT are configured: ${todo}`,
    );
    await expect(ready('rules: vectorbt', `depth: { BTCUSDT: ${depth} }`)).rejects.toThrow(
      `rules: vectorbt ${alone} depth of BTCUSDT are configured: ${todo}`,
    );
    await expect(ready('rules: vectorbt', 'fidelity: klines', `trades: { BTCUSDT: ${trades} }`)).rejects.toThrow(
      'BTCUSDT 1min is not in the catalogue',
    );
  });

  test('is refused, with what to do, where what was insisted on is not there', async () => {
    const { ready } = place();
    await expect(ready('fidelity: trades')).rejects.toThrow('fidelity: trades needs trades of BTCUSDT');
    await expect(ready('fidelity: depth', `trades: { BTCUSDT: ${trades} }`)).rejects.toThrow(
      'fidelity: depth needs depth of BTCUSDT',
    );
  });

  test('is refused where the configuration says that it is of the catalogue, which has none', async () => {
    const { dir, ready } = place();
    const given = { dir: join(dir, 'catalogue'), endStamps: false, repair: new Set<never>(), replace: false, now: 5 };
    await importFile(trades, given);
    const asked = 'depth: { BTCUSDT: catalogue }';
    await expect(ready(asked)).rejects.toThrow(
      /^depth: { BTCUSDT: catalogue } needs depth that .* does not have: import/,
    );
    expect(shown(await ready(asked, 'fidelity: trades'))).toEqual([19_904, undefined, 10]);
    expect(shown(await ready('trades: { BTCUSDT: catalogue }'))).toEqual([19_904, undefined, 10]);
  });

  test('has the warnings that an import of the named files would give', async () => {
    const { dir, ready } = place();
    const start = Date.UTC(2024, 0, 10);
    const rows = Array.from({ length: 600 }, (_, row) => `${start + row * 1_000},${100 + (row % 3)},1,sell\n`);
    writeFileSync(join(dir, 'x.csv'), `time_ms,price,qty,side\n${rows.join('')}`);
    const books = Array.from({ length: 600 }, (_, row) => `{"t":${start + row * 1_000},"b":[[99,1]],"a":[[99,1]]}\n`);
    writeFileSync(join(dir, 'x.jsonl'), books.join(''));
    const { warnings, doubts } = await ready('trades: { BTCUSDT: x.csv }', 'depth: { BTCUSDT: x.jsonl }');
    expect(doubts).toEqual(['x.csv: every trade is a SELL', 'x.jsonl: 600 books with bid and ask at one price']);
    expect(warnings[0]).toMatch(/^x\.csv: every trade is a SELL: the side in the source is wrong/);
    const alone = await ready('trades: { BTCUSDT: x.csv }', 'depth: { BTCUSDT: x.jsonl }', 'fidelity: trades');
    expect(alone.doubts).toEqual(['x.csv: every trade is a SELL']);
  });

  test('are klines made of stored trades where those that are stored are too large', async () => {
    const { dir, ready } = place();
    const given = { dir: join(dir, 'catalogue'), endStamps: false, repair: new Set<never>(), replace: false, now: 5 };
    await importFile(trades, given);
    const rows = [0, 1, 2].map((row) => `${Date.UTC(2024, 7, 8, 23, 15 * row)},100,101,99,100.${row},1\n`);
    writeFileSync(join(dir, 'x.csv'), `time_ms,open,high,low,close,volume\n${rows.join('')}`);
    const larger = { ...given, symbol: 'BTCUSDT', interval: '15min', source: 'binance' } as const;
    await importFile(join(dir, 'x.csv'), larger);
    const made = await ready();
    expect(shown(made)).toEqual([19_904, undefined, 10]);
    expect(made.warnings).toContain('BTCUSDT: 1min made from trades');
  });

  test('are trades and books within the run alone, each reported with what it covers', async () => {
    const { dir, ready } = place();
    const given = { dir: join(dir, 'catalogue'), endStamps: false, repair: new Set<never>(), replace: false, now: 5 };
    await importFile(trades, given);
    await importFile(depth, given);
    const klinesAt = async (name: string, from: number) => {
      const rows = Array.from(
        { length: 60 },
        (_, row) => `${from + row * 60_000},61000,61100,60900,61000.${row},1
`,
      );
      writeFileSync(
        join(dir, name),
        `time_ms,open,high,low,close,volume
${rows.join('')}`,
      );
      await importFile(join(dir, name), { ...given, symbol: 'BTCUSDT', interval: '1min', source: 'binance' });
    };
    await klinesAt('later.csv', Date.UTC(2025, 0, 1));
    // Klines of another time do not stand in the way of those that are made of trades.
    const within = ['from: 2024-08-08T23:54:00Z', 'to: 2024-08-09T00:05:00Z'];
    expect(shown(await ready(...within))).toEqual([19_904, 650, 10]);
    const named = `trades: { BTCUSDT: ${trades} }`;
    expect(shown(await ready(named, 'fidelity: trades'))).toEqual([19_904, undefined, 10]);
    const beside = await ready();
    expect([shown(beside), Object.keys(beside.dataHashes)]).toEqual([[undefined, undefined, 60], ['BTCUSDT']]);
    expect(beside.warnings.join()).not.toContain('fills by');
    await expect(ready('fidelity: trades')).rejects.toThrow(
      'fidelity: trades needs trades of BTCUSDT within the run (from 2025-01-01T00:00Z to 2025-01-01T01:00Z), but those available span from 2024-08-08T23:54Z to 2024-08-09T00:05Z: import more, choose dates within, or set fidelity: auto',
    );
    await expect(ready('fidelity: depth', 'from: 2025-01-01T00:10:00Z')).rejects.toThrow(
      'but those available lie outside it: import more',
    );
    await klinesAt('before.csv', Date.UTC(2024, 7, 8, 23));
    const { warnings } = await ready('to: 2024-08-09T00:00:00Z');
    expect(warnings).toContain(
      'BTCUSDT: fills by trades from 2024-08-08T23:54Z to 2024-08-08T23:59Z, by depth from 2024-08-08T23:54Z to 2024-08-08T23:59Z, by klines elsewhere',
    );
    expect((await ready('to: 2024-08-08T23:30:00Z', `depth: { BTCUSDT: ${depth} }`)).warnings).toContainEqual(
      expect.stringMatching(
        /^BTCUSDT: its depth from 2024-08-08T23:54Z to \S+: outside the run, so no order fills by depth$/,
      ),
    );
  });
});
