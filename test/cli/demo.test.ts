/** `sluice demo`: two processes, of which neither outlives the other for long. */
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { realMs } from '../../src/clock/clock.ts';
import { compareLedgers, comparisonText } from '../../src/commands/demo/compare-ledgers.ts';
import { demoUser } from '../../src/commands/simulator/simulator.ts';
import { journalFile } from '../../src/journal/open.ts';
import { viewIn } from '../kit/daemon-view.ts';
import { killLeftovers, type Program, type Surroundings, sluice, startProgram } from '../kit/program.ts';
import { pass, until } from '../kit/until.ts';

const speed = 60;

let dir: string;
let state: string;
let around: Surroundings;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-demo-'));
  state = join(dir, 'demo');
  const NODE_COMPILE_CACHE = join(tmpdir(), 'sluice-compile-cache');
  around = { cwd: dir, env: { PATH: process.env['PATH'] ?? '', HOME: dir, XDG_STATE_HOME: dir, NODE_COMPILE_CACHE } };
});
afterEach(() => {
  killLeftovers();
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
});

async function startDemo(
  ...more: readonly string[]
): Promise<{ readonly demo: Program; readonly exchangePid: number }> {
  const demo = startProgram(['demo', '--state', state, ...more], around);
  const said = await demo.line(/the exchange runs as process \d+/);
  await demo.line(/Z ready: /);
  return { demo, exchangePid: Number(/\d+/.exec(said)?.[0]) };
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The modes of a directory and all that lies in it. */
const modes = (top: string): ReadonlySet<string> =>
  new Set(
    ['.', ...readdirSync(top, { recursive: true, encoding: 'utf8' })].map((name) => {
      const found = statSync(join(top, name));
      return `0${(found.mode & 0o777).toString(8)}${found.isDirectory() ? ' (directory)' : ''}`;
    }),
  );

const show = async (command: string): Promise<string> =>
  (await sluice([command, '--json', '--state', state], around)).stdout;

const marketTime = async (): Promise<number> => (await viewIn(state)).marketTime;

test('the demo fills an order soon; killed with -9 it takes its exchange along, and goes on where the market stood', async () => {
  const first = await startDemo();
  await first.demo.line(/Z fill /);
  const timeBefore = await marketTime();
  const seenAt = realMs();
  await first.demo.end('SIGKILL');
  await until('the end of the exchange', () => !runs(first.exchangePid));
  const aliveBeforeMs = realMs() - seenAt;
  const fillsBefore = await show('fills');
  expect(modes(state)).toEqual(new Set(['0600', '0700 (directory)']));
  await pass(2_000);

  const againAt = realMs();
  const second = await startDemo();
  const passed = (await marketTime()) - timeBefore;
  // The market moved while an exchange was there to move it, and not in between.
  expect(passed).toBeGreaterThan(0);
  expect(passed).toBeLessThan((aliveBeforeMs + realMs() - againAt) * speed);
  expect((await show('fills')).startsWith(fillsBefore)).toBe(true);
  const { code } = await second.demo.end('SIGINT');
  expect(code).toBe(130);
  expect(runs(second.exchangePid)).toBe(false);
  expect(second.demo.lines.join('\n')).toMatch(
    /the ledgers agree: [\d,]+ orders?, [1-9][\d,]* fills? and every balance/,
  );
  const again = `npx sluice demo --state ${state}`;
  expect(second.demo.lines).toContain(`${again} continues from here; ${again} --fresh starts from the beginning`);
});

test('on the worst of days the books agree in the end, and a row that is taken away is missed', async () => {
  const { demo } = await startDemo('--faults', 'worst-day');
  await demo.line(/Z fill /);
  await demo.line(/Z unknown /);
  await demo.end('SIGINT');
  expect(demo.lines.join('\n')).toMatch(/the ledgers agree: [\d,]+ orders?, [1-9][\d,]* fills? and every balance/);

  // The exchange by itself, and a journal from which somebody took a row.
  const exchange = startProgram(
    ['simulator', '--json', '--port', '0', '--control', '0', '--persist', join(state, 'exchange')],
    around,
  );
  const { controlUrl } = JSON.parse(await exchange.line(/controlUrl/)) as { readonly controlUrl: string };
  expect((await compareLedgers(state, controlUrl, demoUser.uid)).differences).toEqual([]);
  const db = new Database(join(state, journalFile));
  db.exec('DELETE FROM fills WHERE rowid = (SELECT min(rowid) FROM fills)');
  db.close();
  const books = await compareLedgers(state, controlUrl, demoUser.uid);
  await exchange.end('SIGINT');
  expect(books.differences[0]).toMatch(/^the journal lacks fill \d+ of \w+: (BUY|SELL) \S+ XBTUSD at /);
  expect(books.differences.length).toBeGreaterThan(1);
  expect(comparisonText(books)).toMatch(/^the ledgers differ:\n +the journal lacks fill/);
});

test('the daemon ends when its exchange is gone, and says how to go on', async () => {
  const { demo, exchangePid } = await startDemo();
  process.kill(exchangePid, 'SIGKILL');
  expect((await demo.exited).code).toBe(1);
  expect(demo.lines.join('\n')).toMatch(/the built-in exchange ended; start again to continue/);
});

test('the demo trades at once where the user has no place of their own that can be written', async () => {
  const notADirectory = join(dir, 'file');
  writeFileSync(notADirectory, '');
  around = { ...around, env: { ...around.env, HOME: notADirectory, XDG_STATE_HOME: notADirectory } };
  const { demo } = await startDemo();
  expect(demo.lines.join('\n')).not.toMatch(/for a minute|cannot be written/);
  expect(existsSync(join(state, 'sluice', 'limits.db'))).toBe(true);
  await demo.end('SIGINT');
});

test('a fresh start on a port that is taken costs nothing of what was there', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  // What makes it a demo's.
  mkdirSync(join(state, 'exchange'), { recursive: true, mode: 0o700 });
  writeFileSync(join(state, 'exchange', 'exchange.db'), '');
  const refused = await sluice(['demo', '--state', state, '--fresh', '--port', String(port)], around);
  taken.close();
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`port ${port} on 127.0.0.1 is taken; `)]);
  expect(existsSync(join(state, 'exchange', 'exchange.db'))).toBe(true);
});
