/** The loop of the reference, kline by kline. See types.ts for what it is. */
import { begun, Decimal, free, isFlat, type Order, openOrders, type State } from './account.ts';
import { stayed } from './distances.ts';
import { closeAtEnd, decided, fillStop, isBeyond, leaving, type Now, now, open, rest, stopHit } from './exchange.ts';
import { dueAt, endPause, keepEven, leave, stopOf, trail } from './exits.ts';
import { factsAfter } from './facts.ts';
import { firstOf, payInterest, ruinAt } from './margin.ts';
import { act, isBare, type Moment, plannedOrders, size, sizeOf } from './plan.ts';
import { isAllTaken } from './take-profits.ts';
import type { Answer, Facts, Kline, Question, Signal } from './types.ts';
import { signalAfter } from './wants.ts';

export function reference(question: Question): Answer {
  const state = begun(question);
  const { klines, intervalMs, strategy, instrument, decidesEveryMs } = question;
  let flows = question.cashFlows ?? [];
  let standing: Signal | undefined;
  for (const [row, kline] of klines.entries()) {
    const before = row === 0 ? kline : (klines[row - 1] as Kline);
    // What is left of its volume goes through all that happens in it.
    const at = now(state, row, kline);
    standing = trade(state, standing, at, before.close);
    payInterest(state, kline.time + intervalMs, kline);
    flows = payFlows(state, flows, kline.time + intervalMs);
    leaveInTime(state, standing, { row, time: kline.time + intervalMs, close: new Decimal(kline.close) });
    const time = kline.time + intervalMs;
    const isAsked = decidesEveryMs === undefined || time % decidesEveryMs === 0;
    endPause(state, time);
    // Saying nothing repeats what was said last.
    const facts = (): Facts => factsAfter(state, row);
    const said = isAsked ? signalAfter(strategy, klines, row, instrument.pricePrecision, facts) : undefined;
    const signal = said ?? standing;
    if (signal === undefined) continue;
    if (JSON.stringify(signal) !== JSON.stringify(standing)) {
      state.decisions.push({ time, signal });
      follow(state, signal);
      size(state, signal, new Decimal(kline.close));
      standing = signal;
      state.settled = false;
    }
    const moment: Moment = { row, time, close: new Decimal(kline.close) };
    if (isAsked) {
      enterAgain(state, signal, moment);
      act(state, signal, moment, false);
    }
    if (decidesEveryMs !== undefined) placeLate(state, signal, moment);
    if (question.rules.marketAt === 'open' || openOrders(state).length === 0) continue;
    const fillsBefore = state.fills.length;
    decided(state, at);
    placeTarget(state, signal, moment, false);
    decided(state, at);
    leaveAfterProfit(state, signal, fillsBefore);
  }
  const last = klines.at(-1);
  if (question.rules.closeAtEnd && last !== undefined) closeAtEnd(state, now(state, klines.length - 1, last));
  return answer(state);
}

/** Pays what is due by `time` and gives what is left to pay. */
function payFlows(state: State, flows: NonNullable<Question['cashFlows']>, time: number): typeof flows {
  for (const { amount } of flows.filter((flow) => flow.time <= time)) {
    state.working = openOrders(state);
    if (free(state, 'BUY').plus(amount).lt(0)) continue;
    state.cash = state.cash.plus(amount);
    state.paidIn = state.paidIn.plus(amount);
    state.settled = false;
  }
  return flows.filter((flow) => flow.time > time);
}

/** The target that stands after a pause is sized anew, which is a decision of its own. */
function enterAgain(state: State, signal: Signal, { time, close }: Moment): void {
  if ('quotes' in signal || state.sizedFor !== undefined) return;
  state.decisions.push({ time, signal });
  size(state, signal, close);
}

/** What was held for as long as it may be is left. */
function leaveInTime(state: State, standing: Signal | undefined, moment: Moment): void {
  if (standing === undefined || 'quotes' in standing || isFlat(state) || state.leftAt !== undefined) return;
  if (moment.time < dueAt(state)) return;
  state.working = openOrders(state);
  leave(state, sizeOf(standing), moment.time);
  state.leavesInTime = true;
  act(state, standing, moment, false);
}

/** What happens inside one kline; gives what is wanted after it, which a liquidation changes. */
function trade(state: State, standing: Signal | undefined, at: Now, lastClose: number): Signal | undefined {
  state.working = openOrders(state);
  if (state.working.length === 0 && isFlat(state)) return standing;
  let fillsBefore = state.fills.length;
  const { row } = at;
  const moment: Moment = { row, time: at.lastMs, close: new Decimal(lastClose) };
  open(state, at);
  leaveAfterProfit(state, standing, fillsBefore);
  fillsBefore = state.fills.length;
  if (state.question.rules.targetsFrom === 'entry')
    placeTarget(state, standing, { row, time: at.time, close: at.open }, true);
  const left = watchStop(state, standing, at, { ...moment, targetsHadTurn: false });
  const enteredBefore = state.enteredAt;
  rest(state, at);
  leaveAfterProfit(state, left, fillsBefore);
  if (state.enteredAt !== enteredBefore && left !== undefined && !('quotes' in left)) {
    // What rested entered: its price is the first that counts, or the open where that was better.
    const { entryPrice } = state;
    trail(state, state.base.gt(0) ? Decimal.min(entryPrice, at.open) : Decimal.max(entryPrice, at.open));
  }
  const then = watchStop(state, left, at, { ...moment, targetsHadTurn: true });
  // Extremes may lie before what was entered inside the kline; its close does not.
  if (state.enteredAt <= at.time) for (const price of [at.high, at.low]) trail(state, price);
  trail(state, at.close);
  return then;
}

/** The target of what a MARKET order has entered this very moment. */
function placeTarget(state: State, standing: Signal | undefined, moment: Moment, inside: boolean): void {
  if (standing === undefined || 'quotes' in standing || standing.takeProfit === undefined) return;
  if (standing.limit === undefined && state.enteredAt === moment.time && !isFlat(state))
    act(state, standing, moment, inside);
}

/**
 * The target of what was entered since the strategy was received last. One that does not rest is asked for again 2, 16, 128 s after the try
 * before, at most ten minutes, by planned and position.
 */
function placeLate(state: State, signal: Signal, moment: Moment): void {
  if ('quotes' in signal || signal.takeProfit === undefined || isFlat(state)) return;
  const of = { signal, position: `${state.enteredAt} ${state.base.toString()}` };
  if (openOrders(state).length > 0) return;
  const before =
    state.targetOf?.signal === signal && state.targetOf.position === of.position ? state.targetOf : undefined;
  if (before !== undefined && moment.time < before.nextAt) return;
  const [first] = plannedOrders(state, signal, moment.close);
  if (first?.purpose !== 'takeProfit') return;
  const waitMs = before === undefined ? 2_000 : Math.min(8 * before.waitMs, 600_000);
  state.targetOf = { ...of, waitMs, nextAt: moment.time + waitMs };
  act(state, signal, moment, false);
}

/** Whether the rules let a stop be hit in this kline already. */
function isArmed({ question: { rules }, enteredAt }: State, { limit }: { readonly limit?: string }, at: Now): boolean {
  if (rules.stopsFrom === 'entry' || enteredAt < at.time) return true;
  return rules.stopsFrom === 'marketEntry' && enteredAt === at.time && limit === undefined;
}

/**
 * A stop that is hit sells what is held, at once, and nothing is entered again before another quantity is wanted. So does the exchange
 * where margin is missing; quotes then give way to nothing. Gives what is wanted from then on.
 */
function watchStop(
  state: State,
  standing: Signal | undefined,
  at: Now,
  { targetsHadTurn, ...moment }: Moment & { readonly targetsHadTurn: boolean },
): Signal | undefined {
  const target = standing === undefined || 'quotes' in standing ? undefined : standing;
  if (isFlat(state) || standing === undefined) return standing;
  if (target !== undefined && state.leftAt !== undefined) {
    if (!targetsHadTurn) trail(state, at.open);
    return standing;
  }
  const known = stopOf(state);
  // The open comes first: a stop that it passes is hit there, and the others move by it before anything else does.
  if (!targetsHadTurn && !(known !== undefined && isBeyond(leaving(state), at.open, known))) trail(state, at.open);
  const own = target !== undefined && isArmed(state, target, at) ? stopOf(state) : undefined;
  const first = firstOf(state, at, own, ruinAt(state));
  if (first === undefined) return standing;
  const hit = stopHit(state, first.level, at, { targetsHadTurn, hasTarget: target?.takeProfit !== undefined });
  if (hit === undefined) return standing;
  if (first.isRuin) state.liquidating = true;
  if (first.isRuin) state.settled = false;
  const hitAt = { ...moment, time: hit.time };
  const signal = target ?? giveUp(state, hitAt);
  leave(state, sizeOf(signal), hit.time);
  state.leavesInTime = false;
  const here = { ...hitAt, close: hit.price };
  const order = act(state, signal, here, true);
  if (order === undefined) return signal;
  if (hit.ambiguous || first.inDoubt) state.ambiguousKlines++;
  fillStop(state, order, { ...hit, ambiguous: hit.ambiguous || first.inDoubt }, at);
  // Of what the volume did not give the open is the first price after the exit was decided.
  if (hit.time === at.time) trail(state, at.open);
  // What the kline's volume did not give is asked for again at once; that order arrives at the next open.
  act(state, signal, here, true);
  return signal;
}

/** In place of quotes nothing is wanted. */
function giveUp(state: State, { time, close }: Moment): Signal {
  const signal = { quantity: '0' };
  state.decisions.push({ time, signal });
  follow(state, signal);
  size(state, signal, close);
  return signal;
}

/**
 * A target that filled wholly in this kline leaves the position as a stop does. It may be of a former planned, since cancels take time: where
 * that was for the other side, nothing of the present one is taken.
 */
function leaveAfterProfit(state: State, standing: Signal | undefined, fillsBefore: number): void {
  if (standing === undefined) return;
  const size = sizeOf(standing);
  for (const { order, quantity, side, time } of state.fills.slice(fillsBefore)) {
    const { purpose, state: ending } = (state.orders[order - 1] as Order).row;
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

function answer(state: State): Answer {
  const { klines } = state.question;
  const last = klines.at(-1)?.close ?? 0;
  return {
    decisions: state.decisions,
    orders: state.orders.map(({ row, executed }) => ({ ...row, executed: executed.toFixed() })),
    fills: state.fills,
    cash: state.cash.toFixed(),
    base: state.base.toFixed(),
    equity: state.cash.plus(state.base.times(last)).toFixed(),
    ambiguousKlines: state.ambiguousKlines,
    charges: state.charges,
  };
}
