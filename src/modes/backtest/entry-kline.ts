/** What a ruleset says of the kline in which a position was entered: when its stop may be hit, and when its take-profit rests. */
import type { Signal } from '../../domain/order.ts';
import type { Rules } from '../../fill/rules.ts';
import type { Planner } from '../../portfolio/planner.ts';
import type { Portfolio } from '../../portfolio/portfolio.ts';
import type { ArmedStop, Protection } from '../../portfolio/protect.ts';

/** Who wishes what and holds what. */
export interface Holders {
  readonly portfolio: Portfolio;
  readonly planner: Planner;
  readonly protection: Protection;
}

/** The stops on a symbol that a kline which opens at UTC ms may set off. */
export function armedStops(
  symbol: string,
  openTime: number,
  { stopsFrom }: Pick<Rules, 'stopsFrom'>,
  { portfolio, planner, protection }: Holders,
): readonly ArmedStop[] {
  const stops = protection.stops(symbol);
  if (stops.length === 0) return stops;
  return stops.filter(({ strategy }) => {
    // The stop of a former target leaves nothing while quotes are wished.
    if (planner.standing(strategy, symbol)?.want.kind !== 'target') return false;
    if (stopsFrom === 'entry') return true;
    const enteredAt = portfolio.enteredAt(strategy, symbol);
    if (enteredAt < openTime) return true;
    return stopsFrom === 'marketEntry' && enteredAt === openTime && isAtMarket(planner.standing(strategy, symbol));
  });
}

const isAtMarket = (signal: Signal | undefined): boolean =>
  signal?.want.kind === 'target' && signal.want.limit === undefined;

/** The wishes of positions that a MARKET order entered at UTC ms `at` and whose take-profit should rest from now on. */
export function withTargets(symbol: string, at: number, { portfolio, planner }: Holders): readonly Signal[] {
  return portfolio.places().flatMap((place) => {
    if (place.symbol !== symbol || portfolio.enteredAt(place.strategy, symbol) !== at) return [];
    const signal = planner.standing(place.strategy, symbol);
    if (signal?.want.kind !== 'target' || signal.want.takeProfit === undefined || signal.want.limit !== undefined)
      return [];
    return portfolio.isFlat(place.strategy, symbol) ? [] : [signal];
  });
}
