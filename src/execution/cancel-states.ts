/**
 * The side machine of a cancel as a table, beside that of its order: what was asked and answered is never
 * the truth, only the order query is. A cancel may be repeated, so that every way but the last leads back to sending it again.
 * `docs/reference/order-states.md` is made of this file; a cell that is not here cannot happen, and asking for it is a bug.
 */
import type { CancelOutcome } from '../venue/venue.ts';

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
  look: 'the order is queried',
  tell: 'you are notified once that the cancel had no effect',
  end: 'the order closes once its fills add up',
} as const;
export type CancelAction = keyof typeof cancelActions;

export interface CancelCell {
  readonly to: CancelState;
  readonly then: CancelAction;
}

const to = (state: CancelState, then: CancelAction): CancelCell => ({ to: state, then });

/** After an answer, whatever it was: only looks go on from there. */
const answered = (state: CancelState) => ({
  over: to('confirmed', 'end'),
  stillOpen: to('requested', 'send'),
  overdue: to(state, 'tell'),
});

export const cancelTransitions: Readonly<Record<CancelState, Readonly<Partial<Record<CancelEvent, CancelCell>>>>> = {
  none: { ask: to('requested', 'send') },
  requested: {
    taken: to('requested', 'look'),
    refuse: to('refused', 'look'),
    lose: to('unknown', 'look'),
    ...answered('requested'),
  },
  refused: answered('refused'),
  unknown: answered('unknown'),
  confirmed: {},
};

/** What an answer to a cancel is to the machine. */
export const answerEvent = ({ kind }: CancelOutcome): CancelEvent =>
  kind === 'requested' ? 'taken' : kind === 'refused' ? 'refuse' : 'lose';

/** One step; asking for one that is not in the table is a bug. */
export function cancelStep(state: CancelState, event: CancelEvent): CancelCell {
  const cell = cancelTransitions[state][event];
  if (cell === undefined) throw new Error(`a cancel that is ${state} cannot ${event}`);
  return cell;
}
