/** Saved backtests and grids over HTTP: what is listed, whose reports open, and what stays closed. */
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reportOfKept } from '../../src/backtest/runs/report-input.ts';
import { readRun, runIds } from '../../src/backtest/runs/store.ts';
import { comparedText } from '../../src/commands/runs/compare.ts';
import type { LibraryView } from '../../src/dashboard/machine/library.ts';
import { type Answered, ask, json } from '../kit/dashboard.ts';
import { type Machine, machineToken, startOnMachine } from '../kit/machine.ts';
import { saveSome, winterConfig } from '../kit/saved-runs.ts';

let machine: Machine;
let runs: string;
let gridReport: string;
let ids: readonly string[];
beforeAll(async () => {
  machine = await startOnMachine();
  ({ runs, gridReport } = await saveSome(machine.folder));
  ids = runIds(runs);
});
afterAll(() => machine.close());

const own = { authorization: `Bearer ${machineToken}` };
const list = async (): Promise<LibraryView> =>
  JSON.parse((await ask(machine.server, '/api/runs', own)).body) as LibraryView;
const want = (wanted: unknown, headers: Record<string, string> = own): Promise<Answered> =>
  ask(machine.server, '/api/report', { ...json, ...headers }, JSON.stringify(wanted));
const addressOf = ({ body }: Answered): string => (JSON.parse(body) as { readonly address: string }).address;
/** As a browser opens it: without a token. */
const opened = async (wanted: unknown): Promise<Answered> => ask(machine.server, addressOf(await want(wanted)), {});

test('runs and grids are listed, newest first, with the figures that were saved', async () => {
  const view = await list();
  expect(view).toMatchObject({ folder: runs, notes: [] });
  expect(view.runs.map(({ id }) => id)).toEqual(ids);
  const { metrics, from, to, fillCount } = readRun(join(runs, ids[0] as string)).summary;
  expect(view.runs[0]).toMatchObject({
    ...{
      file: winterConfig,
      set: ['strategies.0.params.fast=8'],
      strategies: ['sma-cross'],
      symbols: ['ETHUSDT'],
      from,
      to,
    },
    ...{ return: metrics.return, maxDrawdown: metrics.maxDrawdown, sharpe: metrics.sharpe, fills: fillCount },
  });
  expect(view.grids).toMatchObject([
    { file: winterConfig, parameterSets: 4, missing: 0, axes: ['fast 8 to 12 (2)', 'slow 40 to 48 (2)'] },
  ]);
  expect(view.grids[0]?.best?.values).toMatch(/^fast (8|12), slow (40|48)$/);
});

test('a report is made from what is saved, and is the one that the commands write', async () => {
  const [grid] = (await list()).grids;
  const folders = ids.map((id) => join(runs, id));
  expect((await opened({ run: ids[1] })).body).toBe(await reportOfKept(join(runs, ids[1] as string)));
  expect((await opened({ grid: grid?.id })).body).toBe(readFileSync(gridReport, 'utf8'));
  expect((await opened({ compare: ids })).body).toBe(comparedText(folders));
});

test('a report is nobody’s page: it runs in a sandbox, without our origin, connections or frames', async () => {
  const { status, headers } = await opened({ run: ids[0] });
  expect(status).toBe(200);
  const policy = String(headers['content-security-policy']);
  expect(policy).toMatch(/^sandbox allow-scripts allow-downloads;/);
  expect(policy).not.toContain('allow-same-origin');
  expect(policy).toContain("connect-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(headers['x-frame-options']).toBe('DENY');
});

test('without the token nothing is listed or made, and no report is found by a guess', async () => {
  const wanted = { run: ids[0] };
  expect((await ask(machine.server, '/api/runs', {})).status).toBe(403);
  for (const headers of [{}, { ...own, origin: 'https://evil.example' }, { ...own, host: 'evil.example' }])
    expect((await want(wanted, headers)).status).toBe(403);
  const address = addressOf(await want(wanted));
  expect((await ask(machine.server, address, { host: 'evil.example' })).status).toBe(403);
  expect((await ask(machine.server, address, { origin: 'https://evil.example' })).status).toBe(403);
  expect((await ask(machine.server, `${address}?x`, {})).status).toBe(403);
  expect((await ask(machine.server, address, {}, '{}')).status).toBe(403);
  expect((await ask(machine.server, `/report/${'x'.repeat(32)}`, {})).status).toBe(404);
  expect((await ask(machine.server, '/report/..%2fapi%2fruns', {})).status).toBe(403);
});

test('only the last eight reports are kept', async () => {
  const [grid] = (await list()).grids;
  const addresses: string[] = [];
  for (let count = 0; count < 9; count++) addresses.push(addressOf(await want({ grid: grid?.id })));
  const statuses = await Promise.all(addresses.map(async (address) => (await ask(machine.server, address, {})).status));
  expect(statuses).toEqual([404, ...Array.from({ length: 8 }, () => 200)]);
});

test('no name leads out of the folder of runs', async () => {
  const outside = join(machine.folder, 'outside');
  cpSync(join(runs, ids[0] as string), outside, { recursive: true });
  symlinkSync(outside, join(runs, 'linked'));
  expect((await list()).runs.map(({ id }) => id)).toEqual(ids);
  const names = [
    '..',
    '.',
    '../outside',
    outside,
    'linked',
    'grids',
    'tries.jsonl',
    'last',
    '',
    `${ids[0]}/../${ids[0]}`,
    '%2e%2e',
  ];
  for (const name of names) {
    for (const wanted of [{ run: name }, { grid: name }, { compare: [ids[0], name] }]) {
      const { status, body } = await want(wanted);
      expect(status, JSON.stringify(wanted)).toBe(400);
      expect(JSON.parse(body)).toMatchObject({ ok: false });
    }
  }
  for (const wanted of [{}, { run: ids[0], grid: 'x' }, { compare: [ids[0]] }, { file: '/etc/passwd' }, [], 7])
    expect((await want(wanted)).status, JSON.stringify(wanted)).toBe(400);
  rmSync(join(runs, 'linked'));
});

test('what is damaged or cannot be described is reported beside the others', async () => {
  const damaged = join(runs, '20200101-000000000-0000');
  mkdirSync(damaged);
  writeFileSync(join(damaged, 'result.json'), '{');
  const fills = join(runs, ids[0] as string, 'fills.csv');
  const text = readFileSync(fills, 'utf8');
  writeFileSync(fills, `${text}\n`);
  const head = readdirSync(join(runs, 'grids')).find((name) => name.endsWith('.json')) as string;
  renameSync(join(runs, 'grids', head), join(machine.folder, head));
  const view = await list();
  expect(view.runs.map(({ id }) => id)).toEqual(ids);
  expect(view.grids).toEqual([]);
  expect(view.notes).toEqual([
    expect.stringContaining('20200101-000000000-0000/result.json cannot be read'),
    '1 grid without a description: run the same command again, which takes no time',
  ]);
  expect(JSON.parse((await want({ run: ids[0] })).body)).toMatchObject({
    ok: false,
    message: expect.stringContaining('was changed since this run'),
  });
  writeFileSync(fills, text);
  renameSync(join(machine.folder, head), join(runs, 'grids', head));
});
