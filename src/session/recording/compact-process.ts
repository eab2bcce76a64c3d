/** Compaction in a process of its own, so that the one that records or trades does not stand still meanwhile. */
import { spawn } from 'node:child_process';

export interface Compactions {
  /** Compacts what waits, when those asked for before have ended: two at once would be in each other's way. */
  ask(): void;
  /** When all that were asked for have ended. */
  done(): Promise<void>;
}

/** `tell` gets the lines of one that could not store everything. */
export function compactions(
  dir: string,
  tell: (line: string) => void,
  program: string = process.argv[1] ?? '',
): Compactions {
  let running = Promise.resolve();
  return {
    ask() {
      running = running.then(() => compactBeside(dir, tell, program));
    },
    done: () => running,
  };
}

/** What a compaction says at most, characters: a line for each file that waits. */
const mostText = 4_000;

/** Runs `sluice data compact`; resolves when it has ended, however: what it could not do waits for the next time. */
function compactBeside(dir: string, tell: (line: string) => void, program: string): Promise<void> {
  return new Promise((settle) => {
    const stdio = ['ignore', 'ignore', 'pipe'] as const;
    const child = spawn(process.execPath, [program, 'data', 'compact', '--data', dir], { stdio: [...stdio] });
    let text = '';
    child.stderr?.setEncoding('utf8').on('data', (more: string) => {
      text = (text + more).slice(-mostText);
    });
    child.once('error', (error) => {
      tell(String(error));
      settle();
    });
    child.once('close', (code) => {
      // One that a signal ended was not wanted any more.
      if (code !== null && code > 0 && code < 128) for (const line of text.trim().split('\n')) tell(line);
      settle();
    });
  });
}
