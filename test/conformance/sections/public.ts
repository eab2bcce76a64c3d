/** §1, §2.1, §2.5, §4.1: conventions and market data over REST. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { Check } from '../check.ts';
import { msIn, rowsIn } from '../lenient.ts';
import { nameOf, type Session } from '../session.ts';
import {
  array,
  book,
  decimal,
  descending,
  type Fields,
  fields,
  figures,
  longNumber,
  ms,
  oneOf,
  prices,
  rows,
  shown,
  text,
} from '../shape.ts';

export const intervals = ['1min', '5min', '15min', '30min', '60min', '1day', '1week', '1month'] as const;
const lengthsMs: Readonly<Record<string, number>> = {
  '1min': 60_000,
  '5min': 300_000,
  '15min': 900_000,
  '30min': 1_800_000,
  '60min': 3_600_000,
};

/** Further than clocks of a machine and an exchange that runs are apart while a request is under way, ms. */
const toleranceMs = 5_000;

const publicTrades = async (
  at: Session,
  query: Readonly<Record<string, string | number>> = {},
): Promise<readonly Fields[]> => {
  const value = at.answers.done(await at.get('/sapi/v1/trades', { symbol: nameOf(at.busy), ...query }));
  at.rules.hold('publicTrades', () => {
    if (at.answers.profile === 'documented' || !Array.isArray(value)) rows(fields(value, 'the trades')['list'], 'list');
  });
  return rowsIn(value) ?? [];
};

const klines = async (
  at: Session,
  query: Readonly<Record<string, string | number>> = {},
): Promise<readonly Fields[]> => {
  const reply = await at.get('/sapi/v1/klines', { symbol: nameOf(at.busy), interval: '1min', ...query });
  const list = rows(array(at.answers.done(reply), 'the klines'), 'the klines');
  at.rules.hold('klineIndex', () => {
    for (const { idx } of list) ms(longNumber(idx, 'idx'), 'idx');
  });
  at.rules.hold('klineOrder', () => descending(indexes(list), 'idx'));
  return list.toSorted((a, b) => Number(b['idx']) - Number(a['idx']));
};
/** Open times, ms. */
const indexes = (list: readonly Fields[]): number[] => list.map(({ idx }) => msIn(idx) ?? Number.NaN);

const depth = async (at: Session, query: Readonly<Record<string, string | number>> = {}) => {
  const value = at.answers.done(await at.get('/sapi/v1/depth', { symbol: nameOf(at.busy), ...query }));
  return { value: fields(value, 'the depth'), ...book(value, ['bids', 'asks'], 'the depth') };
};

const general: readonly Check[] = [
  {
    section: '1',
    says: 'answers JSON and says so',
    async run(at) {
      for (const path of ['/sapi/v1/ping', '/sapi/v1/time', '/sapi/v1/symbols']) {
        const reply = await at.get(path);
        at.answers.done(reply);
        match(String(reply.headers['content-type']), /^application\/json\b/, path);
      }
    },
  },
  {
    section: '1',
    says: 'takes GET parameters from the query in any order',
    async run(at) {
      const symbol = nameOf(at.busy);
      for (const query of [
        { symbol, limit: '3' },
        { limit: '3', symbol },
      ]) {
        const { bids } = book(at.answers.done(await at.get('/sapi/v1/depth', query)), ['bids', 'asks'], 'the depth');
        ok(bids.length <= 3, `${bids.length} bids for limit=3`);
      }
    },
  },
  {
    section: '9',
    says: 'keeps its endpoints under /sapi/v1, and refuses a path that there is not',
    async run(at) {
      const reply = await at.get('/sapi/v1/no-such-endpoint');
      if (reply.status !== 404 || 'code' in fields(reply.value, 'the refusal')) at.answers.refused(reply);
    },
  },
];

const exchange: readonly Check[] = [
  {
    section: '4.1',
    says: 'answers a ping',
    run: async (at) => void at.answers.done(await at.get('/sapi/v1/ping')),
  },
  {
    section: '4.1',
    observed: '3',
    says: 'answers a ping with {}',
    run: async (at) => deepEqual(at.answers.done(await at.get('/sapi/v1/ping')), {}),
  },
  {
    section: '4.1',
    says: 'tells its time, in ms, and it goes on',
    async run(at) {
      const read = async (): Promise<number> => {
        const time = fields(at.answers.done(await at.get('/sapi/v1/time')), 'the time');
        text(time['timezone'], 'timezone');
        return ms(longNumber(time['serverTime'], 'serverTime'), 'serverTime');
      };
      const first = await read();
      const second = await read();
      ok(second >= first && second - first < toleranceMs, `serverTime went from ${first} to ${second}`);
    },
  },
  {
    section: '2.1',
    says: 'lists its symbols with assets and precisions',
    async run(at) {
      const value = fields(at.answers.done(await at.get('/sapi/v1/symbols')), 'the symbols');
      const list = rows(value['symbols'], 'symbols');
      ok(list.length > 0, 'no symbol is listed');
      for (const row of list) {
        for (const name of ['symbol', 'baseAsset', 'quoteAsset']) ok(text(row[name], name) !== '', `${name} is empty`);
        for (const name of ['pricePrecision', 'quantityPrecision'])
          ok(Number.isInteger(row[name]) && Number(row[name]) >= 0, `${name} is ${shown(row[name])}`);
      }
    },
  },
  {
    section: '2.1',
    observed: '2',
    says: 'takes a symbol in lower case and with a slash too',
    async run(at) {
      const { base, quote } = at.busy;
      for (const symbol of [nameOf(at.busy).toLowerCase(), `${base}/${quote}`.toUpperCase()])
        at.answers.done(await at.get('/sapi/v1/ticker', { symbol }));
    },
  },
];

const books: readonly Check[] = [
  {
    section: '4.1',
    says: 'shows the depth, the best level first, as pairs of price and quantity in strings, with its time',
    async run(at) {
      const { value, bids, asks } = await depth(at);
      ok(bids.length > 0 && asks.length > 0, 'one side of the depth is empty');
      if (at.answers.profile === 'documented') {
        ms(longNumber(value['time'], 'time'), 'time');
        for (const side of ['bids', 'asks'])
          for (const level of array(value[side], side)) {
            equal(array(level, 'a level').length, 2, `a level is ${shown(level)}`);
            for (const one of array(level, 'a level')) text(one, 'a price or quantity');
          }
      }
    },
  },
  {
    section: '8',
    says: 'shows as many levels of depth as `limit` says, and never more than 100',
    async run(at) {
      const few = await depth(at, { limit: '2' });
      ok(few.bids.length <= 2 && few.asks.length <= 2, `${few.bids.length} and ${few.asks.length} levels for limit=2`);
      const usual = await depth(at);
      ok(usual.bids.length <= 100 && usual.asks.length <= 100, 'more than 100 levels by default');
    },
  },
  {
    section: '8',
    observed: '3',
    says: 'takes a `limit` of depth above 100 for 100, and refuses one that is no number with -1000',
    async run(at) {
      const { bids, asks } = await depth(at, { limit: '5000' });
      ok(bids.length <= 100 && asks.length <= 100, 'more than 100 levels');
      at.answers.refused(await at.get('/sapi/v1/depth', { symbol: nameOf(at.busy), limit: 'abc' }), [-1000]);
    },
  },
  {
    section: '2.5',
    says: 'shows the last 24 hours as a ticker',
    async run(at) {
      const reply = await at.get('/sapi/v1/ticker', { symbol: nameOf(at.busy) });
      const day = fields(at.answers.done(reply), 'the ticker');
      ms(day['time'], 'time');
      prices(day, ['open', 'last'], 'the ticker');
      ok(decimal(day['vol'], 'vol') >= 0, 'vol is below zero');
      decimal(day['rose'], 'rose');
    },
  },
  {
    section: '2.5',
    observed: '3',
    says: 'gives `rose` as a ratio of last to open',
    async run(at) {
      const reply = await at.get('/sapi/v1/ticker', { symbol: nameOf(at.busy) });
      const { open, last, rose } = fields(at.answers.done(reply), 'the ticker');
      const ratio = decimal(last, 'last') / decimal(open, 'open') - 1;
      ok(Math.abs(decimal(rose, 'rose') - ratio) < 1e-4, `rose is ${shown(rose)}, not ${ratio}`);
    },
  },
  {
    section: '2.5',
    says: 'shows recent trades under `list`, with the side of the taker',
    async run(at) {
      const list = await publicTrades(at);
      ok(list.length > 0, 'there are no trades');
      for (const row of list) {
        ok(decimal(row['price'], 'price') > 0 && decimal(row['qty'], 'qty') > 0, shown(row));
        ms(row['time'], 'time');
        const side = text(row['side'], 'side');
        oneOf(at.answers.profile === 'documented' ? side : side.toUpperCase(), ['BUY', 'SELL'], 'side');
      }
    },
  },
  {
    section: '1',
    says: 'lists trades in reverse order of time',
    run: async (at) =>
      descending(
        (await publicTrades(at)).map(({ time }) => ms(time, 'time')),
        'the trades',
        false,
      ),
  },
  {
    section: '8',
    says: 'lists as many trades as `limit` says, 100 by default and at most 1000',
    async run(at) {
      equal((await publicTrades(at, { limit: '2' })).length, 2);
      ok((await publicTrades(at)).length <= 100, 'more than 100 by default');
      const reply = await at.get('/sapi/v1/trades', { symbol: nameOf(at.busy), limit: '1000' });
      ok(reply.status === 200, `limit=1000 draws HTTP ${reply.status}`);
    },
  },
];

const history: readonly Check[] = [
  {
    section: '4.1',
    says: 'serves klines of every interval',
    async run(at) {
      for (const interval of intervals) {
        const list = await klines(at, { interval });
        ok(list.length > 0 && list.length <= 100, `${list.length} klines of ${interval}`);
        for (const row of list) {
          figures(row, ['open', 'close'], 'a kline');
          ok(decimal(row['vol'], 'vol') >= 0, 'vol is below zero');
        }
      }
    },
  },
  {
    section: '4.1',
    observed: '1',
    says: 'gives klines whose high and low hold their open and close',
    async run(at) {
      for (const interval of intervals)
        for (const row of await klines(at, { interval })) prices(row, ['open', 'close'], `a kline of ${interval}`);
    },
  },
  {
    section: '2.5',
    says: 'gives the open time of a kline as `idx`',
    async run(at) {
      for (const [interval, lengthMs] of Object.entries(lengthsMs)) {
        const [newest] = indexes(await klines(at, { interval }));
        ok(newest !== undefined, `no kline of ${interval}`);
        equal(newest % lengthMs, 0, `idx ${newest} opens no ${interval}`);
      }
    },
  },
  {
    section: '8',
    observed: '1',
    says: 'serves as many klines as `limit` says, 300 at most',
    async run(at) {
      equal((await klines(at, { limit: '3' })).length, 3);
      ok((await klines(at, { limit: '1000' })).length <= 300, 'more than 300');
    },
  },
  {
    section: '4.1',
    observed: '1',
    says: 'serves klines between `startTime` and `endTime`',
    async run(at) {
      const [, , third, , fifth] = indexes(await klines(at, { limit: '10' }));
      ok(third !== undefined && fifth !== undefined, 'there are fewer than five klines');
      const some = indexes(await klines(at, { startTime: fifth, endTime: third }));
      deepEqual([some[0], some.at(-1)], [third, fifth]);
    },
  },
  {
    section: '4.1',
    observed: '1',
    says: 'answers [] for an interval that there is not',
    run: async (at) => deepEqual(await klines(at, { interval: '1h' }), []),
  },
  {
    section: '7',
    says: 'refuses a symbol that there is not with -1121',
    async run(at) {
      for (const path of ['/sapi/v1/depth', '/sapi/v1/ticker', '/sapi/v1/trades'])
        at.answers.refused(await at.get(path, { symbol: 'NOSUCHSYMBOL' }), [-1121]);
      at.answers.refused(await at.get('/sapi/v1/klines', { symbol: 'NOSUCHSYMBOL', interval: '1min' }), [-1121]);
    },
  },
  {
    section: '4.1',
    says: 'refuses market data without the symbol, and klines without the interval',
    async run(at) {
      for (const path of ['/sapi/v1/depth', '/sapi/v1/ticker', '/sapi/v1/trades', '/sapi/v1/klines'])
        at.answers.refused(await at.get(path));
      at.answers.refused(await at.get('/sapi/v1/klines', { symbol: nameOf(at.busy) }));
    },
  },
];

export const publicChecks: readonly Check[] = [...general, ...exchange, ...books, ...history];
