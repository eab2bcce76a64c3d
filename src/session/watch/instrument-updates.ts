/**
 * The exchange's terms of each symbol while a daemon runs: precision and minima change, symbols are delisted. Amounts keep the steps of the start,
 * in which everything is journalled; orders are rounded to the new steps. A change that cannot be followed blocks the symbol.
 */
import { type Clock, pause } from '../../clock/clock.ts';
import { type Instrument, inStepsOf } from '../../domain/instrument.ts';
import { quantityText, unitsText } from '../../domain/money.ts';
import type { Notice } from '../../journal/entries.ts';
import type { Answer, OrderEntry } from '../../venue/venue.ts';

export type Terms = ReturnType<typeof watchTerms>;

interface TermsOptions {
  readonly listed: () => Promise<Answer<readonly Instrument[]>>;
  /** By symbol, as everybody reads them: entries are replaced here. */
  readonly instruments: Map<string, Instrument>;
  /** The traded symbols. */
  readonly symbols: readonly string[];
  readonly clock: Clock;
  readonly notice: (notice: Notice) => void;
}

/** Between two updates, ms of the exchange; at least between two for rejections, real ms. An update has weight 1. */
const everyMs = 300_000;
const minUpdateGapMs = 2_000;

/** Codes about precision, minima and symbols: documented ones, and those of the engine. */
const termsCodes: ReadonlySet<string> = new Set([
  ...['-1111', '-1121', '-1136', '-1138', '-1147', '-2022', '-2023', '-2024', '-2025', '-2029'],
  ...['10062', '21020', '110046', '110047'],
]);

export function watchTerms({ listed, instruments, symbols, clock, notice }: TermsOptions) {
  const reasons = new Map<string, string>();
  let updatedAt = Number.NEGATIVE_INFINITY;

  function follow(at: Instrument, found: Instrument | undefined): void {
    const { symbol } = at;
    const reason = whyNot(at, found);
    if (found === undefined || reason !== undefined) {
      if (reasons.get(symbol) === reason || reason === undefined) return;
      reasons.set(symbol, reason);
      notice({ level: 'error', text: `no order is created in ${symbol}: ${reason}` });
      return;
    }
    if (reasons.delete(symbol)) notice({ level: 'info', text: `${symbol} is traded again` });
    const now = inStepsOf(at, found);
    if (termsText(now) === termsText(at)) return;
    instruments.set(symbol, now);
    notice({ level: 'warn', text: `${symbol}: the exchange accepts ${termsText(now)} now; orders follow that` });
  }

  /** Queries the symbols and adopts the changes. A failed query changes nothing. */
  async function update(): Promise<void> {
    updatedAt = clock.monotonic();
    const answer = await listed();
    if (answer.kind === 'failed') return;
    const found = new Map(answer.value.map((one) => [one.symbol, one]));
    for (const symbol of symbols) {
      const at = instruments.get(symbol);
      if (at !== undefined) follow(at, found.get(symbol));
    }
  }

  return {
    /** Why no order may be created in a symbol. */
    against: (symbol: string): string | undefined => reasons.get(symbol),
    update,
    /** Updates regularly until the returned function is called. */
    begin(): () => void {
      const ended = new AbortController();
      void (async () => {
        for (;;) {
          await pause(clock, everyMs, ended.signal);
          if (ended.signal.aborted) return;
          await update();
        }
      })();
      return () => ended.abort();
    },
    /** The same order entry. A rejection about terms causes an update. */
    watched: (orders: OrderEntry): OrderEntry => ({
      ...orders,
      prepare(intent, at) {
        const prepared = orders.prepare(intent, at);
        return {
          ...prepared,
          async send(gate) {
            const outcome = await prepared.send(gate);
            const isDue = clock.monotonic() - updatedAt >= clock.machine(minUpdateGapMs);
            if (outcome.kind === 'rejected' && termsCodes.has(outcome.code) && isDue) await update();
            return outcome;
          },
        };
      },
    }),
  };
}

/** Why a symbol cannot be traded under its new terms. */
function whyNot(at: Instrument, found: Instrument | undefined): string | undefined {
  if (found === undefined) return 'the exchange no longer lists it';
  if (found.base !== at.base || found.quote !== at.quote)
    return `the exchange calls its assets ${found.base} and ${found.quote} now`;
  return found.pricePrecision > at.pricePrecision || found.quantityPrecision > at.quantityPrecision
    ? `the exchange uses finer steps now (${termsText(found)}) than at the start: restart the daemon`
    : undefined;
}

/** `1 decimal of price, 3 of quantity, at least 0.01 BTC and 25 USDT`. */
function termsText(at: Instrument): string {
  const { price, quantity } = at.orderPlaces ?? { price: at.pricePrecision, quantity: at.quantityPrecision };
  const least = `at least ${quantityText(at.minQuantity, at)} ${at.base} and ${unitsText(at.minNotional)} ${at.quote}`;
  return `${price} ${price === 1 ? 'decimal' : 'decimals'} of price, ${quantity} of quantity, ${least}`;
}
