/** Bad replies against every function of the client: nothing is thrown, and no money is guessed at. */
import { ScaledClock, seededRng } from '../../src/clock/clock.ts';
import { units } from '../../src/domain/money.ts';
import { counters } from '../../src/venue/exchange/counters.ts';
import { instruments } from '../../src/venue/exchange/market/instruments.ts';
import { openData } from '../../src/venue/exchange/market/open-data.ts';
import { marketQueries } from '../../src/venue/exchange/market/queries.ts';
import { bulkOrders } from '../../src/venue/exchange/orders/bulk.ts';
import { orders } from '../../src/venue/exchange/orders/orders.ts';
import { accountReader } from '../../src/venue/exchange/orders/queries.ts';
import { withdrawals } from '../../src/venue/exchange/orders/withdrawals.ts';
import type { Http, HttpReply } from '../../src/venue/exchange/rest/http.ts';
import { rest } from '../../src/venue/exchange/rest/rest.ts';
import { signer } from '../../src/venue/exchange/rest/sign.ts';
import { syncTime } from '../../src/venue/exchange/rest/sync-time.ts';
import { applyFor } from '../../src/withdraw/application.ts';
import { btcusdt, intent, letGo } from './exchange-stub.ts';
import { pick, spoiltText } from './nasty.ts';

const id = '1938321163093077686';
const order = `{"orderId":${id},"orderIdString":"${id}","clientOrderId":"${intent().clientOrderId}","symbol":"BTCUSDT","price":"86650.65","origQty":"0.00125","executedQty":"0","avgPrice":0E-16,"status":"NEW","type":"LIMIT","side":"BUY","transactTime":"1574327555669","time":"1574327555669"}`;
const trade = `{"symbol":"BTCUSDT","id":159,"bidId":${id},"askId":${id.replace('6', '7')},"price":"86650.65","qty":0.00021,"time":1701243281850,"isBuyer":true,"isMaker":false,"feeCoin":"BTC","fee":0.0000004,"isSelf":false}`;
const kline = '{"idx":1538728740000,"open":"6426.2","close":"6427.1","high":"6428.0","low":"6426.0","vol":"1.2"}';

/** A good reply for each function. */
const good = {
  symbols:
    '{"symbols":[{"symbol":"btcusdt","baseAsset":"BTC","quoteAsset":"USDT","pricePrecision":2,"quantityPrecision":5,"limitVolumeMin":0.0000100000000000,"marketBuyMin":5}]}',
  time: '{"timezone":"GMT+08:00","serverTime":1595563624731}',
  depth: '{"time":null,"bids":[["3.9","431.0"],["3.8","1"]],"asks":[["4.00000200",12.0,17.5]]}',
  ticker: '{"high":"9279.03","vol":"1302","last":"9200","low":"9046.95","rose":"0","open":"9200","time":1595563624731}',
  trades: '{"list":[{"side":"BUY","price":"0.055","qty":"1.5","time":1537797044116}]}',
  klines: `[${kline},${kline.replace('8740', '8680')}]`,
  order,
  orders: `[${order}]`,
  myTrades: `{"list":[${trade}]}`,
  balances: '{"balances":[{"asset":"BTC","free":"4723846.89208129","locked":"0.0000000000000000"}]}',
  cancel: `{"symbol":"BTCUSDT","clientOrderId":"0","orderId":"${id}","status":"PENDING_CANCEL"}`,
  batch: `{"ids":[${id}],"idsString":["${id}"]}`,
  batchCancel: `{"success":[${id}],"failed":[]}`,
  withdrawals: `{"code":"0","data":{"withdrawList":[{"id":1,"withdrawOrderId":"w","symbol":"BTC","amount":"1.5","address":"a","fee":"0","status":5,"ctime":1595563624731}],"count":1}}`,
  apply: '{"code":"0","msg":"suc","data":{"id":183745}}',
  open: `{"code":"0","data":{"date":1,"trades":[{"tradeID":1,"price":"1","base_volume":"1","quote_volume":"1","trade_timestamp":"1595563624731","type":"buy"}],"ticker":{"A_B":{"last_price":"1","base_volume":"1","quote_volume":"1"}},"asset":{"A":{"min_withdraw":"1"}},"orderbook":{"bids":[["1","1"]],"asks":[["2","1"]]}}}`,
} as const;

function client(answer: () => HttpReply) {
  const http: Http = {
    send: async (_, gate) => {
      await gate;
      return answer();
    },
    close() {},
  };
  const clock = new ScaledClock();
  const log = { warn() {}, info() {}, debug() {} };
  const { count } = counters(clock, log);
  const spend = (): Promise<boolean> => Promise.resolve(true);
  const caller = rest({
    restUrl: 'http://x',
    http,
    clock,
    spend,
    notice: () => {},
    signer: signer('the-key', 'the-secret'),
  });
  const known = instruments(caller, count);
  known.remember(btcusdt);
  return {
    caller,
    clock,
    known,
    market: marketQueries(caller, clock, count),
    open: openData(caller, count),
    spot: orders({ rest: caller, clock, account: 'spot', instruments: known, count }),
    bulk: bulkOrders(caller, clock),
    account: accountReader(caller),
    history: withdrawals(caller),
  };
}
type Client = ReturnType<typeof client>;
const application = { withdrawOrderId: 'w', asset: 'BTC', amount: units('1.5'), address: 'a', label: undefined };

const calls: readonly (readonly [keyof typeof good, (x: Client) => Promise<unknown>])[] = [
  ['symbols', (x) => x.known.all()],
  ['time', (x) => x.market.time()],
  ['time', (x) => syncTime(x.caller, x.clock)],
  ['depth', (x) => x.market.depth('BTCUSDT')],
  ['ticker', (x) => x.market.ticker('BTCUSDT')],
  ['trades', (x) => x.market.trades('BTCUSDT')],
  ['klines', (x) => x.market.klines('BTCUSDT', '1min')],
  ['order', (x) => x.spot.prepare(intent(), btcusdt).send(letGo)],
  ['order', (x) => x.spot.query({ symbol: 'BTCUSDT', orderId: id })],
  ['orders', (x) => x.spot.openOrders('BTCUSDT')],
  ['myTrades', (x) => x.spot.tradesSince('BTCUSDT', undefined)],
  ['cancel', (x) => x.spot.cancel({ symbol: 'BTCUSDT', orderId: id })],
  ['balances', (x) => x.account.balances()],
  ['batch', (x) => x.bulk.createMany([intent()], btcusdt)],
  ['batchCancel', (x) => x.bulk.cancelMany('BTCUSDT', [id])],
  ['withdrawals', (x) => x.history.query({})],
  ['apply', (x) => applyFor(x.caller, application)],
  ['open', (x) => x.open.trades('A', 'B')],
  ['open', (x) => x.open.ticker()],
  ['open', (x) => x.open.asset()],
  ['open', (x) => x.open.depth('A', 'B')],
];

/** Everything exact in an answer is an exact integer, everything else a finite number. */
function check(value: unknown): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error('a number that is none was believed');
  if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) check(one);
}

const statuses = [400, 403, 404, 408, 410, 418, 429, 500, 504];

/** How many of `count` replies were taken for an answer. Throws where the client threw. */
export async function fuzzReplies(seed: number, count: number): Promise<number> {
  const rng = seededRng(seed);
  let body = '';
  let status = 200;
  const x = client(() => ({ kind: 'reply', status, retryAfter: undefined, body }));
  let taken = 0;
  for (let index = 0; index < count; index++) {
    const [name, call] = pick(rng, calls);
    body = spoiltText(rng, good[name]);
    status = rng() < 0.8 ? 200 : pick(rng, statuses);
    const answer = await call(x);
    const kind = (answer as { kind?: unknown }).kind;
    if (typeof kind !== 'string') throw new Error(`${name} gave no answer for ${body.slice(0, 300)}`);
    if (kind === 'ok' || kind === 'accepted' || kind === 'answered') {
      taken++;
      if (status !== 200) throw new Error(`${name} under ${status} was taken for an answer`);
      if (name !== 'open') check(answer);
    }
    x.known.remember(btcusdt);
  }
  return taken;
}

/** What every good reply is taken for: a fuzz that refused all would prove nothing. */
export async function goodReplies(): Promise<readonly string[]> {
  let body = '';
  const x = client(() => ({ kind: 'reply', status: 200, retryAfter: undefined, body }));
  const kinds: string[] = [];
  for (const [name, call] of calls) {
    body = good[name];
    kinds.push(`${name} ${String(((await call(x)) as { kind?: unknown }).kind)}`);
  }
  return kinds.filter((one) => !/ (ok|accepted|answered|requested)$/.test(one));
}
