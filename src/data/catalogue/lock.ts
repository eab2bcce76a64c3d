/** Lock files: one writer at a time, by the id of its process, so that one that was killed does not lock for ever. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Refusal } from '../../domain/refusal.ts';
import { isFull, unwritten } from '../folder.ts';

/** Takes the lock; returns what gives it back. A `Refusal` while a living process has it: `what` is being written to. */
export function takeLock(path: string, what: string): () => void {
  const own = String(process.pid);
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(path, own, { flag: 'wx' });
      return () => rmSync(path, { force: true });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EEXIST') {
        // On a full disk an empty one is there by now.
        if (isFull(code)) rmSync(path, { force: true });
        throw new Refusal(unwritten(path, error, 'another place for the data (--data)'), 1);
      }
      const holder = holderOf(path);
      if (isAlive(holder)) throw new Refusal(`${what} is being written to by process ${holder}: wait for it to end`, 3);
      rmSync(path, { force: true });
    }
  }
  throw new Refusal(`${what} cannot be locked: is another import running?`, 3);
}

/** Whether a living process has it. */
export const isHeld = (path: string): boolean => isAlive(holderOf(path));

/** NaN when nobody holds it, or nobody that can be told. */
function holderOf(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8'));
  } catch {
    return Number.NaN;
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
