/** The gateway before the exchange: whether it can be reached, and how far the clock that clients see is off. */
import type { OutageHow, OutageScope } from './events.ts';

export interface OutageState {
  readonly scope: OutageScope;
  readonly how: OutageHow;
  /** Exchange time at which it ends. */
  readonly until: number;
}

export type Outage = ReturnType<typeof openOutage>;

/** An outage of everything, of REST or of the socket, until an exchange time. `cut` cuts open connections. */
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

/** The error of the clock that clients see: steps and drift add up. The exchange itself keeps its own time. */
export function openGatewayClock(now: () => number) {
  let stepped = 0;
  let ppm = 0;
  let since = now();
  const exact = (): number => stepped + ((now() - since) * ppm) / 1e6;
  return {
    step(ms: number): void {
      stepped += ms;
    },
    /** Millionths by which it runs fast from now on; negative is slow. */
    drift(millionths: number): void {
      [stepped, since, ppm] = [exact(), now(), millionths];
    },
    /** Whole ms. */
    skew: (): number => Math.round(exact()),
  };
}
export type GatewayClock = ReturnType<typeof openGatewayClock>;
