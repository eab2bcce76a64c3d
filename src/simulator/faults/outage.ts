/** Whether the exchange is reachable: an outage of all of it, of REST or of the socket, until an exchange time. */
import type { OutageHow, OutageScope } from './events.ts';

export interface OutageState {
  readonly scope: OutageScope;
  readonly how: OutageHow;
  /** Exchange time at which it ends. */
  readonly until: number;
}

export class Outage {
  readonly #now: () => number;
  readonly #cut: (connections: 'all' | 'sockets') => void;
  #state: OutageState | undefined;

  constructor(now: () => number, cut: (connections: 'all' | 'sockets') => void) {
    this.#now = now;
    this.#cut = cut;
  }

  /** Replaces any other outage and cuts open connections. */
  begin(state: OutageState): void {
    this.#state = state;
    if (state.scope === 'socket') this.#cut('sockets');
    else if (state.scope === 'all') this.#cut(state.how === 'reset' ? 'all' : 'sockets');
  }

  end(): void {
    this.#state = undefined;
  }

  current(): OutageState | undefined {
    if (this.#state !== undefined && this.#now() >= this.#state.until) this.#state = undefined;
    return this.#state;
  }

  /** False for a connection that must be cut before a byte is read from it. */
  admits(): boolean {
    const state = this.current();
    return state?.scope !== 'all' || state.how !== 'reset';
  }

  admitsSockets(): boolean {
    const scope = this.current()?.scope;
    return scope === undefined || scope === 'rest';
  }

  /** The outage that a request meets. */
  onRequest(): OutageHow | undefined {
    const state = this.current();
    return state?.scope === 'socket' ? undefined : state?.how;
  }
}
