/** Whether the exchange is reachable: an outage of all of it, of REST or of the socket, until an exchange time. */
import type { OutageHow, OutageScope } from './events.ts';

interface OutageState {
  readonly scope: OutageScope;
  readonly how: OutageHow;
  /** Exchange time at which it ends. */
  readonly until: number;
}

export type Outage = ReturnType<typeof openOutage>;

/** `now` is exchange time; `cut` cuts open connections. */
export function openOutage(now: () => number, cut: (connections: 'all' | 'sockets') => void) {
  let state: OutageState | undefined;
  function current(): OutageState | undefined {
    if (state !== undefined && now() >= state.until) state = undefined;
    return state;
  }
  return {
    current,
    /** Replaces any other outage and cuts open connections. */
    begin(begun: OutageState): void {
      state = begun;
      if (begun.scope !== 'rest') cut(begun.scope === 'all' && begun.how === 'reset' ? 'all' : 'sockets');
    },
    end(): void {
      state = undefined;
    },
    /** False for a connection that must be cut before a byte is read from it. */
    admits: (): boolean => current()?.scope !== 'all' || state?.how !== 'reset',
    admitsSockets: (): boolean => ['rest', undefined].includes(current()?.scope),
    /** The outage that a request meets. */
    onRequest: (): OutageHow | undefined => (current()?.scope === 'socket' ? undefined : state?.how),
  };
}
