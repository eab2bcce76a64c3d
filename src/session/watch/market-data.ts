/** Says where a daemon gets no market data: its strategies decide nothing then, and its status would look as if all were well. */
import type { ScaledClock } from '../../clock/clock.ts';
import type { Notice } from '../../execution/context.ts';
import type { Exchange } from '../../venue/exchange/exchange.ts';

export interface MarketKeeperParts {
  readonly clock: Pick<ScaledClock, 'monotonic' | 'machine'>;
  readonly exchange: Pick<Exchange, 'noMarketData'>;
  readonly notice: (notice: Notice) => void;
  /** Keeps for `sluice status` what is the matter; empty when nothing is. */
  readonly remember: (cause: string) => void;
}

/** The name of that in the journal. */
export const noMarketDataName = 'noMarketData';

/** Real ms that a connection may take before it is told of. */
const patienceMs = 3_000;

/** What is to be done each second. */
export function marketKeeper({ clock, exchange, notice, remember }: MarketKeeperParts): () => void {
  let since: number | undefined;
  let told: string | undefined;
  return () => {
    // An earlier daemon may have ended without it.
    if (told === undefined) remember('');
    told ??= '';
    const cause = exchange.noMarketData();
    if (cause === undefined) {
      if (told !== '') {
        notice({ level: 'info', text: 'market data comes again' });
        remember('');
      }
      [since, told] = [undefined, ''];
      return;
    }
    since ??= clock.monotonic();
    if (clock.monotonic() - since < clock.machine(patienceMs) || cause === told) return;
    // Each cause is kept, and only the first of a silence is told of.
    if (told === '')
      notice({
        level: 'warn',
        text: `no market data: ${cause}; it is tried again, and nothing is entered meanwhile (exchange.wsUrl says where)`,
      });
    remember(cause);
    told = cause;
  };
}
