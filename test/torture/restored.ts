/** An old copy of the journal put back: the start refuses it; taken all the same, the ledger comes out equal to the exchange's. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { journalFile } from '../../src/journal/open.ts';
import { callDaemon } from '../../src/session/control/daemon-client.ts';
import { runningDaemon } from '../../src/session/state.ts';
import { pass } from '../kit/until.ts';
import { type Arena, usualFaults } from './arena.ts';
import { booksOf } from './compare.ts';
import type { Done, Kind } from './kind.ts';
import { refusalFaults } from './newer.ts';

/** Real ms in which every list of the exchange was read once. */
const settleMs = 700;

/** Copies the journal, with what is in its log, to another directory. */
function copyJournal(from: string, to: string): void {
  for (const name of readdirSync(to)) if (name.startsWith(journalFile)) rmSync(join(to, name));
  for (const name of readdirSync(from))
    if (name.startsWith(journalFile) && !name.endsWith('-shm')) cpSync(join(from, name), join(to, name));
}

async function restoredOnce(arena: Arena): Promise<Done> {
  const { exchange, rig, rng } = arena;
  const copy = mkdtempSync(join(tmpdir(), 'sluice-restored-'));
  arena.calm(false);
  await exchange.faults(usualFaults);
  await pass(20 + rng() * 300);
  await arena.daemon.end('SIGKILL');
  copyJournal(rig.state, copy);
  await arena.start();
  await pass(100 + rng() * 600);
  await arena.daemon.end('SIGKILL');
  copyJournal(copy, rig.state);
  rmSync(copy, { recursive: true });
  const faults = await refusalFaults(arena, /--accept-restored/);
  const lost = await lostOrders(arena);
  for (const id of lost) arena.lost.add(id);
  await arena.start('--accept-restored', 'tortured');
  const halted = await resumed(arena, lost.length > 0);
  return {
    count: 1,
    facts: { 'orders that the copy did not know': lost.length, 'halts that were resumed': halted },
    faults,
  };
}

/** Orders of which the copy that was put back knows nothing: their intents are gone for good, what they did is not. */
async function lostOrders({ exchange, rig }: Arena): Promise<readonly string[]> {
  const known = new Set(booksOf(rig).orders.map(({ clientOrderId }) => clientOrderId));
  const { orders } = await exchange.truth();
  const came = (await exchange.arrivals()).filter(({ what }) => what === 'create');
  return [...new Set([...orders, ...came].map(({ clientOrderId }) => clientOrderId))].filter((id) => !known.has(id));
}

/** An order of ours that the journal does not know halts everything, as it should; the operator knows why and goes on. */
async function resumed({ rig }: Arena, isExpected: boolean): Promise<number> {
  if (!isExpected) return 0;
  await pass(settleMs);
  const halts = rig.read((reader) => reader.halts().length);
  const daemon = runningDaemon(rig.state);
  if (halts > 0 && daemon !== undefined) await callDaemon(daemon, 'resume', { reason: 'tortured' });
  return halts > 0 ? 1 : 0;
}

export const restored: Kind = {
  name: 'restored',
  counts: 'restored journals',
  wanted: 50,
  comparisons: 6,
  ordeal: restoredOnce,
};
