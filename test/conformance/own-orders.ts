/**
 * The suite's own orders. Each is noted before it is sent, whatever the reply, so that at the end none is left open. An order
 * whose id no reply named is found among the open orders, where its side, price, quantity and time prove that it is ours.
 */
import { type Credentials, type Reply, Stopped } from './http.ts';
import { isRefusal, msIn, orderIdIn, orderIdsIn, orderStateIn, rowsIn, unwrapped } from './lenient.ts';
import { type Fields, shown } from './shape.ts';
import { now, sleep } from './time.ts';

/** How the requests go out that find and cancel orders. */
export interface Wire {
  ask(path: string, query: Readonly<Record<string, string>>, as: Credentials): Promise<Reply>;
  tell(path: string, body: object, as: Credentials): Promise<Reply>;
  /** Exchange time less ours, ms. */
  readonly offset: number;
}

/** An order that may rest although the suite has ended. */
export interface Left {
  /** Undefined where no reply named it. */
  readonly id: string | undefined;
  readonly symbol: string;
  readonly side: string;
  readonly price: string;
  readonly quantity: string;
  readonly why: string;
}

export interface Creating {
  readonly path: string;
  readonly body: string;
  readonly as: Credentials;
}

interface Place {
  readonly as: Credentials;
  readonly base: '/sapi/v1' | '/sapi/v1/margin';
  readonly symbol: string;
}

interface Account extends Place {
  /** Ids of the orders that were open before the suite created any; undefined where they could not be read. */
  readonly before: Promise<ReadonlySet<string> | undefined>;
  readonly sent: Sent[];
  /** Whether nothing has been sent since a sweep left nothing. */
  isClean: boolean;
}

type Terms = Pick<Left, 'side' | 'price' | 'quantity'>;

interface Sent {
  readonly orders: readonly Terms[];
  /** Exchange time, ms. */
  readonly from: number;
  until: number;
  refused: boolean;
  readonly ids: string[];
}

/** Clocks of an exchange differ by less, ms. */
const clockMs = 2_000;
/** Longer than an exchange takes to list an order, and to cancel one, ms. */
const listMs = 2_000;
const cancelMs = 10_000;
const pollMs = 200;
/** A minute of the limits is over after so many pauses. */
const limitTries = 4;
const limitPauseMs = 20_000;

const creates = /\/(order|batchOrders)$/;
/** Whether a POST to this path may create orders. */
export const mayCreate = (path: string): boolean => creates.test(path);

const why = ({ status, text }: Reply): string => `HTTP ${status}: ${shown(text)}`;
const written = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' ? String(value) : '?';

/** What a body asks for; nothing where it is no order. */
function termsIn(body: string): { readonly symbol: string | undefined; readonly orders: readonly Terms[] } {
  let read: unknown;
  try {
    read = JSON.parse(body);
  } catch {
    return { symbol: undefined, orders: [] };
  }
  if (typeof read !== 'object' || read === null) return { symbol: undefined, orders: [] };
  const { symbol, orders = [read] } = read as Fields;
  const terms = (Array.isArray(orders) ? orders : []).map((one: Fields | null) => ({
    side: written(one?.['side']),
    price: written(one?.['price']),
    quantity: written(one?.['volume']),
  }));
  return { symbol: typeof symbol === 'string' ? symbol.toUpperCase() : undefined, orders: terms };
}

const termsOf = (row: Fields): Terms => ({
  side: written(row['side']).toUpperCase(),
  price: written(row['price']),
  quantity: written(row['origQty']),
});
const sameTerms = (one: Terms, other: Terms): boolean =>
  one.side === other.side &&
  Number(one.price) === Number(other.price) &&
  Number(one.quantity) === Number(other.quantity);

const isWithin = (row: Fields, { from, until }: Sent): boolean => {
  const time = msIn(row['time'] ?? row['transactTime']);
  return time !== undefined && time >= from - clockMs && time <= until + clockMs;
};

/** The requests whose orders no reply named, one entry for each such order with these terms; the likeliest owner first. */
function placesFor(terms: Terms, sent: readonly Sent[]): Sent[] {
  const owners = sent.toReversed().toSorted((a, b) => Number(a.refused) - Number(b.refused));
  return owners.flatMap((owner) => {
    const alike = owner.orders.filter((order) => sameTerms(order, terms)).length;
    return Array.from({ length: Math.min(alike, owner.orders.length - owner.ids.length) }, () => owner);
  });
}

/** The orders that may rest and that no reply named. */
const missing = (sent: readonly Sent[]): readonly Terms[] =>
  sent.flatMap(({ refused, orders, ids }) =>
    refused ? [] : orders.slice(ids.length).filter(({ price }) => price !== '?'),
  );

/**
 * Gives rows that no reply named to the requests that created them; where more rows match than orders are missing, none is
 * provably ours. Returns the rows that may be ours all the same.
 */
function claim(
  rows: readonly Fields[],
  sent: readonly Sent[],
  before: ReadonlySet<string> | undefined,
): readonly Fields[] {
  const named = new Set(sent.flatMap(({ ids }) => ids));
  const unnamed = rows.filter((row) => {
    const id = orderIdIn(row);
    return id === undefined || !(named.has(id) || before?.has(id));
  });
  const isNew = (row: Fields): boolean => !named.has(orderIdIn(row) ?? '');
  for (const one of unnamed) {
    const terms = termsOf(one);
    const places = placesFor(terms, sent);
    const mine = unnamed.filter(
      (row) => isNew(row) && sameTerms(termsOf(row), terms) && places.some((place) => isWithin(row, place)),
    );
    if (before === undefined || mine.length > places.length) continue;
    for (const row of mine) {
      const index = places.findIndex((place) => isWithin(row, place));
      const [owner] = index < 0 ? [] : places.splice(index, 1);
      const id = orderIdIn(row);
      if (owner === undefined || id === undefined) continue;
      owner.ids.push(id);
      named.add(id);
    }
  }
  const sides = missing(sent).map(({ side }) => side);
  return unnamed.filter((row) => isNew(row) && sides.includes(termsOf(row).side));
}

const leftOf = ({ symbol }: Account, id: string | undefined, terms: Terms | undefined, reason: string): Left => ({
  ...{ id, symbol, side: '?', price: '?', quantity: '?' },
  ...terms,
  why: reason,
});

export class OwnOrders {
  readonly #wire: Wire;
  /** What a body without a symbol is taken for. */
  readonly #symbol: string;
  readonly #accounts = new Map<string, Account>();
  readonly #requests = new WeakMap<Reply, { readonly account: Account; readonly sent: Sent }>();
  readonly #ended = new Set<string>();
  /** Orders whose cancel the exchange refused, and how. */
  readonly #refused = new Map<string, string>();
  readonly #pending = new Set<Promise<unknown>>();

  constructor(wire: Wire, symbol: string) {
    this.#wire = wire;
    this.#symbol = symbol;
  }

  /** Sends what may create orders. */
  async send(creating: Creating, send: () => Promise<Reply>): Promise<Reply> {
    const work = this.#noted(creating, send);
    this.#pending.add(work);
    try {
      return await work;
    } finally {
      this.#pending.delete(work);
    }
  }

  /** The ids of what a request created. */
  async idsOf(reply: Reply): Promise<readonly string[]> {
    const found = this.#requests.get(reply);
    if (found === undefined) return [];
    const { account, sent } = found;
    const before = await account.before;
    const deadline = now() + listMs;
    while (sent.ids.length < sent.orders.length && !sent.refused && now() < deadline) {
      claim(await this.#openRows(account), account.sent, before);
      await sleep(pollMs);
    }
    return sent.ids;
  }

  /** Notes that an order rests no more. */
  ended(id: string): void {
    this.#ended.add(id);
  }

  /** Cancels what still rests, and returns what it could not cancel. Only the last sweep asks again where a cancel was refused. */
  async sweep({ isLast = false } = {}): Promise<readonly Left[]> {
    if (isLast) this.#refused.clear();
    await Promise.allSettled(this.#pending);
    const left: Left[] = [];
    for (const account of this.#accounts.values()) {
      if (account.isClean) continue;
      const count = account.sent.length;
      const found = await this.#sweepAccount(account).catch((error: unknown) =>
        this.#possible(account, error instanceof Error ? error.message : String(error)),
      );
      left.push(...found);
      // An order of unknown outcome may still appear.
      account.isClean = found.length === 0 && account.sent.length === count && missing(account.sent).length === 0;
    }
    return left;
  }

  async #openRows({ as, base, symbol }: Place, tries = 1): Promise<readonly Fields[]> {
    for (let count = 1; ; count++) {
      const reply = await this.#wire.ask(`${base}/openOrders`, { symbol, limit: '1000' }, as);
      const rows = reply.status === 200 && !isRefusal(reply) ? rowsIn(reply.value) : undefined;
      if (rows !== undefined) return rows;
      const isLimited = reply.status === 429 || reply.status === 410;
      if (!isLimited || count >= tries) throw new Error(`the open orders cannot be read: ${why(reply)}`);
      await sleep(limitPauseMs);
    }
  }

  #accountOf({ path, as }: Creating, symbol: string): Account {
    const base = path.includes('/margin/') ? '/sapi/v1/margin' : '/sapi/v1';
    const key = [as.key, base, symbol].join(' ');
    const known = this.#accounts.get(key);
    if (known !== undefined) return known;
    const before = this.#openRows({ as, base, symbol }).then(
      (rows) => new Set(rows.flatMap((row) => orderIdIn(row) ?? [])),
      () => undefined,
    );
    const made: Account = { as, base, symbol, before, sent: [], isClean: false };
    this.#accounts.set(key, made);
    return made;
  }

  async #noted(creating: Creating, send: () => Promise<Reply>): Promise<Reply> {
    const { symbol = this.#symbol, orders } = termsIn(creating.body);
    const account = this.#accountOf(creating, symbol);
    await account.before;
    const from = now() + this.#wire.offset;
    const sent: Sent = { orders, from, until: Number.POSITIVE_INFINITY, refused: false, ids: [] };
    account.sent.push(sent);
    account.isClean = false;
    const reply = await send().catch((error: unknown) => {
      sent.refused = error instanceof Stopped;
      throw error;
    });
    sent.until = now() + this.#wire.offset;
    sent.refused = isRefusal(reply);
    sent.ids.push(...orderIdsIn(reply.value));
    this.#requests.set(reply, { account, sent });
    return reply;
  }

  /** Whether an order rests although no list shows it. */
  async #isOpen({ base, as, symbol }: Account, orderId: string): Promise<boolean> {
    const reply = await this.#wire.ask(`${base}/order`, { orderId, symbol }, as);
    if ([410, 418, 429].includes(reply.status) || reply.status >= 500) throw new Error(why(reply));
    if (isRefusal(reply)) return false;
    const state = orderStateIn((unwrapped(reply.value) as Fields | undefined)?.['status']);
    return state === 'NEW' || state === 'PARTIALLY_FILLED';
  }

  async #resting(account: Account, listed: ReadonlyMap<unknown, Terms>): Promise<readonly string[]> {
    const resting: string[] = [];
    for (const id of account.sent.flatMap(({ ids }) => ids)) {
      const isResting = listed.has(id) || (!this.#ended.has(id) && (await this.#isOpen(account, id)));
      if (isResting) resting.push(id);
      else this.#ended.add(id);
    }
    return resting;
  }

  async #sweepAccount(account: Account): Promise<readonly Left[]> {
    const before = await account.before;
    const begun = now();
    const asked = new Set<string>();
    for (;;) {
      const rows = await this.#openRows(account, limitTries);
      const unproven = claim(rows, account.sent, before);
      const listed = new Map(rows.map((row) => [orderIdIn(row), termsOf(row)]));
      const resting = await this.#resting(account, listed);
      if (resting.length === 0)
        return unproven.map((row) => leftOf(account, orderIdIn(row), termsOf(row), 'it may be of this run'));
      for (const id of resting.filter((one) => !asked.has(one) && !this.#refused.has(one))) {
        asked.add(id);
        await this.#cancel(account, id);
      }
      // A list may be behind: an order that has ended cannot be cancelled.
      const patience = asked.size === 0 ? 0 : resting.every((id) => this.#refused.has(id)) ? listMs : cancelMs;
      if (now() - begun >= patience)
        return resting.map((id) => leftOf(account, id, listed.get(id), this.#refused.get(id) ?? 'it is still open'));
      await sleep(pollMs);
    }
  }

  async #cancel({ base, as, symbol }: Account, orderId: string): Promise<void> {
    const reply = await this.#wire.tell(`${base}/cancel`, { orderId, symbol }, as);
    if (reply.status !== 200 || isRefusal(reply)) this.#refused.set(orderId, `the cancel failed: ${why(reply)}`);
  }

  /** What may rest in an account that cannot be read. */
  #possible(account: Account, reason: string): readonly Left[] {
    const named = account.sent.flatMap(({ ids, orders }) => ids.map((id) => [id, orders[0]] as const));
    return [
      ...named.filter(([id]) => !this.#ended.has(id)).map(([id, terms]) => leftOf(account, id, terms, reason)),
      ...missing(account.sent).map((terms) => leftOf(account, undefined, terms, reason)),
    ];
  }
}

/** The sentence that names an order that is left. */
export const leftText = ({ id, symbol, side, price, quantity, why: reason }: Left): string =>
  `${symbol} ${side} ${quantity} at ${price}, ${id === undefined ? 'whose id no reply named' : `order ${id}`}: ${reason}`;
