import { existsSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fillRowOf, orderRowOf } from '../../../test/kit/journal-rows.ts';
import { refusal } from '../../../test/kit/refusal.ts';
import { systemClock } from '../../clock/clock.ts';
import { tradingSchema } from '../../config/schema.ts';
import { Refusal } from '../../domain/refusal.ts';
import { isLocked } from '../../journal/lock.ts';
import { journalFile, openState } from '../../journal/open.ts';
import { openForWriting } from '../../journal/open-for-writing.ts';
import { writer } from '../../journal/writer.ts';
import { startLive, venueNameOf } from '../live.ts';
import { noLog } from '../log/log.ts';
import type { Undo } from '../options.ts';
import { runningDaemon, writeDaemonInfo } from '../state.ts';
import { markTrading, type Opens, othersBeside, startOpening, whileOpening } from './open-state.ts';

const config = tradingSchema.parse({
  exchange: { restUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1' },
  strategies: [{ id: 'a', use: 'grid', symbol: 'BTCUSDT', interval: '1min', allocation: '1000' }],
  risk: { maxOrderValue: '100', maxPosition: '200' },
});

let dir: string;
let stop: AbortController;
let undo: Undo;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-opened-'));
  stop = new AbortController();
  undo = [];
});
afterEach(async () => {
  for (const step of undo) await step();
  rmSync(dir, { recursive: true });
});

const options = (): Opens => ({
  mode: 'live',
  config,
  venueName: 'test',
  configured: [],
  stateDir: dir,
  environment: { XDG_STATE_HOME: join(dir, 'machine') },
  acceptRestored: undefined,
  say: () => {},
  log: noLog(),
  signal: stop.signal,
});

/** Opens the directory, with nothing to be told of it. */
const opens = async <T>(reach: (signal: AbortSignal) => Promise<T>, opened = (): void => {}) =>
  whileOpening({ ...options(), opening: startOpening(options()) }, undo, opened, reach);

/** So much that threads of their own examine it. */
function fillWithNotices(venue = 'test'): void {
  const { path, identity, lock } = openState(dir, { mode: 'live', account: 'spot', venue }, []);
  const db = openForWriting(path);
  db.pragma('synchronous = OFF');
  const write = writer(db, identity.epoch);
  for (let batch = 0; batch < 20; batch++)
    write(
      Array.from(
        { length: 1_000 },
        (_, at) => ({ kind: 'notice', at, level: 'info', text: 'n'.repeat(1_000) }) as const,
      ),
    );
  db.close();
  lock.release();
  expect(statSync(path).size).toBeGreaterThan(16 * 1_048_576);
}

function withJournal<T>(use: (db: Database.Database) => T): T {
  const db = new Database(join(dir, journalFile));
  try {
    return use(db);
  } finally {
    db.close();
  }
}

/** One letter, among twenty million, that Sluice did not write. */
const damage = (): void =>
  withJournal((db) => void db.exec("UPDATE notices SET text = 'm' || substr(text, 2) WHERE seq = 15000"));

const epoch = (): unknown =>
  withJournal((db) => db.prepare("SELECT value FROM meta WHERE key = 'epoch'").pluck().get());
const never = new Promise<never>(() => {});

test('while a large journal is examined the exchange is reached, and nothing is written', async () => {
  fillWithNotices();
  let [opened, before]: [boolean, unknown] = [false, undefined];
  const [state, reached] = await opens(
    async () => {
      before = [opened, epoch(), isLocked(dir)];
      return 'reached';
    },
    () => {
      opened = true;
    },
  );
  expect(before).toEqual([false, '1', true]);
  expect(reached).toBe('reached');
  expect(state.identity.epoch).toBe(2);
});

test('damage that is found late ends the tries to reach the exchange, and nothing was written', async () => {
  fillWithNotices();
  damage();
  let signal: AbortSignal | undefined;
  let opened = false;
  const started = opens(
    (given) => {
      signal = given;
      expect(given.aborted).toBe(false);
      return never;
    },
    () => {
      opened = true;
    },
  );
  await expect(started).rejects.toThrow(/was changed by something other than Sluice .* nothing was changed$/);
  expect([signal?.aborted, opened, epoch(), isLocked(dir)]).toEqual([true, false, '1', false]);
});

test('damage comes before what the exchange says against the start', async () => {
  fillWithNotices();
  damage();
  const started = opens(() => Promise.reject(new Refusal('the key is wrong')));
  await expect(started).rejects.toMatchObject({
    exitCode: 3,
    message: expect.stringContaining('changed by something'),
  });
});

test('what the exchange says against the start is told where the journal is whole', async () => {
  fillWithNotices();
  const started = opens(() => Promise.reject(new Refusal('the key is wrong')));
  await expect(started).rejects.toMatchObject({ exitCode: 2, message: 'the key is wrong' });
  expect(isLocked(dir)).toBe(true);
});

test('a daemon on a journal whose damage is found late asks questions alone', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url?.split('?')[0]}`);
    const time = { timezone: 'UTC', serverTime: systemClock.now() };
    const balances = [{ asset: 'USDT', free: '1', locked: '0' }];
    const symbols = [
      { symbol: 'btcusdt', baseAsset: 'BTC', quoteAsset: 'USDT', pricePrecision: 2, quantityPrecision: 5 },
    ];
    response.end(JSON.stringify({ ...time, balances, symbols }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const restUrl = `http://127.0.0.1:${port}`;
  const secrets = { apiKey: 'key', apiSecret: 'secret' };
  fillWithNotices(venueNameOf(restUrl, secrets.apiKey));
  damage();
  const exchange = { ...config.exchange, restUrl };
  // Otherwise the examination ends while the session's programs are loaded.
  await import('../session.ts');
  try {
    const started = startLive({ ...options(), config: { ...config, exchange }, secrets, fatal: () => {} });
    await expect(started).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('changed by something'),
    });
    expect(asked).toContain('GET /sapi/v1/time');
    // What was paid out is asked for by a POST.
    expect(asked.filter((one) => !one.startsWith('GET ') && !one.endsWith('/withdraw/query'))).toEqual([]);
    expect(epoch()).toBe('1');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('a small journal that was changed is refused before anybody is asked', async () => {
  openState(dir, { mode: 'live', account: 'spot', venue: 'test' }, ['a']).lock.release();
  withJournal((db) => void db.exec("UPDATE strategies SET id = 'b'"));
  let asked = false;
  const started = opens(() => {
    asked = true;
    return never;
  });
  await expect(started).rejects.toMatchObject({ exitCode: 3 });
  expect(asked).toBe(false);
});

test('two daemons on one account see each other, wherever they keep their state', async () => {
  const start = async (given: Opens): Promise<void> => {
    await whileOpening(
      { ...given, opening: startOpening(given) },
      undo,
      () => {},
      async () => {},
    );
    markTrading(given);
    writeDaemonInfo(given.stateDir, {
      ...{ pid: 7, mode: 'live', startedAt: 1, exchange: config.exchange.restUrl },
      ...{ control: 'http://127.0.0.1:1', token: 'z' },
    });
  };
  const [first, second] = [options(), { ...options(), stateDir: join(dir, 'second') }];
  await start(first);
  await start({ ...options(), stateDir: join(dir, 'third'), venueName: 'of another key' });
  expect(othersBeside(first)).toEqual([]);
  await start(second);
  const textsBeside = (of: Opens) => othersBeside(of).map(({ text }) => text);
  const [seenByFirst, seenBySecond] = [textsBeside(first), textsBeside(second)];
  expect(seenByFirst).toEqual([
    expect.stringMatching(/^another daemon \(process 7, .*second\) trades on this account: /),
  ]);
  expect(seenBySecond).toEqual([`${seenByFirst[0]?.replace('/second)', ')')}`]);
  for (const step of undo.splice(0)) await step();
  expect(othersBeside(first)).toEqual([]);
});

test('a new directory for a strategy that holds a position by another one is refused, unless that is accepted', async () => {
  const opened = openState(join(dir, 'first'), { mode: 'live', account: 'spot', venue: 'test' }, ['a']);
  const db = openForWriting(opened.path);
  writer(
    db,
    opened.identity.epoch,
  )([
    { kind: 'instrument', symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 },
    orderRowOf({ strategy: 'a' }),
    fillRowOf({ strategy: 'a' }),
  ]);
  db.close();
  opened.lock.release();
  markTrading({ ...options(), stateDir: join(dir, 'first') });
  const starts = (given: Partial<Opens> = {}): void => {
    startOpening({ ...options(), stateDir: join(dir, 'second'), ...given }).lock.release();
  };
  expect(refusal(starts)).toMatchObject({
    exitCode: 3,
    message: expect.stringMatching(
      /second has no journal, but by the journal in .*first the account has 1 BTC of a, an open order of a on BTCUSDT\. .* start with --state .*first\./,
    ),
  });
  expect(existsSync(join(dir, 'second'))).toBe(false);
  starts({ venueName: 'of another key' });
  rmSync(join(dir, 'second'), { recursive: true });
  starts({ config: { ...config, exchange: { ...config.exchange, restUrl: 'http://127.0.0.1:2' } } });
  rmSync(join(dir, 'second'), { recursive: true });
  starts({ config: { ...config, account: 'margin' } });
  rmSync(join(dir, 'second'), { recursive: true });
  starts({ config: { ...config, strategies: config.strategies.map((one) => ({ ...one, id: 'b' })) } });
  rmSync(join(dir, 'second'), { recursive: true });
  starts({ acceptRestored: 'begin anew' });
});

test('a first start that the exchange refuses leaves nothing behind, and the next one is a first start again', async () => {
  const server = createServer((_, response) => {
    response.statusCode = 400;
    response.end(JSON.stringify({ code: -1022, msg: 'Signature for this request is not valid.' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const restUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const given = { ...options(), config: { ...config, exchange: { ...config.exchange, restUrl } } };
  try {
    const refused = startLive({ ...given, secrets: { apiKey: 'key', apiSecret: 'typo' }, fatal: () => {} });
    await expect(refused).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining('-1022') });
    expect(existsSync(join(dir, journalFile))).toBe(false);
    const again = startOpening(options());
    await again.settle();
    again.lock.release();
  } finally {
    server.close();
  }
});

test('what a daemon that died wrote of itself is gone as soon as another one begins', () => {
  writeDaemonInfo(dir, {
    pid: 7,
    mode: 'live',
    startedAt: 1,
    exchange: 'x',
    control: 'http://127.0.0.1:1',
    token: 'z',
  });
  const opening = startOpening(options());
  expect(runningDaemon(dir)).toBeUndefined();
  opening.lock.release();
});

test('a journal that is gone or empty where one has traded is lost, not new', async () => {
  await opens(async () => {});
  markTrading(options());
  for (const step of undo.splice(0)) await step();
  const path = join(dir, journalFile);
  const lost = (what: string) => expect.objectContaining({ exitCode: 3, message: expect.stringContaining(what) });
  truncateSync(path);
  for (const beside of ['-wal', '-shm']) rmSync(`${path}${beside}`, { force: true });
  expect(() => startOpening(options())).toThrow(lost('is empty, but a journal there has traded'));
  expect(statSync(path).size).toBe(0);
  rmSync(path);
  expect(() => startOpening(options())).toThrow(lost('is missing, but a journal there has traded'));
  expect(existsSync(path)).toBe(false);
  startOpening({ ...options(), mode: 'paper' }).lock.release();
  rmSync(path, { force: true });
  const accepted = startOpening({ ...options(), acceptRestored: 'the disk broke' });
  await accepted.settle();
  accepted.lock.release();
});
