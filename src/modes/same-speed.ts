/** Whether the exchange's clock runs as fast as the configuration says: with another speed every age and every window is wrong. */
import type { ScaledClock } from '../clock/clock.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Exchange } from '../venue/exchange/exchange.ts';
import { paceText } from '../venue/exchange/sync-time.ts';

/** Real ms between two looks; the second one only where the first saw another pace, and long enough to tell which. */
const betweenMs = [250, 1_000] as const;
/** What counts as another pace. A reading cannot be wrong by as much, however long its round trip was: at most by half of that. */
const [slowest, fastest] = [0.5, 1.5];

/** To be called once the time was read; refuses an exchange whose clock runs at another speed. One whose clock steps is none. */
export async function refuseOtherSpeed({ syncTime, time }: Exchange, clock: ScaledClock, url: string): Promise<void> {
  refuseKnown({ time }, clock, url);
  let pace = 1;
  for (const waitMs of betweenMs) {
    const readAt = clock.monotonic();
    await clock.sleep(clock.machine(waitMs));
    const answer = await syncTime();
    refuseKnown({ time }, clock, url);
    if (answer.kind === 'failed') return;
    pace = 1 + answer.value.offsetMs / (clock.monotonic() - readAt);
    if (pace > slowest && pace < fastest) return;
  }
  throw otherSpeed(pace * clock.speed, clock, url);
}

/** The same where readings have shown it already, as they do where the clock runs many times as fast. */
export function refuseKnown({ time }: Pick<Exchange, 'time'>, clock: ScaledClock, url: string): void {
  const pace = time.pace();
  if (pace !== undefined) throw otherSpeed(pace, clock, url);
}

const otherSpeed = (pace: number, { speed }: ScaledClock, url: string): Refusal =>
  new Refusal(`${url}: ${paceText(pace, speed)}`);
