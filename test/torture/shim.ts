/** The preloaded library that fails syncs and moves the wall clock of a daemon: compiled once, where there is a compiler. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Arena } from './arena.ts';

const source = fileURLToPath(new URL('./shim.c', import.meta.url));

let compiled: string | undefined;

/** The path of the library; undefined where it cannot be made: another system than Linux, or no compiler. */
export function shimLibrary(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const name = `sluice-shim-${createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 12)}.so`;
  const file = join(tmpdir(), name);
  if (compiled !== undefined || existsSync(file)) return file;
  // Under a name of its own first: others may be about to load it.
  const made = join(mkdtempSync(join(tmpdir(), 'sluice-shim-')), name);
  try {
    execFileSync('cc', ['-O2', '-shared', '-fPIC', '-o', made, source, '-ldl'], { stdio: 'ignore' });
    renameSync(made, file);
  } catch {
    return undefined;
  }
  compiled = file;
  return file;
}

export const whyNoShim = (): string | undefined =>
  shimLibrary() === undefined ? 'it needs Linux and a C compiler (cc) for the library that is preloaded' : undefined;

/** What the system is to say from now on. */
export interface Lies {
  /** Every fsync fails. */
  readonly failing?: boolean;
  /** The wall clock is off by this, ms. */
  readonly offsetMs?: number;
}

export interface Shim {
  readonly env: Readonly<Record<string, string>>;
  readonly lie: (lies: Lies) => void;
}

/** Of the arenas that are open. */
const shims = new WeakMap<Arena, Shim>();

/** Has every daemon of an arena that is started from now on lied to; the truth at first. */
export function lieIn(arena: Arena): Shim {
  const made = shims.get(arena) ?? shim();
  shims.set(arena, made);
  Object.assign(arena.env, made.env);
  return made;
}

/** The environment of a daemon that is lied to, and how to lie. */
function shim(): Shim {
  const dir = join(tmpdir(), 'sluice-shim-words');
  mkdirSync(dir, { recursive: true });
  const file = join(mkdtempSync(join(dir, 'x-')), 'lies');
  const lie = ({ failing = false, offsetMs = 0 }: Lies): void => {
    writeFileSync(`${file}.new`, `${failing ? 1 : 0} ${Math.round(offsetMs)}`);
    renameSync(`${file}.new`, file);
  };
  lie({});
  return { env: { LD_PRELOAD: shimLibrary() ?? '', SLUICE_TORTURE_SHIM: file }, lie };
}
