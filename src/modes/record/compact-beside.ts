/** Compaction in a process of its own, so that the one that records or trades does not stand still meanwhile. */
import { spawn } from 'node:child_process';

export interface Compactions {
  /** Compacts what waits, when those asked for before have ended: two at once would be in each other's way. */
  ask(): void;
  /** When all that were asked for have ended. */
  done(): Promise<void>;
}

export function compactions(dir: string): Compactions {
  let running = Promise.resolve();
  return {
    ask() {
      running = running.then(() => compactBeside(dir));
    },
    done: () => running,
  };
}

/** Runs `sluice data compact`; resolves when it has ended, however: what it could not do waits for the next time. */
function compactBeside(dir: string): Promise<void> {
  return new Promise((settle) => {
    const program = process.argv[1] ?? '';
    const child = spawn(process.execPath, [program, 'data', 'compact', '--data', dir], { stdio: 'ignore' });
    child.once('error', () => settle());
    child.once('close', () => settle());
  });
}
