/** Reports missing market data: without it strategies decide nothing, although the status would seem healthy. */
import type { ScaledClock } from '../../clock/clock.ts';
import type { Notice } from '../../execution/context.ts';
import type { Exchange } from '../../venue/exchange/exchange.ts';

export interface MarketKeeperParts {
  readonly clock: Pick<ScaledClock, 'monotonic' | 'machine'>;
  readonly exchange: Pick<Exchange, 'noMarketData'>;
  readonly notice: (notice: Notice) => void;
  /** Stores the cause for `sluice status`; empty if there is none. */
  readonly remember: (cause: string) => void;
}

/** Its name in the journal's memory. */
export const noMarketDataName = 'noMarketData';

/** Real ms that a connection may take before it is reported. */
const patienceMs = 3_000;

/** Returns the work of each second. */
export function marketKeeper({ clock, exchange, notice, remember }: MarketKeeperParts): () => void {
  let since: number | undefined;
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
      [since, reported] = [undefined, ''];
      return;
    }
    since ??= clock.monotonic();
    if (clock.monotonic() - since < clock.machine(patienceMs) || cause === reported) return;
    // Each cause is stored, but only the first is reported.
    if (reported === '')
      notice({
        level: 'warn',
        text: `no market data: ${cause}; retrying; no new positions until it resumes (exchange.wsUrl is the address)`,
      });
    remember(cause);
    reported = cause;
  };
}
