/**
 * A market maker on live depth: one order on each side of a price that falls with its inventory, by Avellaneda and Stoikov,
 * `High-frequency trading in a limit order book`, Quantitative Finance 8(3), 2008, section 3.2. Prices are fractions of the mid price, inventory
 * counts orders.
 */
import { distinctUntilChanged, filter, map, scan } from 'rxjs';
import { type Depth, decimal, defineStrategy, flag, integer, type Quote, quotes } from 'sluice';

export default defineStrategy({
  name: 'maker',
  about:
    'Keeps one order on each side of a price that falls with what it holds, and moves them when that price has moved',
  params: {
    offset: decimal(
      0.0005,
      { min: 0, max: 0.1 },
      'distance of each order without risk, a fraction of the price: 1 / κ',
    ),
    risk: decimal(100, { min: 0, max: 1e6 }, 'risk aversion γ: the larger, the more its inventory moves its orders'),
    horizon: integer(60, { min: 1, max: 86_400 }, 'seconds for which it bears the risk of its inventory: T - t'),
    refresh: decimal(0.0002, { min: 0, max: 0.1 }, 'move of its price, as a fraction, at which the orders follow'),
    quantity: decimal(0.01, { min: 1e-8, max: 1e9 }, 'base quantity of each order'),
    maxPosition: decimal(0.05, { min: 0, max: 1e9 }, 'base quantity beyond which it does not buy'),
    patient: flag(false, 'true: never sells below its average cost, and waits instead'),
  },
  check: ({ quantity, maxPosition }) =>
    quantity <= maxPosition
      ? undefined
      : `maxPosition (${maxPosition}) must be at least quantity (${quantity}), or it never buys`,
  signals: ({
    depth,
    holding,
    instrument,
    params: { offset, risk, horizon, refresh, quantity, maxPosition, patient },
  }) =>
    depth.pipe(
      filter(({ bids, asks }) => bids.length > 0 && asks.length > 0),
      scan((last: Market, now) => marketAfter(last, now, horizon), nothingYet),
      map(({ bid, middle, variance }) => {
        const held = holding().quantity;
        // (29): the reservation price s - q γ σ² (T - t).
        const reservation = middle * (1 - (held / quantity) * risk * variance);
        // (30): half of the optimal spread γ σ² (T - t) + (2 / γ) ln(1 + γ / κ), which is 1 / κ on each side without risk.
        const half = risk === 0 ? offset : (risk * variance) / 2 + Math.log(1 + risk * offset) / risk;
        return { bid, middle, reservation, half: half * middle, held };
      }),
      // Each move of an order takes two requests and puts it at the end of the queue: small moves are ignored.
      distinctUntilChanged((last, { reservation }) => Math.abs(reservation - last.reservation) < last.middle * refresh),
      map(({ bid, middle, reservation, half, held }) => {
        const orders: Quote[] = [];
        if (held + quantity <= maxPosition) orders.push({ side: 'BUY', price: reservation - half, quantity });
        // Fees are taken from what is bought: a little less than an order's quantity is there to be sold.
        const sellable = Math.min(held, quantity);
        // At the best bid it would take, and pay the spread that it lives on.
        const lowest = patient
          ? Math.max(middle, holding().entryPrice) * (1 + offset)
          : bid + 10 ** -instrument.pricePrecision;
        const ask = Math.max(reservation + half, lowest);
        if (sellable > quantity / 2) orders.push({ side: 'SELL', price: ask, quantity: sellable });
        return quotes(orders, `its price is ${reservation.toPrecision(8)}, the mid price ${middle.toPrecision(8)}`);
      }),
    ),
});

interface Market {
  /** Of the last depth, UTC ms. */
  readonly time: number;
  readonly bid: number;
  readonly middle: number;
  /** σ² (T - t): the squared moves of the mid price within the horizon, the last ones weighing most. */
  readonly variance: number;
}
const nothingYet: Market = { time: 0, bid: Number.NaN, middle: Number.NaN, variance: 0 };

function marketAfter(last: Market, { time, bids, asks }: Depth, horizon: number): Market {
  const bid = bids[0]?.[0] ?? Number.NaN;
  const middle = (bid + (asks[0]?.[0] ?? Number.NaN)) / 2;
  if (Number.isNaN(last.middle)) return { time, bid, middle, variance: 0 };
  const faded = last.variance * Math.exp((last.time - time) / (horizon * 1_000));
  return { time, bid, middle, variance: faded + Math.log(middle / last.middle) ** 2 };
}
