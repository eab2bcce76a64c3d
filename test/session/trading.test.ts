/** A trading daemon in trouble: killed by its operator, by its losses, by -9; with a strategy that throws. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { differencesAtRest, quiet } from '../kit/books.ts';
import type { Program } from '../kit/program.ts';
import { profiles } from '../kit/quirk-run.ts';
import { price, quotes, target, trader, whale } from '../kit/rig.ts';
import { exchange, rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { signed } from '../kit/simulator.ts';
import { pass, until } from '../kit/until.ts';

const bidAt = (at: number) => quotes({ side: 'BUY', price: at, quantity: 0.1 });
const fillCount = (): number => exchange.allTrades(trader.uid).length;
const orderCount = (): number => exchange.allOrders(trader.uid).length;
const resting = () => exchange.openOrders(trader.uid);
const filled = (count: number) => until(`${count} fills`, () => fillCount() >= count);
/** Long enough for every puppet to have spoken some times. */
const aWhile = (): Promise<void> => pass(500);

interface Status {
  readonly kills: readonly { readonly by: string; readonly strategy: string | null }[];
}
const killsInForce = async (): Promise<Status['kills']> =>
  (JSON.parse((await rig.run('status', '--json')).stdout) as Status).kills;

/** Nothing is created however much is signalled. */
async function expectNothingCreated(): Promise<void> {
  const before = orderCount();
  rig.emit('taker', target(0.3));
  rig.emit('other', target(0.3));
  rig.emit('maker', bidAt(price / 2 + 77));
  await aWhile();
  expect(orderCount()).toBe(before);
}

describe.each(profiles)('on the %s profile', (profile) => {
  rigForEachTest({ profile });

  describe('sluice kill', () => {
    test('cancels what rests, stops creation over restarts, and sluice resume lifts it', async () => {
      rig.emit('maker', bidAt(price / 2));
      rig.emit('taker', target(0.1));
      const daemon = await rig.start();
      await quiet(rig, exchange);
      expect(resting()).toHaveLength(1);
      const killed = await rig.run('kill', '--reason', 'a test');
      expect(killed).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^All strategies are killed, and exits stay in force: /),
      });
      expect(resting()).toEqual([]);
      await expectNothingCreated();
      await daemon.end('SIGKILL');

      const again = rig.launch();
      await again.line(/Z killed: /);
      await expectNothingCreated();
      expect(await killsInForce()).toMatchObject([{ by: 'operator', strategy: null }]);
      expect((await rig.run('resume')).code).toBe(0);
      expect(await differencesAtRest(rig, exchange)).toEqual([]);
      expect(resting()).toHaveLength(1);
      expect(await killsInForce()).toEqual([]);
    });

    test('of one strategy leaves the others alone', async () => {
      rig.emit('maker', bidAt(price / 2));
      await rig.start();
      await quiet(rig, exchange);
      expect((await rig.run('kill', '--strategy', 'maker')).code).toBe(0);
      expect(resting()).toEqual([]);
      rig.emit('taker', target(0.1));
      await filled(1);
      await aWhile();
      expect(resting()).toEqual([]);
    });

    test('without a daemon waits in the journal, and so does its end', async () => {
      await (await rig.start()).end('SIGINT');
      expect(await rig.run('kill')).toMatchObject({ code: 0, stdout: expect.stringContaining('None runs now') });
      await rig.launch().line(/Z killed: /);
      await expectNothingCreated();
      expect((await rig.run('resume')).code).toBe(0);
      await filled(2);
    });
  });

  test('sluice cancel --all cancels what rests, says who orders again, and needs --all or a strategy', async () => {
    rig.emit('maker', bidAt(price / 2));
    await rig.start();
    await quiet(rig, exchange);
    expect(await rig.run('cancel')).toMatchObject({ code: 2, stderr: expect.stringContaining('cancel --all') });
    const [before] = resting();
    expect(await rig.run('cancel', '--all')).toMatchObject({
      code: 0,
      stdout: '1 resting order was cancelled. Running strategies may place new orders. To prevent that: sluice kill.\n',
    });
    expect(exchange.allOrders(trader.uid).find(({ orderId }) => orderId === before?.orderId)?.status).toBe('CANCELED');
    // It still wants its order.
    await until('a new order', () => resting().length === 1);
    expect(await differencesAtRest(rig, exchange)).toEqual([]);
    expect((await rig.run('kill', '--reason', 'a test')).code).toBe(0);
    expect((await rig.run('cancel', '--all')).stdout).toBe(
      'There was no resting order to cancel. No strategy places new ones now (killed: a test).\n',
    );
    await expectNothingCreated();
  });

  test('a daily loss kills durably, over kill -9 too, until sluice resume', async () => {
    // The fees of one large order are more than this.
    rig.configure({ risk: { maxDailyLoss: '0.0001' } });
    rig.emit('taker', target(5));
    const daemon = await rig.start();
    await daemon.line(/daily loss limit/);
    expect(fillCount()).toBeGreaterThan(0);
    await until('the kill in the journal', () => rig.read((reader) => reader.kills().length > 0));
    await until('rest', () => resting().length === 0);
    await daemon.end('SIGKILL');
    // A kill outlives its limit; and what the market does to the position after `resume` must not kill again.
    rig.configure({ risk: { maxDailyLoss: '0.5' } });
    await rig.launch().line(/Z killed: .*sluice resume --state \//);
    expect(await killsInForce()).toMatchObject([{ by: 'dailyLoss', strategy: null }]);
    const before = orderCount();
    rig.emit('other', target(0.01));
    await aWhile();
    expect(orderCount()).toBe(before);
    expect((await rig.run('resume')).code).toBe(0);
    await until('an order', () => orderCount() > before);
  });

  describe('protection', () => {
    /** Below every price that the market has by itself, and within reach of who sells through the displayed depth. */
    const stopPrice = price - 15;

    async function sellThroughDepth(): Promise<void> {
      const order = { symbol: 'BTCUSDT', volume: '1000', side: 'SELL', type: 'MARKET' };
      const { status } = await signed(exchange, whale, 'POST', '/sapi/v1/order', order);
      expect(status).toBe(200);
    }

    /** The position that the journal says the taker holds, with its protection. */
    const held = async (): Promise<unknown> =>
      JSON.parse((await rig.run('positions', '--json')).stdout.split('\n')[0] ?? '');

    test('a stop is in force after kill -9, without a word of its strategy, and leaves the position', async () => {
      rig.emit('taker', target(0.1, { stop: stopPrice }));
      const daemon = await rig.start();
      await filled(1);
      await quiet(rig, exchange);
      await daemon.end('SIGKILL');
      rig.emit('taker', undefined);
      const again = await rig.start();
      expect(await held()).toMatchObject({ strategy: 'taker', protection: { stop: '9985' } });
      await aWhile();
      expect(exchange.allTrades(trader.uid).map(({ side }) => side)).not.toContain('SELL');
      await until('the stop', async () => {
        // A depth that is sold empty rejects the exit: once it was asked for, the depth is left alone.
        if (!exchange.allOrders(trader.uid).some(({ side }) => side === 'SELL')) await sellThroughDepth();
        return exchange.allTrades(trader.uid).some(({ side }) => side === 'SELL');
      });
      await again.line(/fill .* taker SELL/);
      expect(await differencesAtRest(rig, exchange)).toEqual([]);
      // A depth that is sold empty rejects an exit, and it is asked for again.
      const sold = exchange
        .allOrders(trader.uid)
        .filter(({ side, status }) => side === 'SELL' && status !== 'REJECTED');
      expect(sold).toHaveLength(1);
      const stops = rig.read((reader) => reader.orders("purpose = 'stop' AND state = 'filled'"));
      expect(stops.map(({ orderId }) => orderId)).toEqual([sold[0]?.orderId]);
    });

    test('a stop is in force after its strategy was taken out of the configuration, which is said', async () => {
      rig.emit('taker', target(0.1, { stop: stopPrice }));
      const daemon = await rig.start();
      await filled(1);
      await quiet(rig, exchange);
      await daemon.end('SIGKILL');
      rig.emit('taker', undefined);
      const { strategies } = JSON.parse(readFileSync(rig.configure(), 'utf8')) as { strategies: { symbol: string }[] };
      rig.configure({ strategies: strategies.filter(({ symbol }) => symbol !== 'BTCUSDT') });
      const again = await rig.start();
      await again.line(/strategy taker is no longer configured for BTCUSDT but holds .* BTC with a stop at 9985/);
      await until('the stop', async () => {
        // A depth that is sold empty rejects the exit: once it was asked for, the depth is left alone.
        if (!exchange.allOrders(trader.uid).some(({ side }) => side === 'SELL')) await sellThroughDepth();
        return exchange.allTrades(trader.uid).some(({ side }) => side === 'SELL');
      });
      await again.line(/fill .* taker SELL/);
      expect(await differencesAtRest(rig, exchange)).toEqual([]);
    });

    test('a take-profit rests at the exchange, over kill -9 too, and is cancelled with the target', async () => {
      rig.emit('taker', target(0.1, { takeProfit: price * 1.05 }));
      const daemon = await rig.start();
      await until('a resting exit', () =>
        resting().some(({ side, price: at }) => side === 'SELL' && Number(at) === price * 1.05),
      );
      const [before] = resting();
      await daemon.end('SIGKILL');
      await rig.start();
      expect(await differencesAtRest(rig, exchange)).toEqual([]);
      expect(resting()).toEqual([before]);
      rig.emit('taker', target(0));
      await until(
        'nothing left',
        () => resting().length === 0 && exchange.allTrades(trader.uid).at(-1)?.side === 'SELL',
      );
      expect(await differencesAtRest(rig, exchange)).toEqual([]);
    });

    test('a take-profit rests a moment after the entry, however long its strategy says nothing', async () => {
      rig.emit('taker', target(0.1, { takeProfit: price * 1.05 }));
      const use = fileURLToPath(new URL('../kit/once.ts', import.meta.url));
      const once = { id: 'once', use, symbol: 'BTCUSDT', interval: '1day', allocation: '200000' };
      rig.configure({ strategies: [once] });
      const exits = () => resting().filter(({ side, price: at }) => side === 'SELL' && Number(at) === price * 1.05);
      const daemon = await rig.start();
      await until('a resting exit', () => exits().length === 1);
      await daemon.end('SIGTERM');
      expect(exits()).toEqual([]);
      await rig.start();
      await until('what was cancelled with the daemon, though nobody has said a word', () => exits().length === 1);
      await aWhile();
      expect((await rig.run('kill', '--reason', 'a test')).code).toBe(0);
      expect(exits()).toHaveLength(1);
      expect((await rig.run('kill', '--everything', '--reason', 'a test')).code).toBe(0);
      expect(exits()).toEqual([]);
      await pass(1_500);
      expect((await rig.run('resume')).code).toBe(0);
      await until('what the kill cancelled', () => exits().length === 1);
      expect((await rig.run('kill', '--everything', '--reason', 'a test')).code).toBe(0);
      expect((await rig.run('resume')).code).toBe(0);
      await until('the same, resumed at once', () => exits().length === 1);
      expect(exchange.allOrders(trader.uid).map(({ side }) => side)).toEqual(['BUY', 'SELL', 'SELL', 'SELL', 'SELL']);
    });

    test('a take-profit whose create is lost is asked for again once it is known not to be there', async () => {
      rig.emit('taker', target(0.1, { takeProfit: price * 1.05 }));
      const use = fileURLToPath(new URL('../kit/once.ts', import.meta.url));
      rig.configure({ strategies: [{ id: 'once', use, symbol: 'BTCUSDT', interval: '1day', allocation: '200000' }] });
      exchange.addFault({ match: { method: 'POST', path: '/sapi/v1/order', nth: 2 }, do: { drop: 'before' } });
      await rig.start();
      await until('a resting exit', () => resting().some(({ side }) => side === 'SELL'));
      // On a busy machine an order can expire before it is sent.
      const sent = rig.read((journal) => journal.orders("purpose = 'takeProfit' AND state <> 'notSent'"));
      expect(sent.map(({ state }) => state)).toEqual(['absent', expect.stringMatching('sending|open')]);
    });
  });

  test('a strategy that throws is stopped alone, and its orders are cancelled', async () => {
    rig.emit('maker', bidAt(price / 2));
    const daemon: Program = await rig.start();
    await quiet(rig, exchange);
    rig.emit('maker', { kind: 'throw' });
    await daemon.line(/strategy maker threw and was stopped; .*the puppet was told to throw/);
    await until('its order cancelled', () => resting().length === 0);
    rig.emit('taker', target(0.1));
    rig.emit('other', target(0.1));
    await filled(2);
    expect(await differencesAtRest(rig, exchange)).toEqual([]);
    const thrown = /the puppet was told to throw/;
    expect((await rig.run('status')).stdout).toMatch(
      new RegExp(
        `^STOPPED +maker since .* stopped after an error; starts again with the daemon: .*${thrown.source}`,
        'm',
      ),
    );
    expect(JSON.parse((await rig.run('status', '--json')).stdout)).toMatchObject({
      stoppedStrategies: [{ strategy: 'maker', error: expect.stringMatching(thrown) }],
      diskFull: false,
    });
    expect((await rig.run('why', 'maker')).stdout).toMatch(thrown);
    expect((await daemon.end('SIGINT')).code).toBe(130);
    expect((await rig.run('status')).stdout).not.toContain('STOPPED');
  });
});
