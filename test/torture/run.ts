/** Runs a kind of torture: arenas, ordeals, comparisons. */
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { realMs, seededRng } from '../../src/clock/clock.ts';
import { type Arena, openArena } from './arena.ts';
import type { Done, Kind } from './kind.ts';
import { differencesAtRest } from './rest.ts';

/** One comparison, and what came before it. */
export interface Round {
  readonly kind: string;
  readonly seed: number;
  readonly count: number;
  readonly seconds: number;
  readonly orders: number;
  readonly fills: number;
  readonly unknowns: number;
  readonly facts: NonNullable<Done['facts']>;
  readonly faults: readonly string[];
  /** Where everything was left for whoever looks for the cause; undefined when all was well. */
  readonly left?: string;
}

/** Each so manieth arena has an exchange with the quirks of real ones in place of the specification's. */
const observedEvery = 3;

/** What happened in an arena so far. */
function seenIn({ rig }: Arena): { orders: number; fills: number; unknowns: number } {
  return rig.read((reader) => {
    const orders = reader.orders();
    const unknowns = orders.filter(({ clientOrderId }) =>
      reader.events(clientOrderId).some(({ event }) => event === 'unknown'),
    );
    return { orders: orders.length, fills: reader.fills().length, unknowns: unknowns.length };
  });
}

async function round(kind: Kind, arena: Arena, isFirst: boolean): Promise<Done> {
  try {
    if (isFirst) {
      await kind.prepare?.(arena);
      await arena.start();
    }
    const done = await kind.ordeal(arena);
    const found = await differencesAtRest(arena);
    return { ...done, faults: [...(done.faults ?? []), ...found] };
  } catch (error) {
    return { count: 0, faults: [error instanceof Error ? error.message : String(error)] };
  }
}

/** Keeps what is needed to find the cause: a copy of the state directory, the exchange's truth, and what the daemon said. */
async function keep({ rig, exchange, said }: Arena, faults: readonly string[]): Promise<string> {
  const asked = await Promise.allSettled([exchange.truth(), exchange.arrivals()]);
  writeFileSync(join(rig.dir, 'evidence.json'), JSON.stringify({ faults, said: said(), asked }, null, 1));
  // What it is mounted on is gone with the arena.
  if (existsSync(rig.state)) cpSync(rig.state, join(rig.dir, 'state-kept'), { recursive: true });
  return rig.dir;
}

/**
 * Tortures in one arena until it has been compared as often as the kind says, or `isEnough`, or something is amiss. Tells of each
 * comparison. The same seed draws the same moments, but processes are not repeatable.
 */
export async function tortureIn(
  kind: Kind,
  seed: number,
  told: (round: Round) => void,
  isEnough: () => boolean = () => false,
): Promise<void> {
  const setting = (await kind.setting?.()) ?? {};
  const terms = { profile: seed % observedEvery === 0 ? 'observed' : 'documented', ...setting.terms } as const;
  const arena = await openArena(seededRng(seed), { ...setting, terms });
  let left: string | undefined;
  try {
    let before = { orders: 0, fills: 0, unknowns: 0 };
    for (let turn = 0; turn < kind.comparisons && left === undefined && !isEnough(); turn++) {
      const startedAt = realMs();
      const { count, facts = {}, faults = [] } = await round(kind, arena, turn === 0);
      const now = faults.length > 0 ? before : seenIn(arena);
      if (faults.length > 0) left = await keep(arena, faults);
      told({
        kind: kind.name,
        seed,
        count,
        seconds: Math.round(realMs() - startedAt) / 1_000,
        orders: now.orders - before.orders,
        fills: now.fills - before.fills,
        unknowns: now.unknowns - before.unknowns,
        facts,
        faults,
        ...(left === undefined ? {} : { left }),
      });
      before = now;
    }
  } finally {
    await kind.clean?.(arena);
    await arena.close(left !== undefined);
  }
}
