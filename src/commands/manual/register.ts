/** The command lines of what is done by hand at the exchange. What carries them out is loaded by the command that needs it. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Commanded, WhichExchange } from './client.ts';

export type Io = Pick<Commanded, 'out' | 'say' | 'signal'>;
type Given = WhichExchange & { readonly json: boolean };

function count(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < 1 || value > most)
      throw new InvalidArgumentError(`must be a whole number from 1 to ${most}`);
    return value;
  };
}

function step(text: string): 0 | 1 | 2 {
  const found = ([0, 1, 2] as const).find((one) => text === `${one}`);
  if (found === undefined) throw new InvalidArgumentError('must be 0, 1 or 2');
  return found;
}

/** Times real time. */
export function speed(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1_000)) throw new InvalidArgumentError('must be a number above 0, at most 1000');
  return value;
}

/** Options that say which exchange. */
export const reaching = (command: Command): Command =>
  command
    .option('--config <FILE>', 'the configuration of a daemon: its address, account and limits')
    .option('--url <URL>', 'the REST address, instead of --config')
    .option('--strip-prefix <PATH>', 'path prefix that a gateway removes before it verifies signatures')
    .option('--speed <N>', 'speed of a built-in exchange, which it prints at its start (1)', speed)
    .option('--ws-url <URL>', "the socket's address (/kline-api/ws at the same host)")
    .option('--json', 'machine output on stdout; everything else goes to stderr', false);
const trading = (command: Command): Command =>
  reaching(command).addOption(new Option('--account <NAME>', 'which account').choices(['spot', 'margin']));
const changing = (command: Command): Command => trading(command).option('--yes', 'do not ask', false);
const orderForm = (command: Command): Command =>
  command
    .argument('<SYMBOL>')
    .argument('<SIDE>', 'BUY or SELL')
    .argument('<VOLUME>', 'a quantity in base; for a BUY without a price the amount in quote')
    .option('--price <PRICE>', 'makes a LIMIT order; otherwise a MARKET order')
    .option('--client-id <ID>', 'your own id for it, at most 32 characters (a new one)');

/** Adds `market`, `account`, `order` and `call`. */
export function addByHand(program: Command, io: Io): void {
  const all = <T extends Given>(given: T) => ({ ...given, ...io, environment: process.env });
  addMarket(program, all);
  trading(program.command('account').description('the balances of the account'))
    .option('--all', 'coins without a balance, too', false)
    .action(async (given: Given) => (await import('./account.ts')).account(all(given)));
  addOrder(program, all);
  trading(program.command('call').description('one raw request, signed, for support; nothing about withdrawals'))
    .argument('<METHOD>', 'GET or POST')
    .argument('<PATH>', 'with its query, such as "/sapi/v1/depth?symbol=BTCUSDT"')
    .option('--body <JSON>', 'of a POST')
    .option('--unsigned', 'without key and signature', false)
    .option('--yes', 'do not ask', false)
    .action(async (method: string, path: string, given: Given) =>
      (await import('./call.ts')).call(method, path, all(given)),
    );
}

type All = <T extends Given>(given: T) => T & Io & Pick<Commanded, 'environment'>;

function addMarket(program: Command, all: All): void {
  const market = program
    .command('market')
    .description('market data: ping, time, symbols, ticker, depth, trades, klines');
  const add = (name: string, about: string): Command => reaching(market.command(name).description(about));
  const follow = (command: Command): Command => command.option('--follow', 'print updates until interrupted', false);
  const limit = (command: Command, most: number): Command =>
    command.option('--limit <N>', `at most ${most}`, count(most));
  const socket = (command: Command): Command => command.option('--socket', 'read over the socket', false);
  const load = () => import('./market.ts');
  add('ping', 'whether the exchange answers').action(async (given: Given) => (await load()).ping(all(given)));
  add('time', "the exchange's time").action(async (given: Given) => (await load()).time(all(given)));
  add('symbols', 'what is traded, with precision and least sizes').action(async (given: Given) =>
    (await load()).symbols(all(given)),
  );
  follow(add('ticker', 'the last 24 hours'))
    .argument('<SYMBOL>')
    .action(async (symbol: string, given: Given) => (await load()).ticker(symbol, all(given)));
  follow(limit(add('depth', 'the best prices and what is offered at them'), 100))
    .argument('<SYMBOL>')
    .action(async (symbol: string, given: Given) => (await load()).depth(symbol, all(given)));
  socket(follow(limit(add('trades', 'the newest public trades'), 1_000)))
    .argument('<SYMBOL>')
    .action(async (symbol: string, given: Given) => (await load()).trades(symbol, all(given)));
  socket(follow(limit(add('klines', 'the newest klines; the last may still be open'), 300)))
    .argument('<SYMBOL>')
    .argument('<INTERVAL>', '1min, 5min, 15min, 30min, 60min, 1day, 1week or 1month')
    .action(async (symbol: string, interval: string, given: Given) =>
      (await load()).klines(symbol, interval, all(given)),
    );
  limit(add('open', 'the aggregated data under /open'), 1_000)
    .argument('<WHAT>', 'trades, ticker, asset, depth or tickers')
    .argument('[BASE]', 'of trades and depth, such as BTC')
    .argument('[QUOTE]', 'such as USDT')
    .option('--step <STEP>', 'granularity of the depth levels: 0, 1 or 2', step)
    .action(async (what: string, base: string | undefined, quote: string | undefined, given: Given) =>
      (await load()).open(what, base, quote, all(given)),
    );
}

interface Form {
  readonly price?: string;
  readonly clientId?: string;
}

function addOrder(program: Command, all: All): void {
  const order = program
    .command('order')
    .description('orders by hand: create, test, batch, query, cancel, open, trades');
  const load = () => import('./order.ts');
  const typed = (side: string, volume: string, { price, clientId }: Form) => ({
    side,
    volume,
    ...(price !== undefined && { price }),
    ...(clientId !== undefined && { clientId }),
  });
  orderForm(changing(order.command('create').description('place an order, after asking'))).action(
    async (symbol: string, side: string, volume: string, given: Given & Form) =>
      (await load()).create(symbol, typed(side, volume, given), all(given)),
  );
  orderForm(trading(order.command('test').description('let the exchange check an order without placing it'))).action(
    async (symbol: string, side: string, volume: string, given: Given & Form) =>
      (await load()).test(symbol, typed(side, volume, given), all(given)),
  );
  changing(order.command('batch').description('place up to ten orders of one symbol at once, after asking'))
    .argument('<SYMBOL>')
    .argument('<ORDERS...>', 'such as BUY:0.001@50000, or SELL:0.5 for a MARKET order')
    .action(async (symbol: string, orders: string[], given: Given) => (await load()).batch(symbol, orders, all(given)));
  trading(order.command('query').description('show an order'))
    .argument('<SYMBOL>')
    .argument('<ORDER_ID>')
    .action(async (symbol: string, id: string, given: Given) => (await load()).query(symbol, id, all(given)));
  changing(order.command('cancel').description('cancel orders, after asking, and show their states'))
    .argument('<SYMBOL>')
    .argument('<ORDER_IDS...>')
    .action(async (symbol: string, ids: string[], given: Given) => (await load()).cancel(symbol, ids, all(given)));
  trading(order.command('open').description('the open orders of a symbol'))
    .argument('<SYMBOL>')
    .action(async (symbol: string, given: Given) => (await load()).open(symbol, all(given)));
  trading(order.command('trades').description("the account's own trades of a symbol"))
    .argument('<SYMBOL>')
    .option('--from <ID>', 'from this trade id on')
    .action(async (symbol: string, given: Given & { from?: string }) =>
      (await load()).trades(symbol, given.from, all(given)),
    );
}
