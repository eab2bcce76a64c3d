/** A daemon whose operator acts by hand: pauses, flattens and cancels one order, with whatever goes wrong meanwhile. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { writeOffline } from '../../src/session/control/offline-journal.ts';
import { differencesAtRest, quiet } from '../kit/books.ts';
import { marketStart, price, quotes, target, trader } from '../kit/rig.ts';
import { exchange, rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { pass, until } from '../kit/until.ts';

rigForEachTest({ profile: 'documented' });

const bidAt = (at: number) => quotes({ side: 'BUY', price: at, quantity: 0.1 });
const resting = () => exchange.openOrders(trader.uid);
const sides = (): readonly string[] => exchange.allTrades(trader.uid).map(({ side }) => side);
const held = async (): Promise<readonly unknown[]> =>
  (await rig.run('positions', '--json')).stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);

/** The taker holds 0.1, and the maker has an order. */
async function trading() {
  rig.emit('maker', bidAt(price / 2));
  rig.emit('taker', target(0.1));
  const daemon = await rig.start();
  await quiet(rig, exchange);
  expect([resting().length, new Set(sides())]).toEqual([1, new Set(['BUY'])]);
  return daemon;
}
const soldOf = (symbol: string): number =>
  exchange
    .allTrades(trader.uid)
    .filter((trade) => trade.side === 'SELL' && trade.symbol.toUpperCase() === symbol)
    .reduce((sum, { qty }) => sum + Number(qty), 0);
const soldUnits = (): number => soldOf('BTCUSDT');

test('sluice pause keeps a strategy from entering, over kill -9 too, lets it leave, and sluice resume lifts it', async () => {
  const daemon = await trading();
  const paused = await rig.run('pause', 'maker', '--reason', 'news');
  expect(paused).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^maker is paused: it enters nothing .* 1 resting/),
  });
  expect(resting()).toEqual([]);
  expect((await rig.run('pause', 'taker', '--reason', 'news')).code).toBe(0);
  expect((await rig.run('status')).stdout).toMatch(/^PAUSED +maker since .* by operator: news; exits go on/m);
  await daemon.end('SIGKILL');
  await rig.start();
  rig.emit('taker', target(0.3));
  await pass(1_000);
  expect([resting(), sides()]).toEqual([[], ['BUY']]);
  expect((await rig.run('why', 'taker')).stdout).toMatch(/paused .* Nothing is entered/);
  rig.emit('taker', target(0));
  await until('the exit', () => sides().includes('SELL'));
  expect((await rig.run('resume', '--strategy', 'maker')).stdout).toBe('maker may enter positions again.\n');
  await until('the order of the maker', () => resting().length === 1);
  expect(await differencesAtRest(rig, exchange)).toEqual([]);
});

describe('sluice flatten', () => {
  test('closes a position, pauses its strategy alone, and says at which price', async () => {
    await trading();
    const done = await rig.run('flatten', '--strategy', 'taker', '--reason', 'news');
    expect(done).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^taker is paused: .* taker closed 0\.0\d+ BTC on BTCUSDT at [\d.]+ on average; (nothing is left|[\d.]+ BTC is left: less than the exchange takes in an order)\.\n$/,
      ),
    });
    rig.emit('taker', target(0.2));
    await pass(1_000);
    expect([sides().filter((side) => side === 'BUY').length, resting().length]).toEqual([1, 1]);
    expect(rig.read((reader) => reader.kills())).toMatchObject([
      { kind: 'pause', strategy: 'taker', by: 'operator', reason: 'news' },
    ]);
    const [order] = rig.read((reader) => reader.orders("purpose = 'flatten' ORDER BY created_at"));
    expect(order).toMatchObject({ type: 'LIMIT', reason: 'flatten by operator: news' });
    // Books are compared once no signal is open.
    rig.emit('taker', target(0));
    expect(await differencesAtRest(rig, exchange)).toEqual([]);
  });

  test('closes all under a kill of everything, and says so where nothing is left', async () => {
    await trading();
    expect((await rig.run('kill', '--everything', '--reason', 'fire')).stdout).toMatch(
      /^All strategies are killed with all exits: /,
    );
    const done = await rig.run('flatten', '--reason', 'fire');
    expect(done.stdout).toContain('taker closed 0.09');
    expect((await rig.run('flatten', '--reason', 'again')).stdout).toMatch(
      /^No order is left, and no position that is large enough to sell\.\n$/,
    );
    expect(soldUnits()).toBeCloseTo(0.1, 2);
  });

  test('sells once where the exchange answers 504 and took the order', async () => {
    await trading();
    const match = { method: 'POST', path: '/sapi/v1/order', times: 1 } as const;
    exchange.addFault({ match, do: { status: 504, when: 'after' } });
    await rig.run('flatten', '--strategy', 'taker', '--reason', 'news');
    await until('flat', () => soldUnits() > 0, 60_000);
    // Books are compared once no signal is open.
    rig.emit('taker', target(0));
    expect(await differencesAtRest(rig, exchange)).toEqual([]);
    expect(soldUnits()).toBeCloseTo(0.1, 2);
  });

  test('killed with -9 while its order is on the way, goes on after a restart and sells no more than is held', async () => {
    const daemon = await trading();
    const match = { method: 'POST', path: '/sapi/v1/order', times: 1 } as const;
    exchange.addFault({ match, do: { hold: 'on its way', when: 'after' } });
    const asking = rig.run('flatten', '--strategy', 'taker', '--reason', 'news');
    await exchange.held('on its way');
    await daemon.end('SIGKILL');
    expect((await asking).code).toBe(1);
    exchange.release('on its way');
    const again = await rig.start();
    await again.line(/flatten of taker on BTCUSDT has ended: .*(nothing|BTC) is left/);
    // Books are compared once no signal is open.
    rig.emit('taker', target(0));
    expect(await differencesAtRest(rig, exchange)).toEqual([]);
    expect(soldUnits()).toBeCloseTo(0.1, 2);
  });

  test.each([
    [['--strategy', 'tkaer'], 2, /strategy tkaer .*did you mean "taker"/],
    [['--symbol', 'BTCUSTD'], 2, /BTCUSTD is not traded here \(did you mean "BTCUSDT"\?\)/],
    [['--max-slippage', '2'], 2, /2 is not a fraction: write the most that may be lost to slippage, such as 0\.01/],
    [['--max-slippage', '0.95'], 2, /0\.95 is more than risk\.priceCollar, which denies orders beyond 0\.\d+;/],
  ])('refuses %j, and does nothing', async (words, code, why) => {
    await trading();
    const done = await rig.run('flatten', ...words, '--reason', 'x');
    expect([done.code, rig.read((reader) => reader.kills())]).toEqual([code, []]);
    expect(done.stderr).toMatch(why);
    expect(sides()).toEqual(['BUY']);
  });

  test('of one symbol pauses those that trade it and leaves others, and of all closes every market', async () => {
    rig.emit('other', target(1));
    await trading();
    const one = await rig.run('flatten', '--symbol', 'ETHUSDT', '--reason', 'news');
    expect(one.stdout).toMatch(/^other is paused: .* other closed (0\.99\d*|1) ETH on ETHUSDT at /);
    expect(one.stdout).not.toMatch(/taker|maker/);
    expect([resting().length, soldOf('BTCUSDT'), soldOf('ETHUSDT')]).toEqual([1, 0, expect.closeTo(1, 2)]);
    const all = await rig.run('flatten', '--reason', 'all of it');
    expect(all.stdout).toContain('taker closed 0.09');
    expect([resting().length, soldOf('BTCUSDT')]).toEqual([0, expect.closeTo(0.1, 2)]);
    expect(rig.read((reader) => reader.kills())).toMatchObject([
      { kind: 'pause', strategy: 'other', reason: 'news' },
      { kind: 'pause', strategy: null, reason: 'all of it' },
    ]);
    // Books are compared once no signal is open.
    for (const puppet of ['taker', 'other'] as const) rig.emit(puppet, target(0));
    rig.emit('maker', quotes());
    expect(await differencesAtRest(rig, exchange)).toEqual([]);
  });

  test('closes what a strategy holds that is no longer configured, on a market that nobody else trades', async () => {
    rig.emit('other', target(1));
    const daemon = await trading();
    await daemon.end('SIGTERM');
    const { strategies } = JSON.parse(readFileSync(rig.configure(), 'utf8')) as { strategies: { id: string }[] };
    rig.configure({ strategies: strategies.filter(({ id }) => id !== 'other') });
    await rig.start();
    rig.emit('other', undefined);
    expect((await rig.run('flatten', '--strategy', 'other', '--reason', 'left')).stdout).toMatch(
      /^other is paused: .* other closed (0\.99\d*|1) ETH on ETHUSDT at /,
    );
    expect(soldOf('ETHUSDT')).toBeCloseTo(1, 2);
    expect(await differencesAtRest(rig, exchange)).toEqual([]);
  });

  test('does nothing under a HALT, and says so', async () => {
    const daemon = await trading();
    await daemon.end('SIGKILL');
    const halt = { kind: 'halt', everything: false, strategy: null, by: 'ledger', reason: 'USDT is missing' } as const;
    writeOffline(rig.state, [{ ...halt, at: marketStart }]);
    await rig.start();
    expect(await rig.run('flatten', '--strategy', 'taker', '--reason', 'news')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/nothing was done: under HALT positions may be wrong.*USDT is missing/),
    });
    expect([sides(), rig.read((reader) => reader.kills())]).toEqual([['BUY'], []]);
  });

  test('needs a reason, and a daemon', async () => {
    expect(await rig.run('flatten')).toMatchObject({ code: 2, stderr: expect.stringContaining('--reason') });
    const daemon = await trading();
    await daemon.end('SIGINT');
    expect(await rig.run('flatten', '--reason', 'x')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Only a daemon that trades can close positions/),
    });
    expect(await held()).toMatchObject([{ strategy: 'taker' }]);
  });
});

test('sluice cancel ORDER cancels one order, and refuses what is not open', async () => {
  rig.emit(
    'maker',
    quotes({ side: 'BUY', price: price / 2, quantity: 0.1 }, { side: 'BUY', price: price / 2 - 9, quantity: 0.1 }),
  );
  const daemon = await rig.start();
  await until('two orders', () => resting().length === 2);
  await quiet(rig, exchange);
  await rig.run('pause', 'other');
  const [first] = resting();
  const id = first?.orderId ?? '';
  expect((await rig.run('cancel', id, '--reason', 'odd')).stdout).toBe('1 resting order was cancelled.\n');
  expect(exchange.allOrders(trader.uid).find(({ orderId }) => orderId === id)?.status).toBe('CANCELED');
  await daemon.line(/operator cancels order \w+: odd$/);
  expect((await rig.run('why', id)).stdout).toMatch(/cancelled by hand.* by operator, reason odd/);
  expect(await rig.run('cancel', id)).toMatchObject({ code: 1, stderr: expect.stringContaining('is not open') });
  expect(await rig.run('cancel', id, '--all')).toMatchObject({ code: 2 });
});
