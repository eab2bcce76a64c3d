/** The protection of one position: the levels of a target, the resulting stop, and their form in the journal. */
import type { Side } from '../domain/market.ts';
import {
  greatest,
  type Lots,
  least,
  lots,
  noLots,
  priceNumber,
  priceText,
  quantityText,
  type Rate,
  rate,
  rateText,
  type Ticks,
  ticks,
  worsened,
} from '../domain/money.ts';
import type { Size } from '../domain/order.ts';
import type { Place } from './positions.ts';

/** A stop in force. */
export interface ArmedStop {
  readonly strategy: string;
  readonly symbol: string;
  /** The side of the order that would leave: SELL for a long position. */
  readonly side: Side;
  readonly price: Ticks;
}

/** A position as far as protection has to know it. */
export type GuardedPlace = Pick<
  Place,
  'strategy' | 'instrument' | 'version' | 'entries' | 'enteredAt' | 'isFlat' | 'isEmpty' | 'isLong'
>;

export interface Guard {
  readonly place: GuardedPlace;
  /** The target's size that these levels belong to; undefined where a journal has none. */
  size: Size | undefined;
  /** What a take-profit has sold of it. */
  taken: Lots;
  stop: Ticks | undefined;
  takeProfit: Ticks | undefined;
  trailing: Rate | undefined;
  /** How long the position may be held, ms. */
  exitAfterMs: number | undefined;
  /** The best price since the position was entered, for a trailing stop, and which position that was: the next one starts anew. */
  best: Ticks | undefined;
  entry: number;
  /** The price that gave `best`, as it was seen; NaN where nobody knows it. */
  seen: number;
  /** The size under which the position was left; while the strategy repeats it nothing is entered. */
  leftSize: Size | undefined;
  leftWhy: string | undefined;
  /** The stop in force at a version of its place, worked out once; `reach` is its price as a number, NaN where there is none. */
  armed: ArmedStop | undefined;
  reach: number;
  armedAt: number;
}

export type SavedGuard = Readonly<Record<string, string | number | boolean>>;

/** Ms by which prints may be dated too early: exchanges give times in whole seconds. */
const roundedMs = 1_000;

/** No version of a place. */
export const notYet = -1;
export const unarmed = { seen: Number.NaN, armed: undefined, reach: Number.NaN, armedAt: notYet };

/** Works out the stop of a guard, unless it is known: the nearer of the fixed and the trailing level. */
export function arm(guard: Guard): void {
  const { place, stop, trailing } = guard;
  if (guard.armedAt === place.version) return;
  guard.armedAt = place.version;
  guard.armed = undefined;
  guard.reach = Number.NaN;
  if (guard.leftSize !== undefined || place.isFlat) return;
  const side: Side = place.isLong ? 'SELL' : 'BUY';
  const best = bestOf(guard);
  const trailed = trailing === undefined || best === undefined ? undefined : worsened(side, best, trailing);
  const nearer = side === 'SELL' ? greatest : least;
  const price = stop === undefined || trailed === undefined ? (stop ?? trailed) : nearer(stop, trailed);
  if (price === undefined) return;
  guard.armed = { strategy: place.strategy, symbol: place.instrument.symbol, side, price };
  guard.reach = priceNumber(price, place.instrument);
}

/** The best price that was seen of the position held now; that of a position before it counts no more. */
export const bestOf = ({ best, place, entry }: Guard): Ticks | undefined =>
  best === undefined || entry !== place.entries || place.isFlat ? undefined : best;

/** When a position will have been held for as long as it may be, UTC ms; infinity where that is not limited. */
export const exitTime = ({ exitAfterMs, leftSize, place }: Guard): number =>
  exitAfterMs === undefined || leftSize !== undefined || place.isFlat
    ? Number.POSITIVE_INFINITY
    : place.enteredAt + exitAfterMs;

/** True of a print from before the position was entered; both times are the exchange's. */
export const isBefore = (time: number, { enteredAt }: GuardedPlace): boolean => time + roundedMs < enteredAt;

export function saved(guard: Guard): SavedGuard {
  const at = guard.place.instrument;
  const out: Record<string, string> = { size: guard.size === undefined ? '' : JSON.stringify(guard.size) };
  if (guard.taken > 0n) out['taken'] = quantityText(guard.taken, at);
  if (guard.stop !== undefined) out['stop'] = priceText(guard.stop, at);
  if (guard.takeProfit !== undefined) out['takeProfit'] = priceText(guard.takeProfit, at);
  if (guard.best !== undefined) out['best'] = priceText(guard.best, at);
  if (guard.trailing !== undefined) out['trailing'] = rateText(guard.trailing);
  if (guard.exitAfterMs !== undefined) out['exitAfterMs'] = String(guard.exitAfterMs);
  if (guard.leftSize !== undefined) out['leftSize'] = JSON.stringify(guard.leftSize);
  if (guard.leftWhy !== undefined) out['leftWhy'] = guard.leftWhy;
  return out;
}

const sizeOf = (text: string | undefined): Size | undefined =>
  text === undefined || text === '' ? undefined : (JSON.parse(text) as Size);

/** A guard from a journal; levels that are finer than the exchange takes now are rounded down. */
export function restored(saved: SavedGuard, place: GuardedPlace): Guard {
  const at = place.instrument;
  const text = (name: string): string | undefined => (saved[name] === undefined ? undefined : String(saved[name]));
  const level = (name: string): Ticks | undefined => {
    const price = text(name);
    return price === undefined ? undefined : ticks(price, at, 'down');
  };
  const [trailing, taken] = [text('trailing'), text('taken')];
  return {
    place,
    size: sizeOf(text('size')),
    taken: taken === undefined ? noLots : lots(taken, at, 'down'),
    ...{ stop: level('stop'), takeProfit: level('takeProfit'), best: level('best') },
    entry: place.entries,
    trailing: trailing === undefined ? undefined : rate(trailing),
    exitAfterMs: saved['exitAfterMs'] === undefined ? undefined : Number(saved['exitAfterMs']),
    ...{ leftSize: sizeOf(text('leftSize')), leftWhy: text('leftWhy') },
    ...unarmed,
  };
}
