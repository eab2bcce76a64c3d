/** The live results of a strategy beside the saved backtest that is the most like it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readRun, readRunFile, runIds } from '../../src/backtest/runs/store.ts';
import { comparisonOf } from '../../src/comparison/comparison.ts';
import type { StrategyComparison } from '../../src/dashboard/machine/comparison.ts';
import { Refusal } from '../../src/domain/refusal.ts';
import { csvRows } from '../../src/report/csv.ts';
import { ask } from '../kit/dashboard.ts';
import { dearer, deniedTimes, liveFrom, liveLikeBacktest, liveTo } from '../kit/live-like-backtest.ts';
import { machineToken, startOnMachine } from '../kit/machine.ts';
import { runWinter } from '../kit/saved-runs.ts';

const dayMs = 86_400_000;
let folder: string;
let runs: string;
/** Newest first: with another parameter, and the one that runs live. */
let folders: readonly string[];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-beside-'));
  runs = join(folder, 'runs');
  await runWinter(runs);
  await runWinter(runs, ['strategies.0.params.fast=8']);
  folders = runIds(runs).map((id) => join(runs, id));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function compared(name: string, ...given: readonly [Parameters<typeof liveLikeBacktest>[2]?]): StrategyComparison {
  const dir = join(folder, name);
  liveLikeBacktest(dir, runs, ...given);
  const [only] = comparisonOf(dir, folders).strategies;
  if (only === undefined) throw new Error('there is no strategy');
  return only;
}

/** Fills of the backtest on the days on which it ran live. */
const sameFills = () =>
  csvRows(readRunFile(folders[1] as string, 'fills.csv') ?? '').filter(
    ({ time }) => Number(time) >= liveFrom && Number(time) < liveTo,
  );

test('the backtest with the same code and parameters is chosen before a newer one with others', () => {
  const { run, differences, live, backtest } = compared('same');
  expect(run).toMatchObject({ id: readRun(folders[1] as string).id, strategy: 'trend' });
  expect(differences).toEqual([]);
  const fills = sameFills();
  const { summary } = readRun(folders[1] as string);
  expect(fills.length).toBeGreaterThan(20);
  expect(live).toMatchObject({ days: 10, fills: fills.length, fillsPerDay: fills.length / 10 });
  expect(live?.slippage).toBeCloseTo(dearer - 1, 4);
  expect(live?.denialShare).toBeCloseTo(deniedTimes / (deniedTimes + fills.length), 10);
  expect(backtest).toMatchObject({ fills: summary.fillCount, roundTrips: summary.metrics.roundTrips, slippage: null });
  expect(backtest?.winRate).toBeCloseTo(summary.metrics.winRate as number, 10);
  expect(backtest?.feePerFill).toBeCloseTo(0.002, 6);
});

test('the same days stand beside each other, with what live paid more', () => {
  const { days, noDays, priceDifference } = compared('days');
  expect(noDays).toBeUndefined();
  expect(days.map(({ day }) => day)).toEqual(Array.from({ length: 10 }, (_, index) => liveTo - (index + 1) * dayMs));
  for (const { live, backtest } of days) expect(live.fills).toBe(backtest.fills);
  expect(days.reduce((sum, { live }) => sum + live.fills, 0)).toBe(sameFills().length);
  const fills = sameFills().length;
  expect(priceDifference).toMatchObject({ matched: fills, fills });
  expect(priceDifference?.of).toBeCloseTo(dearer - 1, 4);
});

test('a day that live covers in part has the same part of the backtest, and no rate by the day', () => {
  const hours = compared('hours', { days: [liveFrom, liveFrom + dayMs / 4] });
  expect(hours.live).toMatchObject({ days: 0.25, returnPerDay: null, fillsPerDay: null });
  const before = sameFills().filter(({ time }) => Number(time) <= liveFrom + dayMs / 4);
  expect(hours.days.map(({ backtest }) => backtest.fills)).toEqual([before.length]);
});

test('fills that are more than a kline apart are no counterparts', () => {
  const shifted = compared('shifted', { days: [liveFrom + dayMs / 2, liveTo + dayMs / 2] });
  expect(shifted.priceDifference?.matched ?? 0).toBeLessThan(sameFills().length / 2);
});

test('it says in what code, parameters and markets differ', () => {
  const { run, differences } = compared('others', { params: '{ fast: 9, slow: 48, quantity: 4 }' });
  expect(run?.id).toBe(readRun(folders[0] as string).id);
  expect(differences).toEqual(['Parameter fast: 9 live, 8 in the backtest']);
});

test('where no day is the same it says so, and compares none', () => {
  const { days, noDays, live, backtest } = compared('later', {
    days: [Date.UTC(2026, 2, 1), Date.UTC(2026, 2, 11)],
  });
  expect(days).toEqual([]);
  expect(noDays).toMatch(/^The backtest ends 2026-01-31 .* before the strategy ran live \(2026-03-01/);
  expect([live?.days, backtest === null]).toEqual([10, false]);
});

test('without a saved backtest, or with a damaged one, it has the live results alone', () => {
  const dir = join(folder, 'alone');
  liveLikeBacktest(dir, runs);
  const [none] = comparisonOf(dir, []).strategies;
  expect(none).toMatchObject({ run: null, backtest: null, days: [], differences: [] });
  expect(none?.live?.fills).toBe(sameFills().length);
  expect(none?.noDays).toBe('There is nothing to compare yet.');
});

test('a configuration that has changed since the start is reported, one that is gone refuses', () => {
  const dir = join(folder, 'changed');
  liveLikeBacktest(dir, runs);
  expect(comparisonOf(dir, folders).notes).toEqual([]);
  const file = `${dir}.yaml`;
  writeFileSync(file, `${'onShutdown: keep\n'}${readFileSync(file, 'utf8')}`);
  expect(comparisonOf(dir, folders).notes).toEqual([
    expect.stringContaining('is not exactly the configuration that runs'),
  ]);
  rmSync(file);
  expect(() => comparisonOf(dir, folders)).toThrow(Refusal);
});

test('the page gets it for the daemons that it shows, with the token alone', async () => {
  const machine = await startOnMachine(async (home) => {
    await runWinter(join(home, 'runs'));
    liveLikeBacktest(join(home, 'live'), join(home, 'runs'));
  });
  const own = { authorization: `Bearer ${machineToken}` };
  const answer = await ask(machine.server, '/api/comparison/live', own);
  expect(JSON.parse(answer.body)).toMatchObject({ strategies: [{ strategy: 'trend', differences: [] }], notes: [] });
  for (const name of ['nobody', '..', '..%2flive', encodeURIComponent(join(machine.folder, 'live'))])
    expect((await ask(machine.server, `/api/comparison/${name}`, own)).status, name).toBe(404);
  expect((await ask(machine.server, '/api/comparison/live', {})).status).toBe(403);
  const without = await ask(machine.server, '/api/comparison/paper', own);
  expect(without.status).toBe(400);
  expect(JSON.parse(without.body)).toMatchObject({ message: expect.stringContaining('there is no journal') });
  await machine.close();
});
