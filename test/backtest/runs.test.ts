/** Kept runs, their reports and comparisons, as a user meets them. */
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findRun, type KeptRun, readLedger, readRun, runIds } from '../../src/backtest/runs/store.ts';
import { backtest } from '../../src/commands/backtest/backtest.ts';
import { showRuns } from '../../src/commands/runs/show.ts';
import { csvRows } from '../../src/report/csv.ts';
import { backtestYaml, desk, klineLines } from '../kit/command.ts';

const at = desk();
/** A price that goes up and down by a tenth every hour and a half, and drifts upwards. */
const moving = (rows: number): readonly string[] =>
  klineLines(rows).map((line, row) => {
    if (row === 0) return line;
    const price = (of: number): string => (100 + of / 900 + 10 * Math.sin(of / 15)).toFixed(2);
    const [open, close] = [price(row - 1), price(row)];
    return `${line.split(',')[0]},${open},${Math.max(Number(open), Number(close))},${Math.min(Number(open), Number(close))},${close},7`;
  });
const config = (): string => join(at.dir, 'b.yaml');
const runs = (): string => join(at.dir, 'var', 'runs');

beforeAll(() => {
  at.write('klines.csv', `${moving(3 * 1_440).join('\n')}\n`);
  at.write('b.yaml', backtestYaml);
});
afterAll(() => at.remove());

async function run(
  more: Omit<Partial<Parameters<typeof backtest>[0]>, 'runs'> & { readonly runs?: string | undefined } = {},
): Promise<{ out: string; said: string }> {
  const out: string[] = [];
  const said: string[] = [];
  const { runs: kept, ...rest } = { runs: runs(), ...more };
  await backtest({
    ...{ config: config(), set: [], json: false },
    ...{ out: (line: string) => out.push(line), say: (line: string) => said.push(line) },
    ...rest,
    ...(kept !== undefined && { runs: kept }),
  });
  return { out: out.join('\n'), said: said.join('\n') };
}

describe('sluice backtest', () => {
  test('keeps a run whole, with all that it was made of, and counts the same one once', async () => {
    await run();
    const [id = ''] = runIds(runs());
    const folder = findRun(runs(), 'last');
    expect(readdirSync(folder).toSorted()).toEqual([
      'configuration.yaml',
      'equity.csv',
      'fills.csv',
      'orders.csv',
      'result.json',
    ]);
    const kept = readRun(folder);
    expect(kept).toMatchObject({
      id,
      asset: 'USD',
      code: [{ strategy: 'trend', use: 'sma-cross' }],
    });
    const fills = readFileSync(join(folder, 'fills.csv'), 'utf8');
    expect(createHash('sha256').update(fills).digest('hex')).toBe(kept.fillsSha256);
    expect(csvRows(fills)).toHaveLength(kept.summary.fillCount);
    await run();
    const { out } = await run({ set: ['strategies.0.params.fast=3'] });
    expect(out).toMatch(/; 2 trials; /);
    expect(readLedger(runs())).toHaveLength(3);
  });

  test('counts runs that differ in fees, cash and limits alone as one trial, and one of a grid beside it, too', async () => {
    const dir = join(at.dir, 'costs');
    const verdict = async (set: readonly string[]) =>
      (JSON.parse((await run({ runs: dir, json: true, set })).out) as KeptRun['summary']).verdict;
    const [usual, other] = [await verdict([]), await verdict(['strategies.0.params.fast=3'])];
    expect([usual.trials, other.trials]).toEqual([1, 2]);
    for (const cost of ['fees.taker=0.02', 'cash=20000', 'risk.maxDailyLoss=0.9'])
      expect((await verdict([cost])).trials).toBe(2);
    expect(await verdict(['strategies.0.params.fast=3'])).toEqual(other);
    await at.sluice(['backtest', '--config', 'b.yaml', '--grid', 'fast=3,4', '--runs', 'costs']);
    expect((await verdict([])).trials).toBe(3);
  });

  test('marks a run on data with a hole in the list, and tells of it beside its CSV files', async () => {
    const rows = moving(3 * 1_440);
    at.write('holed.csv', `${[...rows.slice(0, 900), ...rows.slice(960)].join('\n')}\n`);
    const [dir, csv] = [join(at.dir, 'holed'), join(at.dir, 'csv')];
    await run({ runs: dir });
    const { said } = await run({ runs: dir, csv, set: ['data.XBTUSD=holed.csv'] });
    expect(said).toContain('NOTES.txt written to');
    expect(readFileSync(join(csv, 'NOTES.txt'), 'utf8')).toMatch(/gap/);
    const again = join(at.dir, 'csv-again');
    const copied = await at.sluice(['report', 'last', '--runs', 'holed', '--csv', 'csv-again']);
    expect(copied.err).toContain('NOTES.txt written to');
    expect(readFileSync(join(again, 'NOTES.txt'))).toEqual(readFileSync(join(csv, 'NOTES.txt')));
    const lines: string[] = [];
    showRuns({ runs: dir, json: false, out: (line) => lines.push(line), say: (line) => lines.push(line) });
    expect(lines.filter((line) => line.endsWith(' *'))).toHaveLength(1);
    expect(lines[2]).toContain('* with notes on its data');
  });

  test('says the same with and without keeping, and keeps nothing when told not to', async () => {
    const before = runIds(runs()).length;
    const dir = join(at.dir, 'none');
    const said: string[] = [];
    const common = { config: config(), set: [], json: true } as const;
    await backtest({ ...common, out: (line) => said.push(line), say: () => {} });
    const { out: withKeeping } = await run({ json: true, runs: dir });
    const plain = JSON.parse(said[0] ?? '') as KeptRun['summary'];
    expect(JSON.parse(withKeeping)).toEqual(plain);
    expect(runIds(dir)).toHaveLength(1);
    expect(runIds(runs())).toHaveLength(before);
  });

  test('counts a file as one strategy however the configuration spells it, and keeps no path of this machine', async () => {
    const dir = join(at.dir, 'spelled');
    at.write(
      'own.ts',
      "export default { name: 'own', about: '', params: {}, indicators: () => ({}), decide: () => undefined };",
    );
    mkdirSync(join(at.dir, 'below'), { recursive: true });
    const spelled = ['./own.ts', 'own.ts', './below/../own.ts', join(at.dir, 'own.ts')];
    for (const use of spelled) await run({ runs: dir, set: [`strategies.0.use=${use}`, 'strategies.0.params={}'] });
    const tries = readLedger(dir);
    expect(tries.map(({ family }) => family)).toEqual(spelled.map(() => './own.ts'));
    expect(new Set(tries.flatMap(({ trials }) => trials.map(([hash]) => hash))).size).toBe(1);
    const kept = runIds(dir).map((id) => readRun(findRun(dir, id)));
    expect(kept.map(({ summary, code }) => [summary.verdict.trials, code[0]?.use])).toEqual(
      kept.map(() => [1, './own.ts']),
    );
  });

  test('judges one that is not to be kept by the tries that are, and leaves none', async () => {
    const dir = join(at.dir, 'judged');
    await run({ runs: dir });
    await run({ runs: dir, set: ['strategies.0.params.fast=3'] });
    const tries = async (more: Parameters<typeof run>[0]): Promise<unknown> => {
      return (JSON.parse((await run({ json: true, ...more })).out) as KeptRun['summary']).verdict.trials;
    };
    const unkept = { runs: undefined, ledger: dir };
    const fresh = { set: ['strategies.0.params.fast=4'] };
    expect(await tries({ ...unkept, ...fresh })).toBe(3);
    expect(await tries(unkept)).toBe(2);
    expect([runIds(dir).length, readLedger(dir).length]).toEqual([2, 2]);
    expect(await tries({ runs: dir, ...fresh })).toBe(3);
    const { out } = await at.sluice(['backtest', '--config', 'b.yaml', '--no-save', '--runs', 'judged', '--json']);
    expect((JSON.parse(out) as KeptRun['summary']).verdict.trials).toBe(3);
  });

  test('stress: doubled fees cost what fees cost, and one kline later is another result', async () => {
    const set = ['strategies.0.params.quantity=5'];
    const { out } = await run({ json: true, stress: true, set });
    const { stress, metrics, finalEquity } = JSON.parse(out) as KeptRun['summary'];
    expect(stress.map(({ name }) => name)).toEqual(['Fees × 2', 'Latency × 3', 'One kline later']);
    const [fees, , later] = stress;
    expect(fees?.finalEquity).toBeCloseTo(Number(finalEquity) - Number(metrics.fees), 6);
    expect(later?.fills).toBeGreaterThan(0);
    expect(later?.finalEquity).not.toBeCloseTo(Number(finalEquity), 2);
  });

  test('ends at Ctrl-C with what there is, keeps it and says so everywhere', async () => {
    const file = join(at.dir, 'stopped.html');
    const stopped = { json: true, signal: AbortSignal.abort(), report: file, stress: true } as const;
    const { out, said } = await run(stopped);
    const part = JSON.parse(out) as KeptRun['summary'] & { readonly fills: readonly unknown[] };
    const note = 'stopped at 2020-02-03T20:16Z: all figures cover the time up to then';
    const notRun = '--stress was stopped; not run: Fees × 2, Latency × 3, One kline later';
    expect([part.klines, part.stress, part.warnings.slice(-2)]).toEqual([4_096, [], [note, notRun]]);
    expect(said).toContain(note);
    expect(readFileSync(file, 'utf8')).toContain(note);
    const again = join(at.dir, 'stopped-again.html');
    expect((await at.sluice(['report', 'last', '-o', again])).code).toBe(0);
    expect(readFileSync(again, 'utf8')).toBe(readFileSync(file, 'utf8'));
    const { out: same } = await run({ json: true, set: ['to=2020-02-03T20:16:00Z'] });
    const until = JSON.parse(same) as typeof part;
    expect(part.metrics).toEqual(until.metrics);
    expect(part.fills).toEqual(until.fills);
    expect(part.fills.length).toBeGreaterThan(10);
    expect([part.endedAt, until.endedAt]).toEqual([Date.UTC(2020, 1, 3, 20, 16), undefined]);
    const told = 'at 2020-02-03 20:16 UTC, before its end: all figures cover the time up to then';
    expect(readFileSync(file, 'utf8')).toContain(`Stopped ${told}.`);
    const alone = { runs: join(at.dir, 'stopped') } as const;
    expect((await run({ ...alone, signal: AbortSignal.abort() })).out).toMatch(`Stopped              ${told}\n`);
    expect((await run(alone)).out).not.toContain('Stopped');
    const lines: string[] = [];
    showRuns({ ...alone, json: false, out: (line) => lines.push(line), say: () => {} });
    expect(lines.map((line) => line.includes('(stopped at 2020-02-03 20:16)'))).toEqual([false, true]);
  });

  test('writes CSV that adds up to what was said', async () => {
    const csv = join(at.dir, 'csv');
    const { out } = await run({ json: true, csv });
    const { fills, metrics } = JSON.parse(out) as KeptRun['summary'] & {
      readonly fills: readonly { readonly tradeId: string }[];
    };
    const rows = csvRows(readFileSync(join(csv, 'fills.csv'), 'utf8'));
    expect(rows.map((row) => row['tradeId'])).toEqual(fills.map(({ tradeId }) => tradeId));
    expect(rows.reduce((sum, row) => sum + Number(row['fee']), 0)).toBeCloseTo(Number(metrics.fees), 6);
    const orders = csvRows(readFileSync(join(csv, 'orders.csv'), 'utf8'));
    expect(orders.filter(({ state }) => state === 'filled').length).toBe(
      new Set(rows.map((row) => row['clientOrderId'])).size,
    );
    expect(csvRows(readFileSync(join(csv, 'equity.csv'), 'utf8'))).toHaveLength(4);
  });
});

/** Everything between two marks of a text. */
const between = (text: string, from: string, to: string): string => text.split(from)[1]?.split(to)[0] ?? '';
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

describe('a report', () => {
  test('says when a limit stopped the run, and which orders were refused', async () => {
    const file = join(at.dir, 'report.html');
    await run({ report: file, set: ['risk.maxOrderValue=100'] });
    const data = between(readFileSync(file, 'utf8'), 'id="data"', '</section>');
    expect(data).toMatch(/Orders refused<\/h3><p>[\d,]+: orderValue/);
    const much = ['risk.maxOrderValue=1000000000', 'risk.maxPosition=1000000000'];
    await run({ report: file, set: ['risk.maxDailyLoss=0.000001', ...much] });
    expect(between(readFileSync(file, 'utf8'), 'id="data"', '</section>')).toMatch(
      /Stopped by a limit<\/h3>.*\d{4}-\d\d-\d\d \d\d:\d\d UTC: lost /,
    );
    expect(readFileSync(file, 'utf8')).toMatch(/id="verdict"><h2>[a-z ]+; a limit stopped it before its end<\/h2>/);
  });

  test('needs nothing else and runs nothing but what its policy names', async () => {
    const file = join(at.dir, 'report.html');
    await run({ report: file, stress: true });
    const text = readFileSync(file, 'utf8');
    const policy = between(text, '<meta http-equiv="content-security-policy" content="', '"');
    expect(policy).toMatch(/^default-src &#39;none&#39;; script-src /);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const named = policy.replaceAll('&#39;', "'");
    const scripts = [...text.matchAll(/<script(?: type="module")?>([\s\S]*?)<\/script>/g)].map(([, code = '']) => code);
    expect(scripts).toHaveLength(2);
    for (const script of scripts) expect(named).toContain(hashOf(script));
    expect(named).toContain(hashOf(between(text, '<style>', '</style>')));
    const document = text.replace(/<script[\s\S]*?<\/script>/g, '').replace(/<style>[\s\S]*?<\/style>/, '');
    expect(document).not.toMatch(/ (src|style|onclick|on\w+)=|<link|url\(/);
    expect([...document.matchAll(/href="([^"]*)"/g)].every(([, to]) => to?.startsWith('#'))).toBe(true);
    for (const id of [
      'verdict',
      'chart',
      'equity',
      'months',
      'trips',
      'costs',
      'groups',
      'evidence',
      'metrics',
      'data',
      'configuration',
    ])
      expect(document).toContain(`id="${id}"`);
    expect(document).toContain('Fees × 2');
    expect(document).toContain('maxOrderValue: &quot;200000&quot;');
  });

  test('lists fills that took more than the print that granted them, and says by what print', async () => {
    const prints = Array.from({ length: 400 }, (_, index) => {
      const time = Date.UTC(2020, 1, 1) + 2_000 * index;
      return `${time},${(100 + index / 100).toFixed(1)},0.5,${index % 2 === 0 ? 'buy' : 'sell'}`;
    });
    at.write('prints.csv', `${['time_ms,price,qty,side', ...prints].join('\n')}\n`);
    const yaml = backtestYaml.replace('data:\n  XBTUSD: ./klines.csv', 'trades:\n  XBTUSD: ./prints.csv');
    at.write('prints.yaml', yaml.replace('rules: plain', 'rules: sluice'));
    const evidence = async (quantity: string): Promise<string> => {
      const report = join(at.dir, `prints-${quantity}.html`);
      const set = [`strategies.0.params.quantity=${quantity}`];
      await run({ config: join(at.dir, 'prints.yaml'), set, report, runs: join(at.dir, 'prints') });
      return between(readFileSync(report, 'utf8'), 'rest on an assumption</h3>', '</section>');
    };
    expect(await evidence('5')).toMatch(/1 of 1\..*trade-next<.*9\d\d\.\d\d % of the available quantity/s);
    expect(await evidence('0.1')).toContain('None.');
  });

  test('of a kept run is the one that the run itself wrote', async () => {
    const file = join(at.dir, 'first.html');
    await run({ report: file });
    const again = join(at.dir, 'again.html');
    const { code, err } = await at.sluice(['report', 'last', '-o', again]);
    expect([code, err]).toEqual([0, `report: ${again}\n`]);
    expect(readFileSync(again, 'utf8')).toBe(readFileSync(file, 'utf8'));
  });

  test('says so where data have changed since, and refuses fills that somebody changed', async () => {
    const lines = readFileSync(join(at.dir, 'klines.csv'), 'utf8');
    appendFileSync(join(at.dir, 'klines.csv'), `${Date.UTC(2020, 1, 4)},100,100,100,100,1\n`);
    const file = join(at.dir, 'changed.html');
    expect((await at.sluice(['report', 'last', '-o', file])).code).toBe(0);
    writeFileSync(join(at.dir, 'klines.csv'), lines);
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('The data of XBTUSD have changed since this run');
    expect(text).not.toContain('id="payload"');
    // How far the price went was measured in them.
    const shown = between(text, 'id="trips"', '</section>');
    expect(shown).toContain('Excursions need the klines of this run');
    expect(shown).not.toMatch(/MAE|MFE|0\.00 %.*0\.00 %<\/td><\/tr>/);
    const fills = join(findRun(runs(), 'last'), 'fills.csv');
    const whole = readFileSync(fills, 'utf8');
    writeFileSync(fills, whole.replace('BUY', 'SELL'));
    const refused = await at.sluice(['report', 'last', '-o', file]);
    writeFileSync(fills, whole);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('was changed since this run')]);
  });
});

test('runs lists newest first, report says every figure with its meaning, compare sets runs side by side', async () => {
  await run({ set: ['strategies.0.params.slow=40'] });
  const listed = await at.sluice(['runs', '--json']);
  const ids = listed.out
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { readonly id: string }).id);
  expect(ids).toEqual([...runIds(runs())]);
  const shown = await at.sluice(['report', ids[0] ?? '']);
  expect(shown.out).toMatch(/Sortino ratio +n\/a +mean daily return less the rate/);
  expect(shown.out).toMatch(/By exit\n +by the strategy +\d/);
  const compared = await at.sluice(['compare', ids[0] ?? '', ids.at(-1) ?? '']);
  expect(compared.out).toMatch(new RegExp(`^ +${ids[0]} +${ids.at(-1)}\n`));
  expect(compared.out).toContain(`${ids[0]}: strategies.0.params.slow=40`);
  const page = join(at.dir, 'compared.html');
  expect((await at.sluice(['compare', ids[0] ?? '', ids.at(-1) ?? '', '-o', page])).code).toBe(0);
  expect(readFileSync(page, 'utf8')).toContain('2 runs compared');
  const alone = await at.sluice(['compare', 'last', 'last']);
  expect([alone.code, alone.err]).toEqual([2, expect.stringContaining('compare takes 2 to 8 different runs, not 1')]);
  const none = await at.sluice(['report', 'nobody']);
  expect([none.code, none.err]).toEqual([2, expect.stringMatching(/no run nobody in .*; sluice runs lists them/)]);
  const removed = await at.sluice(['runs', '--remove', ids[0] ?? '']);
  expect([removed.code, runIds(runs()).includes(ids[0] ?? '')]).toEqual([0, false]);
  expect(readLedger(runs()).length).toBeGreaterThan(ids.length - 2);
});

test('compare tells beside each run what was found in its data', async () => {
  const rows = moving(3 * 1_440);
  at.write('holed.csv', `${[...rows.slice(0, 2_000), ...rows.slice(2_010)].join('\n')}\n`);
  const dir = join(at.dir, 'holed');
  await run({ runs: dir });
  await run({ runs: dir, set: ['data.XBTUSD=holed.csv'] });
  const [holed = '', whole = ''] = runIds(dir);
  const compared = await at.sluice(['compare', whole, holed, '--runs', dir]);
  expect(compared.out).toContain(`${holed}: note: holed.csv: 1 gap, 10 klines missing`);
  expect(compared.out).not.toContain(`${whole}: note`);
  const page = join(at.dir, 'holed.html');
  await at.sluice(['compare', whole, holed, '--runs', dir, '-o', page]);
  expect(readFileSync(page, 'utf8')).toContain('holed.csv: 1 gap, 10 klines missing');
});

test('a damaged run is told of, and hides no other', async () => {
  const kept = join(at.dir, 'damaged');
  await run({ runs: kept });
  const [whole = ''] = runIds(kept);
  for (const [id, text] of [
    ['20200101-000000000-aaaa', '{"version":2,"summ'],
    ['20200102-000000000-bbbb', '{"version":2,"summary":{}}'],
  ] as const) {
    mkdirSync(join(kept, id));
    writeFileSync(join(kept, id, 'result.json'), text);
  }
  const [out, said]: [string[], string[]] = [[], []];
  showRuns({ runs: kept, json: false, out: (line) => void out.push(line), say: (line) => void said.push(line) });
  expect(out).toEqual([expect.stringContaining(whole)]);
  expect(said).toEqual([
    expect.stringMatching(
      /^note: .*bbbb\/result\.json is not the result of a run: .*--remove 20200102-000000000-bbbb\)$/,
    ),
    expect.stringMatching(/^note: .*aaaa\/result\.json cannot be read: /),
    expect.stringMatching(/^3 runs, /),
  ]);
});
