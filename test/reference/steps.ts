/** What a kline does to one market, and what is wanted there, step by step. See types.ts for what it is part of. */
import { Decimal, isFlat, type Order, openOrders, type State, sameMarket } from './account.ts';
import { stayed } from './distances.ts';
import { decided, fillStop, isBeyond, leaving, type Now, open, rest, stopHit } from './exchange.ts';
import { beginEntry, dueAt, expires, keepEven, leave, stopOf, trail } from './exits.ts';
import { firstOf, ruinAt } from './margin.ts';
import { act, firstMissing, isBare, isSameEntry, type Moment, size, sizeOf } from './plan.ts';
import { isAllTaken } from './take-profits.ts';
import type { Signal } from './types.ts';

/** The target that stands after a pause is sized anew, which is a decision of its own. */
export function enterAgain(state: State, { time, close }: Moment): void {
  const signal = state.standing;
  if (signal === undefined || 'quotes' in signal || state.sizedFor !== undefined) return;
  state.decisions.push({ time, signal });
  size(state, signal, close);
}

/** An entry that has expired is cancelled between two klines of the strategy, too. */
export function cancelExpired(state: State, moment: Moment): void {
  const { standing } = state;
  if (standing === undefined || !expires(state, moment.time)) return;
  enterAgain(state, moment);
  act(state, standing, moment, false);
}

/** What was held for as long as it may be is left. */
export function leaveInTime(state: State, moment: Moment): void {
  const { standing } = state;
  if (standing === undefined || 'quotes' in standing || isFlat(state) || state.leftAt !== undefined) return;
  if (moment.time < dueAt(state)) return;
  state.working = openOrders(state);
  leave(state, sizeOf(standing), moment.time);
  state.leavesInTime = true;
  act(state, standing, moment, false);
}

/** A kline opens: what was ordered arrives, and stops that it passes are hit. */
export function opens(all: readonly State[], at: Now): void {
  const states = all.filter(isConcerned);
  fillAll(states, () => open(states, at));
  for (const state of states)
    if (state.question.rules.targetsFrom === 'entry')
      placeTarget(state, { row: at.row, time: at.time, close: at.open }, true);
  for (const state of nearestFirst(states)) watchStop(state, at, 'open');
}

/** Orders fill, and targets among them leave positions. */
function fillAll(states: readonly State[], fill: () => void): void {
  const before = states.map(({ fills }) => fills.length);
  fill();
  for (const [index, state] of states.entries()) leaveAfterProfit(state, before[index] as number);
}

/** What happens inside a kline after its open. */
export function closes(all: readonly State[], at: Now): void {
  const states = all.filter(isConcerned);
  const fillsBefore = states.map(({ fills }) => fills.length);
  for (const state of nearestFirst(states)) watchStop(state, at, 'inside');
  const enteredBefore = states.map(({ enteredAt }) => enteredAt);
  rest(states, at);
  for (const [index, state] of states.entries()) {
    leaveAfterProfit(state, fillsBefore[index] as number);
    beginTrailing(state, at, enteredBefore[index] as number);
  }
  for (const state of nearestFirst(states)) watchStop(state, at, 'after targets');
  for (const state of states) {
    // Extremes may lie before what was entered inside the kline; its close does not.
    if (state.enteredAt <= at.time) for (const price of [at.high, at.low]) trail(state, price);
    trail(state, at.close);
  }
}

function beginTrailing(state: State, at: Now, enteredBefore: number): void {
  const { standing } = state;
  if (state.enteredAt !== enteredBefore && standing !== undefined && !('quotes' in standing)) {
    // What rested entered: its price is the first that counts, or the open where that was better.
    const { entryPrice } = state;
    trail(state, state.base.gt(0) ? Decimal.min(entryPrice, at.open) : Decimal.max(entryPrice, at.open));
  }
}

/** Orders work, or something is held. */
function isConcerned(state: State): boolean {
  state.working = openOrders(state);
  return state.working.length > 0 || !isFlat(state);
}

/** By rules that fill at closes: what was ordered arrives at the close after which it was, and so does the target of what that entered. */
export function fillAtClose(states: readonly State[], at: Now, moment: Moment): void {
  if (states[0]?.question.rules.marketAt === 'open' || states.every((state) => openOrders(state).length === 0)) return;
  fillAll(states, () => {
    decided(states, at);
    for (const state of states) placeTarget(state, moment, false);
    decided(states, at);
  });
}

/** The target of what a MARKET order has entered this very moment. */
function placeTarget(state: State, moment: Moment, inside: boolean): void {
  const { standing } = state;
  if (standing === undefined || 'quotes' in standing || standing.takeProfit === undefined) return;
  if (standing.limit === undefined && state.enteredAt === moment.time && !isFlat(state))
    act(state, standing, moment, inside);
}

/**
 * The target of what was entered since the strategy was received last. One that does not rest is asked for again 2, 16, 128 s after the try
 * before, at most ten minutes, by planned and position.
 */
export function placeLate(state: State, moment: Moment): void {
  const signal = state.standing;
  if (signal === undefined || 'quotes' in signal || signal.takeProfit === undefined || isFlat(state)) return;
  const of = { signal, position: `${state.enteredAt} ${state.base.toString()}` };
  const before =
    state.targetOf?.signal === signal && state.targetOf.position === of.position ? state.targetOf : undefined;
  if (before !== undefined && moment.time < before.nextAt) return;
  if (firstMissing(state, signal, moment.close)?.purpose !== 'takeProfit') return;
  const waitMs = before === undefined ? 2_000 : Math.min(8 * before.waitMs, 600_000);
  state.targetOf = { ...of, waitMs, nextAt: moment.time + waitMs };
  act(state, signal, moment, false);
}

/** Whether the rules let a stop be hit in this kline already. */
function isArmed({ question: { rules }, enteredAt }: State, { limit }: { readonly limit?: string }, at: Now): boolean {
  if (rules.stopsFrom === 'entry' || enteredAt < at.time) return true;
  return rules.stopsFrom === 'marketEntry' && enteredAt === at.time && limit === undefined;
}

/** A price comes to the nearest stop first: on its way down to the highest, and up to the lowest. */
function nearestFirst(states: readonly State[]): readonly State[] {
  const levels = new Map(states.map((state) => [state, isFlat(state) ? undefined : (stopOf(state) ?? ruinAt(state))]));
  const [down, up] = [states.filter(({ base }) => base.gt(0)), states.filter(({ base }) => !base.gt(0))];
  const far = (state: State): Decimal => levels.get(state) ?? new Decimal(Number.POSITIVE_INFINITY);
  return [
    ...down.toSorted((a, b) => (levels.get(b) ?? new Decimal(0)).cmp(levels.get(a) ?? new Decimal(0))),
    ...up.toSorted((a, b) => far(a).cmp(far(b))),
  ];
}

/**
 * A stop that is hit sells what is held, at once, and nothing is entered again before another quantity is wanted. So does the exchange
 * where margin is missing; quotes then give way to nothing. Looked at as the kline opens, inside it, and after resting orders had their turn.
 */
function watchStop(state: State, at: Now, when: 'open' | 'inside' | 'after targets'): void {
  const { standing } = state;
  const targetsHadTurn = when === 'after targets';
  const target = standing === undefined || 'quotes' in standing ? undefined : standing;
  if (isFlat(state) || standing === undefined) return;
  if (target !== undefined && state.leftAt !== undefined) {
    if (when === 'open') trail(state, at.open);
    return;
  }
  const known = stopOf(state);
  // The open comes first: a stop that it passes is hit there, and the others move by it before anything else does.
  if (when === 'open' && !(known !== undefined && isBeyond(leaving(state), at.open, known))) trail(state, at.open);
  const own = target !== undefined && isArmed(state, target, at) ? stopOf(state) : undefined;
  const first = firstOf(state, at, own, ruinAt(state));
  if (first === undefined) return;
  const hit = stopHit(state, first.level, at, { targetsHadTurn, hasTarget: target?.takeProfit !== undefined });
  // A stop that was armed inside the kline, beyond its open, waits for the next one.
  const isLate =
    targetsHadTurn && !first.isRuin && state.enteredAt <= at.time && isBeyond(leaving(state), at.open, first.level);
  if (hit === undefined || isLate || (!targetsHadTurn && (when === 'open') !== (hit.time === at.time))) return;
  if (first.isRuin) state.liquidating = true;
  if (first.isRuin) state.settled = false;
  if (first.isRuin) for (const one of state.pool) if (one !== state) one.ruinedAt = hit.time;
  // What a stop is hit by is the last price, of other strategies, too.
  for (const one of sameMarket(state)) one.last = hit.price;
  const here: Moment = { row: at.row, time: hit.time, close: hit.price };
  const signal = target ?? giveUp(state, here);
  leave(state, sizeOf(signal), hit.time);
  state.leavesInTime = false;
  const order = act(state, signal, here, true);
  if (order === undefined) return;
  if (hit.ambiguous || first.inDoubt) state.ambiguousRows.add(at.row);
  fillStop(state, order, { ...hit, ambiguous: hit.ambiguous || first.inDoubt }, at);
  // Of what the volume did not give the open is the first price after the exit was decided.
  if (hit.time === at.time) trail(state, at.open);
  // What the kline's volume did not give is asked for again at once; that order arrives at the next open.
  act(state, signal, here, true);
}

/** The exchange has left another market's position: it leaves this one at the market, too, and nothing is entered any more. */
export function leaveRuined(state: State, moment: Moment): void {
  state.ruinedAt = undefined;
  const { standing } = state;
  if (isFlat(state) && standing === undefined) return;
  state.working = openOrders(state);
  if (!isFlat(state)) state.liquidating = true;
  const signal = standing === undefined || 'quotes' in standing ? giveUp(state, moment) : standing;
  leave(state, sizeOf(signal), moment.time);
  state.leavesInTime = false;
  act(state, signal, moment, false);
}

/** In place of quotes nothing is wanted. */
function giveUp(state: State, moment: Moment): Signal {
  const signal = { quantity: '0' };
  want(state, signal, moment);
  return signal;
}

/** Something else is wanted. */
function want(state: State, signal: Signal, { time, close }: Moment): void {
  state.decisions.push({ time, signal });
  follow(state, signal);
  size(state, signal, close);
  if (state.standing === undefined || !isSameEntry(state.standing, signal)) beginEntry(state, signal, time);
  state.standing = signal;
}

/** A strategy has said something; what it says already is nothing new. */
export function hear(state: State, signal: Signal, moment: Moment): void {
  if (JSON.stringify(signal) === JSON.stringify(state.standing)) return;
  want(state, signal, moment);
  state.settled = false;
}

/**
 * A target that filled wholly in this kline leaves the position as a stop does. It may be of a former planned, since cancels take time: where
 * that was for the other side, nothing of the present one is taken.
 */
function leaveAfterProfit(state: State, fillsBefore: number): void {
  const { standing } = state;
  if (standing === undefined) return;
  const size = sizeOf(standing);
  for (const { order, quantity, side, time } of state.fills.slice(fillsBefore)) {
    const { purpose, state: ending } = (state.orders.find(({ row }) => row.number === order) as Order).row;
    if (purpose !== 'takeProfit') continue;
    const isOther = side === 'SELL' ? size.startsWith('-') : size !== '' && size !== '0' && !size.startsWith('-');
    if (isOther) continue;
    state.taken = state.taken.plus(quantity);
    if ('quotes' in standing || ending !== 'filled' || !isAllTaken(state)) continue;
    leave(state, size, time);
  }
}

/** Levels of the same quantity may move; another quantity, none too, starts afresh; while leaving, the old stop stays in force. */
function follow(state: State, signal: Signal): void {
  if ('quotes' in signal) return;
  const size = sizeOf(signal);
  if (state.levelsOf !== size) state.taken = new Decimal(0);
  state.levelsOf = size;
  const bare = isBare(signal);
  if (bare && size === '0' && !isFlat(state) && state.leftAt === undefined) return;
  keepEven(state);
  state.exits = signal;
  if (!isFlat(state)) state.frozen = stayed(state.frozen, signal);
  const mustBeLeft = state.pausesUntil !== undefined && !isFlat(state);
  if (state.leftAt !== size && !mustBeLeft) state.leftAt = undefined;
}
