/** The loop of the reference, kline by kline. See types.ts for what it is. */
import { begun, free, openOrders, type State } from './account.ts';
import { closeAtEnd, now } from './exchange.ts';
import { endPause, expires } from './exits.ts';
import { factsAfter } from './facts.ts';
import { payInterest } from './margin.ts';
import { act, type Moment, unlocked } from './plan.ts';
import { cancelExpired, closes, enterAgain, fillAtClose, hear, leaveInTime, opens, placeLate } from './steps.ts';
import type { Answer, Facts, Question } from './types.ts';
import { signalAfter } from './wants.ts';

export function reference(question: Question): Answer {
  const state = begun(question);
  const { klines, intervalMs, strategy, instrument, decidesEveryMs } = question;
  let flows = question.cashFlows ?? [];
  for (const [row, kline] of klines.entries()) {
    // What is left of its volume goes through all that happens in it.
    const at = now(state, row, kline);
    opens(state, at);
    closes(state, at);
    state.last = at.close;
    const time = kline.time + intervalMs;
    const moment: Moment = { row, time, close: at.close };
    payInterest(state, time, kline);
    flows = payFlows(state, flows, time);
    leaveInTime(state, moment);
    const isAsked = decidesEveryMs === undefined || time % decidesEveryMs === 0;
    endPause(state, time);
    const facts = (): Facts => factsAfter(state, row);
    // Saying nothing repeats what was said last.
    const said = isAsked ? signalAfter(strategy, klines, row, instrument.pricePrecision, facts) : undefined;
    if (said !== undefined) hear(state, said, moment);
    const signal = state.standing;
    if (signal === undefined) continue;
    if (isAsked) {
      enterAgain(state, moment);
      expires(state, time);
      act(state, signal, moment, false);
    }
    if (decidesEveryMs !== undefined) placeLate(state, moment);
    cancelExpired(state, moment);
    fillAtClose(state, at, moment);
  }
  const last = klines.at(-1);
  if (question.rules.closeAtEnd && last !== undefined) closeAtEnd(state, now(state, klines.length - 1, last));
  return answer(state);
}

/** Pays what is due by `time` and gives what is left to pay. */
export function payFlows(state: State, flows: NonNullable<Question['cashFlows']>, time: number): typeof flows {
  for (const { amount } of flows.filter((flow) => flow.time <= time)) {
    state.working = openOrders(state);
    if (free(state, 'BUY').minus(unlocked(state)).plus(amount).lt(0)) continue;
    state.cash = state.cash.plus(amount);
    state.paidIn = state.paidIn.plus(amount);
    for (const one of state.pool) one.settled = false;
  }
  return flows.filter((flow) => flow.time > time);
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
