/**
 * The life of an order and of its cancel as tables: state × event → next state and action. `move` in `order-steps.ts` is the only writer of
 * an order's state. A step that is not in a table is a bug and stops the program; the next start recovers. `npm run docs` makes
 * `docs/reference/order-states.md` from this file.
 */
import type { OrderState } from '../domain/order.ts';
import type { EventKind } from '../journal/entries.ts';
import type { CancelOutcome } from '../venue/venue.ts';

interface Step<State, Action> {
  readonly to: State;
  readonly then: Action;
}
type Table<State extends string, Event extends string, Action> = Readonly<
  Record<State, Readonly<Partial<Record<Event, Step<State, Action>>>>>
>;

/** Events in an order's life with their meaning. */
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

/** Actions after a step with their meaning. */
export const orderActions = {
  none: 'nothing',
  bind: "the exchange's order id is recorded",
  release: 'its reservation ends',
  resolve: 'queries continue until it is found, proven absent or quarantined',
  block: 'it stays reserved, its symbol is blocked, and you are notified',
  contradict: "the exchange's list decides; the contradicting answer is reported",
  late: 'reserved again, fills booked, rest cancelled, reported; the horizon doubles',
  lateHalt: 'reserved again, fills booked, rest cancelled; HALT, because an answer was misread',
} as const;
export type OrderAction = keyof typeof orderActions;

const to = (state: OrderState, then: OrderAction = 'none'): Step<OrderState, OrderAction> => ({ to: state, then });

/** Answers to a create that arrive when a sweep has already shown more. */
const lateAnswers = (state: OrderState) => ({
  accept: to(state, 'bind'),
  reject: to(state, 'contradict'),
  notSent: to(state, 'contradict'),
  lose: to(state),
});

export const transitions: Table<OrderState, OrderEvent, OrderAction> = {
  intended: { send: to('sending'), notSent: to('notSent', 'release'), restart: to('notSent', 'release') },
  sending: {
    accept: to('open', 'bind'),
    reject: to('rejected', 'release'),
    notSent: to('notSent', 'release'),
    lose: to('unknown', 'resolve'),
    find: to('open', 'bind'),
    doubt: to('quarantined', 'block'),
    restart: to('unknown', 'resolve'),
  },
  unknown: {
    find: to('open', 'bind'),
    absence: to('absent', 'release'),
    doubt: to('quarantined', 'block'),
    restart: to('unknown', 'resolve'),
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
  // A human closed it without an exchange id, and the exchange shows it.
  filled: { ...lateAnswers('filled'), find: to('open', 'late') },
  canceled: { ...lateAnswers('canceled'), find: to('open', 'late') },
  rejected: { ...lateAnswers('rejected'), find: to('open', 'lateHalt') },
  notSent: { find: to('open', 'lateHalt') },
  // An order of a batch has no client id: one at the exchange that matches it may be another one.
  absent: { find: to('open', 'late'), doubt: to('quarantined', 'block') },
};

/** The name of each event in an order's timeline. */
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

export const cancelStates = {
  none: 'No cancel was requested.',
  requested: 'It was sent, and nothing contradicts it.',
  refused: 'The answer says that the order is unknown or not cancellable.',
  unknown: 'The answer was lost or unclear, or nothing was sent.',
  confirmed: 'The order query reports the order as final.',
} as const;
export type CancelState = keyof typeof cancelStates;

export const cancelEvents = {
  ask: 'a cancel is requested',
  taken: 'the exchange accepted the cancel',
  refuse: 'the exchange refused the cancel',
  lose: 'there is no reliable answer, or nothing was sent',
  over: 'the order is final, or no longer open here',
  stillOpen: 'several polls found the order open',
  overdue: 'still open 5 s after the horizon of the first cancel',
} as const;
export type CancelEvent = keyof typeof cancelEvents;

export const cancelActions = {
  send: 'the cancel is sent, again if needed',
  query: 'the order is queried',
  notify: 'you are notified once that the cancel had no effect',
  end: 'the order closes once its fills add up',
} as const;
type CancelAction = keyof typeof cancelActions;

const cancelTo = (state: CancelState, then: CancelAction): Step<CancelState, CancelAction> => ({ to: state, then });

/** An answer is never proof: only polls lead on from there, and the cancel may be repeated. */
const answered = (state: CancelState) => ({
  over: cancelTo('confirmed', 'end'),
  stillOpen: cancelTo('requested', 'send'),
  overdue: cancelTo(state, 'notify'),
});

export const cancelTransitions: Table<CancelState, CancelEvent, CancelAction> = {
  none: { ask: cancelTo('requested', 'send') },
  requested: {
    taken: cancelTo('requested', 'query'),
    refuse: cancelTo('refused', 'query'),
    lose: cancelTo('unknown', 'query'),
    ...answered('requested'),
  },
  refused: answered('refused'),
  unknown: answered('unknown'),
  confirmed: {},
};

export const answerEvent = ({ kind }: CancelOutcome): CancelEvent =>
  kind === 'requested' ? 'taken' : kind === 'refused' ? 'refuse' : 'lose';

/** One step of a cancel; throws for one that is not in the table. */
export function cancelStep(state: CancelState, event: CancelEvent): Step<CancelState, CancelAction> {
  const step = cancelTransitions[state][event];
  if (step === undefined) throw new Error(`a cancel that is ${state} cannot ${event}`);
  return step;
}
