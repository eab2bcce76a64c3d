/** One decision of a strategy of several markets over klines in memory, as unit tests ask for it. */
import type { Kline } from '../../domain/market.ts';
import { type Holding, hasList, hasRoles, type Legs, type SeveralMarkets, type Weights } from '../contract.ts';
import type { StrategyMemory } from '../memory.ts';
import { over } from '../override.ts';
import type { Params, ParamValues } from '../params.ts';
import { joinedMoments } from './joined-moments.ts';
import type { BoundMarket } from './several-markets.ts';
import { marketsStep } from './several-markets-host.ts';

export interface Once {
  readonly strategy: SeveralMarkets;
  readonly params: ParamValues<Params>;
  /** By role, or by symbol for a strategy that chooses. */
  readonly klines: Readonly<Record<string, readonly Kline[]>>;
  readonly holdingOf: (role: string) => Holding;
  /** Of all markets together, in quote. */
  readonly equity: number;
  /** Of a strategy that declares one; its initial value if left out. */
  readonly memory?: StrategyMemory | undefined;
}

/**
 * What the strategy says at the last moment at which one of these klines closes, whatever its schedule. Undefined where it says nothing or may
 * not decide. Throws a RangeError for klines that do not fit its markets, and what the strategy throws.
 */
export function decideOnce({
  strategy,
  params,
  klines,
  holdingOf,
  equity,
  memory,
}: Once): Legs<never> | Weights | undefined {
  const markets = marketsIn(strategy, klines);
  let said: unknown;
  const observed = hasList(strategy)
    ? over<SeveralMarkets>(strategy, {
        choose: (...given: Parameters<typeof strategy.choose>) => (said = strategy.choose(...given)),
      })
    : over<SeveralMarkets>(strategy, {
        decide: (...given: Parameters<typeof strategy.decide>) => (said = strategy.decide(...given)),
      });
  const [first] = markets;
  const step = marketsStep(
    { strategy: observed, params, markets, interval: first.interval },
    { holdings: markets.map(({ role }) => holdingOf(role)), equity: () => equity },
    memory,
  );
  const rows = markets.map(({ role }) => klines[role] ?? []);
  for (const moment of joinedMoments(rows, 1)) step(moment);
  const beside = hasList(strategy) ? 'weights' : 'legs';
  const isWithMemory = memory !== undefined && typeof said === 'object' && said !== null && 'memory' in said;
  return (isWithMemory ? (said as Readonly<Record<string, unknown>>)[beside] : said) as
    | Legs<never>
    | Weights
    | undefined;
}

/** The markets that klines are given for. */
function marketsIn(strategy: SeveralMarkets, klines: Once['klines']): readonly [BoundMarket, ...BoundMarket[]] {
  const given = Object.keys(klines);
  const roles = hasRoles(strategy) ? Object.keys(strategy.markets as object) : given;
  const unknown = given.find((role) => !roles.includes(role));
  if (unknown !== undefined)
    throw new RangeError(
      `decide() has klines for ${unknown}, which is not a market of ${strategy.name}: ${roles.join(', ')}`,
    );
  const [first, ...others] = roles.map((role): BoundMarket => {
    const [kline] = klines[role] ?? [];
    if (kline === undefined) throw new RangeError(`decide() needs klines for ${role}: there are none`);
    const use = hasRoles(strategy) ? strategy.markets[role] : 'traded';
    return { role, symbol: hasRoles(strategy) ? kline.symbol : role, interval: kline.interval, use };
  });
  if (first === undefined) throw new RangeError('decide() needs klines of at least one market');
  return [first, ...others];
}
