/** People on the same account and at the exchange: they place, cancel, move money, reverse trades and delist, without the API. */
import type { Rng } from '../../clock/clock.ts';
import type { Instrument } from '../../domain/instrument.ts';
import {
  type Lots,
  lotsFor,
  MoneyError,
  max,
  noUnits,
  plus,
  priceText,
  quantityText,
  rate,
  type Ticks,
  ticks,
  units,
  unitsText,
  worsened,
} from '../../domain/money.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Exchange } from '../core/exchange.ts';
import { type Listed, withTerms } from '../core/instrument-terms.ts';
import type { SimOrder } from '../core/order.ts';
import { orderRequest } from '../http/order-request.ts';
import { Refused, valueOrRefused } from '../http/params.ts';
import { type OrderRow, orderRow } from '../log.ts';
import type { Adjustment, HumanBust, HumanCancel, HumanOrder, TermsChange } from './events.ts';

export type People = ReturnType<typeof openPeople>;

/** `users` are the uids; the first is the default. Each action throws a `Refusal` with the reason when it is not possible. */
export function openPeople(exchange: Exchange, users: readonly string[], rng: Rng) {
  const userOf = (uid = users[0] ?? ''): string => {
    if (!users.includes(uid)) throw new Refusal(`there is no user ${uid}; there are ${users.join(', ')}`);
    return uid;
  };
  const instrumentOf = (symbol: string | undefined): Listed => {
    const [first] = exchange.instruments.values();
    const found = symbol === undefined ? first : exchange.instruments.get(symbol.toUpperCase());
    if (found === undefined) throw new Refusal(`there is no symbol ${symbol}`);
    return found;
  };
  const row = (order: SimOrder): OrderRow => orderRow(order, instrumentOf(order.symbol));

  return {
    place({ type = 'LIMIT', offsetBps = -100, ...given }: HumanOrder): OrderRow {
      const uid = userOf(given.user);
      const at = instrumentOf(given.symbol);
      const side = given.side ?? (rng() < 0.5 ? 'BUY' : 'SELL');
      const price = given.price ?? offsetPrice(exchange, at, side, offsetBps);
      const inQuote = type === 'MARKET' && side === 'BUY';
      const volume = given.volume ?? orRefusal(() => smallVolume(price, at, inQuote));
      const copied = given.copy ? [...exchange.orders.open(uid)].at(-1)?.clientOrderId : undefined;
      const params = { side, type, price, volume, newClientOrderId: copied ?? given.clientOrderId };
      const request = orRefusal(() => orderRequest(new Map(Object.entries(params)), at));
      const place = () => valueOrRefused(exchange.madeBy('hand', () => exchange.place(uid, request)));
      return row(orRefusal(place));
    },
    /** Returns the orders whose cancel was requested. */
    cancel({ user, symbol, which = 'newest' }: HumanCancel): OrderRow[] {
      const open = [...exchange.orders.open(userOf(user))].filter(
        (order) => symbol === undefined || order.symbol === symbol.toUpperCase(),
      );
      const chosen = which === 'all' ? open : open.slice(...(which === 'newest' ? [-1] : [0, 1]));
      for (const order of chosen) exchange.cancel(order);
      return chosen.map(row);
    },
    adjust({ user, asset, amount }: Adjustment): void {
      const uid = userOf(user);
      const change = orRefusal(() => units(amount));
      const free = exchange.accounts.holdings(uid).get(asset)?.free ?? noUnits;
      if (plus(free, change) < 0n) throw new Refusal(`user ${uid} has less than that free: ${asset}`);
      exchange.accounts.deposit(uid, asset, change);
    },
    /** Undoes one of a user's spot trades. */
    bust({ user, symbol, which = 'newest' }: HumanBust): void {
      const uid = userOf(user);
      const symbols = symbol === undefined ? [...exchange.instruments.keys()] : [instrumentOf(symbol).symbol];
      const own = symbols
        .flatMap((one) => exchange.orders.trades(uid, one))
        .toSorted((a, b) => Number(a.trade.tradeId) - Number(b.trade.tradeId));
      const chosen = own.at(which === 'newest' ? -1 : 0)?.trade;
      if (chosen === undefined) throw new Refusal(`user ${uid} has no trade that could be undone`);
      if (!exchange.bust(chosen))
        throw new Refusal(`trade ${chosen.tradeId} cannot be undone: what it brought is not free any more`);
    },
    delist: (symbol: string): void => exchange.delist(instrumentOf(symbol).symbol),
    /** Lists a symbol under other terms. */
    changeTerms: ({ symbol, ...change }: TermsChange): void =>
      exchange.list(orRefusal(() => withTerms(instrumentOf(symbol), change))),
  };
}

/** A person's invalid input is refused like that of a request. */
function orRefusal<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Refused) throw new Refusal(error.refusal.msg);
    if (error instanceof MoneyError) throw new Refusal(error.message);
    throw error;
  }
}

/** This many basis points past the last price: a positive offset trades at once. */
function offsetPrice(exchange: Exchange, at: Instrument, side: 'BUY' | 'SELL', bps: number): string {
  const last = exchange.recentPrints(at.symbol, 1)[0]?.price ?? bestOf(exchange, at.symbol);
  if (last === undefined) throw new Refusal(`${at.symbol} has no price yet: name one`);
  const away = bps >= 0 ? side : side === 'BUY' ? 'SELL' : 'BUY';
  return priceText(worsened(away, last, rate((Math.abs(bps) / 10_000).toFixed(8))), at);
}

function bestOf(exchange: Exchange, symbol: string): Ticks | undefined {
  const book = exchange.market(symbol).book();
  return book.bids[0]?.price ?? book.asks[0]?.price;
}

/** A little more than twice the exchange's minimum. */
function smallVolume(price: string, at: Instrument, inQuote: boolean): string {
  const amount = plus(at.minNotional, max(at.minNotional, units('10')));
  if (inQuote) return unitsText(amount);
  return quantityText(max(at.minQuantity, plus(lotsFor(amount, ticks(price, at), at), 1n as Lots)), at);
}
