/** Whether the exchange's clock runs as fast as the configuration says: with another speed every age and every window is wrong. */
import type { ScaledClock } from '../../clock/clock.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Exchange } from '../../venue/exchange/exchange.ts';
import { paceText } from '../../venue/exchange/rest/sync-time.ts';

/** Real ms between readings. The second is only needed after a wrong speed, and long enough to measure it. */
const betweenMs = [250, 1_000] as const;
/** What counts as another pace. A reading cannot be wrong by as much, however long its round trip was: at most by half of that. */
const [slowest, fastest] = [0.5, 1.5];

/** To be called once the time was read; refuses an exchange whose clock runs at another speed. One whose clock steps is none. */
export async function refuseOtherSpeed(exchange: Exchange, clock: ScaledClock, url: string): Promise<void> {
  await refuseMeasuredSpeed(exchange, clock, url);
  let pace = 1;
  for (const waitMs of betweenMs) {
    const readAt = clock.monotonic();
    await clock.sleep(clock.machine(waitMs));
    const answer = await exchange.syncTime();
    await refuseMeasuredSpeed(exchange, clock, url);
    if (answer.kind === 'failed') return;
    pace = 1 + answer.value.offsetMs / (clock.monotonic() - readAt);
    if (pace > slowest && pace < fastest) return;
  }
  throw otherSpeed((await measured(exchange, clock)) ?? pace * clock.speed, clock, url);
}

/** The same where readings have shown it already, as they do where the clock runs many times as fast. */
export async function refuseMeasuredSpeed(exchange: Exchange, clock: ScaledClock, url: string): Promise<void> {
  const rough = exchange.time.pace();
  if (rough !== undefined) throw otherSpeed((await measured(exchange, clock)) ?? rough, clock, url);
}

/** Over a second, for two digits; readings in quick succession give hardly one. */
async function measured({ market }: Exchange, clock: ScaledClock): Promise<number | undefined> {
  const read = async () => {
    const before = clock.monotonic();
    const answer = await market.time();
    return answer.kind === 'ok' ? { time: answer.value, at: (before + clock.monotonic()) / 2 } : undefined;
  };
  const first = await read();
  await clock.sleep(clock.machine(1_000));
  const last = await read();
  if (first === undefined || last === undefined) return undefined;
  return ((last.time - first.time) / (last.at - first.at)) * clock.speed;
}

const otherSpeed = (pace: number, { speed }: ScaledClock, url: string): Refusal =>
  new Refusal(`${url}: ${paceText(pace, speed)}`);
