/** The journal of a newer version: refused with one line, and nothing is changed. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { journalFile } from '../../src/journal/open.ts';
import { pass } from '../kit/until.ts';
import { type Arena, usualFaults } from './arena.ts';
import type { Done, Kind } from './kind.ts';

/** Every file of the journal and what is in it, without what SQLite builds by itself and what holds nothing. */
export const printsOf = (state: string): string =>
  readdirSync(state)
    .filter((name) => name.startsWith(journalFile) && !name.endsWith('-shm') && statSync(join(state, name)).size > 0)
    .sort()
    .map(
      (name) =>
        `${name} ${createHash('sha256')
          .update(readFileSync(join(state, name)))
          .digest('hex')}`,
    )
    .join('\n');

/** Marks the journal as one of a later version; gives the way back. */
function makeNewer(state: string): () => void {
  const path = join(state, journalFile);
  const stamped = (version: number): void => {
    const db = new Database(path);
    db.pragma(`user_version = ${version}`);
    db.close();
  };
  const db = new Database(path, { readonly: true });
  const version = Number(db.pragma('user_version', { simple: true }));
  db.close();
  stamped(version + 1);
  return () => stamped(version);
}

/** What is wrong with how a start was refused. */
export async function refusalFaults(
  arena: Arena,
  words: RegExp,
  ...args: readonly string[]
): Promise<readonly string[]> {
  const before = printsOf(arena.rig.state);
  const daemon = arena.launch(...args);
  const { code } = await daemon.exited;
  return [
    ...(code === 3 ? [] : [`the start ended with ${code}, not with 3`]),
    ...(daemon.lines.length === 1 && words.test(daemon.lines[0] ?? '') ? [] : [`it said ${daemon.lines.join(' | ')}`]),
    ...(printsOf(arena.rig.state) === before ? [] : ['the refused start changed the journal']),
  ];
}

async function refused(arena: Arena): Promise<Done> {
  const { exchange, rig, rng, daemon } = arena;
  arena.calm(false);
  await exchange.faults(usualFaults);
  await pass(20 + rng() * 300);
  await daemon.end(rng() < 0.5 ? 'SIGKILL' : 'SIGINT');
  const before = await exchange.counts();
  const back = makeNewer(rig.state);
  const faults = await refusalFaults(arena, /newer Sluice/);
  const after = await exchange.counts();
  back();
  await arena.start();
  return {
    count: 1,
    faults: [...faults, ...(after.arrivals === before.arrivals ? [] : ['a refused daemon sent something'])],
  };
}

export const newer: Kind = { name: 'newer', counts: 'newer journals', wanted: 50, comparisons: 12, ordeal: refused };
