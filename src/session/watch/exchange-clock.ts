/** Keeps the exchange's time known while a session runs, and reports what that means for trading. */
import type { ScaledClock } from '../../clock/clock.ts';
import type { Notice } from '../../execution/context.ts';
import type { Exchange } from '../../venue/exchange/exchange.ts';

export interface TimeKeeperParts {
  readonly clock: Pick<ScaledClock, 'monotonic' | 'machine'>;
  readonly exchange: { readonly time: Pick<Exchange['time'], 'tend' | 'against' | 'known'> };
  readonly notice: (notice: Notice) => void;
}

/** Corrections above this are reported, real ms. */
const reportedMs = 500;
/** Between two notices that the time could not be read, real ms. */
const quietMs = 60_000;

/** Returns the work of each second. It reports when creation stops for lack of the time, when it resumes, and large corrections. */
export function timeKeeper({ clock, exchange, notice }: TimeKeeperParts): () => Promise<void> {
  const { time } = exchange;
  const real = (ms: number): number => Math.round(ms / clock.machine(1));
  const warn = (text: string): void => notice({ level: 'warn', text });
  let isBlocked = false;
  let failedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const answer = await time.tend();
    if (answer?.kind === 'failed' && clock.monotonic() - failedAt >= clock.machine(quietMs)) {
      failedAt = clock.monotonic();
      warn(`the exchange's time could not be read: ${answer.cause}`);
    }
    if (answer?.kind === 'ok' && Math.abs(real(answer.value.offsetMs)) > reportedMs)
      warn(`the exchange's time differed by ${Math.round(answer.value.offsetMs)} ms from our clock, which follows it`);
    const against = time.against();
    if (against !== undefined && !isBlocked)
      warn(`no order is created: ${against}. Cancels and queries go on; the block ends automatically`);
    const within = real(time.known()?.uncertaintyMs ?? 0);
    if (against === undefined && isBlocked)
      notice({ level: 'info', text: `orders are created again: the exchange's time is known to within ${within} ms` });
    isBlocked = against !== undefined;
  };
}
