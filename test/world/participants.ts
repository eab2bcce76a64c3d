/** Everybody else at the exchange: makers and takers who move the price, and the human who trades on our own account. */
import type { Instrument } from '../../src/domain/instrument.ts';
import type { Side } from '../../src/domain/market.ts';
import { lotsOf, noLots, noTicks, noUnits, ticksOf, unitsOf } from '../../src/domain/money.ts';
import { isOpen, type SimOrder } from '../../src/simulator/core/order.ts';
import type { Chance } from './chance.ts';
import { crowdUid, ourUid, type Venue } from './venue.ts';

interface Wanted {
  readonly side: Side;
  readonly quantity: number;
  /** A LIMIT order; without it MARKET. */
  readonly price?: number;
  readonly clientOrderId?: string;
}

function place(venue: Venue, uid: string, at: Instrument, wanted: Wanted): SimOrder | undefined {
  const account = uid === ourUid ? venue.account : 'spot';
  const { side, quantity, price, clientOrderId = '' } = wanted;
  const isBuy = side === 'BUY';
  const request = {
    clientOrderId,
    symbol: at.symbol,
    side,
    type: price === undefined ? 'MARKET' : 'LIMIT',
    price: price === undefined ? noTicks : ticksOf(price, at, isBuy ? 'down' : 'up'),
    quantity: price === undefined && isBuy ? noLots : lotsOf(quantity, at),
    amount: price === undefined && isBuy ? unitsOf(Math.round(quantity * 100)) : noUnits,
  } as const;
  const placed = venue.exchange.place(uid, request, account);
  return placed.ok ? placed.value : undefined;
}

/** Makers who quote around a price that walks, and takers now and then. */
export class Crowd {
  readonly #venue: Venue;
  readonly #at: Instrument;
  readonly #chance: Chance;
  #quotes: SimOrder[] = [];
  mid = 100;

  constructor(venue: Venue, at: Instrument, chance: Chance) {
    this.#venue = venue;
    this.#at = at;
    this.#chance = chance;
  }

  /** `to`: where the price goes, in place of where it would walk. */
  turn(to?: number): void {
    const { exchange } = this.#venue;
    const chance = this.#chance;
    this.#venue.advance();
    for (const order of this.#quotes) if (isOpen(order)) exchange.cancel(order);
    const pull = (100 - this.mid) * 0.02;
    this.mid = to ?? Math.round((this.mid + pull + chance.between(-0.45, 0.45)) * 100) / 100;
    this.#quotes = [];
    for (const [side, sign] of [['BUY', -1] as const, ['SELL', 1] as const]) {
      for (const step of [0.04, 0.4]) {
        const price = this.mid + sign * (step + chance.between(0, 0.05));
        // The nearest level is thin now and then, so that orders fill in parts.
        const quantity = step > 0.1 ? 50 : chance.between(0.05, 2.5);
        const order = place(this.#venue, crowdUid, this.#at, { side, price, quantity });
        if (order !== undefined) this.#quotes.push(order);
      }
    }
    if (chance.is(0.5))
      place(this.#venue, crowdUid, this.#at, { side: chance.pick(['BUY', 'SELL']), quantity: chance.between(0.1, 4) });
    this.#venue.look();
  }
}

/** Our orders that he remembers, the newest last, to place the same by hand. */
const maxRemembered = 20;

/** Places orders on our account by hand, copies our ids badly, and cancels what rests, our orders too. */
export class Human {
  readonly #venue: Venue;
  readonly #chance: Chance;
  /** He trades by the same ideas as we do: places what we placed. */
  readonly #mirrors: boolean;
  #remembered: SimOrder[] = [];
  acts = 0;

  constructor(venue: Venue, chance: Chance, mirrors: boolean) {
    this.#venue = venue;
    this.#chance = chance;
    this.#mirrors = mirrors;
  }

  turn(at: Instrument, mid: number): string {
    const chance = this.#chance;
    const { exchange } = this.#venue;
    this.#venue.advance();
    this.acts++;
    const open = [...exchange.orders.open(this.#venue.holder)].filter(({ symbol }) => symbol === at.symbol);
    if (chance.is(0.35) && open.length > 0) {
      const order = chance.pick(open);
      exchange.cancel(order);
      this.#venue.look();
      return `cancels ${order.orderId}`;
    }
    if (this.#mirrors) {
      const ours = open.filter(({ clientOrderId, type }) => clientOrderId !== '' && type === 'LIMIT');
      this.#remembered = [...new Set([...this.#remembered, ...ours])].slice(-maxRemembered);
      if (chance.is(0.5) && this.#remembered.length > 0) return this.#mirror(chance.pick(this.#remembered));
    }
    const side = chance.pick<Side>(['BUY', 'SELL']);
    const quantity = Math.round(chance.between(0.1, 2) * 1e5) / 1e5;
    const price = mid + (side === 'BUY' ? -1 : 1) * chance.between(-0.1, 0.6);
    const ids = ['', `web${this.acts}`, forged(open, chance)];
    const wanted: Wanted = { side, quantity, clientOrderId: chance.pick(ids), ...(chance.is(0.7) && { price }) };
    const order = place(this.#venue, ourUid, at, wanted);
    this.#venue.look();
    return `places ${order?.orderId ?? 'nothing'} ${side} ${quantity}`;
  }

  #mirror({ orderId, symbol, side, type, price, quantity, amount }: SimOrder): string {
    const request = { clientOrderId: '', symbol, side, type, price, quantity, amount };
    const placed = this.#venue.exchange.place(ourUid, request, this.#venue.account);
    this.#venue.look();
    return `places ${placed.ok ? placed.value.orderId : 'nothing'} as ${orderId}`;
  }
}

/** One of our ids with another digit at its end: the mac must show it. */
function forged(open: readonly SimOrder[], chance: Chance): string {
  const known = open.map(({ clientOrderId }) => clientOrderId).filter((id) => /^s[a-z2-7]{28}$/.test(id));
  // A digit that our ids never have, so that a copy of a copy is not the first one again.
  return known.length === 0 ? 'mine' : `${chance.pick(known).slice(0, -1)}9`;
}
