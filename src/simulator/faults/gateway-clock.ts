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
