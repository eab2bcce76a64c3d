/** Strategies that never come back, or end the program: the user is told which, and Ctrl-C works. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { ScaledClock } from '../../src/clock/clock.ts';
import { backtestYaml, desk, klineLines, launcher } from '../kit/command.ts';
import { killLeftovers, startProgram } from '../kit/program.ts';
import { until } from '../kit/until.ts';

const at = desk();
afterEach(killLeftovers);
afterAll(() => at.remove());
const surroundings = { cwd: at.dir, env: { PATH: process.env['PATH'] ?? '', HOME: at.dir } };

/** A strategy that does this at each kline, and this when it is loaded. */
const strategy = (decide: string, top = ''): string => `import { defineStrategy, flat, integer } from 'sluice';
${top}
export default defineStrategy({
  name: 'mine', about: 'Misbehaves', params: { n: integer(9, { min: 1, max: 9 }, 'which') }, indicators: () => ({}),
  decide(_, { params }) {
    ${decide}
    return flat('nothing');
  },
});
`;
const configuration = backtestYaml.replace('use: sma-cross', 'use: ./mine.ts').replace(/ {4}params:.*\n/, '');

function write(decide: string, top = ''): void {
  at.write('mine.ts', strategy(decide, top));
  at.write('run.yaml', configuration);
  at.write('klines.csv', `${klineLines(50).join('\n')}\n`);
}
const kept = ['backtest', '--config', 'run.yaml', '--runs'];
const backtest = ['backtest', '--config', 'run.yaml', '--no-save'];

describe('a strategy that never comes back', () => {
  test.for([
    { name: 'check', command: ['check', './mine.ts'], signal: 'SIGINT' },
    { name: 'backtest', command: backtest, signal: 'SIGTERM' },
  ] as const)('is named, and one signal ends it ($name)', async ({ command, signal }) => {
    write('for (;;);');
    const program = startProgram(command, surroundings);
    await program.line(/^sluice: a strategy has been busy for 5 s, \/.*mine\.ts, line 6: Ctrl-C ends it$/);
    expect(await program.end(signal)).toEqual({ code: null, signal });
  });

  test('but only takes long is stopped in order by SIGTERM in a backtest, which is no success', async () => {
    // 30 microseconds for each of 100,000 klines: three seconds in all, and a tenth of one between two moments at which signals are
    // received. While they are read on a busy machine none are, so it says that it is at work only later.
    write(
      'for (let at = 0; at < 30_000; at++); if (++seen === 10_000) process.stderr.write("at work\\n");',
      'let seen = 0;',
    );
    at.write('klines.csv', `${klineLines(100_000).join('\n')}\n`);
    const program = startProgram(backtest, surroundings);
    await program.line(/at work/);
    expect(await program.end('SIGTERM')).toEqual({ code: 143, signal: null });
    expect(program.lines.join('\n')).toContain('note: stopped at 2020-');
  });

  test('but only takes long is stopped in order by one signal in a check', async () => {
    // A tenth of a second a run of a check, of which there are hundreds.
    write(
      'if (params.n === 9) for (let at = 0; at < 40_000; at++); if (!said) process.stderr.write("at work\\n"); said = true;',
      'let said = false;',
    );
    const program = startProgram(['check', './mine.ts'], surroundings);
    await program.line(/at work/);
    expect(await program.end('SIGINT')).toEqual({ code: 130, signal: null });
    expect(program.lines.at(-1)).toBe('sluice: stopped before the check was complete');
  });

  test('is given up by a grid that is to stop, which says that nothing is kept', async () => {
    write('process.stderr.write("in the loop\\n"); for (;;);');
    const program = startProgram(['backtest', '--config', 'run.yaml', '--grid', 'n=1..3'], surroundings);
    await program.line(/in the loop/);
    expect(await program.end('SIGINT')).toEqual({ code: 130, signal: null });
    expect(program.lines.join('\n')).toMatch(
      /^note: abandoned because still running 5 s after the stop: n [123](; n [123])* \(a strategy that is slow there, or never returns\)$/m,
    );
    expect(program.lines).toContain(
      'stopped before the first of 3 parameter sets was complete: nothing was saved. Run the same command to start again',
    );
  });

  /** A daemon that hangs while it is loaded. */
  function writeDaemon(): void {
    write('', 'process.stderr.write("in the loop\\n"); for (;;);');
    at.write(
      'paper.yaml',
      `exchange: { restUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1/' }
cash: "1000"
strategies: [{ id: a, use: ./mine.ts, symbol: XBTUSD, interval: 1min, allocation: "1000" }]
risk: { maxOrderValue: "1000", maxPosition: "1000" }
`,
    );
  }

  /** With its launcher. */
  async function launched(...signals: readonly NodeJS.Signals[]) {
    writeDaemon();
    const child = spawn(process.execPath, [launcher, 'paper', '--config', 'paper.yaml', '--state', 'var/p'], {
      ...surroundings,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    const ended = new Promise<number | null>((resolve) => {
      child.once('close', resolve);
    });
    child.stderr.on('data', (data: Buffer) => {
      said += data.toString();
    });
    await until('the loop', () => said.includes('in the loop') || child.exitCode !== null);
    for (const signal of signals) {
      child.kill(signal);
      // Two that come at once are one to the system, and to the launcher.
      await new ScaledClock().sleep(400);
    }
    return { code: await ended, said };
  }

  test('is named by a daemon that has no launcher, and ends with it at the next signal', async () => {
    writeDaemon();
    const program = startProgram(['paper', '--config', 'paper.yaml', '--state', 'var/q'], surroundings);
    await program.line(/^sluice: a strategy has been busy for 10 s, \/.*mine\.ts, line 2: Ctrl-C ends it$/);
    expect(await program.end('SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' });
  });

  test('ends with its daemon at the second Ctrl-C', async () => {
    const { code, said } = await launched('SIGINT', 'SIGINT');
    expect(said).toMatch(/\nsluice: it did not answer, and was ended at once\n$/);
    expect(code).toBe(130);
  });

  test('is not what a daemon is that needs its time to stop: Ctrl-C that comes twice at once, as from npm, is one', async () => {
    const child = spawn(process.execPath, [launcher, 'demo', '--state', 'var/d', '--port', '0'], {
      ...surroundings,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => {
        said += data.toString();
      });
    const ended = new Promise<number | null>((resolve) => {
      child.once('close', resolve);
    });
    await until('the demo', () => /Z ready/.test(said) || child.exitCode !== null);
    child.kill('SIGINT');
    await new ScaledClock().sleep(20);
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(said).toContain('the ledgers agree');
    expect(said).not.toContain('ended at once\n');
  });

  test('ends with its daemon some seconds after a single SIGTERM', async () => {
    const { code, said } = await launched('SIGTERM');
    expect(said).toMatch(/\nsluice: it did not answer, and was ended at once\n$/);
    expect(code).toBe(130);
  });
});

describe('a strategy that ends the program', () => {
  test.for([
    ['check', ['check', './mine.ts']],
    ['backtest', backtest],
  ] as const)('is named, and it is no success (%s)', async ([, command]) => {
    write('process.exit(0);');
    const { code, out, err } = await at.sluice(command);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(
      /sluice: a strategy called process\.exit\(\) in \/.*mine\.ts, line 6; the command did not finish\. .*\n$/,
    );
  });

  test('is one that throws, to a grid', async () => {
    write('if (params.n > 2) process.exit(0);');
    const { code, out, err } = await at.sluice([...backtest, '--grid', 'n=1..4']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('4 parameter sets over 50 klines, 2 refused');
  });

  test('is named where it never finishes loading', async () => {
    write('', 'await new Promise(() => {});');
    const { code, err } = await at.sluice(backtest);
    expect(code).toBe(1);
    expect(err).toMatch(
      /^sluice: strategy file \/.*mine\.ts never finished loading: a top-level await never resolves.*\n$/,
    );
  });
});

describe('what a strategy does beside deciding', () => {
  test('is logged to stderr, so that programs can read the result, by a grid, too', async () => {
    write("console.log('at', params.n); console.info('i'); console.table([1]);", "console.log('loading');");
    const { code, out, err } = await at.sluice([...backtest, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ klines: 50 });
    expect(err).toContain('loading\nat 9\ni\n┌');
    const grid = await at.sluice([...backtest, '--grid', 'n=1..2', '--json']);
    expect(JSON.parse(grid.out)).toHaveProperty('parameterSets');
    expect(grid.err).toContain('at 2\n');
  });

  test('is told in one line where it throws, and nothing is printed or kept', async () => {
    const runs = join(at.dir, 'thrown');
    for (const [decide, what] of [
      ["void Promise.reject(new Error('lost'));", /for: Error: lost \(mine\.ts, line 6\)\n$/],
      ["void Promise.reject('lost');", /a value that is not an Error; throw new Error.*\n$/],
      ["setTimeout(() => { throw new Error('lost'); }, 0);", /for: Error: lost \(mine\.ts, line 6\)\n$/],
      ["setImmediate(() => { throw new Error('lost'); });", /for: Error: lost \(mine\.ts, line 6\)\n$/],
    ] as const) {
      write(decide);
      for (const command of [
        [...kept, runs],
        ['check', './mine.ts'],
      ]) {
        const { code, out, err } = await at.sluice(command);
        expect({ code, out }).toEqual({ code: 1, out: '' });
        expect(err).toMatch(
          /^sluice: a strategy threw in a timer or a promise of its own, which nothing waits for: .*\n$/,
        );
        expect(err).toMatch(what);
      }
    }
    expect(existsSync(runs)).toBe(false);
  });

  test('is told as of a strategy, or of Sluice, where the error of a call of Node has no line', async () => {
    write("void readFile('/nope');", "import { readFile } from 'node:fs/promises';");
    for (const command of [backtest, [...backtest, '--grid', 'n=2'], ['check', './mine.ts']]) {
      const { code, out, err } = await at.sluice(command);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(
        /^sluice: a strategy, or Sluice itself, threw in a timer or a promise of its own, .*: Error: ENOENT: .*'\/nope'; it has no line: look for .*\n$/,
      );
    }
  });

  test.for([
    ['a promise', 'if (params.n === 2) void Promise.reject(new Error("lost"));'],
    ['a timer', 'if (params.n === 2) setTimeout(() => { throw new Error("lost"); }, 0);'],
    ['an immediate', 'if (params.n === 2) setImmediate(() => { throw new Error("lost"); });'],
  ] as const)(
    'is no success of a grid where it throws in %s, and none of its parameter sets is saved',
    async ([, decide]) => {
      // The program comes to what its threads send only now and then, as on a busy machine.
      const slow = 'setInterval(() => { for (const end = Date.now() + 50; Date.now() < end;); }, 1)';
      write(decide, `import { isMainThread } from 'node:worker_threads'; if (isMainThread) ${slow};`);
      const runs = join(at.dir, 'strays');
      const { code, out, err } = await at.sluice([...kept, runs, '--grid', 'n=1..4', '--workers', '1']);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(
        /^sluice: a strategy threw in a timer or a promise of its own, .* lost \(mine\.ts, line 6\)\n$/,
      );
      expect(readdirSync(join(runs, 'grids'))).toEqual([]);
      // Also by the very last set.
      const one = await at.sluice([...kept, runs, '--grid', 'n=2']);
      expect({ code: one.code, out: one.out }).toEqual({ code: 1, out: '' });
    },
  );

  test('names the parameter set of a grid where it ends the thread, and the others are saved', async () => {
    write('if (params.n === 3) process.reallyExit(4);');
    const runs = join(at.dir, 'ends');
    const grid = [...kept, runs, '--grid', 'n=1..4', '--workers', '1'];
    const { code, out, err } = await at.sluice(grid);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(
      /^sluice: the parameter set n 3 ended its thread \(worker exited with code: 4\): .*; complete parameter sets are not run again\n$/,
    );
    const others = await at.sluice([...kept, runs, '--grid', 'n=1,2,4', '--workers', '1']);
    expect(others.code).toBe(0);
    expect(others.err).toMatch(/^2 of 3 parameter sets are complete already\n/);
  });

  test('is told where it loads in no thread of a grid', async () => {
    write('', "import { isMainThread } from 'node:worker_threads';\nif (!isMainThread) throw new Error('nope');");
    const { code, out, err } = await at.sluice([...backtest, '--grid', 'n=1..4', '--workers', '2']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(
      /^sluice: strategy trend: strategy file \/.*mine\.ts cannot be loaded: Error: nope \(mine\.ts, line 3\)\n$/,
    );
    expect(err).not.toContain('bug');
  });

  test('keeps no program that is done', async () => {
    write('', 'setInterval(() => {}, 1000);');
    const { code, out } = await at.sluice(backtest);
    expect(code).toBe(0);
    expect(out).toContain('Final equity');
  });
});
