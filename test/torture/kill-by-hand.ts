/**
 * Killed with -9 under a pause, and in the middle of a flatten. Over the kills a paused strategy enters nothing; a flatten goes on after the
 * restart or is repeated, and in the end nothing is held and nothing was turned round.
 */
import { unitsNumber } from '../../src/domain/money.ts';
import { pass, until } from '../kit/until.ts';
import { type Arena, patienceMs } from './arena.ts';
import { booksOf } from './compare.ts';
import { kill, killed } from './kill.ts';
import type { Done, Kind } from './kind.ts';
import { flatHolding } from './rest.ts';

const paused = 'taker';
/** Real ms between the command and the kill: its LIMIT order rests for five seconds. */
const latest = 8_000;

const entriesOf = ({ rig }: Arena): number =>
  rig.read((reader) => reader.orders(`strategy = '${paused}' AND purpose = 'enter'`)).length;

/** What is wrong with the answer of a command, in words. */
async function asked(arena: Arena, command: string, ...args: readonly string[]): Promise<readonly string[]> {
  const { code, stderr } = await arena.run(command, ...args, '--reason', 'torture');
  return code === 0 ? [] : [`sluice ${command} ended with ${code}: ${stderr}`];
}

/** `strategy symbol quantity` of each position that is worth an order, or below zero. */
const heldIn = ({ rig }: Arena): readonly string[] =>
  booksOf(rig)
    .positions.map(({ strategy, symbol, position: { base } }) => ({ strategy, symbol, held: unitsNumber(base) }))
    .filter(({ held }) => held < 0 || held > flatHolding)
    .map(({ strategy, symbol, held }) => `${strategy} ${symbol} ${held}`);

async function killedUnderPause(arena: Arena): Promise<Done> {
  const faults = await asked(arena, 'pause', paused);
  const before = entriesOf(arena);
  const done = await killed(arena);
  const entered = entriesOf(arena) - before;
  return { ...done, faults: entered === 0 ? faults : [...faults, `${entered} entries under a pause`] };
}

/** The command is killed with its daemon, and repeated. Without an answer to it nobody knows whether it had begun. */
async function killedInFlatten(arena: Arena): Promise<readonly string[]> {
  const { exchange, rng } = arena;
  const asking = arena.run('flatten', '--reason', 'torture');
  await pass(rng() * latest);
  await arena.daemon.end('SIGKILL');
  await asking;
  await arena.start();
  await exchange.faults([]);
  const faults = await asked(arena, 'flatten');
  const flat = await until('nothing held', () => heldIn(arena).length === 0, patienceMs).then(
    () => [],
    () => [`held after a flatten: ${heldIn(arena).join(', ')}`],
  );
  return [...faults, ...flat];
}

async function killedByHand(arena: Arena): Promise<Done> {
  const done = await killedUnderPause(arena);
  const faults = await killedInFlatten(arena);
  const resumed = await asked(arena, 'resume');
  return { ...done, count: done.count + 1, faults: [...(done.faults ?? []), ...faults, ...resumed] };
}

export const killByHand: Kind = {
  ...kill,
  name: 'kill-by-hand',
  counts: 'kills under a pause and in a flatten',
  wanted: 300,
  ordeal: killedByHand,
};
