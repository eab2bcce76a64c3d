/** The command lines of `market`, `account`, `order` and `call`. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { exchangeOptions, type Io, run, wholeNumber } from '../../terminal/options.ts';

function step(text: string): 0 | 1 | 2 {
  const found = ([0, 1, 2] as const).find((one) => text === `${one}`);
  if (found === undefined) throw new InvalidArgumentError('must be 0, 1 or 2');
  return found;
}

const withAccount = (command: Command): Command =>
  exchangeOptions(command).addOption(new Option('--account <NAME>', 'which account').choices(['spot', 'margin']));
const changing = (command: Command): Command =>
  withAccount(command).option('--yes', 'do not ask for confirmation', false);

export function addManual(program: Command, io: Io): void {
  addMarket(program, io);
  const about = 'the balances of the account';
  run(
    withAccount(program.command('account').description(about)).option(
      '--all',
      'include coins without a balance',
      false,
    ),
    io,
    async () => (await import('./account.ts')).account,
  );
  addOrder(program, io);
  const call = changing(program.command('call'))
    .description('one raw request, signed, for support; nothing about withdrawals')
    .argument('<METHOD>', 'GET or POST')
    .argument('<PATH>', 'with its query, such as "/sapi/v1/depth?symbol=BTCUSDT"')
    .option('--body <JSON>', 'of a POST')
    .option('--unsigned', 'without key and signature', false);
  run(call, io, async () => (await import('./account.ts')).call);
}

function addMarket(program: Command, io: Io): void {
  const market = program
    .command('market')
    .description('market data: ping, time, symbols, ticker, depth, trades, klines');
  const load = () => import('./market.ts');
  const add = (name: string, about: string, most?: number): Command => {
    const command = exchangeOptions(market.command(name).description(about));
    return most === undefined ? command : command.option('--limit <N>', `at most ${most}`, wholeNumber(1, most));
  };
  const follow = (command: Command): Command => command.option('--follow', 'print updates until interrupted', false);
  const socket = (command: Command): Command => command.option('--socket', 'read over the socket', false);
  run(add('ping', 'whether the exchange answers'), io, async () => (await load()).ping);
  run(add('time', "the exchange's time"), io, async () => (await load()).time);
  run(add('symbols', 'the traded symbols, with precision and minimum sizes'), io, async () => (await load()).symbols);
  const ticker = follow(add('ticker', 'the last 24 hours')).argument('<SYMBOL>');
  run(ticker, io, async () => (await load()).ticker);
  const depth = follow(add('depth', 'the best prices and their quantities', 100)).argument('<SYMBOL>');
  run(depth, io, async () => (await load()).depth);
  const trades = socket(follow(add('trades', 'the newest public trades', 1_000))).argument('<SYMBOL>');
  run(trades, io, async () => (await load()).trades);
  const klines = socket(follow(add('klines', 'the newest klines; the last may still be open', 300)))
    .argument('<SYMBOL>')
    .argument('<INTERVAL>', '1min, 5min, 15min, 30min, 60min, 1day, 1week or 1month');
  run(klines, io, async () => (await load()).klines);
  const open = add('open', 'the aggregated data under /open', 1_000)
    .argument('<WHAT>', 'trades, ticker, asset, depth or tickers')
    .argument('[BASE]', 'of trades and depth, such as BTC')
    .argument('[QUOTE]', 'such as USDT')
    .option('--step <STEP>', 'granularity of the depth levels: 0, 1 or 2', step);
  run(open, io, async () => (await load()).open);
}

function addOrder(program: Command, io: Io): void {
  const order = program
    .command('order')
    .description('orders by hand: create, test, batch, query, cancel, open, trades');
  const load = () => import('./order.ts');
  const typed = (command: Command): Command =>
    command
      .argument('<SYMBOL>')
      .argument('<SIDE>', 'BUY or SELL')
      .argument('<VOLUME>', 'a quantity in base; for a BUY without a price the amount in quote')
      .option('--price <PRICE>', 'makes a LIMIT order; otherwise a MARKET order')
      .option('--client-id <ID>', 'your own id for it, at most 32 characters (a new one)');
  const create = typed(changing(order.command('create').description('place an order, after a confirmation')));
  run(create, io, async () => (await load()).create);
  const test = order.command('test').description('test an order at the exchange without placing it');
  run(typed(withAccount(test)), io, async () => (await load()).test);
  const batch = changing(
    order.command('batch').description('place up to ten orders of one symbol at once, after a confirmation'),
  )
    .argument('<SYMBOL>')
    .argument('<ORDERS...>', 'such as BUY:0.001@50000, or SELL:0.5 for a MARKET order');
  run(batch, io, async () => (await load()).batch);
  const query = withAccount(order.command('query').description('show an order'))
    .argument('<SYMBOL>')
    .argument('<ORDER_ID>');
  run(query, io, async () => (await load()).query);
  const cancel = changing(
    order.command('cancel').description('cancel orders, after a confirmation, and show their states'),
  )
    .argument('<SYMBOL>')
    .argument('<ORDER_IDS...>');
  run(cancel, io, async () => (await load()).cancel);
  const open = withAccount(order.command('open').description('the open orders of a symbol')).argument('<SYMBOL>');
  run(open, io, async () => (await load()).open);
  const trades = withAccount(order.command('trades').description("the account's own trades of a symbol"))
    .argument('<SYMBOL>')
    .option('--from <ID>', 'from this trade id on');
  run(trades, io, async () => (await load()).trades);
}
