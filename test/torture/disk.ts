/** The state directory on a disk that fills up: nothing leaves that was not written down, and trading goes on when there is space. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Program } from '../kit/program.ts';
import { pass, until } from '../kit/until.ts';
import { type Arena, patienceMs, usualFaults } from './arena.ts';
import { booksOf } from './compare.ts';
import type { Done, Kind } from './kind.ts';

const kib = 1_024;
/** In the smallest a new journal does not fit at once; the largest is soon full as well. */
const smallestKib = 256;
const largestKib = 2_048;
const startKib = 128;
/** An order takes some 30 KiB of log, which begins anew only after 4 MiB: so much lasts until the next disk is filled. */
const enoughKib = 1_024;
/** Real ms in which a daemon that trades has written as much as it may, unless its log has just begun anew. */
const limitedMs = 15_000;
/** No page of a database fits any more behind its first. */
const smallestLimit = 4 * kib;

function run(program: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

let mountable: boolean | undefined;

/** Whether a small tmpfs can be mounted here. */
function canMount(): boolean {
  if (mountable !== undefined) return mountable;
  const dir = mkdtempSync(join(tmpdir(), 'sluice-mount-'));
  mountable = run('mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', dir);
  if (mountable) run('umount', dir);
  rmSync(dir, { recursive: true, force: true });
  return mountable;
}

const canLimit = (): boolean => run('prlimit', '--version');

const sizes = new WeakMap<object, number>();

/** Gives the disk so much more room. */
function grow(arena: Arena, byKib: number): void {
  const size = (sizes.get(arena.env) ?? smallestKib) + byKib;
  sizes.set(arena.env, size);
  run('mount', '-o', `remount,size=${size}k`, arena.rig.state);
}

/** What was written meanwhile stays: a disk that is too small for it never has space again. */
function makeRoom(arena: Arena): void {
  const { bavail, bsize } = statfsSync(arena.rig.state);
  if (canMount() && bavail * bsize < enoughKib * kib) grow(arena, enoughKib);
}

/** Takes every block that is left. */
export function fillUp(dir: string): string {
  const file = join(dir, 'ballast');
  const { bavail, bsize } = statfsSync(dir);
  try {
    writeFileSync(file, Buffer.alloc(bavail * bsize + bsize));
  } catch {
    // Full, as signalled; what fitted is there.
  }
  return file;
}

/** Creates that came and are not in the journal as it stands now. */
async function unjournalled({ exchange, rig }: Arena): Promise<readonly string[]> {
  const came = (await exchange.arrivals()).filter(({ what }) => what === 'create');
  const written = new Set(booksOf(rig).orders.map(({ clientOrderId }) => clientOrderId));
  return came
    .filter(({ clientOrderId }) => !written.has(clientOrderId))
    .map(({ clientOrderId }) => `create ${clientOrderId} left while the disk was full and is not in the journal`);
}

/** Each start on a disk that is too small waits, or ends with a line that says so. */
async function growUntilItStarts(arena: Arena): Promise<void> {
  for (;;) {
    const daemon = arena.launch();
    const says = (words: string): boolean => daemon.lines.some((line) => line.includes(words));
    const isReady = (): boolean => daemon.runs && says('Z ready: ');
    const isWaiting = (): boolean => says('goes on when there is space');
    await until('a first start', () => !daemon.runs || isReady() || isWaiting(), patienceMs);
    if (isReady()) {
      await daemon.end('SIGKILL');
      // The next start writes a little more than this one did.
      grow(arena, startKib);
      return;
    }
    const faults = daemon.runs ? [] : await clearEnd(daemon);
    if (daemon.runs) await daemon.end('SIGKILL');
    if (faults.length > 0) throw new Error(faults.join('; '));
    grow(arena, startKib);
  }
}

/** What is wrong with how a daemon ended for want of space. */
async function clearEnd(daemon: Program): Promise<readonly string[]> {
  const { code } = await daemon.exited;
  const said = daemon.lines.filter((line) => line.startsWith('sluice: ') || /^ {4}at /.test(line));
  return (code === 1 || code === 3) && said.length === 1
    ? []
    : [`on a full disk it ended with ${code} and said ${daemon.lines.join(' | ')}`];
}

async function full(arena: Arena): Promise<Done> {
  const { exchange, rig, rng, daemon } = arena;
  arena.calm(false);
  await exchange.faults(usualFaults);
  await pass(20 + rng() * 300);
  const ballast = fillUp(rig.state);
  const before = await exchange.counts();
  await pass(200 + rng() * 900);
  const faults = await unjournalled(arena);
  const isKilled = rng() < 0.3;
  if (isKilled) await daemon.end('SIGKILL');
  const startsFull = isKilled && rng() < 0.5;
  const refusal = startsFull ? await startedOnFull(arena) : [];
  rmSync(ballast, { force: true });
  makeRoom(arena);
  if (!arena.daemon.runs) await arena.start();
  const { arrivals } = await exchange.counts();
  return {
    count: 1,
    facts: {
      'killed while it was full': isKilled ? 1 : 0,
      'started while it was full': startsFull ? 1 : 0,
      'creates and cancels while it was full': arrivals - before.arrivals,
    },
    faults: [...faults, ...refusal],
  };
}

/** The limit for the size of a file is reached instead: the system ends the process in the middle of a write. */
async function limited(arena: Arena): Promise<Done> {
  const { exchange, rig, rng, daemon } = arena;
  arena.calm(false);
  await exchange.faults(usualFaults);
  await pass(20 + rng() * 300);
  const largest = Math.max(...readdirSync(rig.state).map((name) => statSync(join(rig.state, name)).size));
  const limit = (bytes: number): boolean => run('prlimit', `--pid=${daemon.pid}`, `--fsize=${bytes}`);
  limit(largest + Math.floor(rng() * 32) * kib);
  for (let left = limitedMs; left > 0 && daemon.runs; left -= 100) await pass(100);
  if (daemon.runs) limit(smallestLimit);
  await until('the end of a daemon whose files may not grow', () => !daemon.runs, patienceMs);
  const { code, signal } = await daemon.exited;
  makeRoom(arena);
  await arena.start();
  const isClear = signal === 'SIGXFSZ' || code === 1;
  return {
    count: 1,
    facts: { 'file size limits': 1 },
    faults: isClear ? [] : [`it ended with ${code ?? signal}, not by the limit`],
  };
}

/** A start on a full disk: it ends with a line that says so, or trades nothing until there is space. */
async function startedOnFull(arena: Arena): Promise<readonly string[]> {
  const daemon = arena.launch();
  await until('a word of a daemon on a full disk', () => !daemon.runs || daemon.lines.length > 1, patienceMs);
  await pass(300);
  const faults = await unjournalled(arena);
  return daemon.runs ? faults : [...faults, ...(await clearEnd(daemon))];
}

export const disk: Kind = {
  name: 'disk',
  counts: 'full disks',
  wanted: 50,
  comparisons: 10,
  impossible: () =>
    canMount() || canLimit() ? undefined : 'neither a small tmpfs can be mounted here nor a file size limited',
  async prepare(arena) {
    if (!canMount()) return;
    const { rig, rng } = arena;
    const size = smallestKib + Math.floor(rng() * (largestKib - smallestKib));
    sizes.set(arena.env, size);
    mkdirSync(rig.state, { recursive: true, mode: 0o700 });
    run('mount', '-t', 'tmpfs', '-o', `size=${size}k,mode=700`, 'tmpfs', rig.state);
    await growUntilItStarts(arena);
  },
  ordeal: (arena) => (!canMount() || (canLimit() && arena.rng() < 0.25) ? limited(arena) : full(arena)),
  clean: async ({ rig }) => void run('umount', '-l', rig.state),
};
