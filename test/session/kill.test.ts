/** Kills that need no command and no network: a file, a signal, and a watchdog while the daemon stands still. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { startProgram } from '../kit/program.ts';
import { farBid, quotes, restingOrders, trader, whale } from '../kit/rig.ts';
import { exchange, rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { signed } from '../kit/simulator.ts';
import { pass, until } from '../kit/until.ts';

const dogKeys = { key: 'dog-key', secret: 'dog-secret' };

rigForEachTest({ users: [{ ...trader, keys: [dogKeys] }, whale] });

const resting = (count: number) => restingOrders(exchange, count);
const kills = () => rig.read((reader) => reader.kills());
const inState = (name: string): string => join(rig.state, name);

/** Puts a file with a text into the state directory, whole: the daemon reads it as soon as it is there. */
function put(name: string, text: string): void {
  writeFileSync(inState(`${name}.part`), text);
  renameSync(inState(`${name}.part`), inState(name));
}

/** A daemon with two orders of `maker` and one of `other`. */
async function trading() {
  rig.emit('maker', quotes(farBid(0), farBid(1)));
  rig.emit('other', quotes(farBid(0)));
  const daemon = await rig.start();
  await resting(3);
  return daemon;
}

describe('a file', () => {
  test('named kill stops everything at once, is written down, and is taken away', async () => {
    await trading();
    put('kill', 'smoke in the room\n');
    await resting(0);
    await until('the file is gone', () => !existsSync(inState('kill')));
    expect(kills()).toMatchObject([{ strategy: null, by: 'file', reason: 'smoke in the room' }]);
    rig.emit('maker', quotes(farBid(5)));
    await pass(500);
    expect(exchange.openOrders(trader.uid)).toEqual([]);
    await rig.run('resume');
    await resting(2);
  });

  test('is asked for with each order, not only now and then', async () => {
    const use = fileURLToPath(new URL('../kit/kill-file-strategy.ts', import.meta.url));
    rig.configure({
      strategies: [{ id: 'kill-file', use, symbol: 'BTCUSDT', interval: '1min', allocation: '200000' }],
    });
    rig.launch();
    await until('the kill', () => kills().length > 0);
    expect(kills()).toMatchObject([{ by: 'file', reason: 'smoke' }]);
    expect((await rig.run('why', 'kill-file')).stdout).toContain('the file kill');
    expect(exchange.allOrders(trader.uid)).toEqual([]);
  });

  test('named after a strategy stops that one, and the others go on', async () => {
    await trading();
    writeFileSync(inState('kill-maker'), '');
    await resting(1);
    await until('the file is gone', () => !existsSync(inState('kill-maker')));
    expect(kills()).toMatchObject([{ strategy: 'maker', by: 'file' }]);
    rig.emit('other', quotes(farBid(7), farBid(8)));
    await resting(2);
  });

  test('that is there before the start keeps the first order from being created', async () => {
    rig.emit('maker', quotes(farBid(0)));
    const first = await rig.start();
    await resting(1);
    await first.end('SIGINT');
    const before = exchange.allOrders(trader.uid).length;
    writeFileSync(inState('kill'), '');
    await rig.start();
    await pass(500);
    expect(exchange.allOrders(trader.uid).length).toBe(before);
    expect(kills()).toMatchObject([{ by: 'file' }]);
  });
});

test('what is noticed while a daemon begins is said on its terminal', async () => {
  const first = await rig.start();
  await first.end('SIGINT');
  writeFileSync(inState('kill-nobody'), '');
  put('kill-maker', 'smoke');
  const second = await rig.start('--set', 'strategies.0.allocation=100000');
  await second.line(/Z error +.*kill-nobody has no effect: no strategy nobody runs here/);
  await second.line(/Z kill +Strategy maker was killed by file: smoke\./);
  await second.line(/Z info +the allocations are 500,000 in total, 600,000 before/);
});

test.runIf(process.platform !== 'win32')('the signal SIGUSR2 does what the file does', async () => {
  const daemon = await trading();
  process.kill(daemon.pid, 'SIGUSR2');
  // A kill cancels at once, while a thread writes its row.
  await until('the kill', () => kills().length > 0);
  await resting(0);
  expect(kills()).toMatchObject([{ strategy: null, by: 'signal' }]);
  expect(daemon.runs).toBe(true);
});

describe('the watchdog', () => {
  const watch = (state = rig.state, key = dogKeys.key) =>
    startProgram(['watchdog', '--config', join(rig.dir, 'live.yaml'), '--state', state], {
      ...rig,
      env: { ...rig.env, SLUICE_WATCHDOG_API_KEY: key, SLUICE_WATCHDOG_API_SECRET: dogKeys.secret },
    });

  test('tries its key and its directory when it begins, not when they are needed', async () => {
    const keyless = watch(rig.state, 'mistyped');
    expect((await keyless.exited).code).toBe(2);
    expect(keyless.lines.join()).toMatch(/could cancel nothing with the key in SLUICE_WATCHDOG_API_KEY: .*-2015/);
    const misspelt = watch(`${rig.state}e`);
    await misspelt.line(
      /^ATTENTION: no daemon ever ran on .*: unless one is yet to be started there, give its directory/,
    );
    await misspelt.end('SIGINT');
    rig.configure({ exchange: { restUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1' } });
    const apart = watch();
    await apart.line(/^ATTENTION: whether the exchange takes the key in SLUICE_WATCHDOG_API_KEY is not known yet/);
    await apart.line(/^watching /);
    await apart.end('SIGINT');
  });

  test('cancels the orders of a daemon that stands still, and the daemon reports it when it continues', async () => {
    rig.configure({ watchdog: { afterMs: 1_500 } });
    const daemon = await trading();
    const order = { symbol: 'BTCUSDT', side: 'BUY', type: 'LIMIT', price: '4000', volume: '0.1' };
    const openIds = () => exchange.openOrders(trader.uid).map(({ orderId }) => orderId);
    const ours = openIds();
    await signed(exchange, trader, 'POST', '/sapi/v1/order', order);
    const human = openIds().filter((id) => !ours.includes(id));
    const dog = watch();
    await dog.line(/^watching /);
    await pass(2_500);
    // The daemon lives: nothing is done.
    expect(dog.lines).toHaveLength(1);
    process.kill(daemon.pid, 'SIGSTOP');
    try {
      await dog.line(/cancelled 3 orders .* no heartbeat/);
      await resting(1);
      expect(openIds()).toEqual(human);
      // It is said first: a disk that takes nothing must not keep it back.
      const written = (): string => readFileSync(inState('watchdog.jsonl'), 'utf8');
      await until(
        'it is written down',
        () => existsSync(inState('watchdog.jsonl')) && written().includes('no heartbeat'),
      );
    } finally {
      process.kill(daemon.pid, 'SIGCONT');
    }
    await daemon.line(/the watchdog cancelled 3 orders/);
    await dog.line(/the daemon is back/);
    await dog.end('SIGINT');
  });

  test('obeys the file as well, while the daemon cannot', async () => {
    const daemon = await trading();
    const dog = watch();
    await dog.line(/^watching /);
    process.kill(daemon.pid, 'SIGSTOP');
    try {
      writeFileSync(inState('kill'), '');
      await dog.line(/cancelled 3 orders .* the file kill/);
      await resting(0);
    } finally {
      process.kill(daemon.pid, 'SIGCONT');
    }
    await until('the daemon killed, too', () => kills().length === 1);
    await dog.end('SIGINT');
  });

  test('obeys the file of one strategy, too: its orders go, and those of the others stay', async () => {
    const daemon = await trading();
    const dog = watch();
    await dog.line(/^watching /);
    const ofMaker = rig.read((reader) => reader.orders("strategy = 'maker'").map(({ orderId }) => orderId));
    process.kill(daemon.pid, 'SIGSTOP');
    try {
      writeFileSync(inState('kill-maker'), '');
      await dog.line(/cancelled 2 orders .* the file kill-maker/);
      await pass(1_500);
      const left = exchange.openOrders(trader.uid).map(({ orderId }) => orderId);
      expect([left.length, left.filter((orderId) => ofMaker.includes(orderId))]).toEqual([1, []]);
    } finally {
      process.kill(daemon.pid, 'SIGCONT');
    }
    await until('the daemon killed it, too', () => kills().length === 1);
    expect(kills()).toMatchObject([{ strategy: 'maker', by: 'file' }]);
    await dog.end('SIGINT');
  });

  test('does nothing about a daemon that ended on purpose, and needs a key of its own', async () => {
    rig.configure({ onShutdown: 'keep', watchdog: { afterMs: 1_000 } });
    const daemon = await trading();
    await daemon.end('SIGINT');
    const dog = watch();
    await dog.line(/^watching /);
    await pass(2_500);
    expect(exchange.openOrders(trader.uid)).toHaveLength(3);
    await dog.end('SIGINT');
    const keyless = startProgram(['watchdog', '--config', join(rig.dir, 'live.yaml'), '--state', rig.state], rig);
    expect((await keyless.exited).code).toBe(2);
    expect(keyless.lines.join()).toContain('SLUICE_WATCHDOG_API_KEY');
  });
});
