/** Checks that an order's timeline follows the table of states (I9) and ends in the state of its row. */
import { isClosed, type OrderState } from '../../domain/order.ts';
import type { EventKind } from '../../journal/entries.ts';
import { type OrderEvent, orderEvents, stepOf, transitions } from '../states.ts';
import type { Step } from './view.ts';

const events = Object.keys(orderEvents) as OrderEvent[];
const kinds: ReadonlySet<EventKind> = new Set([...events.map((event) => stepOf[event]), 'quarantined']);

/** The states after a step: several events have the same name in the timeline. */
function after(states: ReadonlySet<OrderState>, { event: word, detail }: Step): ReadonlySet<OrderState> {
  const named = detail['state'];
  // The second of two steps that end an order repeats its final state.
  if (word === 'closed' && [...states].some((state) => state === named)) return new Set([named as OrderState]);
  const reached = new Set<OrderState>();
  for (const state of states)
    for (const event of events) {
      const cell = transitions[state][event];
      if (cell === undefined || !namesOf(event, state, cell.to).includes(word)) continue;
      if (word !== 'closed' || cell.to === named) reached.add(cell.to);
    }
  return reached;
}

/** The names of an event in the timeline. */
function namesOf(event: OrderEvent, from: OrderState, to: OrderState): readonly EventKind[] {
  if (to === 'quarantined') return ['quarantined', stepOf[event]];
  return event === 'restart' && isClosed(to) && !isClosed(from) ? ['closed'] : [stepOf[event]];
}

/** Where the timeline leaves the table, or does not end in the state of the order's row; undefined if it is right. */
export function invalidTransition(steps: readonly Step[], end: OrderState): string | undefined {
  let states: ReadonlySet<OrderState> = new Set(['intended']);
  for (const step of steps) {
    if (!kinds.has(step.event)) continue;
    const reached = after(states, step);
    if (reached.size === 0) return `is ${[...states].join(' or ')}, which cannot be followed by “${step.event}”`;
    states = reached;
  }
  return states.has(end) ? undefined : `its steps end in ${[...states].join(' or ')}, its row is ${end}`;
}
