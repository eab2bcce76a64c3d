/**
 * What a kline does to orders and positions, phase by phase: orders fill by it before anybody sees it (`fill/kline-fills.ts`). Each phase is
 * a generator that yields where orders may have been started: whoever runs it lets them be carried out before it goes on.
 */
import type { SimClock } from '../../clock/sim-clock.ts';
import type { Kline } from '../../domain/market.ts';
import { priceNumber } from '../../domain/money.ts';
import type { Leg } from '../../domain/order.ts';
import type { Stop } from '../../fill/orders.ts';
import type { Rules } from '../../fill/rules.ts';
import { isGapped } from '../../fill/stops.ts';
import type { ArmedStop } from '../../portfolio/protection.ts';
import type { Assembled } from '../../trading/assemble.ts';
import type { PaperMarket } from '../../venue/paper/on-klines.ts';
import { armedStops, trailClose, trailEntry, trailOpen, withSoon, withTargets } from './entry-kline.ts';
import type { MarginAccounts } from './margin.ts';

/** Who trades, and who moves time. */
export interface Stage {
  readonly clock: SimClock;
  readonly assembled: Pick<Assembled, 'portfolio' | 'planner' | 'protection' | 'hitStop'>;
  readonly rules: Pick<Rules, 'marketAt' | 'stopsFrom' | 'targetsFrom'>;
  /** Carries out a standing signal again. */
  readonly again: (leg: Leg) => void;
  /** Where strategies may borrow. */
  readonly margin?: MarginAccounts | undefined;
}

/** A symbol and the klines by which its orders fill. */
export interface Phased {
  readonly market: PaperMarket;
  readonly symbol: string;
}

type Phase = Generator<undefined, void, void>;

/** Orders work or positions are guarded: the kline goes through the fill phases. */
export const isActive = ({ assembled, margin }: Stage, { market, symbol }: Phased): boolean =>
  !market.fills.idle || assembled.protection.guards(symbol) || margin?.isAtRisk(symbol) === true;

/** Positions that were held for as long as they may be. */
export function* exitOverdue({ assembled }: Stage, { symbol }: Phased, kline: Kline): Phase {
  for (const strategy of assembled.protection.release(symbol, kline.seenAt))
    assembled.planner.sizeAnew(strategy, symbol, kline.seenAt);
  for (const one of byStrategy(assembled.protection.overdue(symbol, kline.seenAt), symbol, assembled)) {
    assembled.hitStop(one, one.why);
    yield;
  }
}

/** The kline opens: orders that were waiting arrive, and stops that it passes are hit. */
export function* openPhase(stage: Stage, phased: Phased, kline: Kline): Phase {
  yield* opening(stage, phased, kline);
  // Klines of other series may close before this one does, and what is decided then is ordered between the phases.
  phased.market.pause();
}

function* opening(stage: Stage, { market, symbol }: Phased, kline: Kline): Phase {
  const { clock, rules, assembled, margin } = stage;
  clock.skipTo(kline.openTime);
  if (!market.fills.idle) {
    market.open(kline);
    yield;
  }
  if (rules.targetsFrom === 'entry') yield* placeTargets(stage, symbol, kline.openTime, kline.open);
  if (margin === undefined && !assembled.protection.guards(symbol)) return;
  const stops = stopsIn(stage, symbol, kline);
  if (stops.length > 0) {
    const passed = stops.filter((stop) => isPassed(stage, symbol, kline, stop));
    yield* hitStops(stage, { market, symbol }, kline, passed);
  }
  trailOpen(symbol, kline, assembled);
}

/** Rules that fill at the close decided on: what was ordered arrives, and so do the targets of what that entered. */
export function* decidedPhase(stage: Stage, { market, symbol }: Phased, kline: Kline): Phase {
  if (stage.rules.marketAt === 'open' || market.fills.idle) return;
  market.decided(kline);
  yield;
  yield* placeTargets(stage, symbol, kline.seenAt, kline.close);
  market.decided(kline);
  yield;
}

/** Stops inside the kline, then what rests, then the stops of what that entered; and the kline is over. */
export function* restPhases(stage: Stage, { market, symbol }: Phased, kline: Kline): Phase {
  const { assembled, clock, margin } = stage;
  clock.skipTo(kline.seenAt - 1);
  market.goOn();
  if (margin !== undefined || isActive(stage, { market, symbol })) {
    const stops = stopsIn(stage, symbol, kline);
    if (stops.length > 0) {
      const inside = stops.filter((stop) => !isPassed(stage, symbol, kline, stop));
      yield* hitStops(stage, { market, symbol }, kline, inside);
    }
    if (!market.fills.idle) {
      market.rest(kline);
      yield;
      trailEntry(symbol, kline, assembled);
      const left = stopsIn(stage, symbol, kline);
      if (left.length > 0) {
        const due = left.filter((stop) => !isPassed(stage, symbol, kline, stop) || isEnteredIn(stage, kline, stop));
        yield* hitStops(stage, { market, symbol }, kline, due);
      }
    }
  }
  market.pause();
  trailClose(symbol, kline, assembled);
}

function* placeTargets({ assembled, again }: Stage, symbol: string, at: number, price: number): Phase {
  for (const leg of withTargets(symbol, at, assembled)) {
    assembled.portfolio.mark(symbol, price, at);
    again(leg);
    yield;
  }
}

const noStops: readonly (ArmedStop & Stop)[] = [];

function stopsIn({ assembled, rules, margin }: Stage, symbol: string, kline: Kline): readonly (ArmedStop & Stop)[] {
  // Most klines reach no stop.
  if (margin === undefined && !assembled.protection.isStopReached(symbol, kline)) return noStops;
  const armed = armedStops(symbol, kline.openTime, rules, assembled);
  const stops = margin === undefined ? armed : margin.stops(kline, armed);
  return stops.length === 0 ? stops : stops.map((stop) => withSoon(stop, kline.openTime, rules, assembled));
}

/**
 * A stop that the open has passed and that was armed after it, between two closes of a larger kline, waits for the next open: no earlier price is
 * known. What this kline has entered is left in it.
 */
const isEnteredIn = (
  { assembled }: Stage,
  { openTime }: Kline,
  { strategy, symbol, liquidation }: ArmedStop & Stop,
): boolean => liquidation !== undefined || assembled.portfolio.enteredAt(strategy, symbol) > openTime;

const isPassed = ({ assembled }: Stage, symbol: string, kline: Kline, stop: Stop): boolean =>
  isGapped(kline, stop, assembled.portfolio.instrument(symbol));

function* hitStops(
  { assembled, clock, margin }: Stage,
  { market, symbol }: Phased,
  kline: Kline,
  stops: readonly (ArmedStop & Stop)[],
): Phase {
  if (stops.length === 0) return;
  const { portfolio } = assembled;
  const at = portfolio.instrument(symbol);
  for (const hit of market.triggers(kline, nearestFirst(byStrategy(stops, symbol, assembled)))) {
    const stop = stops.find(({ strategy }) => strategy === hit.strategy);
    if (stop === undefined) continue;
    const price = priceNumber(hit.price, at);
    if (stop.liquidation !== undefined && margin !== undefined) margin.liquidateAll(stop.strategy, stop.symbol, price);
    else {
      portfolio.mark(symbol, price, clock.now());
      assembled.hitStop(stop, stopReason(price));
    }
    yield;
  }
}

/** In the order in which a run has its strategies: what comes first takes first of a kline's volume. */
function byStrategy<T extends { readonly strategy: string }>(
  all: readonly T[],
  symbol: string,
  { portfolio }: Stage['assembled'],
): readonly T[] {
  if (all.length < 2) return all;
  const order = portfolio.subAccountsOn(symbol).map(({ strategy }) => strategy);
  return all.toSorted((a, b) => order.indexOf(a.strategy) - order.indexOf(b.strategy));
}

/**
 * A price comes to the nearest stop first: on its way down to the highest, and up to the lowest. Live, and over trades or books, stops that one price
 * reaches are ordered as they were armed instead: each is an order of its own at that price, so the order hardly matters.
 */
function nearestFirst<T extends Stop>(stops: readonly T[]): readonly T[] {
  if (stops.length < 2) return stops;
  return stops.toSorted((a, b) => {
    if (a.side !== b.side) return a.side === 'SELL' ? -1 : 1;
    return Number(a.side === 'SELL' ? b.price - a.price : a.price - b.price);
  });
}

export const stopReason = (price: number): string => `stop hit, exit at ${price}`;
