/** Random bits changed in a journal: either a start refuses it and changes nothing, or it holds the same as before. */
import {
  closeSync,
  cpSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type Rng, seededRng } from '../../src/clock/clock.ts';
import { Refusal } from '../../src/domain/refusal.ts';
import type { Entry } from '../../src/journal/entries.ts';
import type { Loaded } from '../../src/journal/load.ts';
import type { Guard } from '../../src/journal/newest-head.ts';
import { type Binding, journalFile, openState } from '../../src/journal/open.ts';
import { workerHost } from '../../src/journal/writer-hosts.ts';
import { denialOf, eventOf, fillRowOf, orderRowOf } from './journal-rows.ts';

const binding: Binding = { mode: 'live', account: 'spot', venue: 'v' };

/** Orders through their lives, with all that is written beside them. */
function someOrders(random: Rng, count: number): Entry[] {
  return Array.from({ length: count }, (_, index): Entry[] => {
    const [id, orderId] = [`c${index}`, String(9_007_199_254_740_993n + BigInt(index))];
    const order = { clientOrderId: id, orderId, price: (100 + random()).toFixed(2), reason: 'x'.repeat(random() * 60) };
    const ended = random() < 0.8 ? ({ state: 'filled', closedAt: index } as const) : ({ state: 'open' } as const);
    return [
      eventOf('approved', { clientOrderId: id, detail: { value: '1', exposure: order.price } }),
      eventOf('sending', { clientOrderId: id }),
      eventOf('accepted', { clientOrderId: id, detail: { orderId } }),
      orderRowOf({ ...order, ...ended }),
      fillRowOf({ tradeId: String(index), orderId, clientOrderId: id }),
      denialOf({ draft: `BUY ${index % 7}` }),
      { kind: 'cursor', symbol: 'BTCUSDT', tradeIds: [String(index)] },
    ];
  }).flat();
}

/** Everything that a journal says, but how often it was opened. */
function contentOf(path: string): string {
  const db = new Database(path, { readonly: true });
  try {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[];
    const said = tables
      .filter((name) => name !== 'chain' && name !== 'openings')
      .map((name) => [name, db.prepare(`SELECT * FROM "${name}" NOT INDEXED`).raw().all()] as const);
    return JSON.stringify(
      said.map(([name, rows]) => [
        name,
        name === 'meta' ? rows.filter((row) => (row as string[])[0] !== 'epoch') : rows,
      ]),
    );
  } finally {
    db.close();
  }
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) =>
    one instanceof Map || one instanceof Set ? [...(one as Set<unknown>)] : one,
  );

const loadedText = ({ past, ...loaded }: Loaded): string => {
  const text = textOf([loaded, ...past.fills()]);
  past.close();
  return text;
};

function filesOf(dir: string): string {
  return readdirSync(dir)
    .filter((name) => name === journalFile || (name === `${journalFile}-wal` && statSync(join(dir, name)).size > 0))
    .map((name) => readFileSync(join(dir, name)).toString('base64'))
    .join();
}

/** Changes up to three bits of a file, close together or far apart. */
function spoil(file: string, random: Rng): void {
  const { size } = statSync(file);
  const to = openSync(file, 'r+');
  // Half of all changes hit the first page, which says what the rest of the file is.
  const at = Math.floor(random() * (random() < 0.3 ? Math.min(size, 4_096) : size));
  for (let times = Math.ceil(random() * 3); times > 0; times--) {
    const offset = random() < 0.5 ? at : Math.floor(random() * size);
    const byte = Buffer.alloc(1);
    readSync(to, byte, 0, 1, offset);
    byte[0] = (byte[0] as number) ^ (1 << Math.floor(random() * 8));
    writeSync(to, byte, 0, 1, offset);
  }
  closeSync(to);
}

interface Sample {
  readonly dir: string;
  readonly content: string;
  readonly loaded: string;
}

export interface Spoilt {
  readonly refused: number;
  /** Changed where it says nothing: room that is free, or numbers that only SQLite's caches look at. */
  readonly same: number;
}

/** Throws at the first change that is neither refused nor without effect. */
export async function fuzzJournal(seed: number, rounds: number): Promise<Spoilt> {
  const random = seededRng(seed);
  const root = mkdtempSync(join(tmpdir(), 'sluice-fuzz-journal-'));
  try {
    const guard: Guard = { dir: join(root, 'shared'), host: 'here', accept: undefined };
    const [closed, killed] = await samples(root, guard, random);
    let refused = 0;
    for (let round = 0; round < rounds; round++) {
      const isKilled = random() < 0.5;
      const sample = isKilled ? killed : closed;
      const dir = join(root, 'spoilt');
      cpSync(sample.dir, dir, { recursive: true });
      spoil(join(dir, isKilled && random() < 0.6 ? `${journalFile}-wal` : journalFile), random);
      if (isRefused(dir, guard, sample, `round ${round}`)) refused++;
      rmSync(dir, { recursive: true });
    }
    return { refused, same: rounds - refused };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** One journal that was closed, and one of the same run whose writer was killed: most of it is in the log beside it. */
async function samples(root: string, guard: Guard, random: Rng): Promise<readonly [Sample, Sample]> {
  const dir = join(root, 'state');
  const write = async (orders: number): Promise<void> => {
    const state = openState(dir, binding, ['s'], guard);
    const host = workerHost(state.path, state.identity.epoch, () => {}, state.remember);
    const entries = someOrders(random, orders);
    for (let from = 0; from < entries.length; from += 40) await host.write(entries.slice(from, from + 40));
    cpSync(dir, join(root, `killed-${orders}`), { recursive: true });
    await host.close();
    state.lock.release();
  };
  await write(100);
  await write(60);
  const take = (from: string): Sample => {
    const copy = join(root, 'looked-at');
    cpSync(from, copy, { recursive: true });
    // Without the guard: this opening must not be remembered.
    const state = openState(copy, binding, ['s']);
    state.lock.release();
    const sample = { dir: from, content: contentOf(join(copy, journalFile)), loaded: loadedText(state.loaded) };
    rmSync(copy, { recursive: true });
    return sample;
  };
  return [take(dir), take(join(root, 'killed-60'))];
}

function isRefused(dir: string, guard: Guard, sample: Sample, where: string): boolean {
  const before = filesOf(dir);
  const remembered = readdirSync(guard.dir).map(
    (name) => [join(guard.dir, name), readFileSync(join(guard.dir, name))] as const,
  );
  try {
    const state = openState(dir, binding, ['s'], guard);
    state.lock.release();
    if (loadedText(state.loaded) !== sample.loaded || contentOf(state.path) !== sample.content)
      throw new Error(`${where}: a changed journal was believed`);
    return false;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.exitCode !== 3 || error.message.includes('\n'))
      throw new Error(`${where}: refused with ${error.exitCode}: ${error.message}`);
    if (filesOf(dir) !== before) throw new Error(`${where}: it was refused and changed (${error.message})`);
    return true;
  } finally {
    for (const [name, content] of remembered) writeFileSync(name, content);
  }
}
