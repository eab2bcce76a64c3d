/** §2.3, §3.1, §4.2, §4.3: what happens when orders meet, on a symbol where nobody else trades, and what the account shows of it. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Check } from '../check.ts';
import { idIn, isRefusal } from '../lenient.ts';
import {
  balances,
  cancel,
  demandId,
  look,
  myTrades,
  near,
  openOrders,
  place,
  priced,
  quietPrice,
  settled,
  volumeFor,
  type Wanted,
} from '../orders.ts';
import { type Instrument, nameOf, type Session, sameDecimal } from '../session.ts';
import { decimal, descending, type Fields, fields, flag, long, longNumber, ms, rows, shown, text } from '../shape.ts';

const quiet = ['key', 'write', 'quiet'] as const;

function market({ quiet: on }: Session): Instrument {
  ok(on !== undefined, 'this check needs a quiet symbol');
  return on;
}
/** Quantities in the instrument's steps, so that sums are exact. */
const volume = (at: Session, times: number): string =>
  (Number(volumeFor(at, quietPrice, market(at))) * times).toFixed(market(at).quantityPrecision);

const here = (at: Session, wanted: Wanted = {}): Promise<{ readonly id: string }> =>
  place(at, { on: market(at), price: priced(quietPrice, market(at)), volume: volume(at, 1), ...wanted });
const ask = (at: Session, wanted: Wanted = {}) => here(at, { side: 'SELL', as: at.second, ...wanted });

const tradesOf = async (at: Session, id: string, side: 'bidId' | 'askId', mine = true): Promise<readonly Fields[]> =>
  (await myTrades(at, market(at), {}, mine ? {} : { as: at.second })).filter((row) => idIn(row[side]) === id);

/** An own trade as §2.3 has it. */
function checkTrade(row: Fields): void {
  for (const name of ['id', 'bidId', 'askId', 'bidUserId', 'askUserId']) longNumber(row[name], name);
  text(row['symbol'], 'symbol');
  ok(decimal(row['price'], 'price') > 0 && decimal(row['qty'], 'qty') > 0, shown(row));
  equal(typeof row['time'], 'number', 'time is no number');
  ms(row['time'], 'time');
  flag(row['isBuyer'], 'isBuyer');
  flag(row['isMaker'], 'isMaker');
  text(row['feeCoin'], 'feeCoin');
  ok(decimal(row['fee'], 'fee') >= 0, `fee is ${shown(row['fee'])}`);
}

const fills: readonly Check[] = [
  {
    section: '3.1',
    needs: quiet,
    says: 'fills two orders that meet, and calls both FILLED',
    async run(at) {
      const sold = await ask(at);
      const bought = await here(at);
      for (const order of [
        await settled(at, bought.id, market(at), ['FILLED']),
        await look(at, sold.id, market(at), { as: at.second }),
      ]) {
        equal(order.status, 'FILLED');
        sameDecimal(order['executedQty'], volume(at, 1), 'executedQty');
        sameDecimal(order['avgPrice'], quietPrice, 'avgPrice');
      }
      deepEqual(
        (await openOrders(at, market(at))).filter(({ id }) => id === bought.id),
        [],
      );
    },
  },
  {
    section: '3.1',
    needs: quiet,
    says: 'calls an order PARTIALLY_FILLED while a part of it rests, and shows how much',
    async run(at) {
      const bought = await here(at, { volume: volume(at, 3) });
      await ask(at);
      const order = await settled(at, bought.id, market(at), ['PARTIALLY_FILLED']);
      sameDecimal(order['executedQty'], volume(at, 1), 'executedQty');
      sameDecimal(order['origQty'], volume(at, 3), 'origQty');
      const row = (await openOrders(at, market(at))).find(({ id }) => id === bought.id);
      equal(row?.status, 'PARTIALLY_FILLED');
      await cancel(at, bought.id, market(at));
      const ended = await settled(at, bought.id, market(at), ['CANCELED']);
      sameDecimal(ended['executedQty'], volume(at, 1), 'executedQty');
    },
  },
  {
    section: '3.1',
    needs: quiet,
    says: 'serves the better price first, at one price the older order, each at its own price',
    async run(at) {
      const dear = await ask(at, { price: priced(quietPrice + 2, market(at)) });
      const older = await ask(at);
      const younger = await ask(at);
      const bought = await here(at, { price: priced(quietPrice + 5, market(at)), volume: volume(at, 2) });
      const state = async (id: string) => (await look(at, id, market(at), { as: at.second })).status;
      equal(
        (await settled(at, bought.id, market(at), ['FILLED']))['symbol']?.toString().toUpperCase(),
        nameOf(market(at)),
      );
      deepEqual([await state(older.id), await state(younger.id), await state(dear.id)], ['FILLED', 'FILLED', 'NEW']);
      sameDecimal((await look(at, bought.id, market(at)))['avgPrice'], quietPrice, 'avgPrice');
      await cancel(at, dear.id, market(at), { as: at.second });
    },
  },
  {
    section: '4.2',
    needs: quiet,
    says: 'takes the volume of a MARKET BUY for the amount to spend',
    async run(at) {
      const offered = await ask(at, { volume: volume(at, 4) });
      const amount = priced(quietPrice * Number(volume(at, 2)), market(at));
      const bought = await here(at, { type: 'MARKET', volume: amount });
      const order = await settled(at, bought.id, market(at), ['FILLED', 'CANCELED']);
      near(decimal(order['executedQty'], 'executedQty'), Number(volume(at, 2)), 'executedQty');
      await cancel(at, offered.id, market(at), { as: at.second });
    },
  },
  {
    section: '4.2',
    needs: quiet,
    says: 'sells the volume of a MARKET SELL',
    async run(at) {
      const bid = await here(at, { volume: volume(at, 2), as: at.second });
      const sold = await here(at, { type: 'MARKET', side: 'SELL', volume: volume(at, 1) });
      const order = await settled(at, sold.id, market(at), ['FILLED']);
      sameDecimal(order['executedQty'], volume(at, 1), 'executedQty');
      sameDecimal(order['avgPrice'], quietPrice, 'avgPrice');
      await cancel(at, bid.id, market(at), { as: at.second });
    },
  },
  {
    section: '3.1',
    needs: quiet,
    says: 'lets no MARKET order rest where nobody trades',
    async run(at) {
      const reply = await at.tell('/sapi/v1/order', {
        symbol: nameOf(market(at)),
        side: 'SELL',
        type: 'MARKET',
        volume: volume(at, 1),
      });
      const [id] = await at.own.idsOf(reply);
      if (isRefusal(reply)) at.answers.refused(reply);
      else {
        demandId(id, reply);
        await settled(at, id, market(at), ['REJECTED', 'CANCELED']);
      }
    },
  },
];

const trades: readonly Check[] = [
  {
    section: '2.3',
    needs: quiet,
    says: 'records a trade for both, with who was the maker, and the fee',
    async run(at) {
      const sold = await ask(at);
      const bought = await here(at);
      await settled(at, bought.id, market(at), ['FILLED']);
      const [ours] = await tradesOf(at, bought.id, 'bidId');
      const [theirs] = await tradesOf(at, sold.id, 'askId', false);
      ok(ours !== undefined && theirs !== undefined, 'one of them has no record');
      for (const row of [ours, theirs]) {
        checkTrade(row);
        equal(idIn(row['bidId']), bought.id);
        equal(idIn(row['askId']), sold.id);
        sameDecimal(row['price'], quietPrice, 'price');
        sameDecimal(row['qty'], volume(at, 1), 'qty');
      }
      equal(String(ours['id']), String(theirs['id']));
      ok(ours['bidUserId'] !== ours['askUserId'], 'one user is both');
      deepEqual([ours['isBuyer'], ours['isMaker']], [true, false]);
      deepEqual([theirs['isBuyer'], theirs['isMaker']], [false, true]);
    },
  },
  {
    section: '2.3',
    observed: '11',
    needs: quiet,
    says: 'takes the fee in the asset that is received',
    async run(at) {
      const sold = await ask(at);
      const bought = await here(at);
      await settled(at, bought.id, market(at), ['FILLED']);
      const coin = (row: Fields | undefined): string => text(row?.['feeCoin'], 'feeCoin').toUpperCase();
      equal(coin((await tradesOf(at, bought.id, 'bidId'))[0]), market(at).base.toUpperCase());
      equal(coin((await tradesOf(at, sold.id, 'askId', false))[0]), market(at).quote.toUpperCase());
    },
  },
  {
    section: '2.3',
    needs: quiet,
    says: 'marks a trade with oneself',
    async run(at) {
      const sold = await ask(at, { as: at.main });
      const bought = await here(at);
      await settled(at, bought.id, market(at), ['FILLED']);
      const list = await tradesOf(at, bought.id, 'bidId');
      ok(list.length > 0, 'there is no record');
      for (const row of list) {
        equal(row['isSelf'], true, 'isSelf');
        equal(idIn(row['askId']), sold.id);
        deepEqual(row['bidUserId'], row['askUserId']);
      }
    },
  },
  {
    section: '1',
    needs: quiet,
    says: 'lists own trades in reverse order of time, as many as `limit` says',
    async run(at) {
      await ask(at, { volume: volume(at, 2) });
      await here(at);
      await here(at);
      const list = await myTrades(at, market(at));
      ok(list.length >= 2 && list.length <= 100, `${list.length} own trades`);
      descending(
        list.map(({ id }) => Number(long(id, 'id'))),
        'the own trades',
        false, // a trade with oneself may have a record for each side
      );
      equal((await myTrades(at, market(at), { limit: '1' })).length, 1);
      ok((await myTrades(at, market(at), { limit: '1000' })).length >= list.length, 'limit=1000 shows fewer');
    },
  },
  {
    section: '4.2',
    needs: quiet,
    says: 'starts own trades from `fromId`',
    async run(at) {
      const [newest, second] = (await myTrades(at, market(at))).map(({ id }) => long(id, 'id'));
      ok(newest !== undefined && second !== undefined, 'there are fewer than two own trades');
      const from = (await myTrades(at, market(at), { fromId: second })).map(({ id }) => long(id, 'id'));
      ok(from.includes(newest), `from ${second} on there are only ${from.join()}`);
      ok(
        from.every((id) => BigInt(id) >= BigInt(second)),
        `from ${second} on there are ${from.join()}`,
      );
    },
  },
];

const account: readonly Check[] = [
  {
    section: '4.3',
    needs: ['key'],
    says: 'shows free and locked balances',
    async run(at) {
      const value = fields(at.answers.done(await at.ask('/sapi/v1/account')), 'the account');
      ok(rows(value['balances'], 'balances').length > 0, 'there are no balances');
      await balances(at);
    },
  },
  {
    section: '2.4',
    needs: quiet,
    says: 'locks what an open order needs, and frees it with its end',
    async run(at) {
      const quote = market(at).quote.toUpperCase();
      const of = async () => (await balances(at)).get(quote) ?? { free: 0, locked: 0 };
      const before = await of();
      const value = quietPrice * Number(volume(at, 1));
      const order = await here(at);
      const resting = await of();
      near(before.free - resting.free, value, 'what is less free');
      near(resting.locked - before.locked, value, 'what is locked');
      await cancel(at, order.id, market(at));
      deepEqual(await of(), before);
    },
  },
  {
    section: '2.4',
    needs: quiet,
    says: 'moves what was traded, less the fee, and nothing else',
    async run(at) {
      const [base, quote] = [market(at).base.toUpperCase(), market(at).quote.toUpperCase()];
      const total = async (asset: string): Promise<number> => {
        const { free, locked } = (await balances(at)).get(asset) ?? { free: 0, locked: 0 };
        return free + locked;
      };
      const before = [await total(base), await total(quote)];
      await ask(at);
      const bought = await here(at);
      await settled(at, bought.id, market(at), ['FILLED']);
      const [row] = await tradesOf(at, bought.id, 'bidId');
      ok(row !== undefined, 'there is no record');
      const fee = decimal(row['fee'], 'fee');
      const inBase = text(row['feeCoin'], 'feeCoin').toUpperCase() === base;
      near((await total(base)) - Number(before[0]), Number(volume(at, 1)) - (inBase ? fee : 0), `what came in ${base}`);
      near(
        Number(before[1]) - (await total(quote)),
        quietPrice * Number(volume(at, 1)) + (inBase ? 0 : fee),
        `what went in ${quote}`,
      );
    },
  },
];

export const fillChecks: readonly Check[] = [...fills, ...trades, ...account];
