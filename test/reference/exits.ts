/** Where and when a position is left, worked out each time from the target that counts, the position, and the best price since its entry. */
import { Decimal, isFlat, roundTo, type State } from './account.ts';
import type { Distance, Level, Signal } from './types.ts';

/** The average price of what is held, to the nearest tick. */
const entryOf = ({ cost, base, question }: State): Decimal =>
  cost.div(base).toDecimalPlaces(question.instrument.pricePrecision, Decimal.ROUND_HALF_UP);

const distanceOf = ({ frozen }: State, exit: string, { distance, moving }: Distance): Decimal =>
  new Decimal(moving === true ? distance : (frozen[exit] ?? distance));

const away = (state: State, from: Decimal, by: Decimal, isUp: boolean): Decimal =>
  roundTo(isUp ? from.plus(by) : from.minus(by), state.question.instrument.pricePrecision, isUp ? 'up' : 'down');

/** The price of a level while something is held. */
function priceOf(state: State, exit: string, level: Level, isProfit: boolean): Decimal {
  if (typeof level === 'string') return roundTo(new Decimal(level), state.question.instrument.pricePrecision, 'down');
  const entry = entryOf(state);
  const by = 'fromEntry' in level ? entry.times(level.fromEntry) : distanceOf(state, exit, level);
  return away(state, entry, by, state.base.gt(0) === isProfit);
}

/** A price that a trailing stop, or one at the entry, sees. */
export function trail(state: State, price: Decimal): void {
  if (isFlat(state) || (state.exits?.trailing ?? state.exits?.breakEven) === undefined) return;
  const before = state.best?.of === state.enteredAt ? state.best.price : price;
  const best = state.base.gt(0) ? Decimal.max(before, price) : Decimal.min(before, price);
  state.best = { of: state.enteredAt, price: best };
  keepEven(state);
}

/** Once the best price was far enough from the entry, the stop at it stays, wherever the entry moves. */
export function keepEven(state: State): void {
  const { exits, best, base, enteredAt } = state;
  if (exits?.breakEven === undefined || isFlat(state) || best?.of !== enteredAt) return;
  // While it is being left no stop is in force.
  if (state.leftAt !== undefined) return;
  const { after, plus } = exits.breakEven;
  const isLong = base.gt(0);
  const entry = entryOf(state);
  const profit = isLong ? best.price.minus(entry) : entry.minus(best.price);
  if (profit.lt(typeof after === 'string' ? entry.times(after) : distanceOf(state, 'after', after))) return;
  const price = away(state, entry, entry.times(plus ?? 0), isLong);
  const before = state.even?.of === enteredAt ? state.even.price : price;
  state.even = { of: enteredAt, price: isLong ? Decimal.max(before, price) : Decimal.min(before, price) };
}

/** The nearest of the fixed stop, the trailing one and the one at the entry. */
export function stopOf(state: State): Decimal | undefined {
  const { exits, best, base, enteredAt } = state;
  if (exits === undefined || isFlat(state)) return undefined;
  keepEven(state);
  const isLong = base.gt(0);
  const { stop, trailing, breakEven } = exits;
  const stops = stop === undefined ? [] : [priceOf(state, 'stop', stop, false)];
  if (trailing !== undefined && best?.of === enteredAt) {
    const by = typeof trailing === 'string' ? best.price.times(trailing) : distanceOf(state, 'trailing', trailing);
    stops.push(away(state, best.price, by, !isLong));
  }
  if (breakEven !== undefined && state.even?.of === enteredAt) stops.push(state.even.price);
  if (stops.length === 0) return undefined;
  return isLong ? Decimal.max(...stops) : Decimal.min(...stops);
}

/** The take-profits while something is held, the nearest first; the last of shares that are one together takes all that is left. */
export function takeProfitsOf(
  state: State,
): readonly { readonly price: Decimal; readonly share: Decimal | undefined }[] {
  const { exits } = state;
  if (exits?.takeProfit === undefined || state.base.isZero()) return [];
  const { takeProfit } = exits;
  const several = Array.isArray(takeProfit) ? takeProfit : [{ at: takeProfit as Level, share: '1' }];
  const isShort = state.base.lt(0);
  const sorted = several
    .map(({ at, share }, index) => ({
      price: priceOf(state, Array.isArray(takeProfit) ? `takeProfit ${index}` : 'takeProfit', at, true),
      share,
    }))
    .sort((a, b) => (isShort ? b.price.cmp(a.price) : a.price.cmp(b.price)));
  const isAll = Decimal.sum(...sorted.map(({ share }) => share)).gte(1);
  return sorted.map(({ price, share }, index) => ({
    price,
    share: isAll && index === sorted.length - 1 ? undefined : new Decimal(share),
  }));
}

/** The time of an entry begins. */
export function beginEntry(state: State, signal: Signal, time: number): void {
  const { expiresAfterMs, expiresAfterKlines } = 'quotes' in signal ? {} : signal;
  const ms = msOf(state, expiresAfterMs, expiresAfterKlines);
  state.expiresAt = ms === undefined ? undefined : time + ms;
  if (state.isExpired) state.settled = false;
  state.isExpired = false;
  state.movedTo = undefined;
}

/** True once an entry has just expired. */
export function expires(state: State, time: number): boolean {
  if (state.expiresAt === undefined || time < state.expiresAt) return false;
  state.expiresAt = undefined;
  state.isExpired = true;
  state.settled = false;
  return true;
}

/** A time in ms, which may be given in klines of the strategy. */
const msOf = ({ question }: State, ms: number | undefined, klines: number | undefined): number | undefined =>
  ms ?? (klines === undefined ? undefined : klines * (question.decidesEveryMs ?? question.intervalMs));

const dayMs = 86_400_000;

/** From when on the position is left at a close; never where no time is set. */
export function dueAt(state: State): number {
  const { exits, enteredAt } = state;
  if (exits === undefined) return Number.POSITIVE_INFINITY;
  const { exitAfterMs, exitAfterKlines, exitAt } = exits;
  const held = msOf(state, exitAfterMs, exitAfterKlines) ?? Number.POSITIVE_INFINITY;
  if (exitAt === undefined) return enteredAt + held;
  const [hours = 0, minutes = 0] = exitAt.split(':').map(Number);
  let at = Math.floor(enteredAt / dayMs) * dayMs + (hours * 60 + minutes) * 60_000;
  while (at <= enteredAt) at += dayMs;
  return Math.min(enteredAt + held, at);
}

/** Protection leaves what is held under the planned size, at `time`: from then on its pause counts, where it has one. */
export function leave(state: State, size: string, time: number): void {
  state.leftAt = size;
  state.settled = false;
  state.best = undefined;
  const pause = msOf(state, state.exits?.reenterAfterMs, state.exits?.reenterAfterKlines);
  state.pausesUntil = pause === undefined ? undefined : time + pause;
}

/** After the pause, and once nothing is held, the target may enter again, with a size of its own. */
export function endPause(state: State, time: number): void {
  if (state.pausesUntil === undefined || time < state.pausesUntil || !isFlat(state)) return;
  state.pausesUntil = undefined;
  state.leftAt = undefined;
  state.taken = new Decimal(0);
  state.sizedFor = undefined;
  state.settled = false;
  if (state.standing !== undefined) beginEntry(state, state.standing, time);
}
