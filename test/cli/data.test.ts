/** What a backtest says of data that would falsify its result: which file, which row, what to do. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backtestHere, backtestYaml, desk, klineLines } from '../kit/command.ts';

const at = desk();
const right = klineLines(120);
beforeAll(() => {
  at.write('b.yaml', backtestYaml);
});
afterAll(() => at.remove());

const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`;
/** The right rows with line `number` (1 is the header) made into others. */
const changed = (number: number, ...into: readonly string[]): string => text(right.toSpliced(number - 1, 1, ...into));
const cell = (column: number, value: string): string => (right[49] as string).split(',').with(column, value).join(',');

const run = (data: string | Uint8Array, ...set: readonly string[]): ReturnType<typeof backtestHere> => {
  at.write('klines.csv', data);
  return backtestHere(join(at.dir, 'b.yaml'), { set, json: true });
};

test.for<[string, string | Uint8Array, string]>([
  [
    'cut off within a row',
    text(right).slice(0, -9),
    'klines.csv, line 121: 4 columns, not 6: "1580522340000,100,101,99" (the last line: the file may be cut off)',
  ],
  ['cut off within its gzip', gzipSync(text(right)).subarray(0, 200), 'klines.csv is damaged or cut off (gzip:'],
  ['without rows', text(right.slice(0, 1)), 'klines.csv has no rows: fetch the file again'],
  [
    'with other columns',
    changed(1, 'time,o,h,l,c,v'),
    'line 1: the columns are "time,o,h,l,c,v", not "time_ms,open,high,low,close,volume"',
  ],
  ['with a word for a number', changed(50, cell(2, 'high')), 'klines.csv, line 50: "high" in column 3 is not a number'],
  [
    'with a high below the low',
    changed(50, cell(2, '1')),
    'klines.csv: not read (120 rows): 1 impossible row of 120 rows (line 50, 2020-02-01T00:48:00Z: open 100, high 1,',
  ],
  [
    'with a negative volume',
    changed(50, cell(5, '-3')),
    '1 impossible row of 120 rows (line 50, 2020-02-01T00:48:00Z: open 100, high 101, low 99, close 100.5, volume -3)',
  ],
  [
    'with a finer price than the instrument',
    changed(50, cell(4, '100.123')),
    'line 50: 100.123 in column 5 has more than 2 decimals',
  ],
  [
    'with a time between klines',
    changed(50, cell(0, String(Date.UTC(2020, 1, 1) + 1))),
    '1 time at which no 1min kline opens (line 50, 2020-02-01T00:00:00.001Z)',
  ],
  [
    'out of order',
    text(right.toSpliced(49, 2, right[50] as string, right[49] as string)),
    '1 row earlier than the row before (line 51, 2020-02-01T00:48:00Z)',
  ],
  [
    'with a row twice',
    changed(50, right[49] as string, right[49] as string),
    '1 row of the same time as the row before (line 51, 2020-02-01T00:48:00Z)',
  ],
  [
    'with two klines of one time',
    changed(50, right[49] as string, cell(4, '99')),
    '1 row of the same time as the row before, with other values (line 51, 2020-02-01T00:48:00Z: close 99, in',
  ],
])('data %s are refused', async ([, data, message]) => {
  const { out, refusal } = await run(data);
  expect(out).toBe('');
  expect(refusal?.exitCode).toBe(2);
  expect(refusal?.message).toContain(message);
  expect(at.files()).toEqual(['b.yaml', 'klines.csv']);
});

test('a folder is no file of klines', async () => {
  const { refusal } = await backtestHere(join(at.dir, 'b.yaml'), { set: ['data.XBTUSD=.'] });
  expect(refusal?.message).toMatch(/ is a folder, not a file: check the path \(in a configuration/);
});

test('a refusal of data is one line on stderr', async () => {
  at.write('klines.csv', changed(50, cell(2, '1')));
  const { code, out, err } = await at.sluice(['backtest', '--config', 'b.yaml']);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(
    /^sluice: \S+klines\.csv: not read .*\(line 50, [^\n]*\. Options \(--…\) are of an import: run [^\n]* write catalogue [^\n]*\n$/,
  );
});

test('rows out of order and rows twice are mended when asked, and it is said', async () => {
  const whole = await run(text(right));
  const shuffled = await run(text(right.toSpliced(49, 2, right[50] as string, right[49] as string)), 'repair=true');
  expect(shuffled.notes).toContain('klines.csv: repaired (sort): 1 row');
  const twice = await run(changed(50, right[49] as string, right[49] as string), 'repair=true');
  expect(twice.notes).toContain('klines.csv: repaired (duplicates): 1 row');
  const bare = ({ out }: typeof whole): unknown => ({
    ...(JSON.parse(out) as object),
    ...{ warnings: [], criticalWarnings: [], dataHashes: {}, hash: '' },
  });
  expect(bare(shuffled)).toEqual(bare(whole));
  expect(bare(twice)).toEqual(bare(whole));
});

test('what was mended is in the table of a run, also of a kept one, and on its page, and no gap of before it', async () => {
  const prices = (line: string, row: number): string => {
    const price = 100 + 5 * Math.sin(row / 4);
    return row === 0
      ? line
      : `${line.split(',')[0]},${[0, 1, -1, 0].map((more) => (price + more).toFixed(2)).join()},7`;
  };
  const lines = right.map(prices);
  at.write('klines.csv', text(lines.toSpliced(49, 2, lines[50] as string, lines[49] as string).toSpliced(10, 3)));
  const config = ['backtest', '--config', 'b.yaml', '--set', 'repair=true', '--set', 'from=2020-02-01T00:30'];
  const { code, out, err } = await at.sluice([...config, '--runs', 'runs']);
  expect(code).toBe(0);
  expect(err).not.toContain('gap');
  const row = 'Doubtful data        klines.csv: repaired (sort): 1 row\n';
  expect(out).toContain(row);
  expect((await at.sluice(['report', 'last', '--runs', 'runs'])).out).toContain(row);
  await at.sluice(['report', 'last', '--runs', 'runs', '-o', 'page.html']);
  const page = readFileSync(join(at.dir, 'page.html'), 'utf8');
  expect(page).not.toContain('<h3>Gaps');
  const [, card = ''] = page.split('id="verdict"');
  expect(card.split('</section>')[0]).toMatch(/[Ii]ts data are doubtful: klines\.csv: repaired \(sort\): 1 row/);
  const said = JSON.parse((await at.sluice([...config, '--no-save', '--json'])).out) as Record<string, unknown>;
  const [run] = (await at.sluice(['runs', '--runs', 'runs', '--json'])).out.split('\n');
  expect(said).toMatchObject({
    criticalWarnings: ['klines.csv: repaired (sort): 1 row'],
    hash: (JSON.parse(run ?? '') as { readonly hash: string }).hash,
    code: [{ strategy: 'trend', use: 'sma-cross', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
    fills: expect.arrayContaining([expect.objectContaining({ maker: false, evidence: { rule: 'kline-open' } })]),
  });
});

test('two different klines of one time are not mended: nobody knows which is true', async () => {
  const { refusal } = await run(changed(50, right[49] as string, cell(4, '99')), 'repair=true');
  expect(refusal?.exitCode).toBe(2);
  expect(refusal?.message).toContain(
    '1 row of the same time as the row before, with other values (2020-02-01T00:48:00Z: close 99, in the row before it 100.5)',
  );
});

test('what does not falsify a result is counted', async () => {
  const quiet = (right[48] as string).replace(/,\d$/, ',0');
  const { notes, refusal } = await run(text(right.toSpliced(60, 3).with(49, cell(1, '120')).with(48, quiet)));
  expect(refusal).toBeUndefined();
  expect(notes.split('\n')).toEqual([
    'note: klines.csv: 1 gap, 3 klines missing, longest 3 min (2020-02-01T00:59:00Z)',
    'note: klines.csv: 117 klines, used as recorded: 1 opens outside [low, high], 1 has no volume',
  ]);
});

test('a run on rows that are still to come says so', async () => {
  const later = right.slice(1).map((line) => line.replace(/^\d+/, (ms) => String(Number(ms) + 3_653 * 86_400_000 * 5)));
  const { notes } = await run(text([right[0] as string, ...later]));
  expect(notes).toMatch(
    /note: klines\.csv: times reach to 207\d-.*, which is after 20.*, today: the dates are wrong, or the rows are invented/,
  );
});

test('trades of another price level than the klines are told of by the run', async () => {
  at.write('klines.csv', text(right));
  const lines = Array.from({ length: 60 }, (_, row) => `${Date.UTC(2020, 1, 1, 0, 30 + row, 20)},90,1,buy`);
  at.write('trades.csv', text(['time_ms,price,qty,side', ...lines]));
  at.write('t.yaml', `${backtestYaml.replace('rules: plain', 'rules: sluice')}trades: { XBTUSD: ./trades.csv }\n`);
  const { notes, refusal } = await backtestHere(join(at.dir, 't.yaml'), { json: true });
  expect(refusal).toBeUndefined();
  expect(notes).toMatch(/note: XBTUSD: its trades do not match its klines: .* in 60 of 60 klines of 1min/);
});
