/** Loads the code of a strategy that another thread has checked: code does not cross threads. */
import { registry } from '../../strategies/registry.ts';
import { Refusal } from '../domain/refusal.ts';
import { isPath, loadStrategy } from '../strategy/load.ts';
import { named } from '../strategy/override.ts';
import type { NamedHosted } from './strategies.ts';

/** A strategy without its code. */
export type Unloaded = Omit<NamedHosted, 'strategy'>;

export function unloaded(one: NamedHosted): Unloaded {
  const { strategy: _, ...rest } = one;
  return rest;
}

/** The same with its code; `dir`: the directory of a relative path. Throws a `Refusal` where its file has become another. */
export async function loadHosted(one: Unloaded, dir: string): Promise<NamedHosted> {
  const { id, use, params } = one;
  const found = await loadStrategy(use, params, registry, dir);
  if (!('strategy' in found)) throw new Refusal(found.map(({ what }) => `strategy ${id}: ${what}`).join('\n'));
  return { ...one, strategy: isPath(use) ? await named(found.strategy, id, use) : found.strategy };
}
