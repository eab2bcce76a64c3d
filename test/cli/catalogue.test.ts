/** `sluice data` from a file to a backtest, as a user types it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { backtestHere, backtestYaml, desk, klineLines } from '../kit/command.ts';

const at = desk();
afterAll(() => at.remove());
const text = `${klineLines(240).join('\n')}\n`;

async function data(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await at.sluice(['data', ...args]);
  expect(code, err).toBe(0);
  return out;
}

test('a file is looked at, imported, listed, checked, asked, exported and removed', async () => {
  at.write('XBTUSD_1m.csv', text);
  expect(await data('import', '--dry-run', 'XBTUSD_1m.csv')).toContain(
    'kind klines, symbol XBTUSD, interval 1min, source ? (--source)',
  );
  expect(at.files()).not.toContain('var');
  expect(await data('import', 'XBTUSD_1m.csv', '--source', 'bitmex')).toMatch(
    /^klines XBTUSD 1min \(bitmex\): 240 rows, .*: 240 rows new/,
  );
  expect(await data('list')).toContain('bitmex');
  expect(JSON.parse(await data('list', '--json'))).toMatchObject({
    kind: 'klines',
    rows: 240,
    gaps: 0,
    repaired: false,
  });
  expect(await data('check', 'XBTUSD')).toContain('klines XBTUSD 1min: 240 rows, as written');
  expect(await data('sql', 'SELECT count(*) AS n FROM klines', '--json')).toBe('{"n":"240"}\n');
  expect(await data('resample', '--into', '60min,1h')).toContain(
    'klines XBTUSD 60min: 4 klines from klines XBTUSD 1min',
  );
  expect(await data('export', '--interval', '1min', '-o', 'again.csv')).toBe(
    'klines XBTUSD 1min: 240 rows into again.csv\n',
  );
  expect(await data('import', 'again.csv', '--symbol', 'XBTUSD')).toContain('0 rows new, 240 rows known');
  expect((await at.sluice(['data', 'remove', '--interval', '60min'])).err).toContain(
    'this would remove klines XBTUSD 60min: confirm with --yes',
  );
  expect(await data('remove', '--interval', '60min', '--yes')).toBe('klines XBTUSD 60min: removed\n');
});

test('a run over the catalogue is a run over the file', async () => {
  at.write('klines.csv', text);
  at.write('b.yaml', backtestYaml);
  const named = await backtestHere(join(at.dir, 'b.yaml'), { json: true });
  at.write('c.yaml', backtestYaml.replace('./klines.csv', 'catalogue').replace(/^/, 'catalogue: var/data\n'));
  const stored = await backtestHere(join(at.dir, 'c.yaml'), { json: true });
  const bare = ({ out }: typeof named): unknown => ({
    ...(JSON.parse(out) as object),
    ...{ warnings: [], criticalWarnings: [], dataHashes: {}, hash: '' },
  });
  expect(bare(stored)).toEqual(bare(named));
});

test('klines that were made and kept are called stale once their source grows, and those over holes partial', async () => {
  const at = desk();
  const data = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await at.sluice(['data', ...args]);
    expect(code, err).toBe(0);
    return `${out}${err}`;
  };
  const lines = klineLines(240);
  at.write('XBTUSD_1m.csv', `${lines.toSpliced(70, 30).join('\n')}\n`);
  await data('import', 'XBTUSD_1m.csv');
  const partial =
    /^ {2}1 kline of 60min is made from too few rows \(2020-02-01T01:00:00Z\): klines XBTUSD 1min has gaps there/m;
  expect(await data('resample', '--into', '60min')).toMatch(partial);
  expect(await data('check', '--interval', '60min')).toMatch(partial);
  expect(await data('list')).not.toContain('stale');
  at.write('XBTUSD_1m.csv', text);
  const stale =
    'stale: klines XBTUSD 1min has changed: resample again (sluice data resample XBTUSD --interval 1min --into 60min)';
  expect(await data('import', 'XBTUSD_1m.csv')).toContain(`\n  klines XBTUSD 60min is ${stale}\n`);
  expect(await data('list')).toContain(`\nklines XBTUSD 60min: ${stale}\n`);
  expect(await data('check')).toContain(`\n  ${stale}\n`);
  const note = `note: klines XBTUSD 60min: ${stale}`;
  expect(await data('export', '--interval', '60min', '-o', 'x.csv')).toContain(note);
  expect(await data('sql', 'SELECT count(*) FROM klines')).toContain(note);
  expect(await data('sql', 'SELECT count(*) FROM trades')).toMatch(/note: .* holds no trades\n/);
  await data('resample', '--into', '60min');
  expect(`${await data('list')}${await data('check')}`).not.toMatch(/stale|too few/);
  at.remove();
});

test('a symbol may be spelt in the usual ways', async () => {
  for (const symbol of ['xbt/usd', 'XBT-USD', 'XBT_USD', 'xbtusd'])
    expect(await data('import', 'XBTUSD_1m.csv', '--symbol', symbol, '--data', 'spelt')).toMatch(/^klines XBTUSD 1min/);
});

test('what a file holds does nothing to the terminal', async () => {
  at.write('esc.csv', 'time,open,high,\x1b[31mlow,x,\x9b2J\n1580515200000,1,1,1,1,1\n1580515260000,1,1,1,1,1\n');
  at.write('row.csv', `${klineLines(3).join('\n')}\n\x1b]0;title\x07,1,1,1,1,1\n`);
  at.write('dates.csv', 'time;open;high;low;close;volume\n8.8.2024;1,5;2,5;1,5;2,5;7\n9.8.2024;1,5;2,5;1,5;2,5;7\n');
  at.write(
    'random.csv',
    Uint8Array.from({ length: 4_096 }, (_, place) => (place * 7_919) % 251),
  );
  at.write('wide.csv', Buffer.from(`\ufeff${text}`, 'utf16le'));
  const said = async (file: string): Promise<string> =>
    (await at.sluice(['data', 'import', file, '--symbol', 'AB', '--interval', '1min'])).err;
  expect(await said('esc.csv')).toContain('"time,open,high,\\u001b[31mlow,x,\\u009b2J"');
  expect(await said('row.csv')).toContain('line 5: "\\u001b]0;title\\u0007" in column 1');
  expect(await said('dates.csv')).toMatch(/column 1 is read as the time, but "8\.8\.2024" is not one\. Times are /);
  expect(await said('random.csv')).toMatch(
    /random\.csv is neither text nor another known format .*is it the right file\?\n$/,
  );
  expect(await said('wide.csv')).toContain('is text in UTF-16, which Sluice does not read: save it as UTF-8');
  at.write('klines.csv', klineLines(3).join('\n').replace('100.5', '\x1b[2J'));
  at.write('b.yaml', backtestYaml);
  expect((await at.sluice(['backtest', '--config', 'b.yaml'])).err).toContain(
    '"\\u001b[2J" in column 5 is not a number',
  );
});

test('an export takes the place of no file unless that is said, and of none of the catalogue', async () => {
  at.write('mine.csv', 'mine\n');
  const export_ = (...more: readonly string[]) => at.sluice(['data', 'export', 'XBTUSD', '-o', ...more]);
  const { code, err } = await export_('mine.csv');
  expect([code, err]).toEqual([2, 'sluice: mine.csv exists: name another file, or overwrite it with --replace\n']);
  expect(readFileSync(join(at.dir, 'mine.csv'), 'utf8')).toBe('mine\n');
  expect((await export_('mine.csv', '--replace')).code).toBe(0);
  expect(readFileSync(join(at.dir, 'mine.csv'), 'utf8')).toMatch(/^time_ms,open/);
  const own = at.files().find((name) => name.startsWith(join('var', 'data', 'klines')) && name.endsWith('.parquet'));
  expect((await export_(own ?? '', '--replace')).err).toContain('which only Sluice writes: name another folder');
  const nowhere = await export_('nowhere/x.csv');
  expect([nowhere.code, nowhere.err]).toEqual([
    2,
    expect.stringMatching(
      /^sluice: -o nowhere\/x\.csv: folder \/\S+\/nowhere does not exist: create it first, or name another folder\n$/,
    ),
  ]);
});

test('an export without rows leaves what was there, and everything goes only by --all', async () => {
  at.write('kept.csv', 'mine\n');
  const { code, err } = await at.sluice([
    'data',
    'export',
    'XBTUSD',
    '-o',
    'kept.csv',
    '--replace',
    '--from',
    '2021-01-01',
  ]);
  expect(code).toBe(2);
  expect(err).toMatch(
    /klines XBTUSD 1min has no rows in that time, so \S+kept\.csv is not written: it spans 2020-02-01T00:00:00Z to 2020-02-01T03:59:00Z\n$/,
  );
  expect(readFileSync(join(at.dir, 'kept.csv'), 'utf8')).toBe('mine\n');
  expect(await data('import', 'XBTUSD_1m.csv', '--data', 'other')).toContain('240 rows new');
  expect(await data('remove', '--all', '--yes', '--data', 'other')).toBe('klines XBTUSD 1min: removed\n');
});

test.for<[string, readonly string[], RegExp]>([
  ['a catalogue that is empty', ['list', '--data', 'nowhere'], /nowhere has no data: run sluice data import FILE/],
  [
    'a symbol that is not stored',
    ['check', 'XBTUSDT'],
    /no such data in .*did you mean "XBTUSD".*it has klines XBTUSD 1min/,
  ],
  [
    'a repair that there is not',
    ['import', 'klines.csv', '--repair', 'sorted'],
    /--repair sorted is none \(did you mean "sort"\?\)/,
  ],
  [
    'an interval that there is not',
    ['import', 'klines.csv', '--interval', '7m'],
    /unknown interval 7m; use 1min, 5min/,
  ],
  ['a zone that there is not', ['import', 'klines.csv', '--zone', 'Mars'], /"Mars" is not a time zone/],
  ['a file that is not there', ['import', 'gone.csv'], /gone.csv does not exist/],
  ['a folder', ['import', '.'], /\S is a folder: name the files in it \(\S+\/\*\)\n$/],
  [
    'what is no symbol',
    ['import', 'klines.csv', '--symbol', '../x'],
    /"\.\.\/x" is not a symbol: 2 to 30 letters and digits/,
  ],
  [
    'a letter alone',
    ['import', 'klines.csv', '--symbol', 'X'],
    /"X" is not a symbol: .*BTC\/USDT, BTC-USDT and btcusdt mean/,
  ],
  ['a path for a stored symbol', ['list', '../x'], /"\.\.\/x" is not a symbol/],
  ['a question that asks nothing', ['sql', ' -- ;'], /the query is empty: give one SELECT/],
  [
    'everything, without a word',
    ['remove', '--yes'],
    /this would remove everything, klines XBTUSD 1min: choose series .*or confirm with --all/,
  ],
  ['everything, and something', ['remove', 'XBTUSD', '--all', '--yes'], /--all selects everything: leave out SYMBOL/],
  [
    'a day that the calendar has not',
    ['export', '-o', 'h.csv', '--from', '2024-02-30'],
    /'2024-02-30' is invalid\. must be a date such as 2020-03-12 .*a day that the calendar has, from 1990 on/,
  ],
  ['a year of no market', ['export', '-o', 'h.csv', '--to', '0024-02-01'], /'0024-02-01' is invalid/],
  ['a day of fetch', ['fetch', 'XBTUSD', '--to', '2023-02-29'], /'2023-02-29' is invalid/],
  [
    'an end before the beginning',
    ['export', '-o', 'h.csv', '--from', '2020-02-02', '--to', '2020-02-02'],
    /--from 2020-02-02T00:00:00Z is not before --to 2020-02-02T00:00:00Z/,
  ],
  ['a format that is not written', ['export', 'XBTUSD', '-o', 'a.xlsx'], /a.xlsx: the name must end in csv/],
])('%s is refused', async ([, args, message]) => {
  const { code, err } = await at.sluice(['data', ...args]);
  expect(code).toBe(2);
  expect(err).toMatch(message);
});

test('a series that cannot be read closes no other, and can be taken away', async () => {
  at.write('XBTUSD_1m.csv', text);
  for (const symbol of ['XBTUSD', 'ETHUSD'])
    await data('import', 'XBTUSD_1m.csv', '--symbol', symbol, '--data', 'torn');
  const manifest = join('torn', 'klines', 'ETHUSD', '1min', 'series.json');
  at.write(manifest, '');
  const why =
    /torn\/klines\/ETHUSD\/1min\/series\.json cannot be read .*: restore it from a copy, or remove the series \(sluice data remove ETHUSD --kind klines --interval 1min --yes\) and import/;
  for (const [command, shown] of [
    ['list', 'XBTUSD'],
    ['check', 'klines XBTUSD 1min: 240 rows, as written'],
  ] as const) {
    const { code, out, err } = await at.sluice(['data', command, '--data', 'torn']);
    expect({ code, out }).toEqual({ code: 2, out: expect.stringContaining(shown) });
    expect(err).toMatch(why);
  }
  const refused = await at.sluice(['data', 'sql', 'SELECT count(*) FROM klines', '--data', 'torn']);
  expect([refused.code, refused.err]).toEqual([2, expect.stringMatching(why)]);
  expect(await data('export', 'XBTUSD', '-o', 'x.csv', '--data', 'torn')).toContain('240 rows');
  expect(await data('import', 'XBTUSD_1m.csv', '--data', 'torn')).toContain('240 rows known');
  at.write('torn.yaml', backtestYaml.replace('./klines.csv', 'catalogue').replace(/^/, 'catalogue: torn\n'));
  expect((await backtestHere(join(at.dir, 'torn.yaml'), { json: true })).refusal).toBeUndefined();
  at.write(manifest, '{"version":2}');
  expect((await at.sluice(['data', 'list', 'ETHUSD', '--data', 'torn'])).err).toMatch(
    /was written by a newer Sluice \(version 2\): upgrade Sluice, or use another catalogue/,
  );
  expect(await data('remove', 'ETHUSD', '--yes', '--data', 'torn')).toBe('klines ETHUSD 1min: removed\n');
  expect(at.files().filter((name) => name.includes('ETHUSD/'))).toEqual([]);
  await data('list', '--data', 'torn');
});

test('klines are made of the smallest, with a word of those that are stored for longer', async () => {
  const own = desk();
  const rows = (count: number, stepMs: number): string =>
    Array.from(
      { length: count },
      (_, row) => `${Date.UTC(2020, 1, 1) + row * stepMs},100,101,99,100.5,${7 + (row % 2)}`,
    ).join('\n');
  const header = 'time_ms,open,high,low,close,volume';
  own.write('m.csv', `${header}\n${rows(1_440, 60_000)}\n`);
  own.write('h.csv', `${header}\n${rows(96, 3_600_000)}\n`);
  for (const [file, interval] of [
    ['m.csv', '1min'],
    ['h.csv', '60min'],
  ] as const)
    await own.sluice(['data', 'import', file, '--symbol', 'XBTUSD', '--interval', interval, '--source', 'x']);
  const { code, out, err } = await own.sluice(['data', 'resample', 'XBTUSD', '--into', '1day']);
  expect({ code, out }).toEqual({ code: 0, out: 'klines XBTUSD 1day: 1 kline from klines XBTUSD 1min\n' });
  expect(err).toMatch(
    /^note: made from klines XBTUSD 1min, which spans .*; klines XBTUSD 60min spans .*: --interval 60min uses that\n$/,
  );
  await own.sluice(['data', 'remove', 'XBTUSD', '--interval', '1day', '--yes']);
  expect((await own.sluice(['data', 'resample', 'XBTUSD', '--into', '1day', '--interval', '60min'])).err).toBe('');
  own.remove();
});
