/** From a configuration's strategies to ones that run. */
import { dirname } from 'node:path';
import { registry as shipped } from '../../strategies/registry.ts';
import { type NamePlace, placesIn, problemsIn, type Setting } from '../config/read.ts';
import type { StrategyConfig } from '../config/schema.ts';
import { symbolsIn } from '../config/symbols.ts';
import type { Instrument } from '../domain/instrument.ts';
import type { Interval } from '../domain/interval.ts';
import { minus, noUnits, plus, splitBy, type Units, unitsText } from '../domain/money.ts';
import { didYouMean, Refusal } from '../domain/refusal.ts';
import type { Allocation } from '../portfolio/portfolio.ts';
import { endableWhileBusy } from '../process/busy.ts';
import type { Strategy } from '../strategy/contract.ts';
import { hasList, hasSeveralMarkets } from '../strategy/contract.ts';
import type { Hosted, HostedMarket } from '../strategy/host.ts';
import { type Found, isPath, loadStrategy, type Registry } from '../strategy/load.ts';
import { type BoundMarket, rolesOf } from '../strategy/markets/several-markets.ts';
import { named } from '../strategy/override.ts';
import { intervalFault } from '../strategy/warmup.ts';
import { tradedIn } from './lanes.ts';

/** A strategy as configured and as found. */
export interface Configured extends Found {
  readonly config: StrategyConfig;
  readonly configFile: string;
  /** Where each of its symbols stands in the configuration. */
  readonly symbolPlaces: readonly string[];
  /** Its markets, where it may have several. */
  readonly markets?: readonly BoundMarket[];
}

/** The instruments that there are, and where. */
export interface Market {
  readonly available: readonly Instrument[];
  readonly where: string;
}

/** Strategies that code gives instead of a file: by the name that `use` has, and how messages name their keys. */
export interface GivenStrategies {
  readonly registry?: Registry;
  readonly placeOf?: NamePlace;
  /** Files are loaded with the code that they have now, where they were loaded before. */
  readonly again?: boolean;
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
  const { registry = shipped, placeOf = placesIn(configFile, settings) } = given ?? {};
  // Only a run over recorded data knows its market here; shipped strategies come to an end.
  const overRecords = market !== undefined;
  if (strategies.some(({ use }) => isPath(use))) endableWhileBusy(overRecords ? 'run' : 'daemon');
  const found: Configured[] = [];
  const problems: string[] = [];
  for (const [index, config] of strategies.entries()) {
    const loaded = await loadStrategy(config.use, config.params, registry, dir, given?.again);
    const symbolPlaces = symbolsIn(config).map(([, place]) => placeOf(['strategies', index, ...place]));
    if ('strategy' in loaded) {
      const { strategy, params } = loaded;
      const own = overRecords && isPath(config.use) ? await named(strategy, config.id, config.use) : strategy;
      const bound = boundMarkets(config, strategy);
      if ('path' in bound) problems.push(`${placeOf(['strategies', index, ...bound.path])}: ${bound.what}`);
      else found.push({ config, configFile, symbolPlaces, strategy: own, params, ...bound });
      const intervals = 'path' in bound ? [] : intervalsOf(config, bound);
      for (const { path, interval, role } of intervals) {
        const against = intervalFault(strategy, params, interval, role);
        if (against !== undefined) problems.push(`${placeOf(['strategies', index, ...path])}: ${against}`);
      }
    } else for (const { path, what } of loaded) problems.push(`${placeOf(['strategies', index, ...path])}: ${what}`);
    for (const [symbol, place] of market === undefined ? [] : symbolsIn(config)) {
      const fault = symbolFault(symbol, market as Market);
      if (fault !== undefined) problems.push(`${placeOf(['strategies', index, ...place])}: ${fault}`);
    }
  }
  if (problems.length > 0) throw problemsIn(configFile, problems);
  return found;
}

/** The intervals on which a strategy's indicators are calculated, with their roles, and where each stands. */
function intervalsOf(
  { interval, markets: given }: StrategyConfig,
  { markets }: Bound,
): readonly { readonly interval: Interval; readonly role?: string; readonly path: readonly string[] }[] {
  // Those of a list have one interval.
  if (markets === undefined || given === undefined) return [{ interval, path: ['interval'] }];
  return markets.map(({ role, interval: own }) => {
    const path = given[role]?.interval === undefined ? ['interval'] : ['markets', role, 'interval'];
    return { interval: own, role, path };
  });
}

type Bound = { readonly markets?: readonly BoundMarket[] };

/** The markets of a strategy by the configuration, or why they do not fit it. */
function boundMarkets(
  { markets, symbols, interval, use }: StrategyConfig,
  strategy: Strategy,
): Bound | { readonly path: readonly string[]; readonly what: string } {
  const roles = hasSeveralMarkets(strategy) ? rolesOf(strategy) : undefined;
  if (hasList(strategy)) {
    if (symbols === undefined)
      return {
        path: ['symbols'],
        what: `is missing: ${use} chooses among a list, such as symbols: [BTCUSDT, ETHUSDT]`,
      };
    return { markets: symbols.map((symbol) => ({ role: symbol, symbol, interval, use: 'traded' as const })) };
  }
  if (symbols !== undefined)
    return {
      path: ['symbols'],
      what: `${use} does not choose among symbols: give it ${roles === undefined ? 'symbol' : 'markets'}`,
    };
  if (roles === undefined)
    return markets === undefined ? {} : { path: ['markets'], what: `${use} has one market: give it symbol` };
  const names = Object.keys(roles);
  const asked = `markets: { ${names.map((role) => `${role}: { symbol: … }`).join(', ')} }`;
  if (markets === undefined)
    return { path: ['markets'], what: `is missing: ${use} has the markets ${names.join(', ')}: set ${asked}` };
  // One that is misspelt is missing, too.
  const unknown = Object.keys(markets).find((role) => !names.includes(role));
  if (unknown !== undefined)
    return {
      path: ['markets', unknown],
      what: `is not a market of ${use}${didYouMean(unknown, names)}; it has ${names.join(', ')}`,
    };
  const missing = names.find((role) => !Object.hasOwn(markets, role));
  if (missing !== undefined)
    return { path: ['markets', missing], what: `is missing: ${use} has the markets ${names.join(', ')}` };
  const bound = names.map((role): BoundMarket => {
    const given = markets[role] as NonNullable<typeof markets>[string];
    return { role, symbol: given.symbol, interval: given.interval ?? interval, use: roles[role] as BoundMarket['use'] };
  });
  const traded = bound.filter((one) => one.use === 'traded').map(({ symbol }) => symbol);
  const twice = traded.find((symbol, index) => traded.indexOf(symbol) !== index);
  if (twice !== undefined)
    return { path: ['markets'], what: `${twice} is traded under two names: one strategy has one position on a symbol` };
  if (traded.length === 0)
    return { path: ['use'], what: `${use} trades none of its markets: mark at least one as 'traded'` };
  return { markets: bound };
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

/**
 * The strategies without the symbols of their lists that are not listed, and which those are. A list of which none is listed stays as it is, and
 * is refused with the others.
 */
export function withoutUnlisted(configured: readonly Configured[], available: readonly Instrument[]) {
  const listed = new Set(available.map(({ symbol }) => symbol));
  const leftOut: { readonly strategy: string; readonly symbol: string }[] = [];
  const left = configured.map((one): Configured => {
    const { config, markets = [] } = one;
    const symbols = config.symbols?.filter((symbol) => listed.has(symbol)) ?? [];
    const [first] = symbols;
    if (first === undefined || symbols.length === config.symbols?.length) return one;
    for (const { symbol } of markets) if (!listed.has(symbol)) leftOut.push({ strategy: config.id, symbol });
    const there = markets.filter(({ symbol }) => listed.has(symbol));
    return { ...one, config: { ...config, symbols, symbol: first }, markets: there };
  });
  return { configured: left, leftOut };
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
  for (const { config, symbolPlaces } of configured)
    for (const [index, [symbol]] of symbolsIn(config).entries()) {
      const at = known.get(symbol);
      if (at === undefined) problems.push(`${symbolPlaces[index]}: ${symbolFault(symbol, { available, where })}`);
      else chosen.set(symbol, at);
    }
  const [first] = configured;
  if (first !== undefined && problems.length > 0) throw problemsIn(first.configFile, problems);
  for (const { config, configFile, markets = [] } of configured) {
    const quotes = new Set(markets.map(({ symbol }) => chosen.get(symbol)?.quote));
    if (quotes.size > 1)
      throw new Refusal(
        `${configFile}: strategy ${config.id}: its markets are quoted in ${[...quotes].join(' and ')}: the markets of one strategy have one quote asset`,
      );
  }
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
  configured.map(({ config, strategy, params, markets }) => {
    const first = markets?.find(({ use }) => use === 'traded') ?? config;
    return {
      ...{ id: config.id, use: config.use, strategy, params },
      ...{ symbol: first.symbol, interval: first.interval },
      instrument: instruments.get(first.symbol) as Instrument,
      ...(markets !== undefined && {
        markets: markets.map(
          (one): HostedMarket => ({ ...one, instrument: instruments.get(one.symbol) as Instrument }),
        ),
      }),
    };
  });

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
  return configured.flatMap(({ config, markets }) => {
    const amount = config.allocation ?? each;
    // Those of one strategy are a pool, whichever of them has the amount.
    return (markets === undefined ? [config.symbol] : tradedIn(markets)).map((symbol, index) => ({
      ...{ strategy: config.id, symbol },
      amount: index === 0 ? amount : noUnits,
    }));
  });
}
