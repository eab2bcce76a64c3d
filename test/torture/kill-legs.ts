/**
 * Killed with -9 between the legs of decisions: of a pair that completes a leg that is open alone, of one that unwinds it, and of a list with
 * weights. After the kills each of them must come to what it wants, or chose.
 */
import { fileURLToPath } from 'node:url';
import { unitsNumber } from '../../src/domain/money.ts';
import { symbols } from '../kit/rig.ts';
import { pass, until } from '../kit/until.ts';
import { type Arena, patienceMs } from './arena.ts';
import { booksOf } from './compare.ts';
import { kill, killed } from './kill.ts';
import type { Done, Kind } from './kind.ts';
import { beSteady } from './restless-legs.ts';

const [near, far] = symbols;
const file = (name: string): string => fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
const common = { interval: '1min', allocation: '10000' } as const;
const markets = { near: { symbol: near }, far: { symbol: far } };

const strategies = [
  { id: 'complete', use: file('pair-complete'), markets, ...common },
  { id: 'unwind', use: file('pair-unwind'), markets, ...common },
  { id: 'list', use: file('restless-list'), symbols, ...common },
];

/** Real ms before a kill: these strategies decide once a second. */
const latest = 2_500;

/** Less than any position of these strategies. */
const minHeld = 0.05;

/** `strategy symbol`, of all that is held. */
const heldIn = ({ rig }: Arena): readonly string[] =>
  booksOf(rig)
    .positions.filter(({ position }) => unitsNumber(position.base) > minHeld)
    .map(({ strategy, symbol }) => `${strategy} ${symbol}`)
    .toSorted();

/** Both legs where they are completed, none where they are unwound, and the one market of the list. */
const wanted = [`complete ${near}`, `complete ${far}`, `list ${near}`].toSorted().join(', ');

/** Waits until just these are held; what is wrong, in words. */
async function holding(arena: Arena, wanted: string): Promise<readonly string[]> {
  let last = '';
  const isSo = async (): Promise<boolean> => {
    last = heldIn(arena).join(', ');
    return last === wanted;
  };
  return until(`${wanted || 'nothing'} held`, isSo, patienceMs).then(
    () => [],
    () => [`held are ${last || 'no markets'}; wanted are ${wanted || 'none'}`],
  );
}

/** Killed as ever; then out of everything, into a leg whose partner does not fill, and killed while that is open alone. */
async function killedBetweenLegs(arena: Arena): Promise<Done> {
  const { exchange, rig, rng } = arena;
  beSteady(rig.dir, false);
  const { count, facts } = await killed(arena, latest);
  arena.calm(true);
  const left = await holding(arena, '');
  beSteady(rig.dir, true);
  arena.calm(false);
  await pass(rng() * latest);
  await arena.daemon.end('SIGKILL');
  await arena.start();
  await exchange.faults([]);
  return { count: count + 1, ...(facts && { facts }), faults: [...left, ...(await holding(arena, wanted))] };
}

export const killLegs: Kind = {
  ...kill,
  name: 'kill-legs',
  counts: 'kills between legs',
  wanted: 300,
  setting: () => ({ config: { strategies } }),
  ordeal: killedBetweenLegs,
};
