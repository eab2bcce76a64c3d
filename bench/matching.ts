/**
 * node bench/matching.ts: order operations a second of the built-in exchange's core, and how they grow with the book.
 *
 * Half of the operations create a resting order, 35 % cancel a random one, 15 % take the best one whole, so that the book
 * keeps its size. `places` only reads and writes as many numbers at as many places as a book of that size has; `orders` makes the same
 * orders without an engine; `matching` is price-time matching alone, and `engine` what is left of it without those two: the processor's
 * cache holds a small book and not a large one, and the collector copies orders that live long, whatever the engine does. `core` adds users,
 * balances, fees, ids, own trades and the record of what changed. Time is the process' CPU time, helpers of the garbage collector included, so that one core is what it says
 * and neighbours on the machine count less; of several rounds the best counts.
 */
import { type Rng, seededRng } from '../src/clock/clock.ts';
import { instrument } from '../src/domain/instrument.ts';
import type { Side } from '../src/domain/market.ts';
import { type Lots, minus, noLots, noUnits, plus, rate, type Ticks, units } from '../src/domain/money.ts';
import { Exchange } from '../src/simulator/core/exchange.ts';
import { Matching } from '../src/simulator/core/matching.ts';
import type { SimOrder } from '../src/simulator/core/order.ts';
import { emptyMarket } from '../src/simulator/market/empty-market.ts';
import { textTable } from '../src/terminal/table.ts';

const at = instrument({ symbol: 'ABCUSDT', base: 'ABC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 4 });
const middle = 1_000_000;
const lowest = 1n as Ticks;
const highest = BigInt(2 * middle) as Ticks;
const sizes = [1_000, 10_000, 100_000] as const;
const operations = 200_000;
const rounds = 5;
/** No user may have more than 10,000 open orders. */
const users = Array.from({ length: 40 }, (_, index) => String(10_001 + index));

/** What is measured: something that takes orders, ends them, and meets them. */
interface Engine {
  create(uid: string, side: Side, price: Ticks, quantity: Lots): SimOrder;
  cancel(order: SimOrder): void;
}

/** No engine: orders stand in a list in no order, and any one is met. What grows here is the price of memory and its collection. */
function ordersAlone(): Engine {
  interface Listed extends SimOrder {
    place?: number;
  }
  const resting: Listed[] = [];
  const rng = seededRng(1);
  let count = 0;
  const end = (order: Listed): void => {
    const last = resting.pop();
    if (last === undefined || order.place === undefined) return;
    order.executed = order.quantity;
    if (last === order) return;
    resting[order.place] = last;
    last.place = order.place;
  };
  return {
    create(uid, side, price, quantity) {
      const order: Listed = { ...blank, orderId: String(++count), uid, side, price, quantity };
      if (price === lowest || price === highest) {
        end(resting[Math.floor(rng() * resting.length)] ?? order);
        return order;
      }
      order.place = resting.push(order) - 1;
      return order;
    },
    cancel: end,
  };
}

function matchingAlone(): Engine {
  const matching = new Matching(
    at,
    ({ taker, maker, quantity }) => {
      for (const order of [taker, maker]) if (order !== undefined) order.executed = plus(order.executed, quantity);
    },
    () => undefined,
  );
  let count = 0;
  return {
    create(uid, side, price, quantity) {
      const order = { ...blank, orderId: String(++count), uid, side, price, quantity };
      matching.take(order);
      if (order.executed < order.quantity) matching.rest(order);
      return order;
    },
    cancel: (order) => matching.remove(order),
  };
}

function core(): Engine {
  const exchange = new Exchange({
    instruments: [at],
    markets: [emptyMarket(at)],
    fees: { maker: rate('0.001'), taker: rate('0.002') },
    startAt: 0,
    cancelDelayMs: undefined,
    onLooped: () => undefined,
  });
  for (const uid of users) {
    exchange.accounts.deposit(uid, 'ABC', units('1000000000000'));
    exchange.accounts.deposit(uid, 'USDT', units('1000000000000000'));
  }
  const { symbol } = at;
  return {
    create(uid, side, price, quantity) {
      exchange.takeChanges();
      const request = { symbol, side, type: 'LIMIT', price, quantity, amount: noUnits, clientOrderId: '' } as const;
      const placed = exchange.place(uid, request);
      if (!placed.ok) throw new Error(placed.refusal.msg);
      return placed.value;
    },
    cancel: (order) => {
      exchange.takeChanges();
      exchange.cancel(order);
    },
  };
}

const blank: SimOrder = {
  orderId: '',
  clientOrderId: '',
  uid: '',
  account: 'spot',
  holder: '',
  symbol: at.symbol,
  side: 'BUY',
  type: 'LIMIT',
  price: 0n as Ticks,
  quantity: noLots,
  amount: noUnits,
  createdAt: 0,
  updatedAt: 0,
  status: 'NEW',
  executed: noLots,
  spent: noUnits,
  locked: noUnits,
  queueAhead: noLots,
};

/** Something that works through so many operations. */
interface Work {
  run(count: number): void;
}

/**
 * No orders either: the neighbours of an order and the numbers of its price, in typed arrays. One that comes touches its own place, one
 * neighbour and its price; one that goes its own place, both neighbours and its price.
 */
function placesAlone(size: number): Work {
  const rng = seededRng(size);
  const links = new Float64Array(4 * size);
  const prices = new Float64Array(2 * size);
  const pick = (): number => Math.floor(rng() * size);
  const touch = (array: Float64Array, at: number): void => {
    array[at] = (array[at] as number) + 1;
  };
  return {
    run(count) {
      for (let done = 0; done < count; done += 2) {
        for (let link = 0; link < 5; link++) touch(links, 4 * pick());
        for (let price = 0; price < 2; price++) touch(prices, 2 * pick());
      }
    },
  };
}

/** A book that is held at its size. */
class Traffic implements Work {
  readonly #engine: Engine;
  readonly #rng: Rng;
  readonly #resting: SimOrder[] = [];
  readonly #spread: number;

  constructor(engine: Engine, size: number) {
    this.#engine = engine;
    this.#rng = seededRng(size);
    this.#spread = size;
    while (this.#resting.length < size) this.#create();
  }

  run(count: number): void {
    for (let done = 0; done < count; done += 2) {
      this.#create();
      if (this.#rng() < 0.7) this.#cancel();
      else this.#take();
    }
  }

  #pick(count: number): number {
    return Math.floor(this.#rng() * count);
  }

  /** As many prices as orders, and a part of them near the best, as in a real book. */
  #create(): void {
    const side: Side = this.#rng() < 0.5 ? 'BUY' : 'SELL';
    const away = 1 + Math.floor(this.#spread * this.#rng() ** 2);
    const price = BigInt(side === 'BUY' ? middle - away : middle + away) as Ticks;
    const uid = users[this.#pick(users.length)] as string;
    this.#resting.push(this.#engine.create(uid, side, price, BigInt(1 + this.#pick(10_000)) as Lots));
  }

  #cancel(): void {
    const index = this.#live();
    const order = this.#resting[index] as SimOrder;
    this.#drop(index);
    this.#engine.cancel(order);
  }

  /** Takes a random order's quantity from the best of its side. */
  #take(): void {
    const { side, quantity, executed } = this.#resting[this.#live()] as SimOrder;
    const buys = side === 'SELL';
    const price = buys ? highest : lowest;
    const uid = users[this.#pick(users.length)] as string;
    this.#engine.create(uid, buys ? 'BUY' : 'SELL', price, minus(quantity, executed));
  }

  /** Index of a random order that still rests; those that have filled are forgotten on the way. */
  #live(): number {
    for (;;) {
      const index = this.#pick(this.#resting.length);
      const { executed, quantity } = this.#resting[index] as SimOrder;
      if (executed < quantity) return index;
      this.#drop(index);
    }
  }

  #drop(index: number): void {
    const last = this.#resting.pop() as SimOrder;
    if (index < this.#resting.length) this.#resting[index] = last;
  }
}

/** ns of CPU time each. */
function cost(work: Work): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage();
    work.run(operations);
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, user + system);
  }
  return (best / operations) * 1_000;
}

const costs = (work: (size: number) => Work): number[] => sizes.map((size) => cost(work(size)));
const places = costs(placesAlone);
const orders = costs((size) => new Traffic(ordersAlone(), size));
const matching = costs((size) => new Traffic(matchingAlone(), size));
const engine = matching.map((ns, index) => ns - (orders[index] as number) - (places[index] as number));
const whole = costs((size) => new Traffic(core(), size));

const head = ['', 'resting', 'operations/s', 'ns each', '× the smallest', 'log allows', 'asked'];
const rows: string[][] = [];
for (const [name, each] of Object.entries({ places, orders, engine, matching, core: whole })) {
  for (const [index, ns] of each.entries()) {
    const size = sizes[index] as number;
    rows.push([
      name,
      size.toLocaleString('en'),
      name === 'engine' ? '' : Math.round(1e9 / ns).toLocaleString('en'),
      ns.toFixed(0),
      (ns / (each[0] as number)).toFixed(2),
      (Math.log(size) / Math.log(sizes[0])).toFixed(2),
      name === 'matching' && size === 10_000 ? '500,000/s' : '',
    ]);
  }
}
console.log(textTable(head, rows));
