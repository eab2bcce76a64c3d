/** The table of cancels, as a whole: every course of events, not a chosen one. */
import { describe, expect, test } from 'vitest';
import { seededRng } from '../clock/clock.ts';
import {
  answerEvent,
  type CancelEvent,
  type CancelState,
  cancelActions,
  cancelEvents,
  cancelStates,
  cancelStep,
  cancelTransitions,
} from './states.ts';

const states = Object.keys(cancelStates) as CancelState[];
const eventsOf = (state: CancelState): CancelEvent[] => Object.keys(cancelTransitions[state]) as CancelEvent[];

describe('the side machine of a cancel', () => {
  test('ends by the order query alone, never by an answer', () => {
    for (const state of states)
      for (const event of eventsOf(state)) if (cancelStep(state, event).to === 'confirmed') expect(event).toBe('over');
    for (const outcome of [
      { kind: 'requested' },
      { kind: 'refused', code: '-2013', message: 'no such order' },
      { kind: 'notSent', cause: 'x' },
      { kind: 'unknown', cause: 'x' },
    ] as const)
      expect(cancelStep('requested', answerEvent(outcome)).then).toBe('query');
  });

  test('sends again from wherever the order is found open, and never after it is over', () => {
    for (const state of ['requested', 'refused', 'unknown'] as const)
      expect(Object.values(cancelStep(state, 'stillOpen'))).toEqual(['requested', 'send']);
    expect(eventsOf('confirmed')).toEqual([]);
    expect(() => cancelStep('confirmed', 'ask')).toThrow('cannot ask');
  });

  test('names every state, event and action it uses, and uses every one it names', () => {
    const cells = states.flatMap((state) => eventsOf(state).map((event) => ({ event, ...cancelStep(state, event) })));
    expect(new Set(cells.map(({ event }) => event))).toEqual(new Set(Object.keys(cancelEvents)));
    expect(new Set(cells.map(({ then }) => then))).toEqual(new Set(Object.keys(cancelActions)));
    expect(new Set(['none', ...cells.map(({ to }) => to)])).toEqual(new Set(states));
  });

  test('comes to an end from every course, once the order is over', () => {
    const rng = seededRng(3);
    for (let course = 0; course < 500; course++) {
      let state: CancelState = cancelStep('none', 'ask').to;
      for (let steps = 0; steps < 20 && state !== 'confirmed'; steps++) {
        const events = eventsOf(state);
        state = cancelStep(state, events[Math.floor(rng() * events.length)] ?? 'over').to;
      }
      if (state !== 'confirmed') state = cancelStep(state, 'over').to;
      expect(state).toBe('confirmed');
    }
  });
});
