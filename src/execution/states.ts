/**
 * The life of an order as a table (order-protocol §3.3): state × event → state and what is to be done about it. `move` in
 * `desk.ts` is the only writer of a state and knows no other way; `docs/reference/order-states.md` is made of this file. A cell
 * that is not here cannot happen: to ask for it is a bug and stops the program, whose next start recovers.
 */
import type { OrderState } from '../domain/order.ts';
import type { EventKind } from '../journal/entries.ts';

/** What execution learns of an order, each with what it means. */
export const orderEvents = {
  send: 'its intent is being journalled; a byte may leave once that is on disk',
  accept: 'the answer to its create says accepted, with an id',
  reject: 'the answer to its create is on the short list of refusals',
  notSent: 'not one byte of it left this machine',
  lose: 'its create has no answer that can be relied on',
  restart: 'the program started again on the journal',
  find: 'the exchange shows an order with its client id, and it is the one that was sent',
  final: 'the exchange calls it filled, cancelled or rejected',
  sumFilled: 'its fills add up to what was executed, and it was filled',
  sumCanceled: 'its fills add up to what was executed, and it was cancelled',
  sumRejected: 'its fills add up to what was executed, and it was rejected',
  absence: 'two complete sweeps after its horizon missed it, and the balances have no room for it',
  doubt: 'the evidence contradicts itself, or what would prove its absence is not to be had',
  humanAbsent: '`sluice resolve --as absent`',
  humanQuarantined: '`sluice resolve --as quarantined`',
  humanFilled: '`sluice resolve --as filled`',
  humanCanceled: '`sluice resolve --as canceled`',
} as const;
export type OrderEvent = keyof typeof orderEvents;

/** What is done about a step, each with what it means. */
export const orderActions = {
  none: 'nothing more',
  bind: 'the id of the exchange is written down as this order’s',
  release: 'its reservation ends',
  look: 'it is looked for until it is found, or proven absent, or quarantined',
  block: 'it stays reserved and shown, its symbol is blocked, somebody is told',
  contradict: 'what the exchange shows stands; somebody is told that its answer said otherwise',
  late: 'reserved again, its fills are booked, the rest is cancelled, somebody is told, and the horizon doubles',
  lateHalt: 'reserved again, its fills are booked, the rest is cancelled, and HALT: an answer was read wrongly',
} as const;
export type OrderAction = keyof typeof orderActions;

export interface Cell {
  readonly to: OrderState;
  readonly then: OrderAction;
}

const to = (state: OrderState, then: OrderAction = 'none'): Cell => ({ to: state, then });

/** Answers that come after the sweeps have told more than they do. */
const lateAnswers = (state: OrderState) => ({
  accept: to(state, 'bind'),
  reject: to(state, 'contradict'),
  notSent: to(state, 'contradict'),
  lose: to(state),
});

export const transitions: Readonly<Record<OrderState, Readonly<Partial<Record<OrderEvent, Cell>>>>> = {
  intended: { send: to('sending'), notSent: to('notSent', 'release'), restart: to('notSent', 'release') },
  sending: {
    accept: to('open', 'bind'),
    reject: to('rejected', 'release'),
    notSent: to('notSent', 'release'),
    lose: to('unknown', 'look'),
    find: to('open', 'bind'),
    doubt: to('quarantined', 'block'),
    restart: to('unknown', 'look'),
  },
  unknown: {
    find: to('open', 'bind'),
    absence: to('absent', 'release'),
    doubt: to('quarantined', 'block'),
    restart: to('unknown', 'look'),
    humanAbsent: to('absent', 'release'),
    humanQuarantined: to('quarantined', 'block'),
  },
  quarantined: {
    ...lateAnswers('quarantined'),
    accept: to('open', 'bind'),
    find: to('open', 'bind'),
    absence: to('absent', 'release'),
    restart: to('quarantined', 'block'),
    humanAbsent: to('absent', 'release'),
    humanFilled: to('filled', 'release'),
    humanCanceled: to('canceled', 'release'),
  },
  open: {
    ...lateAnswers('open'),
    final: to('closing'),
    doubt: to('quarantined', 'block'),
    restart: to('open'),
  },
  closing: {
    ...lateAnswers('closing'),
    sumFilled: to('filled', 'release'),
    sumCanceled: to('canceled', 'release'),
    sumRejected: to('rejected', 'release'),
    doubt: to('quarantined', 'block'),
    restart: to('closing'),
    humanFilled: to('filled', 'release'),
    humanCanceled: to('canceled', 'release'),
  },
  // Closed by a human without an id: the exchange knew better.
  filled: { ...lateAnswers('filled'), find: to('open', 'late') },
  canceled: { ...lateAnswers('canceled'), find: to('open', 'late') },
  rejected: { ...lateAnswers('rejected'), find: to('open', 'lateHalt') },
  notSent: { find: to('open', 'lateHalt') },
  // One of a batch has no client id: what looks like it may be it or not.
  absent: { find: to('open', 'late'), doubt: to('quarantined', 'block') },
};

/** How the timeline of an order calls each event. */
export const stepOf: Readonly<Record<OrderEvent, EventKind>> = {
  send: 'sending',
  accept: 'accepted',
  reject: 'rejected',
  notSent: 'notSent',
  lose: 'unknown',
  restart: 'unknown',
  find: 'found',
  final: 'closing',
  sumFilled: 'closed',
  sumCanceled: 'closed',
  sumRejected: 'closed',
  absence: 'absent',
  doubt: 'quarantined',
  humanAbsent: 'resolved',
  humanQuarantined: 'resolved',
  humanFilled: 'resolved',
  humanCanceled: 'resolved',
};
