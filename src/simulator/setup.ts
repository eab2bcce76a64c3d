/** Makes an exchange of options and, after a restart, of what was saved. */
import { rate, units } from '../domain/money.ts';
import { Refusal } from '../domain/refusal.ts';
import { Exchange } from './core/exchange.ts';
import type { Credentials } from './http/api.ts';
import type { LogEntry } from './log.ts';
import { openMarkets } from './market/open-markets.ts';
import type { SimulatorOptions } from './options.ts';
import type { Store } from './persist/store.ts';

/** How long a cancel takes where it does not happen at once, ms of exchange time. */
const cancelDelayMs = 500;
/** Live venues charge this, and documents give it as the default (venue-observed §14). */
const usualFees = { maker: '0.002', taker: '0.002' };

interface Opening {
  readonly store: Store | undefined;
  /** Exchange time at which a new exchange opens. */
  readonly start: number;
  readonly log: (entry: LogEntry) => void;
  readonly cancelLater: boolean;
}

export function openExchange(options: SimulatorOptions, { store, start, log, cancelLater }: Opening): Exchange {
  const { instruments, markets = [], seed = 1, fees = usualFees } = options;
  const now = store?.savedAt ?? start;
  if (options.clock !== undefined && options.clock.now() < now)
    throw new Refusal(`the clock says ${start}, but the saved exchange has reached ${now}: start the clock there`);
  const saved = store?.trades() ?? [];
  const tradesBefore = (symbol: string) => saved.filter((trade) => trade.symbol === symbol);
  const exchange = new Exchange({
    instruments,
    markets: openMarkets({ instruments, markets, anchor: store?.anchor ?? start, now, seed, tradesBefore }),
    fees: { maker: rate(fees.maker), taker: rate(fees.taker) },
    startAt: now,
    cancelDelayMs: cancelLater ? cancelDelayMs : undefined,
    onLooped(symbol, times) {
      log({ at: exchange.now, kind: 'looped', symbol, times });
      options.onLooped?.(symbol, times);
    },
  });
  store?.restore(exchange);
  for (const { uid, balances } of options.users) {
    if (exchange.accounts.has(uid)) continue;
    for (const [asset, amount] of Object.entries(balances)) exchange.accounts.deposit(uid, asset, units(amount));
  }
  return exchange;
}

/** Users by key. */
export function keysOf({ users }: SimulatorOptions): Map<string, Credentials> {
  const keys = new Map<string, Credentials>();
  for (const { uid, key, secret } of users) {
    if (!/^\d{1,18}$/.test(uid)) throw new Error(`the uid ${JSON.stringify(uid)} is not a whole number`);
    if (keys.has(key)) throw new Error(`two users have the key ${key}`);
    keys.set(key, { uid, secret });
  }
  return keys;
}
