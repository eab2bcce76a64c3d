/** The package as somebody who installed it has it: JavaScript in `dist/`, beside nothing but its dependencies. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

const root = fileURLToPath(new URL('../..', import.meta.url));
const project = mkdtempSync(join(tmpdir(), 'sluice-package-'));
const installed = join(project, 'node_modules', 'sluice');
const packed = z.array(z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) })).length(1);
let files: readonly string[] = [];

const node = (...args: readonly string[]): string =>
  execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8' });

/** What npm does with the package, without a registry: the dependencies are those of the clone. */
function install(): void {
  execFileSync(process.execPath, [join(root, 'scripts', 'build.ts')]);
  const answer = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', project], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [pack] = packed.parse(JSON.parse(answer));
  files = (pack?.files ?? []).map(({ path }) => path);
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(project, pack?.filename ?? ''), '-C', installed, '--strip-components=1']);
  const own = z.object({ dependencies: z.record(z.string(), z.string()) });
  const { dependencies } = own.parse(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')));
  for (const name of Object.keys(dependencies)) {
    const link = join(project, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link);
  }
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
}

describe('the package', () => {
  beforeAll(install);
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  test('holds what runs and nothing that only tests need', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        'bin/sluice.js',
        'bin/sluice-withdraw.js',
        'dist/src/main.js',
        'dist/src/withdraw/main.js',
        'LICENSE',
        'README.md',
      ]),
    );
    expect(files.filter((file) => /\.test\.|builders?\.|tsconfig/.test(file))).toEqual([]);
  });

  test('holds the pages that its messages name', () => {
    const named = files
      .filter((file) => /^(bin|dist)\/.*\.js$/.test(file))
      .flatMap((file) => readFileSync(join(installed, file), 'utf8').match(/docs\/[\w/-]+\.md/g) ?? []);
    expect(named.length).toBeGreaterThan(5);
    expect(files).toEqual(expect.arrayContaining([...new Set(named)]));
  });

  test('holds each thread and process that it starts by its file', () => {
    const started = files
      .filter((file) => /^dist\/.*\.js$/.test(file))
      .flatMap((file) =>
        [...readFileSync(join(installed, file), 'utf8').matchAll(/moduleUrl\(\s*'([^']+)'/g)].map(([, path = '']) =>
          join(dirname(file), `${path}.js`),
        ),
      );
    expect(started.length).toBeGreaterThan(5);
    expect(files).toEqual(expect.arrayContaining(started));
  });

  test('asks for Node 24 and brings none: its binary is larger than everything else together', () => {
    const asked = z.object({
      engines: z.object({ node: z.string() }),
      optionalDependencies: z.record(z.string(), z.string()),
    });
    const { engines, optionalDependencies } = asked.parse(
      JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')),
    );
    expect(engines.node).toBe('>=24');
    expect(Object.keys(optionalDependencies)).toEqual(['@duckdb/node-api', '@duckdb/node-bindings']);
  });

  test('answers --help', () => {
    const help = node(join(installed, 'bin', 'sluice.js'), '--help');
    for (const command of ['demo', 'live', 'paper', 'backtest', 'simulator', 'fills', 'why', 'kill'])
      expect(help).toMatch(new RegExp(`^ +${command}\\b`, 'm'));
  });

  test('has the program for withdrawals beside it', () => {
    expect(node(join(installed, 'bin', 'sluice-withdraw.js'), '--help')).toMatch(/^ +apply\b[\s\S]*^ +list\b/m);
  });

  test('gives a strategy file what it imports', () => {
    writeFileSync(
      join(project, 'mine.js'),
      "import { defineStrategy, hold, sma } from 'sluice';\nimport { startSimulator } from 'sluice/simulator';\n" +
        'console.log([defineStrategy, hold, sma, startSimulator].map((one) => typeof one).join());',
    );
    expect(node('mine.js')).toBe('function,function,function,function\n');
  });

  test('gives the strategy of the tutorial its types', () => {
    const page = readFileSync(join(root, 'docs', 'tutorial', 'first-strategy.md'), 'utf8');
    const strategy = /^```ts file=\S+\n(.*?)^```$/ms.exec(page)?.[1] ?? '';
    writeFileSync(join(project, 'typed.ts'), strategy);
    writeFileSync(join(project, 'untyped.ts'), strategy.replace('kline.close', 'kline.closing'));
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const check = (file: string) => node(compiler, '--strict', '--noEmit', '--module', 'nodenext', file);
    check('typed.ts');
    expect(() => check('untyped.ts')).toThrow();
  });

  test("compiles in a project of tsc's own defaults, which writes declarations of what it exports", () => {
    const page = readFileSync(join(root, 'docs', 'tutorial', 'first-strategy.md'), 'utf8');
    const folder = join(project, 'defaults');
    mkdirSync(folder);
    writeFileSync(join(folder, 'tutorial.ts'), /^```ts file=\S+\n(.*?)^```$/ms.exec(page)?.[1] ?? '');
    writeFileSync(
      join(folder, 'every.ts'),
      `import { backtest, choice, decimal, defineStrategy, flag, flat, integer, on, quotes, sma } from 'sluice';
       import { SimClock, startSimulator } from 'sluice/simulator';
       import { decide, klines } from 'sluice/testing';
       const params = { a: integer(1, { min: 1, max: 2 }, ''), b: decimal(1, { min: 1, max: 2 }, ''), c: choice('x', ['x', 'y'], ''), d: flag(true, '') };
       export const deciding = defineStrategy({
         ...{ name: 'deciding', about: '', params },
         indicators: ({ a }) => ({ fast: sma('close', a), slow: on('60min', sma('close', 5)) }),
         decide: () => flat(''),
       });
       export const streaming = defineStrategy({ name: 'streaming', about: '', params: {}, signals: ({ klines }) => klines as never });
       export const { params: declared } = deciding;
       export const resting = quotes([], '');
       export const series = klines({ interval: '1min', from: 1 }).rise(3);
       export const said = decide(deciding, series, { params: { a: 1, c: 'y' } });
       export const { fills, equity, figures, summary } = await backtest({ strategy: deciding, data: series, cash: '1' });
       export const exchange = await startSimulator({ users: [], instruments: [], clock: new SimClock(1) });`,
    );
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    execFileSync(process.execPath, [compiler, '--init'], { cwd: folder, stdio: 'ignore' });
    expect(node(compiler, '-p', folder)).toBe('');
    expect(readFileSync(join(folder, 'every.d.ts'), 'utf8')).toContain('DecidingStrategy<');
  });

  test('gives tests an exchange: several side by side, on a clock and a seed of theirs, with its types', () => {
    const program = `
      import { SimClock, startSimulator, type LogEntry, type Simulator, type SimulatorOptions } from 'sluice/simulator';
      const at = Date.UTC(2020, 2, 12);
      const log: LogEntry[] = [];
      const options = (seed: number): SimulatorOptions => ({
        users: [{ uid: '1', key: 'key', secret: 'secret', balances: { USDT: '1000' } }],
        instruments: [{ symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5, minNotional: '5' }],
        markets: [{ kind: 'synthetic', symbol: 'BTCUSDT', price: '60000' }],
        clock: new SimClock(at),
        seed,
        faults: 'flaky-504',
        log: (entry) => log.push(entry),
      });
      const both: Simulator[] = await Promise.all([1, 1].map((seed) => startSimulator(options(seed))));
      const ask = async ({ restUrl }: Simulator) => (await fetch(restUrl + '/sapi/v1/depth?symbol=BTCUSDT')).text();
      const [first, second] = await Promise.all(both.map(ask));
      console.log(first === second, first !== undefined && first.length > 1_000, new Set(both.map(({ port }) => port)).size);
      await Promise.all(both.map((one) => one.close()));
      console.log(log.filter(({ kind }) => kind === 'request').length);
    `;
    writeFileSync(join(project, 'exchange.ts'), program);
    expect(node('exchange.ts')).toBe('true true 2\n2\n');
    const checks = ['--strict', '--noEmit', '--target', 'es2024', '--module', 'nodenext', '--types', 'node'];
    const roots = ['--typeRoots', join(root, 'node_modules', '@types')];
    node(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), ...checks, ...roots, 'exchange.ts');
    writeFileSync(
      join(project, 'wrong.ts'),
      "import { startSimulator } from 'sluice/simulator';\nvoid startSimulator({ user: [] });\n",
    );
    expect(() =>
      node(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), ...checks, ...roots, 'wrong.ts'),
    ).toThrow();
  });

  test('holds every file of the dashboard and the threads that nothing imports', () => {
    const program = (file: string): string => JSON.stringify(join(installed, 'dist', 'src', file));
    const found = node(
      '--input-type=module',
      '--eval',
      `const { loadAssets } = await import(${program('dashboard/assets.js')});
       await import(${program('journal/writer-hosts.js')});
       const { files, entry } = loadAssets();
       console.log(files.has(entry), files.has('/page/theme.css'), files.get(entry).body.includes('import type'));`,
    );
    expect(found).toBe('true true false\n');
    expect(files).toContain('dist/src/journal/writer-thread.js');
    expect(files).toContain('dist/src/process/busy-watch.js');
  });
});
