/** Loads the code that a configured strategy has now, for a daemon that runs the one from its start. */
import { dirname } from 'node:path';
import { inspect } from 'node:util';
import { registry } from '../../strategies/registry.ts';
import type { StrategyConfig } from '../config/schema.ts';
import { Refusal } from '../domain/refusal.ts';
import { codeHash } from '../strategy/code-version.ts';
import { hasRoles, hasSeveralMarkets, type Strategy } from '../strategy/contract.ts';
import { type Found, isPath, loadStrategy } from '../strategy/load.ts';
import type { BoundMarket } from '../strategy/markets/several-markets.ts';
import { rolesOf } from '../strategy/markets/several-markets.ts';
import { intervalFault } from '../strategy/warmup.ts';
import type { Configured } from './strategies.ts';

/** What is loaded, and for what: data alone, which a thread can be given. */
export interface CodeToLoad extends Pick<StrategyConfig, 'use' | 'params'> {
  /** The directory of a relative path. */
  readonly dir: string;
  /** The intervals that it runs on, with the roles of several markets. */
  readonly markets: readonly (Pick<BoundMarket, 'interval'> & { readonly role?: string })[];
  readonly before: Shape;
}

/** What configuration and daemon were made for. */
interface Shape {
  readonly params: readonly string[];
  readonly markets: string;
  readonly legsAlone: string;
}

export function codeToLoad({ config, configFile, strategy, markets }: Configured): CodeToLoad {
  const { id, use, params, interval } = config;
  if (!isPath(use))
    throw new Refusal(`strategy ${id} (${use}) is shipped with Sluice: its code is loaded when the daemon starts`);
  return { use, params, dir: dirname(configFile), markets: markets ?? [{ interval }], before: shapeOf(strategy) };
}

/** SHA-256 of the code that its files have now, hex. */
export const codeOf = ({ use, dir }: CodeToLoad): string => codeHash(use, dir);

/** Throws a `Refusal` for code that cannot be loaded, or that does not fit the configuration and the strategy that runs. */
export async function loadAgain({ use, params: given, dir, markets, before }: CodeToLoad): Promise<Found> {
  const loaded = await loadStrategy(use, given, registry, dir, true);
  if (!('strategy' in loaded))
    throw new Refusal(
      loaded.map(({ path, what }) => (path[0] === 'use' ? what : `${path.join('.')}: ${what}`)).join('\n'),
    );
  const { strategy, params } = loaded;
  const fault =
    shapeFault(before, shapeOf(strategy)) ??
    markets
      .map(({ interval, role }) => intervalFault(strategy, params, interval, role))
      .find((one) => one !== undefined);
  if (fault !== undefined) throw new Refusal(fault);
  return loaded;
}

const shapeOf = (strategy: Strategy): Shape => ({
  params: Object.entries(strategy.params as Readonly<Record<string, { readonly type: string }>>).map(
    ([name, { type }]) => `${name} (${type})`,
  ),
  markets: hasSeveralMarkets(strategy) ? textOf(rolesOf(strategy) ?? 'a list of symbols') : 'one market',
  legsAlone: textOf(hasRoles(strategy) ? strategy.legsAlone : undefined),
});

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : inspect(value, { sorted: true, breakLength: Number.POSITIVE_INFINITY });

function shapeFault(before: Shape, now: Shape): string | undefined {
  const restart = 'restart the daemon for that';
  const added = now.params.filter((one) => !before.params.includes(one));
  const gone = before.params.filter((one) => !now.params.includes(one));
  if (added.length + gone.length > 0) {
    const parts = [
      ...(gone.length > 0 ? [`without ${gone.join(', ')}`] : []),
      ...(added.length > 0 ? [`with the new ${added.join(', ')}`] : []),
    ];
    return `its parameters are others, ${parts.join(' and ')}: ${restart}`;
  }
  if (before.markets !== now.markets)
    return `it decides on ${now.markets}, and the running one on ${before.markets}: ${restart}`;
  return before.legsAlone === now.legsAlone
    ? undefined
    : `its legsAlone is ${now.legsAlone}, and that of the running one ${before.legsAlone}: ${restart}`;
}
