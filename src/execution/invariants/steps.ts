/** Whether an order's timeline is a way through the table of states (I9), and ends where its row says. */
import { isClosed, type OrderState } from '../../domain/order.ts';
import type { EventKind } from '../../journal/entries.ts';
import { type OrderEvent, orderEvents, stepOf, transitions } from '../states.ts';
import type { Step } from './view.ts';

const events = Object.keys(orderEvents) as OrderEvent[];
const kinds: ReadonlySet<EventKind> = new Set([...events.map((event) => stepOf[event]), 'quarantined']);

/** Several events are written down by the same word: all states that it may lead to. */
function after(states: ReadonlySet<OrderState>, { event: word, detail }: Step): ReadonlySet<OrderState> {
  const said = detail['state'];
  // The second of two steps by which an order ends says again where it ended.
  if (word === 'closed' && [...states].some((state) => state === said)) return new Set([said as OrderState]);
  const reached = new Set<OrderState>();
  for (const state of states)
    for (const event of events) {
      const cell = transitions[state][event];
      if (cell === undefined || !wordsOf(event, state, cell.to).includes(word)) continue;
      if (word !== 'closed' || cell.to === said) reached.add(cell.to);
    }
  return reached;
}

/** How a step may be written down. */
function wordsOf(event: OrderEvent, from: OrderState, to: OrderState): readonly EventKind[] {
  if (to === 'quarantined') return ['quarantined', stepOf[event]];
  return event === 'restart' && isClosed(to) && !isClosed(from) ? ['closed'] : [stepOf[event]];
}

/** Where the timeline leaves the table, or does not end where the order's row says; undefined when all is well. */
export function wrongWay(steps: readonly Step[], end: OrderState): string | undefined {
  let states: ReadonlySet<OrderState> = new Set(['intended']);
  for (const step of steps) {
    if (!kinds.has(step.event)) continue;
    const reached = after(states, step);
    if (reached.size === 0) return `is ${[...states].join(' or ')}, from where no way leads to “${step.event}”`;
    states = reached;
  }
  return states.has(end) ? undefined : `its steps end in ${[...states].join(' or ')}, its row says ${end}`;
}
