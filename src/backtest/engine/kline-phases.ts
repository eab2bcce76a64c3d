/** What a kline does on the live graph, phase by phase: the venue fills by it before anybody sees it (fill-engine §2.2). */
import type { SimClock } from '../../clock/sim-clock.ts';
import type { Kline } from '../../domain/market.ts';
import { priceNumber } from '../../domain/money.ts';
import type { Signal } from '../../domain/order.ts';
import type { Stop } from '../../fill/orders.ts';
import type { Rules } from '../../fill/rules.ts';
import { isGapped } from '../../fill/stops.ts';
import type { ArmedStop } from '../../portfolio/protection.ts';
import type { PaperMarket } from '../../venue/paper/on-klines.ts';
import { armedStops, trailClose, trailEntry, trailOpen, withSoon, withTargets } from './entry-kline.ts';
import type { MarginDesk } from './margin.ts';
import type { RecordedDesk } from './recorded-trader.ts';

/** Who trades, and who moves time. */
export interface Stage {
  readonly clock: SimClock;
  readonly assembled: RecordedDesk;
  readonly rules: Pick<Rules, 'marketAt' | 'stopsFrom' | 'targetsFrom'>;
  /** Takes a standing wish to be carried out again. */
  readonly again: (signal: Signal) => void;
  /** Where strategies may borrow. */
  readonly margin?: MarginDesk | undefined;
}

/** A symbol and the klines by which its orders fill. */
export interface Phased {
  readonly market: PaperMarket;
  readonly symbol: string;
}

/** Orders work or positions are guarded: the kline goes through the fill phases. */
export const isActive = ({ assembled, margin }: Stage, { market, symbol }: Phased): boolean =>
  !market.idle || assembled.protection.guards(symbol) || margin?.isAtRisk(symbol) === true;

/** Positions that were held for as long as they may be; undefined when there is none. */
export function leaveOverdue({ assembled, clock }: Stage, { symbol }: Phased, kline: Kline): Promise<void> | undefined {
  const overdue = assembled.protection.overdue(symbol, kline.seenAt);
  if (overdue.length === 0) return undefined;
  for (const place of overdue) assembled.hitStop(place, place.why);
  return clock.settleSoon();
}

export function close({ assembled, clock, margin }: Stage, { symbol }: Phased, kline: Kline): void {
  clock.skipTo(kline.seenAt);
  assembled.portfolio.mark(symbol, kline.close, kline.seenAt);
  margin?.charge(symbol, kline.seenAt);
}

export function watchLoss({ assembled, clock }: Pick<Stage, 'clock' | 'assembled'>): Promise<void> | undefined {
  const kill = assembled.risk.watchLoss();
  if (kill === undefined) return undefined;
  // Its cancels may take klines to arrive: whoever moves time cannot wait for them.
  void clock.track(assembled.kill(kill));
  return clock.settleSoon();
}

/** The kline opens: orders that were waiting arrive, and stops that it passes are hit; undefined when nothing asynchronous came of it. */
export function openPhase(stage: Stage, { market, symbol }: Phased, kline: Kline): Promise<void> | undefined {
  const { clock, rules } = stage;
  clock.skipTo(kline.openTime);
  if (!market.idle) market.open(kline);
  const arriving = clock.busy ? clock.settleSoon() : undefined;
  const place = (): Promise<void> => placeTargets(stage, symbol, kline.openTime, kline.open);
  const placed = rules.targetsFrom !== 'entry' ? arriving : arriving === undefined ? place() : arriving.then(place);
  // To wait once more would cost as much as a phase.
  if (stage.margin === undefined && !stage.assembled.protection.guards(symbol)) return placed;
  const pass = async (): Promise<void> => {
    const passed = stopsIn(stage, kline).filter((stop) => isPassed(stage, kline, stop));
    if (passed.length > 0) await hitStops(stage, market, kline, passed);
    trailOpen(symbol, kline, stage.assembled);
  };
  return placed === undefined ? pass() : placed.then(pass);
}

/** Rules that fill at the close decided on: what was ordered arrives, and so do the targets of what that entered. */
export function decidedPhase(stage: Stage, { market, symbol }: Phased, kline: Kline): Promise<void> | undefined {
  if (stage.rules.marketAt === 'open' || market.idle) return undefined;
  market.decided(kline);
  return stage.clock
    .settleSoon()
    .then(() => placeTargets(stage, symbol, kline.seenAt, kline.close))
    .then(() => {
      market.decided(kline);
      return stage.clock.settleSoon();
    });
}

async function placeTargets({ assembled, clock, again }: Stage, symbol: string, at: number, price: number) {
  for (const signal of withTargets(symbol, at, assembled)) {
    assembled.portfolio.mark(symbol, price, at);
    again(signal);
    await clock.settleSoon();
  }
}

/** Stops, then what rests; undefined where there is neither any more, as after the fill of a MARKET order. */
export function restPhases(stage: Stage, phased: Phased, kline: Kline): Promise<void> | undefined {
  stage.clock.skipTo(kline.seenAt - 1);
  if (stage.margin !== undefined || isActive(stage, phased)) return stopsAndRest(stage, phased, kline);
  phased.market.close();
  return undefined;
}

async function stopsAndRest(stage: Stage, { market, symbol }: Phased, kline: Kline): Promise<void> {
  const { assembled, clock } = stage;
  const inside = stopsIn(stage, kline).filter((stop) => !isPassed(stage, kline, stop));
  await hitStops(stage, market, kline, inside);
  if (!market.idle) {
    market.rest(kline);
    await clock.settleSoon();
    trailEntry(symbol, kline, assembled);
    await hitStops(stage, market, kline, stopsIn(stage, kline));
  }
  market.close();
  trailClose(symbol, kline, assembled);
}

function stopsIn({ assembled, rules, margin }: Stage, kline: Kline): readonly (ArmedStop & Stop)[] {
  const armed = armedStops(kline.symbol, kline.openTime, rules, assembled);
  const stops = margin === undefined ? armed : margin.stops(kline, armed);
  return stops.map((stop) => withSoon(stop, kline.openTime, rules, assembled));
}

const isPassed = ({ assembled }: Stage, kline: Kline, stop: Stop): boolean =>
  isGapped(kline, stop, assembled.portfolio.instrument(kline.symbol));

async function hitStops(
  { assembled, clock, margin }: Stage,
  market: PaperMarket,
  kline: Kline,
  stops: readonly (ArmedStop & Stop)[],
): Promise<void> {
  if (stops.length === 0) return;
  const { portfolio } = assembled;
  const at = portfolio.instrument(kline.symbol);
  for (const hit of market.triggers(kline, stops)) {
    const stop = stops.find(({ strategy }) => strategy === hit.strategy);
    if (stop === undefined) continue;
    const price = priceNumber(hit.price, at);
    if (stop.liquidation !== undefined && margin !== undefined) margin.leave(stop.strategy, stop.symbol, price);
    else {
      portfolio.mark(kline.symbol, price, clock.now());
      assembled.hitStop(stop, stopReason(price));
    }
    await clock.settleSoon();
  }
}

export const stopReason = (price: number): string => `stop hit, leaving at ${price}`;
