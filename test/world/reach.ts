/** What the seeds of a campaign came by: which events orders met in which state, by the production code's own tables, and which faults. */
import type { OrderState } from '../../src/domain/order.ts';
import { cancelTransitions, transitions } from '../../src/execution/states.ts';

/** What a part of a campaign counted. */
export interface Counted {
  readonly events: ReadonlyMap<string, number>;
  readonly cancels: ReadonlyMap<string, number>;
  readonly faults: ReadonlyMap<string, number>;
}

const kinds = ['events', 'cancels', 'faults'] as const;

export class Reach implements Counted {
  /** How often, by `state event`. */
  readonly events = new Map<string, number>();
  /** The same of the side machine of cancels. */
  readonly cancels = new Map<string, number>();
  /** How often, by `fault state`: the states that orders were in when it struck. */
  readonly faults = new Map<string, number>();

  fault(fault: string, states: Iterable<OrderState>): void {
    const met = new Set(states);
    if (met.size === 0) count(this.faults, `${fault} none`);
    for (const state of met) count(this.faults, `${fault} ${state}`);
  }

  /** A human said how an order ended. */
  human(state: OrderState | undefined, as: string): void {
    count(this.events, `${state ?? 'none'} human${as.charAt(0).toUpperCase()}${as.slice(1)}`);
  }

  add(counted: Counted): void {
    for (const kind of kinds)
      for (const [name, times] of counted[kind]) this[kind].set(name, (this[kind].get(name) ?? 0) + times);
  }
}

/** Whose world is running: worlds of one thread run one after another. */
let current: Reach | undefined;

/** Counts every look into the tables for this world from now on, those without a cell too: whoever makes one stops the program. */
export function watchTables(reach: Reach): void {
  if (current === undefined) {
    spyOn(transitions, (name) => count(current?.events, name));
    spyOn(cancelTransitions, (name) => count(current?.cancels, name));
  }
  current = reach;
}

/** `move` asks for one cell of each step and for no other, so that what is read is what happened. */
function spyOn<Cells extends object>(table: Readonly<Record<string, Cells>>, read: (name: string) => void): void {
  for (const [state, cells] of Object.entries(table))
    Object.assign(table, {
      [state]: new Proxy(cells, {
        get(target, event, receiver): unknown {
          // What a human may say is asked for before he says it.
          if (typeof event === 'string' && !event.startsWith('human')) read(`${state} ${event}`);
          return Reflect.get(target, event, receiver);
        },
      }),
    });
}

const count = (counts: Map<string, number> | undefined, name: string): void =>
  void counts?.set(name, (counts.get(name) ?? 0) + 1);

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
