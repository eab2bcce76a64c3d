/** The folders of recorded frames in a catalogue: being written, waiting for compaction, and stored. */
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isHeld, takeLock } from '../catalogue/lock.ts';
import { makeFolder } from '../folder.ts';

export interface FrameFile {
  readonly path: string;
  readonly bytes: number;
  /** `open`: being written, or left by a process that was killed. `done`: its rows are in the catalogue. */
  readonly state: 'open' | 'waiting' | 'done';
}

export const framesIn = (dir: string): string => join(dir, 'frames');
const lockIn = (dir: string): string => join(framesIn(dir), 'lock');

const endings = { open: '.frames.open', waiting: '.frames', done: '.frames.done' } as const;

/** Every file of frames of a catalogue, the oldest first. */
export function frameFiles(dir: string): readonly FrameFile[] {
  const folder = framesIn(dir);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .toSorted()
    .flatMap((name): FrameFile[] => {
      const state = (['open', 'waiting', 'done'] as const).find((one) => name.endsWith(endings[one]));
      if (state === undefined) return [];
      const path = join(folder, name);
      return [{ path, state, bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 }];
    });
}

/** The path of a new file, named by its first moment and a number, so that names sort as the files came. */
export const newFramePath = (dir: string, at: number, number: number): string =>
  join(
    framesIn(dir),
    `${new Date(at).toISOString().replaceAll(':', '-')}-${String(number).padStart(6, '0')}${endings.open}`,
  );

/** Nothing is written to it any more. */
export function closeFrames(path: string): string {
  const closed = path.replace(/\.open$/, '');
  renameSync(path, closed);
  return closed;
}

export const markDone = (path: string): void => renameSync(path, path.replace(/\.frames$/, endings.done));

/** One process records into a catalogue; a `Refusal` names it. */
export function lockFrames(dir: string): () => void {
  makeFolder(framesIn(dir));
  return takeLock(lockIn(dir), framesIn(dir));
}

/** One process puts frames into the catalogue; a `Refusal` names it. */
export function lockCompaction(dir: string): () => void {
  makeFolder(framesIn(dir));
  return takeLock(join(framesIn(dir), 'compact'), `${framesIn(dir)} (compaction)`);
}

/** Files that are not written to: those that wait, and those that an ended recorder left open. */
export function compactable(dir: string): readonly string[] {
  const isRecording = isHeld(lockIn(dir));
  return frameFiles(dir)
    .filter(({ state }) => state === 'waiting' || (state === 'open' && !isRecording))
    .map(({ path, state }) => (state === 'open' ? closeFrames(path) : path));
}

/** Removes files that are in the catalogue, the oldest first, until what is left takes at most `maxBytes`; what is left, bytes. */
export function prune(dir: string, maxBytes: number): number {
  const files = frameFiles(dir);
  let left = files.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { path, bytes, state } of files) {
    if (left <= maxBytes) break;
    if (state !== 'done') continue;
    rmSync(path, { force: true });
    left -= bytes;
  }
  return left;
}
