/** `sluice backtest --grid`: the same for any number of workers, kept when it is stopped, and equal to single runs. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { prepare } from '../../src/backtest/prepare/prepare.ts';
import { writeTables } from '../../src/backtest/runs/keep.ts';
import { openPool } from '../../src/backtest/search/pool.ts';
import { seededRng } from '../../src/clock/clock.ts';
import { backtest } from '../../src/commands/backtest/backtest.ts';
import { type GridOptions, gridBacktest } from '../../src/commands/grid/command.ts';
import { readConfig } from '../../src/config/read.ts';
import { backtestSchema } from '../../src/config/schema.ts';

const config = fileURLToPath(new URL('../../backtests/crash-2020-plain.yaml', import.meta.url));
const grid = ['fast=10..30:10', 'slow=20..120:50'];
let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-grid-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function run(given: Partial<GridOptions> = {}): Promise<{ readonly out: string; readonly said: string }> {
  const [out, said]: [string[], string[]] = [[], []];
  await gridBacktest({
    ...{ config, set: [], grid, json: true, workers: 2 },
    ...{ out: (line: string) => void out.push(line), say: (line: string) => void said.push(line) },
    ...given,
  });
  return { out: out.join('\n'), said: said.join('\n') };
}
/** The files of outcomes; beside each is a description. */
const outcomesIn = (folder: string): readonly string[] => readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
const setsIn = (text: string) =>
  (JSON.parse(text) as { parameterSets: { params: object; finalEquity?: string; refused?: string }[] }).parameterSets;

describe('a grid', () => {
  test('says how much of its best parameter set may be luck, the same when it continues with saved sets', async () => {
    const rng = seededRng(5);
    let close = 100;
    const rows = Array.from({ length: 400 }, (_, day) => {
      const open = close;
      close = Math.round(open * (0.97 + 0.06 * rng()) * 100) / 100;
      return [Date.UTC(2021, 0, 1 + day), open, Math.max(open, close), Math.min(open, close), close, 10].join(',');
    });
    writeFileSync(join(dir, 'days.csv'), `time_ms,open,high,low,close,volume\n${rows.join('\n')}\n`);
    const set = [
      `data.XBTUSD=${join(dir, 'days.csv')}`,
      'strategies.0.interval=1day',
      'from=2021-01-01',
      'to=2022-02-01',
    ];
    const given = { set, grid: ['fast=2..5', 'slow=8..20:4'], runs: join(dir, 'runs') };
    const fresh = JSON.parse((await run(given)).out) as { readonly overfitting: object };
    expect(fresh.overfitting).toMatchObject({ days: expect.any(Number), splits: 12_870, pbo: expect.any(Number) });
    expect((JSON.parse((await run(given)).out) as { readonly overfitting: object }).overfitting).toEqual(
      fresh.overfitting,
    );
    // Some of them as a grid of too many sets keeps them: they are run again, and counted once.
    const folder = join(dir, 'runs', 'grids');
    const [name = ''] = outcomesIn(folder);
    const kept = readFileSync(join(folder, name), 'utf8');
    writeFileSync(
      join(folder, name),
      kept.replaceAll(/"returns":\[[^\]]*\]/g, (text, at: number) => (at % 2 === 0 ? text : '"returns":null')),
    );
    const mended = await run(given);
    expect(mended.said).toMatch(/[1-9]\d? of 16 parameter sets are complete already/);
    expect(JSON.parse(mended.out)).toEqual(fresh);
    const { out } = await run({ ...given, json: false });
    expect(out).toMatch(/\nOverfit +PBO \d\.\d\d .*\nAgainst buy & hold +(not shown to be )?better: /);
  });

  test('comes to the same with one worker and with three, and each set to what a run of it alone does', async () => {
    const [one, three] = [await run({ workers: 1 }), await run({ workers: 3 })];
    expect(one.out).toBe(three.out);
    const alone: string[] = [];
    await backtest({
      ...{ config, set: ['strategies.0.params.fast=10', 'strategies.0.params.slow=70'], json: true },
      ...{ out: (line: string) => void alone.push(line), say: () => {} },
    });
    const set = setsIn(one.out).find(({ params }) => JSON.stringify(params) === '{"trend.fast":10,"trend.slow":70}');
    expect(set?.finalEquity).toBe((JSON.parse(alone.join('')) as { finalEquity: string }).finalEquity);
    expect(setsIn(one.out).filter(({ refused }) => refused !== undefined)).toMatchObject([
      { params: { 'trend.fast': 20, 'trend.slow': 20 }, refused: 'fast (20) must be below slow (20)' },
      { params: { 'trend.fast': 30, 'trend.slow': 20 } },
    ]);
  });

  test('goes on where it was stopped, and counts each set once among the tries', async () => {
    const runs = join(dir, 'runs');
    const first = await run({ runs, workers: 1 });
    expect(first.said).not.toMatch(/complete already/);
    // As if the rest had never been written, and a crash had cut the last line short.
    const folder = join(runs, 'grids');
    const [name = ''] = outcomesIn(folder);
    const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
    rmSync(join(folder, name));
    appendFileSync(join(folder, name), `${lines.slice(0, 4).join('\n')}\n${lines[4]?.slice(0, 20)}`);
    const second = await run({ runs });
    expect(second.said).toMatch(/4 of 9 parameter sets are complete already/);
    expect(setsIn(second.out)).toEqual(setsIn((await run()).out));
    const third = await run({ runs });
    expect(third.said).toMatch(/9 of 9 parameter sets are complete already/);
    expect(setsIn(third.out)).toEqual(setsIn(second.out));
    expect((JSON.parse(third.out) as { trials: number }).trials).toBe(
      (JSON.parse(second.out) as { trials: number }).trials,
    );
  });

  test('that is killed counts all of its sets when it goes on, once', async () => {
    const runs = join(dir, 'runs');
    const tries = ({ out }: { readonly out: string }) => (JSON.parse(out) as { trials: number }).trials;
    const whole = tries(await run({ runs: join(dir, 'others') }));
    await run({ runs });
    // As a kill leaves it: some sets are written, nothing is counted.
    const folder = join(runs, 'grids');
    const [name = ''] = outcomesIn(folder);
    const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
    rmSync(runs, { recursive: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), `${lines.slice(0, 5).join('\n')}\n`);
    const goingOn = await run({ runs });
    expect(goingOn.said).toMatch(/5 of 9 parameter sets are complete already/);
    appendFileSync(join(runs, 'tries.jsonl'), '{"at":1,"hash":"x\n');
    expect((await run({ runs })).said).toMatch(
      /note: 1 line of .*tries\.jsonl cannot be read: its trials are not counted/,
    );
    expect([whole, tries(goingOn), tries(await run({ runs })), tries(await run({ ledger: runs }))]).toEqual([
      7, 7, 7, 7,
    ]);
  });

  test('starts as many threads as are asked for, but no more than there are sets, and few for a core', async () => {
    const { input } = await prepare(config, readConfig(config, backtestSchema));
    const stage = { input, dir: dirname(config), axes: [], riskFree: 0, withReturns: false };
    const pools = [openPool(stage, 256, 1), openPool(stage, 2, 4), openPool(stage, 256)];
    expect(pools.map(({ workers }) => workers)).toEqual([1, 2, 4 * availableParallelism()]);
    await Promise.all(pools.map((pool) => pool.close()));
  });

  test.each([
    ['roles', 'pair-btc-eth.yaml', 'period=100..120:20', ['from=2025-10-15', 'to=2025-11-15']],
    ['a list', 'rotation-synthetic.yaml', 'top=2..3', []],
  ])('of %s gives each set the equity of its single run, with any number of workers', async (_, file, axis, set) => {
    const several = fileURLToPath(new URL(`../../backtests/${file}`, import.meta.url));
    const given = { config: several, grid: [axis], set };
    const sets = setsIn((await run({ ...given, workers: 1 })).out);
    expect(setsIn((await run({ ...given, workers: 3 })).out)).toEqual(sets);
    expect(sets).toHaveLength(2);
    for (const { params, finalEquity } of sets) {
      const out: string[] = [];
      const one = Object.entries(params).map(([name, value]) => `strategies.0.params.${name.split('.')[1]}=${value}`);
      await backtest({
        ...{ config: several, set: [...set, ...one], json: true },
        ...{ out: (line: string) => void out.push(line), say: () => {} },
      });
      expect(JSON.parse(out.join('\n'))).toMatchObject({ finalEquity });
    }
  });

  test('alone has threads: a single run refuses a number of them', async () => {
    await expect(backtest({ config, set: [], json: true, workers: 2, out: () => {}, say: () => {} })).rejects.toThrow(
      '--workers is for a grid: give --grid, such as --grid fast=5..24, or leave it out',
    );
  });

  test('is the same grid whichever axis is named first: nothing runs or counts twice', async () => {
    const runs = join(dir, 'runs');
    const tries = ({ out }: { readonly out: string }) => (JSON.parse(out) as { trials: number }).trials;
    const first = await run({ runs });
    const turned = await run({ runs, grid: grid.toReversed() });
    expect(turned.said).toMatch(/9 of 9 parameter sets are complete already/);
    expect(tries(turned)).toBe(tries(first));
    // What an axis varies is not what the configuration says.
    const otherwise = await run({ runs, set: ['strategies.0.params.fast=11'] });
    expect(otherwise.said).toMatch(/9 of 9 parameter sets are complete already/);
    expect(tries(otherwise)).toBe(tries(first));
    const equities = (text: string) => setsIn(text).flatMap(({ finalEquity }) => finalEquity ?? []);
    expect(new Set(equities(turned.out))).toEqual(new Set(equities(first.out)));
    const ofSet = (text: string) =>
      setsIn(text).find(({ params }) => isDeepStrictEqual(params, { 'trend.fast': 10, 'trend.slow': 70 }))?.finalEquity;
    expect(ofSet(turned.out)).toBe(ofSet(first.out));
    expect(tries(await run({ ledger: runs, grid: grid.toReversed() }))).toBe(tries(first));
  });

  test('that is not to be kept counts the tries that are, each set once', async () => {
    const ledger = join(dir, 'runs');
    const tries = async (given: Partial<GridOptions>) =>
      (JSON.parse((await run(given)).out) as { trials: number }).trials;
    expect(await tries({ ledger })).toBe(7);
    expect(await tries({ runs: ledger, grid: ['fast=10,20', 'slow=70'] })).toBe(2);
    const lines = readFileSync(join(ledger, 'tries.jsonl'), 'utf8');
    expect(await tries({ ledger })).toBe(7);
    // Other limits or fees are no other trials.
    expect(await tries({ ledger, set: ['risk.maxOrderValue=90000', 'fees.taker=0.003'] })).toBe(7);
    expect(readFileSync(join(ledger, 'tries.jsonl'), 'utf8')).toBe(lines);
    expect(outcomesIn(join(ledger, 'grids'))).toHaveLength(1);
  });

  test('of which no parameter set could be run has failed, and says why', async () => {
    const lines: string[] = [];
    const of = { json: false, grid: ['fast=30', 'slow=20'], out: (line: string) => void lines.push(line) };
    await expect(run(of)).rejects.toMatchObject({
      exitCode: 1,
      message: 'no parameter set could run: fast (30) must be below slow (20)',
    });
    expect(lines.join('\n')).toContain('fast (30) must be below slow (20)');
  });

  test('refuses the sets that a run by itself refuses, in the same words', async () => {
    const set = ['strategies.0.use=maker', 'strategies.0.params={}'];
    await expect(run({ set, grid: ['offset=0.001..0.002:0.001'], json: false })).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/^no parameter set could run: .*(books|depth)/),
    });
  });

  test('that is stopped before it begins keeps nothing and says how much is missing', async () => {
    const stopped = 'Stopped: 9 of 9 parameter sets did not run and are not in this report';
    const [csv, report] = [join(dir, 'csv'), join(dir, 'grid.html')];
    const { said, out } = await run({ signal: AbortSignal.abort(), runs: join(dir, 'runs'), csv, report });
    expect(said).toMatch(
      /stopped before the first of 9 parameter sets was complete: nothing was saved\. Run the same command to start again/,
    );
    expect(JSON.parse(out)).toMatchObject({ best: null, plateau: null, trials: 0 });
    expect(JSON.parse(out).warnings).toContain(stopped);
    expect(readFileSync(join(csv, 'NOTES.txt'), 'utf8')).toContain(stopped);
    expect(readFileSync(report, 'utf8')).toContain(`${stopped}</p>`);
  });

  test('leaves out sets whose averages are longer than the data: they would do nothing, and be the best among those that lose', async () => {
    const { out } = await run({
      ...{ json: false, csv: dir, grid: ['fast=10', 'slow=20,50,20000'] },
      set: ['to=2020-02-05', 'from=2020-02-03'],
    });
    expect(out).toMatch(
      / 3 parameter sets over [\d,]+ klines, 1 refused\nRefused +XBTUSD: \d+ klines are too few: the strategy needs 20000 /,
    );
    const { out: many } = await run({
      ...{ json: false, grid: ['fast=10,30', 'slow=20,19000,20000'] },
      set: ['to=2020-02-05', 'from=2020-02-03'],
    });
    expect(many).toMatch(
      / 5 refused\nRefused +XBTUSD: .* needs 19000 .* \(3 more alike\)\nRefused +fast \(30\) must be below slow \(20\)\n/,
    );
    expect(out).toMatch(/Best parameter set +fast 10, slow (20|50): /);
    expect(readFileSync(join(dir, 'grid.csv'), 'utf8')).toMatch(/^10,20000,+"?XBTUSD: /m);
  });

  test('prints the winner with the number of tries, the plateau, the heat map; and writes every set as CSV', async () => {
    const { out } = await run({ json: false, csv: dir, grid: ['fast=4..8:2', 'slow=20..40:10'] });
    expect(out).toMatch(
      /Best parameter set +fast \d+, slow \d+: .*\n.*best of 9 trials on these data: every one lost money/,
    );
    expect(out).toMatch(/Best plateau +around fast 6, slow 30: 9 parameter sets/);
    expect(out).toMatch(/◆◆/);
    const [head, ...rows] = readFileSync(join(dir, 'grid.csv'), 'utf8').trimEnd().split('\n');
    expect(head).toBe(
      'fast,slow,finalEquity,return,maxDrawdown,sharpe,sortino,calmar,fills,roundTrips,fees,ranked,kills,refused',
    );
    expect(rows).toHaveLength(9);
  });

  test('says of sets that a limit stopped before their end that it did', async () => {
    const given = {
      set: ['risk.maxDailyLoss=0.05'],
      grid: ['fast=3,10', 'slow=20,40'],
      csv: dir,
      report: join(dir, 'grid.html'),
    };
    const { out } = await run({ ...given, json: false });
    expect(out).toMatch(/^Stopped +\d of \d parameter sets, by a limit, (not|including) the best/m);
    expect(readFileSync(join(dir, 'grid.csv'), 'utf8')).toMatch(
      /,"lost [\d.]+ since midnight UTC, the limit is [\d.]+",$/m,
    );
    expect(readFileSync(given.report, 'utf8')).toMatch(/Stopped: \d of \d parameter sets, by a limit/);
  });

  test('has no best parameter set where none closed thirty round trips, and says so in JSON and in its report', async () => {
    const report = join(dir, 'grid.html');
    const { out } = await run({ grid: ['fast=10', 'slow=80,120'], report });
    const notRanked = 'no parameter set closed 30 round trips, so there is no best one';
    const few = { ranked: false, roundTrips: expect.any(Number), finalEquity: expect.any(String) };
    expect(JSON.parse(out)).toMatchObject({
      best: null,
      plateau: null,
      overfitting: null,
      notRanked: 2,
      parameterSets: [few, few],
    });
    expect(readFileSync(report, 'utf8')).toContain(`No best parameter set</h2><p><b>Not ranked</b> ${notRanked}.</p>`);
  });

  test('says what is doubtful about the data in JSON, and beside its CSV', async () => {
    const { out } = await run({ csv: dir });
    const { warnings } = JSON.parse(out) as { readonly warnings: readonly string[] };
    expect(warnings.length).toBeGreaterThan(0);
    expect(readFileSync(join(dir, 'NOTES.txt'), 'utf8').trimEnd().split('\n')).toEqual(warnings);
    // Nor do they stay beside tables that have none.
    expect(writeTables(dir, [['grid.csv', ['a\n']]], [])).toEqual(['grid.csv']);
    expect(existsSync(join(dir, 'NOTES.txt'))).toBe(false);
  });

  test.each([
    [['fas=5..24'], /fas is not a parameter \(did you mean "fast"\?\); there are fast, slow/],
    [['fast'], /must look like fast=5\.\.24/],
    [['fast=24..5:2'], /"24\.\.5:2" is descending: write 5\.\.24:2$/],
    [['fast=5..24:0'], /"5\.\.24:0" has a step of 0: use a step above 0/],
    [['fast=5-24'], /"5-24" is neither a number nor a range/],
    [['fast=1..2', 'fast=3'], /--grid trend\.fast is given twice/],
    [['no.fast=1'], /unknown strategy no/],
    [['quantity=0..1:0.000001'], /more than 100000/],
  ])('refuses %j', async (wrong, message) => {
    await expect(run({ grid: wrong })).rejects.toThrow(message);
  });

  test('steps by decimals without noise', async () => {
    const { out } = await run({ grid: ['stop=0.1..0.3:0.1'] });
    expect(setsIn(out).map(({ params }) => params)).toEqual([0.1, 0.2, 0.3].map((stop) => ({ 'trend.stop': stop })));
  });
});
