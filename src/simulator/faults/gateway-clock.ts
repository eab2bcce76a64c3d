/** How far the clock that clients see is off: steps and drift add up. The exchange itself goes on in its own time. */
export interface GatewayClock {
  step(ms: number): void;
  /** Millionths by which it runs fast from now on; below zero, slow. */
  drift(ppm: number): void;
  /** ms, whole. */
  skew(): number;
}

export function openGatewayClock(now: () => number): GatewayClock {
  let stepped = 0;
  let ppm = 0;
  let since = now();
  const exact = (): number => stepped + ((now() - since) * ppm) / 1e6;
  return {
    step(ms) {
      stepped += ms;
    },
    drift(newPpm) {
      stepped = exact();
      since = now();
      ppm = newPpm;
    },
    skew: () => Math.round(exact()),
  };
}
