/** Keeps the exchange's time known while a session runs, and says what that means for trading. */
import type { ScaledClock } from '../../clock/clock.ts';
import type { Notice } from '../../execution/context.ts';
import type { Exchange } from '../../venue/exchange/exchange.ts';

export interface TimeKeeperParts {
  readonly clock: Pick<ScaledClock, 'monotonic' | 'machine'>;
  readonly exchange: { readonly time: Pick<Exchange['time'], 'tend' | 'against' | 'known'> };
  readonly notice: (notice: Notice) => void;
}

/** A correction of more than this is told of, real ms. */
const toldMs = 500;
/** Between two notices that the time could not be read, real ms. */
const quietMs = 60_000;

/** What is to be done each second. Tells when creation stops for want of the time, when it goes on, and when the clock was moved. */
export function timeKeeper({ clock, exchange, notice }: TimeKeeperParts): () => Promise<void> {
  const { time } = exchange;
  const real = (ms: number): number => Math.round(ms / clock.machine(1));
  let isBlocked = false;
  let failedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const answer = await time.tend();
    if (answer?.kind === 'failed' && clock.monotonic() - failedAt >= clock.machine(quietMs)) {
      failedAt = clock.monotonic();
      notice({ level: 'warn', text: `the exchange's time could not be read: ${answer.cause}` });
    }
    if (answer?.kind === 'ok' && Math.abs(real(answer.value.offsetMs)) > toldMs)
      notice({
        level: 'warn',
        text: `the exchange's time is ${Math.round(answer.value.offsetMs)} ms from what it was taken for; the clock follows it`,
      });
    const against = time.against();
    if (against !== undefined && !isBlocked)
      notice({ level: 'warn', text: `no order is created: ${against}. Cancels and queries go on; it lifts by itself` });
    if (against === undefined && isBlocked)
      notice({
        level: 'info',
        text: `orders are created again: the exchange's time is known to within ${real(time.known()?.uncertaintyMs ?? 0)} ms`,
      });
    isBlocked = against !== undefined;
  };
}
