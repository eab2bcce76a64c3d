/** Sluice as a child process: started, watched line by line, killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { until } from './until.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Program {
  readonly pid: number;
  /** Everything said so far, stdout and stderr, line by line. */
  readonly lines: readonly string[];
  /** Waits for a line that matches, among those said already too. */
  line(pattern: RegExp, withinMs?: number): Promise<string>;
  readonly exited: Promise<Exit>;
  /** True until the process has ended. */
  readonly runs: boolean;
  /** Reads no more of what it says, as a terminal that is closed. */
  leave(): void;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Exit>;
}

export interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** In a session of its own, without the terminal of the tests. */
  readonly ownSession?: boolean;
}

const running = new Set<ChildProcess>();

/** Starts `sluice ARGS`. */
export function startProgram(args: readonly string[], { cwd, env, ownSession = false }: Surroundings): Program {
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const child = spawn(process.execPath, [main, ...args], { cwd, env, stdio: [...stdio], detached: ownSession });
  running.add(child);
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  let ended = false;
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => {
      ended = true;
      running.delete(child);
      resolve({ code, signal });
    });
  });
  return {
    pid: child.pid ?? 0,
    lines,
    async line(pattern, withinMs) {
      const find = (): string | undefined => lines.find((line) => pattern.test(line));
      let found: string | undefined;
      try {
        await until(
          `the line ${pattern}`,
          () => {
            found = find();
            return found !== undefined || ended;
          },
          withinMs,
        );
      } catch {
        // What it said instead is worth more than the time that passed.
      }
      // What a program said last may be read just after its end is known.
      found ??= find();
      if (found !== undefined) return found;
      const said = lines.slice(-30).join('\n');
      throw new Error(`sluice ${args.join(' ')} ${ended ? 'ended' : 'went on'} without ${pattern}; it said:\n${said}`);
    },
    exited,
    get runs() {
      return !ended;
    },
    leave() {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    end(signal) {
      child.kill(signal);
      return exited;
    },
  };
}

/** Kills what a failed test left running. */
export function killLeftovers(): void {
  for (const child of running) child.kill('SIGKILL');
}

export interface Ran extends Exit {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end. */
export function sluice(args: readonly string[], { cwd, env }: Surroundings): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said.stderr += text;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, ...said }));
  });
}
