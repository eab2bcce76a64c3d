/** Keeps the exchange's time known while a session runs, and reports what that, or missing market data, means for trading. */

import type { ScaledClock } from '../../clock/clock.ts';
import { moment } from '../../domain/words.ts';
import type { Notice, NoticeTopic } from '../../journal/entries.ts';
import type { Exchange } from '../../venue/exchange/exchange.ts';

export interface TimeKeeperParts {
  readonly clock: Pick<ScaledClock, 'machine'>;
  readonly exchange: {
    readonly time: Pick<Exchange['time'], 'tend' | 'against' | 'known'>;
    readonly noMarketData: Exchange['noMarketData'];
  };
  /** UTC ms until which the exchange forbids requests: its time cannot be read meanwhile, and the ban is reported. */
  readonly stoppedUntil: () => number | undefined;
  readonly notice: (notice: Notice) => void;
  /** Stores why the time cannot be read for `sluice status`; empty if it can. */
  readonly remember: (cause: string) => void;
}

/** Corrections above this are reported, real ms. */
const reportedMs = 500;
/** The name of the cause in the journal's memory. */
export const noExchangeTimeName = 'noExchangeTime';
/** Readings that fail in a row before that is reported: one may fail by chance, and when the whole exchange is away, market data end first. */
const reportedFailures = 2;

/**
 * Returns the work of each second for the exchange's time. It reports when creation stops for lack of the time, when it resumes, and large corrections;
 * and once that the time cannot be read, whatever the causes, unless missing market data have reported the outage.
 */
export function timeKeeper({ clock, exchange, stoppedUntil, notice, remember }: TimeKeeperParts): () => Promise<void> {
  const { time } = exchange;
  const real = (ms: number): number => Math.round(ms / clock.machine(1));
  const warn = (topic: NoticeTopic, text: string): void => notice({ level: 'warn', topic, text });
  let isBlocked = false;
  let failures = 0;
  let isReported = false;
  // An earlier daemon may have ended without the time.
  let remembered: string | undefined;
  const store = (cause: string): void => {
    if (cause !== remembered) remember(cause);
    remembered = cause;
  };
  const failed = (cause: string): void => {
    if (stoppedUntil() !== undefined) return;
    failures += 1;
    if (failures < reportedFailures) return;
    store(cause);
    if (isReported || exchange.noMarketData() !== undefined) return;
    isReported = true;
    warn('exchangeAway', `the exchange's time could not be read: ${cause}; retrying`);
  };
  const read = (): void => {
    if (isReported) notice({ level: 'info', text: "the exchange's time can be read again" });
    [failures, isReported] = [0, false];
    store('');
  };
  return async () => {
    const answer = await time.tend();
    if (remembered === undefined) store('');
    if (answer?.kind === 'failed') failed(answer.cause.replace(/^time: /, ''));
    if (answer?.kind === 'ok') read();
    if (answer?.kind === 'ok' && Math.abs(real(answer.value.offsetMs)) > reportedMs)
      warn(
        'clock',
        `the exchange's time differed by ${Math.round(answer.value.offsetMs)} ms from our clock, which follows it`,
      );
    const against = time.against();
    if (against !== undefined && !isBlocked)
      warn('clock', `no order is created: ${against}. Cancels and queries go on; the block ends automatically`);
    const within = real(time.known()?.uncertaintyMs ?? 0);
    if (against === undefined && isBlocked)
      notice({ level: 'info', text: `orders are created again: the exchange's time is known to within ${within} ms` });
    isBlocked = against !== undefined;
  };
}

export interface BanKeeperParts {
  readonly clock: Pick<ScaledClock, 'now' | 'machine'>;
  /** UTC ms until which the exchange forbids requests; undefined where it does not. */
  readonly stoppedUntil: () => number | undefined;
  readonly notice: (notice: Notice) => void;
  /** Stores the end of a ban for `sluice status`; empty once it is over. */
  readonly remember?: (until: string) => void;
}

/** The name of that end in the journal's memory. */
export const bannedUntilName = 'bannedUntil';

/** A shorter stop after a 429 is usual, real ms. */
const minBanMs = 2_000;

/** What a ban means, with its end, which may be days away: nothing leaves, whatever it is for. */
export const forbiddenText = (until: number): string =>
  `the exchange forbids requests until ${moment(Math.ceil(until / 1_000) * 1_000)} UTC, stops and cancels included`;

/** Why nothing can be sent now, until when; undefined without a ban, and where fills are simulated. */
export function bannedText(
  { secrets }: { readonly secrets: unknown },
  limits: { readonly stoppedUntil: () => number | undefined },
): string | undefined {
  const until = secrets === undefined ? undefined : limits.stoppedUntil();
  return until === undefined ? undefined : forbiddenText(until);
}

/**
 * Returns the work of each second for bans: nothing can be sent meanwhile, stops included, and only an alert says so. Another process of the machine may
 * learn of a later end, which is reported, too.
 */
export function banKeeper({ clock, stoppedUntil, notice, remember }: BanKeeperParts): () => void {
  let reported: number | undefined;
  return () => {
    const until = stoppedUntil();
    if (until === undefined) {
      if (reported === undefined) return;
      reported = undefined;
      notice({ level: 'info', text: 'the exchange takes requests again' });
      remember?.('');
      return;
    }
    if (until - Math.max(clock.now(), reported ?? 0) < clock.machine(minBanMs)) return;
    reported = until;
    remember?.(String(until));
    notice({
      level: 'error',
      topic: 'banned',
      text: `${forbiddenText(until)}: too many came from this address (HTTP 429 or 418). It ends by itself`,
    });
  };
}

export interface MarketKeeperParts {
  readonly exchange: Pick<Exchange, 'noMarketData'>;
  readonly notice: (notice: Notice) => void;
  /** Stores the cause for `sluice status`; empty if there is none. */
  readonly remember: (cause: string) => void;
}

/** The name of the cause in the journal's memory. */
export const noMarketDataName = 'noMarketData';

/** Returns the work of each second for market data: without them strategies decide nothing, although the status would seem healthy. */
export function marketKeeper({ exchange, notice, remember }: MarketKeeperParts): () => void {
  let reported: string | undefined;
  return () => {
    // An earlier daemon may have ended without market data.
    if (reported === undefined) remember('');
    reported ??= '';
    const cause = exchange.noMarketData();
    if (cause === undefined) {
      if (reported !== '') {
        notice({ level: 'info', text: 'market data has resumed' });
        remember('');
      }
      reported = '';
      return;
    }
    if (cause === reported) return;
    // Each cause is stored, but only the first is reported.
    if (reported === '')
      notice({
        level: 'warn',
        topic: 'exchangeAway',
        text: `no market data: ${cause}; retrying; no new positions until it resumes, and stops do not work (exchange.wsUrl is the address)`,
      });
    remember(cause);
    reported = cause;
  };
}
