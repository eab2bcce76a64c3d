/** Compaction in a process of its own, so that the one that records or trades does not stand still meanwhile. */
import { spawn } from 'node:child_process';

/** Runs `sluice data compact`; resolves when it has ended, however: what it could not do waits for the next time. */
export function compactBeside(dir: string): Promise<void> {
  return new Promise((settle) => {
    const program = process.argv[1] ?? '';
    const child = spawn(process.execPath, [program, 'data', 'compact', '--data', dir], { stdio: 'ignore' });
    child.once('error', () => settle());
    child.once('close', () => settle());
  });
}
