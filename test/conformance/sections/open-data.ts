/** §2.7, §4.6: aggregated public data under /open. */
import { equal, ok } from 'node:assert/strict';
import type { Check } from '../check.ts';
import type { Session } from '../session.ts';
import { book, decimal, type Fields, fields, ms, oneOf, rows, shown, text } from '../shape.ts';

/** The `data` of an envelope, checked. */
async function dataOf(at: Session, path: string, query: Readonly<Record<string, string>> = {}): Promise<Fields> {
  const reply = await at.get(path, query);
  equal(reply.status, 200, `HTTP ${reply.status}: ${shown(reply.text)}`);
  const envelope = fields(reply.value, 'the envelope');
  equal(text(envelope['code'], 'code'), '0');
  text(envelope['msg'], 'msg');
  equal(envelope['message'], null, 'message');
  const data = fields(envelope['data'], 'data');
  equal(typeof data['date'], 'number', 'data.date is no number');
  ms(data['date'], 'data.date');
  return data;
}

const named = ({ busy }: Session): Readonly<Record<string, string>> => ({
  base: busy.base.toUpperCase(),
  quote: busy.quote.toUpperCase(),
});
const keyOf = ({ busy }: Session): string => `${busy.base}_${busy.quote}`.toUpperCase();

/** The specification's name of it. */
const depthPath = `/open/pub/orderbook`;

const number = (value: unknown, what: string): number => {
  equal(typeof value, 'number', `${what} is no number: ${shown(value)}`);
  return decimal(value, what);
};
const inText = (row: Fields, names: readonly string[]): void => {
  for (const name of names) decimal(text(row[name], name), name);
};

export const openDataChecks: readonly Check[] = [
  {
    section: '4.6',
    says: 'lists public trades in an envelope, 100 by default',
    async run(at) {
      const list = rows((await dataOf(at, '/open/pub/trades', named(at)))['trades'], 'data.trades');
      ok(list.length > 0 && list.length <= 100, `${list.length} trades`);
      for (const row of list) {
        ok(
          typeof row['tradeID'] === 'number' || typeof row['tradeID'] === 'bigint',
          `tradeID is ${shown(row['tradeID'])}`,
        );
        inText(row, ['price', 'base_volume', 'quote_volume']);
        ms(text(row['trade_timestamp'], 'trade_timestamp'), 'trade_timestamp');
        oneOf(row['type'], ['sell', 'buy'], 'type');
      }
    },
  },
  {
    section: '4.6',
    says: 'lists as many public trades as `trades` says',
    async run(at) {
      const { trades } = await dataOf(at, '/open/pub/trades', { ...named(at), trades: '2' });
      equal(rows(trades, 'data.trades').length, 2);
    },
  },
  {
    section: '4.6',
    says: 'maps every symbol, as BASE_QUOTE, to a ticker',
    async run(at) {
      const map = fields((await dataOf(at, '/open/pub/ticker'))['ticker'], 'data.ticker');
      const row = fields(map[keyOf(at)], keyOf(at));
      for (const name of ['base_id', 'quote_id']) text(row[name], name);
      inText(row, ['last_price', 'base_volume', 'quote_volume']);
    },
  },
  {
    section: '4.6',
    says: 'maps every asset to its terms, all of them text',
    async run(at) {
      const map = fields((await dataOf(at, '/open/pub/asset'))['asset'], 'data.asset');
      for (const asset of [at.busy.base, at.busy.quote]) {
        const row = fields(map[asset.toUpperCase()], asset);
        for (const name of ['name', 'unified_cryptoasset_id', 'can_withdraw', 'can_deposit', 'max_withdraw'])
          text(row[name], name);
        inText(row, ['min_withdraw']);
      }
    },
  },
  {
    section: '4.6',
    says: 'shows the bids and asks of a base and a quote, the best first, for every value of `depth`',
    async run(at) {
      for (const depth of [undefined, '0', '1', '2']) {
        const query = depth === undefined ? named(at) : { ...named(at), depth };
        const shownBook = (await dataOf(at, depthPath, query))[`orderbook`];
        const { bids, asks } = book(shownBook, ['bids', 'asks'], 'the depth');
        ok(bids.length > 0 && asks.length > 0, 'one side is empty');
      }
    },
  },
  {
    section: '4.6',
    says: 'shows as many bids and asks as are asked for',
    async run(at) {
      const data = await dataOf(at, depthPath, { ...named(at), bids: '2', asks: '1' });
      const { bids, asks } = book(data[`orderbook`], ['bids', 'asks'], 'the depth');
      ok(bids.length <= 2 && asks.length <= 1, `${bids.length} bids and ${asks.length} asks`);
    },
  },
  {
    section: '4.6',
    says: 'lists a summary of every symbol',
    async run(at) {
      const list = rows((await dataOf(at, '/open/api/get_allticker'))['ticker'], 'data.ticker');
      const name = at.busy.symbol.toUpperCase();
      const row = list.find(({ symbol }) => text(symbol, 'symbol').toUpperCase().replace(/[_/]/, '') === name);
      ok(row !== undefined, `${name} is not among ${shown(list.map(({ symbol }) => symbol))}`);
      for (const one of ['high', 'low', 'vol', 'rose']) decimal(text(row[one], one), one);
      for (const one of ['buy', 'sell', 'last']) number(row[one], one);
    },
  },
  {
    section: '4.6',
    says: 'refuses trades and depth without `base` or `quote`',
    async run(at) {
      for (const path of ['/open/pub/trades', depthPath]) {
        const { base, quote } = named(at);
        for (const query of [{}, { base: String(base) }, { quote: String(quote) }]) {
          const reply = await at.get(path, query);
          const code = fields(reply.value, 'the refusal')['code'];
          ok(code !== undefined && Number(code) !== 0, `${path} without it: ${shown(reply.text)}`);
        }
      }
    },
  },
];
