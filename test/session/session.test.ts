/** A live daemon as its operator meets it: started, stopped, refused. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Simulator } from '../../src/simulator/simulator.ts';
import { differencesAtRest, quiet } from '../kit/books.ts';
import { sluice } from '../kit/program.ts';
import { makeRig, openExchange, price, quotes, type Rig, target, trader } from '../kit/rig.ts';
import { until } from '../kit/until.ts';

let exchange: Simulator;
let rig: Rig;

beforeAll(async () => {
  exchange = await openExchange();
});
afterAll(() => exchange.close());
beforeEach(() => {
  rig = makeRig(exchange);
});
afterEach(() => rig.remove());

const farBid = quotes({ side: 'BUY', price: price / 2, quantity: 0.1 });
const restingOrders = () => exchange.openOrders(trader.uid);
const errorsOf = (stderr: string): string[] => stderr.split('\n').filter((line) => line !== '');

describe('Ctrl-C', () => {
  test('cancels what rests, ends with 130 and says where the state is', async () => {
    rig.emit('maker', farBid);
    const daemon = await rig.start();
    await until('a resting order', () => restingOrders().length === 1);
    expect(await daemon.end('SIGINT')).toEqual({ code: 130, signal: null });
    expect(restingOrders()).toEqual([]);
    expect(daemon.lines.at(-1)).toBe(`stopped; state is in ${rig.state}`);
  });

  test('leaves what rests where the configuration says so, and the next start goes on with it', async () => {
    rig.configure({ onShutdown: 'keep' });
    rig.emit('maker', farBid);
    const first = await rig.start();
    await until('a resting order', () => restingOrders().length === 1);
    await quiet(rig, exchange);
    const kept = restingOrders();
    expect((await first.end('SIGINT')).code).toBe(130);
    expect(restingOrders()).toEqual(kept);
    rig.configure();
    const second = await rig.start();
    expect(await differencesAtRestOfRig()).toEqual([]);
    expect(restingOrders()).toEqual(kept);
    expect((await second.end('SIGINT')).code).toBe(130);
    expect(restingOrders()).toEqual([]);
  });
});

/** The exchange is shared, so only what belongs to this journal is compared. */
async function differencesAtRestOfRig(): Promise<readonly string[]> {
  const ours = rig.read((reader) => new Set(reader.orders().map(({ clientOrderId }) => clientOrderId)));
  const isOurs = ({ clientOrderId }: { readonly clientOrderId: string }): boolean => ours.has(clientOrderId);
  return differencesAtRest(rig, {
    allTrades: (uid) => exchange.allTrades(uid).filter(isOurs),
    allOrders: (uid) => exchange.allOrders(uid).filter(isOurs),
    openOrders: (uid) => exchange.openOrders(uid).filter(isOurs),
    checkLedger: () => exchange.checkLedger(),
  });
}

test('a daemon whose whole group is told to end, as by systemd or a closing terminal, takes its orders with it', async () => {
  rig.emit('maker', farBid);
  const daemon = await rig.start();
  await until('a resting order', () => restingOrders().length === 1);
  process.kill(daemon.pid, 'SIGHUP');
  process.kill(daemon.pid, 'SIGTERM');
  expect((await daemon.end('SIGTERM')).code).toBe(0);
  expect(restingOrders()).toEqual([]);
});

test('a daemon that nobody reads any more trades on, and is stopped in order', async () => {
  const daemon = await rig.start();
  daemon.leave();
  const trades = exchange.allTrades(trader.uid).length;
  rig.emit('taker', target(0.1));
  await until('a fill', () => exchange.allTrades(trader.uid).length > trades);
  rig.emit('maker', farBid);
  await until('a resting order', () => restingOrders().length === 1);
  expect(daemon.runs).toBe(true);
  expect((await daemon.end('SIGTERM')).code).toBe(0);
  expect(restingOrders()).toEqual([]);
});

test('a daemon that is stopped names the positions that it leaves open', async () => {
  rig.emit('taker', target(0.1));
  const daemon = await rig.start();
  await until('a fill', () => exchange.allTrades(trader.uid).some(({ symbol }) => symbol === 'BTCUSDT'));
  await until('its row', () => rig.read((reader) => reader.fills().length > 0));
  await daemon.end('SIGTERM');
  expect(daemon.lines.filter((line) => line.startsWith('Positions stay open'))).toEqual([
    expect.stringMatching(/nothing watches their stops until the next start: taker 0\.09\d+ BTCUSDT \(no stop\)\.$/),
  ]);
});

describe('a daemon refuses', () => {
  test('to count on money that the account does not have', async () => {
    const { strategies } = JSON.parse(readFileSync(rig.configure(), 'utf8')) as { strategies: readonly object[] };
    const rich = strategies.map((one) => ({ ...one, allocation: '999999999' }));
    const ran = await rig.run('live', '--config', rig.configure({ strategies: rich }));
    expect(ran.code).toBe(2);
    expect(errorsOf(ran.stderr)).toEqual([
      expect.stringMatching(/the strategies need .* USDT, the account has .*Lower `allocation`/),
    ]);
  });

  test('a start, and the next one does not compare with what never ran', async () => {
    await (await rig.start()).end('SIGINT');
    const kept = () => rig.read((reader) => [reader.memories().get('allotted'), reader.limits()]);
    const before = kept();
    expect(before[0]).toBeDefined();
    const { strategies } = JSON.parse(readFileSync(rig.configure(), 'utf8')) as { strategies: readonly object[] };
    const rich = strategies.map((one) => ({ ...one, allocation: '999999999' }));
    expect((await rig.run('live', '--config', rig.configure({ strategies: rich }))).code).toBe(2);
    expect(kept()).toEqual(before);
  });

  test('a state directory in use, with 3 and one line, and the first one goes on', async () => {
    const first = await rig.start();
    const second = await rig.run('live', '--config', rig.configure());
    expect(second.code).toBe(3);
    expect(errorsOf(second.stderr)).toEqual([
      `sluice: state directory ${rig.state} is in use by a running daemon: stop it first, or give another with --state DIR`,
    ]);
    expect(first.runs).toBe(true);
    expect((await first.end('SIGTERM')).code).toBe(0);
  });

  test('the state of another mode or account, and changes nothing in it', async () => {
    const first = await rig.start();
    await first.end('SIGINT');
    const paper = await rig.run('paper', '--config', rig.configure({ cash: '600000' }));
    expect(paper.code).toBe(3);
    expect(errorsOf(paper.stderr)).toEqual([expect.stringMatching(/belongs to mode "live", not "paper".*--state DIR/)]);
    const other = { ...rig, env: { ...rig.env, SLUICE_API_KEY: 'another-key' } };
    const foreign = await sluice(['live', '--config', rig.configure(), '--state', rig.state], other);
    expect(foreign.code).toBe(3);
    expect(errorsOf(foreign.stderr)).toEqual([expect.stringMatching(/belongs to venue ".*", not ".*".*--state DIR/)]);
    const again = await rig.start();
    expect((await again.end('SIGINT')).code).toBe(130);
  });

  test('the state of a newer version, and so do the commands that read it', async () => {
    await (await rig.start()).end('SIGINT');
    const db = new Database(join(rig.state, 'journal.db'));
    db.pragma('user_version = 99');
    db.close();
    for (const ran of [await rig.run('live', '--config', rig.configure()), await rig.run('fills', '--json')]) {
      expect(ran.code).toBe(3);
      expect(errorsOf(ran.stderr)).toEqual([expect.stringMatching(/newer Sluice \(schema 99, .*upgrade Sluice/)]);
      expect(ran.stdout).toBe('');
    }
  });

  test('a journal that is none', async () => {
    await (await rig.start()).end('SIGINT');
    writeFileSync(join(rig.state, 'journal.db'), 'not a database at all, and long enough to be looked at as one');
    const ran = await rig.run('live', '--config', rig.configure());
    expect(ran.code).toBe(3);
    expect(errorsOf(ran.stderr)).toEqual([
      expect.stringMatching(/^sluice: journal in .*restore a backup.*--state DIR/),
    ]);
  });

  test('a missing key and a wrong one, with 2 and without saying it', async () => {
    const start = (env: Record<string, string>) =>
      sluice(['live', '--config', rig.configure(), '--state', rig.state], { ...rig, env: { ...rig.env, ...env } });
    const missing = await start({ SLUICE_API_SECRET: '' });
    expect(missing.code).toBe(2);
    expect(errorsOf(missing.stderr)).toEqual([expect.stringMatching(/SLUICE_API_SECRET is not set.*\.env/)]);
    const wrongs: readonly Record<string, string>[] = [
      { SLUICE_API_KEY: 'canary-of-a-key' },
      { SLUICE_API_SECRET: 'canary-of-a-secret' },
    ];
    for (const [index, wrong] of wrongs.entries()) {
      const ran = await sluice(['live', '--config', rig.configure(), '--state', join(rig.dir, `state-${index}`)], {
        ...rig,
        env: { ...rig.env, ...wrong },
      });
      expect(ran.code).toBe(2);
      expect(errorsOf(ran.stderr)).toEqual([
        expect.stringMatching(new RegExp(`the exchange at ${exchange.restUrl} refuses`)),
        expect.stringMatching(/^ {2}it means: /),
        expect.stringMatching(/^ {2}what to do: /),
      ]);
      expect(ran.stdout + ran.stderr).not.toContain('canary');
    }
  });
});

describe('an exchange that cannot be reached at the start', () => {
  test('is tried again and again, with its URL said, until it is there', async () => {
    const gone = await openExchange();
    const { port } = gone;
    await gone.close();
    const waiting = makeRig(gone);
    try {
      waiting.emit('taker', target(0.1));
      const daemon = waiting.launch();
      await daemon.line(new RegExp(`the exchange at ${gone.restUrl} does not answer .*trying again`));
      const back = await openExchange({ port });
      try {
        await daemon.line(/Z ready: /);
        await until('a fill', () => back.allTrades(trader.uid).length > 0);
        expect((await daemon.end('SIGINT')).code).toBe(130);
      } finally {
        await back.close();
      }
    } finally {
      waiting.remove();
    }
  });

  test('does not keep Ctrl-C waiting', async () => {
    const gone = await openExchange();
    await gone.close();
    const waiting = makeRig(gone);
    try {
      const daemon = waiting.launch();
      await daemon.line(/does not answer/);
      const { code } = await daemon.end('SIGINT');
      expect([1, 130]).toContain(code);
    } finally {
      waiting.remove();
    }
  });
});
