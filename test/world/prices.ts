/** What prices truly were, and what a process made of what it received of them. */
import type { Kline } from '../../src/domain/market.ts';
import { max, min, type Ticks } from '../../src/domain/money.ts';
import type { ArmedStop } from '../../src/portfolio/protection.ts';
import type { Changes, Exchange } from '../../src/simulator/core/exchange.ts';
import type { Verdict } from './step-checks.ts';

/** How long ago a price may have been that a stop goes by, ms: frames come late, and the prints of a silence come when it is over. */
const rememberedMs = 300_000;

interface Seen {
  readonly at: number;
  readonly lowest: Ticks;
  readonly highest: Ticks;
}

export class Prices {
  readonly #exchange: Exchange;
  readonly #seen = new Map<string, Seen[]>();

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** Takes note of what a stop may go by: the best bid and the best ask, and each print. */
  see({ books, prints }: Pick<Changes, 'books' | 'prints'>, at: number): void {
    for (const symbol of new Set([...books, ...prints.keys()])) {
      const matching = this.#exchange.matching(symbol);
      let span: Omit<Seen, 'at'> | undefined;
      const note = ({ price }: { readonly price: Ticks }): void => {
        span = {
          lowest: span === undefined ? price : min(span.lowest, price),
          highest: span === undefined ? price : max(span.highest, price),
        };
      };
      for (const side of ['BUY', 'SELL'] as const) matching.depth(side, 1).forEach(note);
      prints.get(symbol)?.forEach(note);
      if (span === undefined) continue;
      const kept = this.#seen.get(symbol) ?? [];
      this.#seen.set(symbol, kept);
      while (kept[0] !== undefined && kept[0].at <= at - rememberedMs) kept.shift();
      kept.push({ at, ...span });
    }
  }

  /** A process begins to listen: it is told of the books as they stand, however long ago they changed. */
  stand(at: number): void {
    this.see({ books: new Set(this.#seen.keys()), prints: new Map() }, at);
  }

  /** A stop was acted on: the price was there since the process began to listen, whatever a frame said. */
  stopWasReached({ strategy, symbol, side, price }: ArmedStop, since: number): Verdict {
    const reached = (this.#seen.get(symbol) ?? []).some(
      ({ at, lowest, highest }) => at >= since && (side === 'SELL' ? lowest <= price : highest >= price),
    );
    return reached
      ? undefined
      : `${strategy} leaves ${symbol} for its stop at ${price}, and no price was there since the process began`;
  }

  /** A kline of a process is the exchange's, as it ended. */
  klineIsTheExchanges({ symbol, openTime, open, high, low, close }: Kline): Verdict {
    const { minutes } = this.#exchange.market(symbol);
    const rows = Array.from({ length: minutes.count }, (_, index) => minutes.row(index));
    const row = [...rows, minutes.forming].find((one) => one?.openTime === openTime);
    if (row === undefined) return `the kline of ${symbol} at ${openTime} is none of the exchange's`;
    const same = row.open === open && row.high === high && row.low === low && row.close === close;
    return same
      ? undefined
      : `the kline of ${symbol} at ${openTime} is ${[open, high, low, close].join()} by ours and ${[row.open, row.high, row.low, row.close].join()} by the exchange's`;
  }
}
