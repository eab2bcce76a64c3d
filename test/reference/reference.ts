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

export const reference = (question: Question): Answer => together([question])[0] as Answer;

/** Several strategies of one account on one market, over the same klines and by the same rules, in their order; each has money of its own. */
export function together(questions: readonly Question[]): readonly Answer[] {
  const account: State[] = [];
  const states = questions.map((question) => begun(question, [], account));
  const flows = new Map(states.map((state) => [state, state.question.cashFlows ?? []]));
  const [first] = states as [State];
  const { klines, intervalMs, rules } = first.question;
  for (const [row, kline] of klines.entries()) {
    // What is left of its volume goes through all that happens in it.
    const at = now(first, row, kline);
    opens(states, at);
    closes(states, at);
    const time = kline.time + intervalMs;
    const moment: Moment = { row, time, close: at.close };
    for (const state of states) {
      state.last = at.close;
      payInterest(state, time, kline);
      flows.set(state, payFlows(state, flows.get(state) ?? [], time));
    }
    for (const state of states) {
      leaveInTime(state, moment);
      endPause(state, time);
    }
    for (const state of states) {
      ask(state, moment);
      if (states.length > 1) cancelExpired(state, moment);
    }
    for (const state of states) {
      if (state.standing === undefined) continue;
      if (state.question.decidesEveryMs !== undefined) placeLate(state, moment);
      cancelExpired(state, moment);
    }
    fillAtClose(states, at, moment);
  }
  const last = klines.at(-1);
  if (rules.closeAtEnd && last !== undefined)
    for (const state of states) closeAtEnd(state, now(state, klines.length - 1, last));
  return states.map(answer);
}

/** A strategy is asked, where it decides at this close, and what its signal lacks is carried out. */
function ask(state: State, moment: Moment): void {
  const { klines, strategy, instrument, decidesEveryMs } = state.question;
  const { row, time } = moment;
  if (decidesEveryMs !== undefined && time % decidesEveryMs !== 0) return;
  // Saying nothing repeats what was said last.
  const said = signalAfter(strategy, klines, row, instrument.pricePrecision, (): Facts => factsAfter(state, row));
  if (said !== undefined) hear(state, said, moment);
  if (state.standing === undefined) return;
  enterAgain(state, moment);
  expires(state, time);
  act(state, state.standing, moment, false);
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
    ambiguousKlines: state.ambiguousRows.size,
    charges: state.charges,
  };
}
