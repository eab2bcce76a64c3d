/** What the seeds of a campaign came by: which events orders met in which state, and which faults. */
import type { OrderState } from '../../domain/order.ts';
import type { Entry } from '../../journal/entries.ts';

/** What a part of a campaign counted. */
interface Counted {
  readonly events: ReadonlyMap<string, number>;
  readonly faults: ReadonlyMap<string, number>;
}

export class Reach {
  /** How often, by `state event`. */
  readonly events = new Map<string, number>();
  /** How often, by `fault state`: the states that orders were in when it struck. */
  readonly faults = new Map<string, number>();

  event(state: OrderState | 'none', event: string): void {
    count(this.events, `${state} ${event}`);
  }

  fault(fault: string, states: Iterable<OrderState>): void {
    const met = new Set(states);
    if (met.size === 0) count(this.faults, `${fault} none`);
    for (const state of met) count(this.faults, `${fault} ${state}`);
  }

  add({ events, faults }: Counted): void {
    for (const [name, times] of events) this.events.set(name, (this.events.get(name) ?? 0) + times);
    for (const [name, times] of faults) this.faults.set(name, (this.faults.get(name) ?? 0) + times);
  }
}

/** Counts the events of a batch by the state that each order was in before. */
export function countEvents(entries: readonly Entry[], states: ReadonlyMap<string, OrderState>, reach: Reach): void {
  for (const entry of entries)
    if (entry.kind === 'event') reach.event(states.get(entry.clientOrderId) ?? 'none', entry.event);
}

const count = (counts: Map<string, number>, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);

/** A table of counts, rows and columns by the two words of each name. */
export function tableOf(counts: ReadonlyMap<string, number>): { readonly head: string[]; readonly rows: string[][] } {
  const names = [...counts.keys()].map((name) => name.split(' '));
  const columns = [...new Set(names.map(([, column = '']) => column))].sort();
  const lines = [...new Set(names.map(([line = '']) => line))].sort();
  return {
    head: ['', ...columns],
    rows: lines.map((line) => [line, ...columns.map((column) => String(counts.get(`${line} ${column}`) ?? ''))]),
  };
}
