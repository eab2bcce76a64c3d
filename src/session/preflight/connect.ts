/** Connects to the exchange at the start: a daemon retries and reports it; a command fails at once. */
import { pause, type ScaledClock, systemClock } from '../../clock/clock.ts';
import { Refusal } from '../../domain/refusal.ts';
import { StoppedEarly } from '../../process/signals.ts';
import { codeMeaning } from '../../venue/exchange/rest/codes.ts';
import { type Answer, queryFailure } from '../../venue/venue.ts';

/** Real ms between two tries. */
const retryMs = 2_000;

export interface ConnectOptions {
  readonly url: string;
  readonly clock: ScaledClock;
  /** Called with each failed try. */
  readonly waiting: (text: string) => void;
  /** Stops the tries. */
  readonly signal: AbortSignal;
}

/** Asks until an answer comes. Wrong keys and the like do not pass by waiting: the exchange's own refusals end it. */
export async function queryUntilAnswered<T>(
  { url, clock, waiting, signal }: ConnectOptions,
  what: string,
  ask: () => Promise<Answer<T>>,
): Promise<T> {
  for (;;) {
    const answer = await untilAborted(ask(), signal);
    if (answer === undefined) throw stoppedBefore(url);
    if (answer.kind === 'ok') return answer.value;
    const failure = queryFailure(what, answer.cause);
    if (answer.code !== undefined && isFinalCode(answer.code)) {
      const meaning = codeMeaning(answer.code);
      const words = meaning === undefined ? '' : `\n  it means: ${meaning.means}\n  what to do: ${meaning.advice}`;
      throw new Refusal(`the exchange at ${url} refuses ${failure}${words}`);
    }
    if (signal.aborted) throw stoppedBefore(url);
    waiting(`the exchange at ${url} does not answer (${failure}); trying again`);
    await pause(clock, clock.machine(retryMs), signal);
  }
}

const stoppedBefore = (url: string): Refusal =>
  new StoppedEarly(`stopped before the exchange at ${url} could be reached`, 1);

/** The answer, or undefined as soon as `signal` aborts: a request may wait until a ban is over, for hours. */
export async function untilAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const aborted = Promise.withResolvers<undefined>();
  // A session that trades already ends its strategies first: that one of them still waited for klines is no failure then.
  const end = (): void => void systemClock.sleep(0).then(() => aborted.resolve(undefined));
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  // Later failures are ignored.
  answer.catch(() => {});
  try {
    return await Promise.race([answer, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Codes about the key or the request itself: waiting changes nothing about them. */
export const isFinalCode = (code: string): boolean =>
  ['-1002', '-1022', '-1023', '-1024', '-2014', '-2015', '-2200', '40'].includes(code);
