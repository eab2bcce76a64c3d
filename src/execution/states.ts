/**
 * The life of an order as a table: state × event → state and what is to be done about it. `move` in
 * `desk.ts` is the only writer of a state and knows no other way; `docs/reference/order-states.md` is made of this file. A cell
 * that is not here cannot happen: to ask for it is a bug and stops the program, whose next start recovers.
 */
import type { OrderState } from '../domain/order.ts';
import type { EventKind } from '../journal/entries.ts';

/** What execution learns of an order, each with what it means. */
export const orderEvents = {
  send: 'its intent is being journalled; it is sent once that is on disk',
  accept: 'the exchange accepted the create and gave an id',
  reject: 'the exchange rejected the create with a known code',
  notSent: 'no byte of the create left this machine',
  lose: 'the create has no reliable answer',
  restart: 'the program restarted on the journal',
  find: 'the exchange shows the order',
  final: 'the exchange reports it as filled, cancelled or rejected',
  sumFilled: 'filled, and its fills equal the executed quantity',
  sumCanceled: 'cancelled, and its fills equal the executed quantity',
  sumRejected: 'rejected, and its fills equal the executed quantity',
  absence: 'two complete sweeps after its horizon missed it, and balances are explained',
  doubt: 'the evidence is contradictory, or an absence cannot be proven',
  humanAbsent: '`sluice resolve --as absent`',
  humanQuarantined: '`sluice resolve --as quarantined`',
  humanFilled: '`sluice resolve --as filled`',
  humanCanceled: '`sluice resolve --as canceled`',
} as const;
export type OrderEvent = keyof typeof orderEvents;

/** What is done about a step, each with what it means. */
export const orderActions = {
  none: 'nothing',
  bind: "the exchange's order id is recorded",
  release: 'its reservation ends',
  look: 'queries continue until it is found, proven absent or quarantined',
  block: 'it stays reserved, its symbol is blocked, and you are notified',
  contradict: "the exchange's list decides; the contradicting answer is reported",
  late: 'reserved again, fills booked, rest cancelled, reported; the horizon doubles',
  lateHalt: 'reserved again, fills booked, rest cancelled; HALT, because an answer was misread',
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
