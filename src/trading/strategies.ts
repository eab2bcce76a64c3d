/** From a configuration's strategies to ones that run. */
import { dirname } from 'node:path';
import { registry as shipped } from '../../strategies/registry.ts';
import { type NamePlace, placesIn, problemsIn, type Setting } from '../config/read.ts';
import type { StrategyConfig } from '../config/schema.ts';
import type { Instrument } from '../domain/instrument.ts';
import { minus, noUnits, plus, splitBy, type Units, unitsText } from '../domain/money.ts';
import { didYouMean, Refusal } from '../domain/refusal.ts';
import type { Allocation } from '../portfolio/portfolio.ts';
import { endableWhileBusy } from '../process/busy.ts';
import type { Hosted } from '../strategy/host.ts';
import { type Found, isPath, loadStrategy, type Registry } from '../strategy/load.ts';
import { named } from '../strategy/override.ts';
import { intervalFault } from '../strategy/warmup.ts';

/** A strategy as configured and as found. */
export interface Configured extends Found {
  readonly config: StrategyConfig;
  readonly configFile: string;
  /** Where its symbol stands in the configuration. */
  readonly symbolPlace: string;
}

/** The instruments that there are, and where. */
export interface Market {
  readonly available: readonly Instrument[];
  readonly where: string;
}

/** Strategies that code gives instead of a file: by the name that `use` has, and how messages name their keys. */
export interface GivenStrategies {
  readonly registry: Registry;
  readonly placeOf: NamePlace;
}

export type NamedHosted = Hosted & { readonly use: string };

/**
 * Loads every strategy of a configuration; paths are relative to its file. One refusal names everything that is wrong with any
 * of them, wrong symbols too where the market is known already.
 */
export async function configure(
  strategies: readonly StrategyConfig[],
  configFile: string,
  settings: readonly Setting[] = [],
  market?: Market,
  given?: GivenStrategies,
): Promise<readonly Configured[]> {
  const dir = dirname(configFile);
  const { registry, placeOf } = given ?? { registry: shipped, placeOf: placesIn(configFile, settings) };
  // Only a run over recorded data knows its market here; shipped strategies come to an end.
  const overRecords = market !== undefined;
  if (strategies.some(({ use }) => isPath(use))) endableWhileBusy(overRecords ? 'run' : 'daemon');
  const found: Configured[] = [];
  const problems: string[] = [];
  for (const [index, config] of strategies.entries()) {
    const loaded = await loadStrategy(config.use, config.params, registry, dir);
    const symbolPlace = placeOf(['strategies', index, 'symbol']);
    if ('strategy' in loaded) {
      const { strategy, params } = loaded;
      const own = overRecords && isPath(config.use) ? named(strategy, config.id, config.use) : strategy;
      found.push({ config, configFile, symbolPlace, strategy: own, params });
      const against = intervalFault(loaded.strategy, loaded.params, config.interval);
      if (against !== undefined) problems.push(`${placeOf(['strategies', index, 'interval'])}: ${against}`);
    } else for (const { path, what } of loaded) problems.push(`${placeOf(['strategies', index, ...path])}: ${what}`);
    const fault = market === undefined ? undefined : symbolFault(config.symbol, market);
    if (fault !== undefined) problems.push(`${symbolPlace}: ${fault}`);
  }
  if (problems.length > 0) throw problemsIn(configFile, problems);
  return found;
}

function symbolFault(symbol: string, { available, where }: Market): string | undefined {
  const names = available.map((at) => at.symbol);
  if (names.includes(symbol)) return undefined;
  const some = names.length <= 12 ? `; there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ') || 'none'}` : '';
  // The exchange lists what it lists; a file can say more.
  const own = /\.ya?ml$/.test(where)
    ? `; a symbol of your own goes into an instruments file of your own (instruments: FILE in the configuration)`
    : '';
  return `${where} has no symbol ${symbol}${didYouMean(symbol, names)}${some}${own}`;
}

/** The configured strategies' instruments; refuses symbols that are not there and strategies that do not share a quote asset. */
export function instrumentsFor(
  configured: readonly Configured[],
  available: readonly Instrument[],
  where: string,
  mayDiffer = false,
): ReadonlyMap<string, Instrument> {
  const known = new Map(available.map((at) => [at.symbol, at]));
  const chosen = new Map<string, Instrument>();
  const problems: string[] = [];
  for (const { config, symbolPlace } of configured) {
    const at = known.get(config.symbol);
    if (at === undefined) problems.push(`${symbolPlace}: ${symbolFault(config.symbol, { available, where })}`);
    else chosen.set(config.symbol, at);
  }
  const [first] = configured;
  if (first !== undefined && problems.length > 0) throw problemsIn(first.configFile, problems);
  const quotes = new Set([...chosen.values()].map(({ quote }) => quote));
  if (quotes.size > 1 && !mayDiffer)
    throw new Refusal(
      `the strategies trade against ${[...quotes].join(' and ')}: one run has one currency. Use one configuration per quote asset, or in a backtest set currency and currencies`,
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

/** Refuses allocations that together exceed the cash of their currency: orders without cash would be refused one by one. */
export function refuseAboveCash(configured: readonly Configured[], cash: Units, quote: string): void {
  const given = configured.filter(({ config }) => config.allocation !== undefined);
  const sum = given.reduce((total, { config }) => plus(total, config.allocation ?? noUnits), noUnits);
  const [first] = given;
  if (first === undefined || sum <= cash) return;
  const each = given.map(({ config }) => `${config.id} ${unitsText(config.allocation ?? noUnits)}`).join(', ');
  throw new Refusal(
    `${first.configFile}: allocations of ${unitsText(sum)} ${quote} (${each}) exceed the cash of ${unitsText(cash)}: lower an allocation, or raise the cash`,
  );
}

/** What each strategy may use; those that do not say share `rest` evenly. */
export function allocationsOf(configured: readonly Configured[], rest: Units = noUnits): readonly Allocation[] {
  const silent = configured.filter(({ config }) => config.allocation === undefined).length;
  const given = configured.reduce((sum, { config }) => plus(sum, config.allocation ?? noUnits), noUnits);
  const each = silent === 0 ? noUnits : splitBy(minus(rest, given), silent);
  if (each < 0n) throw new Refusal('allocations exceed the cash');
  return configured.map(({ config }) => ({
    strategy: config.id,
    symbol: config.symbol,
    amount: config.allocation ?? each,
  }));
}
