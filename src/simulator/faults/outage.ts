/** Whether the exchange can be reached: an outage of all of it, of REST or of the socket alone, until an exchange time. */
import type { OutageHow, OutageScope } from './events.ts';

export interface OutageState {
  readonly scope: OutageScope;
  readonly how: OutageHow;
  /** Exchange time at which it ends. */
  readonly until: number;
}

export interface Outage {
  /** Begins one in place of any other; what is open is cut. */
  begin(state: OutageState): void;
  end(): void;
  /** The one under way. */
  current(): OutageState | undefined;
  /** False for a connection that is to be cut before a byte is read from it. */
  admits(): boolean;
  admitsSockets(): boolean;
  /** What a request meets. */
  onRequest(): OutageHow | undefined;
}

export function openOutage(now: () => number, cut: (what: 'all' | 'sockets') => void): Outage {
  let state: OutageState | undefined;
  const current = (): OutageState | undefined => {
    if (state !== undefined && now() >= state.until) state = undefined;
    return state;
  };
  return {
    begin(begun) {
      state = begun;
      if (begun.scope === 'socket') cut('sockets');
      else if (begun.scope === 'all') cut(begun.how === 'reset' ? 'all' : 'sockets');
    },
    end() {
      state = undefined;
    },
    current,
    admits() {
      const at = current();
      return at?.scope !== 'all' || at.how !== 'reset';
    },
    admitsSockets() {
      const scope = current()?.scope;
      return scope === undefined || scope === 'rest';
    },
    onRequest() {
      const at = current();
      return at === undefined || at.scope === 'socket' ? undefined : at.how;
    },
  };
}
