/** From a configuration's strategies to ones that run. */
import { dirname } from 'node:path';
import { registry } from '../../strategies/registry.ts';
import type { StrategyConfig } from '../config/schema.ts';
import type { Instrument } from '../domain/instrument.ts';
import { minus, noUnits, plus, splitBy, type Units } from '../domain/money.ts';
import { didYouMean, Refusal } from '../domain/refusal.ts';
import type { Allocation } from '../portfolio/portfolio.ts';
import type { Hosted } from '../strategy/host.ts';
import { type Found, loadStrategy } from '../strategy/load.ts';

/** A strategy as configured and as found. */
export interface Configured extends Found {
  readonly config: StrategyConfig;
}

export type NamedHosted = Hosted & { readonly use: string };

/** Loads every strategy of a configuration; paths are relative to its file. */
export async function configure(
  strategies: readonly StrategyConfig[],
  configFile: string,
): Promise<readonly Configured[]> {
  const dir = dirname(configFile);
  const found: Configured[] = [];
  for (const [index, config] of strategies.entries()) {
    found.push({
      config,
      ...(await loadStrategy(config.use, config.params, registry, dir, `${configFile}: strategies.${index}`)),
    });
  }
  return found;
}

/** The configured strategies' instruments; refuses symbols that are not there and strategies that do not share a quote asset. */
export function instrumentsFor(
  configured: readonly Configured[],
  available: readonly Instrument[],
  where: string,
): ReadonlyMap<string, Instrument> {
  const known = new Map(available.map((at) => [at.symbol, at]));
  const chosen = new Map<string, Instrument>();
  for (const { config } of configured) {
    const at = known.get(config.symbol);
    if (at === undefined) {
      const names = [...known.keys()];
      const some =
        names.length <= 12 ? `; there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ') || 'none'}` : '';
      throw new Refusal(
        `strategy ${config.id}: ${where} has no symbol ${config.symbol}${didYouMean(config.symbol, names)}${some}`,
      );
    }
    chosen.set(config.symbol, at);
  }
  const quotes = new Set([...chosen.values()].map(({ quote }) => quote));
  if (quotes.size > 1)
    throw new Refusal(
      `the strategies trade against ${[...quotes].join(' and ')}: one run counts its equity in one asset, so give each its own configuration`,
    );
  return chosen;
}

export const hostedOf = (
  configured: readonly Configured[],
  instruments: ReadonlyMap<string, Instrument>,
): readonly NamedHosted[] =>
  configured.map(({ config, strategy, params }) => ({
    id: config.id,
    use: config.use,
    strategy,
    params,
    symbol: config.symbol,
    interval: config.interval,
    instrument: instruments.get(config.symbol) as Instrument,
  }));

/** What each strategy may use; those that do not say share `rest` evenly. */
export function allocationsOf(configured: readonly Configured[], rest: Units = noUnits): readonly Allocation[] {
  const silent = configured.filter(({ config }) => config.allocation === undefined).length;
  const given = configured.reduce((sum, { config }) => plus(sum, config.allocation ?? noUnits), noUnits);
  const each = silent === 0 ? noUnits : splitBy(minus(rest, given), silent);
  if (each < 0n) throw new Refusal('the strategies are allotted more than there is cash');
  return configured.map(({ config }) => ({
    strategy: config.id,
    symbol: config.symbol,
    amount: config.allocation ?? each,
  }));
}
