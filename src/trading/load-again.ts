/** Loads the code that a configured strategy has now, for a daemon that runs the one from its start. */
import { dirname } from 'node:path';
import { registry } from '../../strategies/registry.ts';
import { Refusal } from '../domain/refusal.ts';
import { codeHash } from '../strategy/code-version.ts';
import { hasSeveralMarkets, type Strategy } from '../strategy/contract.ts';
import { isPath, loadStrategy } from '../strategy/load.ts';
import { rolesOf } from '../strategy/markets/several-markets.ts';
import { intervalFault } from '../strategy/warmup.ts';
import type { Configured } from './strategies.ts';

export type LoadedAgain = Pick<Configured, 'strategy' | 'params'> & {
  /** SHA-256 of the code, hex. */
  readonly code: string;
};

/** Throws a `Refusal` for code that cannot be loaded, or that does not fit the configuration and the strategy that runs. */
export async function loadAgain({ config, configFile, strategy: before }: Configured): Promise<LoadedAgain> {
  const { id, use, params: given, interval } = config;
  if (!isPath(use))
    throw new Refusal(`strategy ${id} (${use}) is shipped with Sluice: its code is loaded when the daemon starts`);
  const dir = dirname(configFile);
  const code = codeHash(use, dir);
  const loaded = await loadStrategy(use, given, registry, dir, true);
  if (!('strategy' in loaded))
    throw new Refusal(
      loaded.map(({ path, what }) => (path[0] === 'use' ? what : `${path.join('.')}: ${what}`)).join('\n'),
    );
  if (codeHash(use, dir) !== code) throw new Refusal(`${use} was changed while it was loaded: repeat the command`);
  const { strategy, params } = loaded;
  const fault =
    parametersFault(before, strategy) ??
    marketsFault(before, strategy) ??
    (hasSeveralMarkets(strategy) ? undefined : intervalFault(strategy, params, interval));
  if (fault !== undefined) throw new Refusal(fault);
  return { strategy, params, code };
}

const restart = 'restart the daemon for that';

/** The configuration was written for the old ones. */
function parametersFault(before: Strategy, now: Strategy): string | undefined {
  const typesOf = ({ params }: Strategy): readonly string[] =>
    Object.entries(params as Readonly<Record<string, { readonly type: string }>>).map(
      ([name, { type }]) => `${name} (${type})`,
    );
  const [old, own] = [typesOf(before), typesOf(now)];
  const added = own.filter((one) => !old.includes(one));
  const gone = old.filter((one) => !own.includes(one));
  if (added.length + gone.length === 0) return undefined;
  const parts = [
    ...(gone.length > 0 ? [`without ${gone.join(', ')}`] : []),
    ...(added.length > 0 ? [`with the new ${added.join(', ')}`] : []),
  ];
  return `its parameters are others, ${parts.join(' and ')}: ${restart}`;
}

function marketsFault(before: Strategy, now: Strategy): string | undefined {
  const marketsOf = (one: Strategy): string =>
    hasSeveralMarkets(one) ? JSON.stringify(rolesOf(one) ?? 'a list of symbols') : 'one market';
  return marketsOf(before) === marketsOf(now)
    ? undefined
    : `it decides on ${marketsOf(now)}, and the running one on ${marketsOf(before)}: ${restart}`;
}
