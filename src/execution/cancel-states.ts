/**
 * The side machine of a cancel as a table (order-protocol §3.5), beside that of its order: what was asked and answered is never
 * the truth, only the order query is. A cancel may be repeated, so that every way but the last leads back to sending it again.
 * `docs/reference/order-states.md` is made of this file; a cell that is not here cannot happen, and asking for it is a bug.
 */
import type { CancelOutcome } from '../venue/venue.ts';

export const cancelStates = {
  none: 'Nobody asked for it.',
  requested: 'It was sent, and as far as anybody knows it was taken.',
  refused:
    'Its answer says that the order cannot be cancelled or is not known: that proves nothing, the order is asked for.',
  unknown: 'Its answer was lost or says nothing, or not a byte of it left.',
  confirmed: 'The order query says that the order is over.',
} as const;
export type CancelState = keyof typeof cancelStates;

export const cancelEvents = {
  ask: 'somebody wishes the order gone',
  taken: 'the answer says that the cancel was taken',
  refuse: 'the answer says no',
  lose: 'there is no answer that can be relied on, or nothing was sent',
  over: 'the order is final by the order query, or is not open here any more',
  stillOpen: 'several looks, further and further apart, found the order open',
  overdue:
    'it is open still when nothing that was sent first can have an effect any more: 5 s and the horizon after it',
} as const;
export type CancelEvent = keyof typeof cancelEvents;

export const cancelActions = {
  send: 'the cancel is sent, again if need be, in its lane',
  look: 'the order is asked for',
  tell: 'somebody is told, once: the cancel did not apply',
  end: 'the order closes on its sum',
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
