import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { denialOf, eventOf, fillRowOf, insert, orderRowOf } from '../../test/kit/journal-rows.ts';
import { refusal } from '../../test/kit/refusal.ts';
import { ScaledClock, systemClock } from '../clock/clock.ts';
import { makeClientOrderId } from '../domain/ids.ts';
import type { Entry } from './entries.ts';
import { journal } from './journal.ts';
import { isLocked, takeLock } from './lock.ts';
import { type Binding, journalFile, type OpenedState, openState } from './open.ts';
import { openForWriting } from './open-for-writing.ts';
import { openReader } from './reader.ts';
import { schemaVersion, versionOf } from './schema.ts';
import { writer } from './writer.ts';
import { workerHost } from './writer-hosts.ts';

const binding: Binding = { mode: 'live', account: 'spot', venue: '127.0.0.1:1 key ab' };
let root: string;
let dir: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-journal-'));
  dir = join(root, 'state');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Opens the state and lets it go again. */
function openOnce(given: Partial<Binding> = {}, strategies: readonly string[] = ['s']): OpenedState {
  const state = openState(dir, { ...binding, ...given }, strategies);
  state.lock.release();
  return state;
}

describe('a new state directory', () => {
  test('is made for its owner alone, with a journal at the newest schema', () => {
    const state = openOnce();
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(state.path).mode & 0o777).toBe(0o600);
    const db = new Database(state.path, { readonly: true });
    expect(versionOf(db)).toBe(schemaVersion);
    expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
    db.close();
    expect(state.loaded.orders).toEqual([]);
  });

  test('is read by a connection that keeps few pages, since it stays open for the whole session', () => {
    const { loaded } = openOnce();
    const pragma = vi.spyOn(Database.prototype, 'pragma');
    expect(loaded.past.ownerOf('1')).toBeUndefined();
    expect(pragma.mock.calls).toEqual([['cache_size = -4000']]);
    loaded.past.close();
    pragma.mockRestore();
  });

  test.each(['sluice.log', 'journal.db', 'lock.db', 'heartbeat.json', 'kill', 'daemon.json.new'])(
    'with a link %s is refused, and nothing is written where it leads',
    (name) => {
      const precious = join(root, 'precious');
      writeFileSync(precious, 'mine');
      mkdirSync(dir);
      symlinkSync(precious, join(dir, name));
      const { message, exitCode } = refusal(openOnce);
      expect(message).toContain(`remove ${join(dir, name)}, then start again`);
      expect(exitCode).toBe(3);
      expect(readFileSync(precious, 'utf8')).toBe('mine');
      expect(readdirSync(dir)).toEqual([name]);
    },
  );

  test('has a number and a key of its own for client order ids', () => {
    const { identity } = openOnce();
    expect(identity.instance).toBeGreaterThanOrEqual(0);
    expect(identity.instance).toBeLessThan(32 ** 5);
    expect(identity.idKey.length).toBe(32);
  });
});

describe('a state directory that is opened again', () => {
  test('keeps its number and key, and counts how often it was opened', () => {
    const first = openOnce().identity;
    const second = openOnce().identity;
    expect(second.instance).toBe(first.instance);
    expect(second.idKey).toEqual(first.idKey);
    expect([first.epoch, second.epoch, openOnce().identity.epoch]).toEqual([1, 2, 3]);
  });

  test('skips the numbers in ids that a copy of it has used at the exchange', () => {
    const { path, identity } = openOnce();
    const other = { ...identity, idKey: Buffer.alloc(32, 1), epoch: 999 };
    const shown = (orderId: string, { idKey, ...made }: typeof identity): Entry => ({
      ...{ kind: 'venueOrder', seenAt: 0, orderId, symbol: 'BTCUSDT', side: 'BUY', type: 'LIMIT', status: 'FILLED' },
      ...{
        executed: '1',
        clientOrderId: makeClientOrderId({ ...made, strategy: 1, sequence: 5 }, idKey).toUpperCase(),
      },
    });
    const db = openForWriting(path);
    writer(db, identity.epoch)([shown('7', { ...identity, epoch: 4 }), shown('8', other)]);
    db.close();
    expect([openOnce().identity.epoch, openOnce().identity.epoch]).toEqual([5, 6]);
  });

  test('keeps the number of each strategy for good', () => {
    const first = openOnce({}, ['b', 'a']).identity.strategies;
    const second = openOnce({}, ['c', 'a']).identity.strategies;
    expect(second.get('a')).toBe(first.get('a'));
    expect(second.get('b')).toBe(first.get('b'));
    expect(new Set(second.values()).size).toBe(3);
  });

  test.each([
    [{ mode: 'paper' }, 'belongs to mode "live", not "paper"'],
    [{ account: 'margin' as const }, 'belongs to account "spot", not "margin"'],
    [{ venue: 'other' }, 'belongs to venue "127.0.0.1:1 key ab", not "other"'],
  ])('is refused for %j, and nothing is changed', (other, message) => {
    openOnce();
    const refused = refusal(() => openOnce(other));
    expect(refused.message).toContain(message);
    expect(refused.message).toContain('--state DIR');
    expect(refused.exitCode).toBe(3);
    expect(isLocked(dir)).toBe(false);
    expect(openOnce().identity.epoch).toBe(2);
  });

  test('is refused when a newer program wrote it', () => {
    const { path } = openOnce();
    const db = new Database(path);
    db.pragma(`user_version = ${schemaVersion + 1}`);
    db.close();
    const refused = refusal(() => openOnce());
    expect(refused.message).toContain('written by a newer Sluice');
    expect(refused.exitCode).toBe(3);
    const again = new Database(path, { readonly: true });
    expect(versionOf(again)).toBe(schemaVersion + 1);
    expect(again.prepare("SELECT value FROM meta WHERE key = 'epoch'").get()).toEqual({ value: '1' });
    again.close();
  });

  test('is refused when its journal is damaged', async () => {
    const state = openOnce();
    const host = workerHost(state.path, state.identity.epoch, () => {});
    // Steps of orders are not read at a start: only a check of the whole file finds that they are damaged.
    const detail = { text: 'x'.repeat(500) };
    await host.write(Array.from({ length: 2_000 }, () => eventOf('resolving', { detail })));
    await host.close();
    const pages = statSync(state.path).size / 4_096;
    const file = openSync(state.path, 'r+');
    writeSync(file, Buffer.alloc(200, 0xa5), 0, 200, Math.floor(pages / 2) * 4_096);
    closeSync(file);
    const refused = refusal(() => openOnce());
    expect(refused.message).toContain('damaged');
    expect(refused.exitCode).toBe(3);
    expect(isLocked(dir)).toBe(false);
  });

  test('is refused when its journal is no journal', () => {
    mkdirSync(dir);
    const text = 'this is somebody else’s file, and it is long enough to be read as a database header';
    writeFileSync(join(dir, journalFile), text);
    expect(refusal(() => openOnce()).exitCode).toBe(3);
    expect(readFileSync(join(dir, journalFile), 'utf8')).toBe(text);
  });

  test('cannot lie where nothing can be written', () => {
    writeFileSync(join(root, 'file'), '');
    const refused = refusal(() => openState(join(root, 'file', 'state'), binding, []));
    expect(refused.message).toContain('cannot be written');
    expect(refused.message).toContain('--state DIR');
  });

  test.runIf(process.platform === 'linux')('nor where Node would try for ever to make it', () => {
    const refused = refusal(() => openState('/proc/sluice/state', binding, []));
    expect(refused.message).toContain('cannot be written');
  });
});

describe('the lock', () => {
  test('is held by one at a time', () => {
    const state = openState(dir, binding, ['s']);
    const refused = refusal(() => openState(dir, binding, ['s']));
    expect(refused.message).toContain('in use by a running daemon');
    expect(refused.exitCode).toBe(3);
    expect(isLocked(dir)).toBe(true);
    state.lock.release();
    expect(isLocked(dir)).toBe(false);
    expect(openOnce().identity.epoch).toBe(2);
  });

  test('is given to a start while a command in another process checks whether it is held', async () => {
    openOnce();
    const code = `
      import Database from 'better-sqlite3';
      const db = new Database(${JSON.stringify(join(dir, 'lock.db'))});
      db.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
      console.log('looking');
      setTimeout(() => db.close(), 60);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    expect(isLocked(dir)).toBe(false);
    expect(openOnce().identity.epoch).toBe(2);
    await once(child, 'exit');
  });

  test('of another process excludes this one, and is free once that is killed with -9', async () => {
    openOnce();
    const code = `
      import { takeLock } from ${JSON.stringify(new URL('./lock.ts', import.meta.url).href)};
      if (takeLock(${JSON.stringify(dir)}) === undefined) process.exit(1);
      process.stdin.resume();
      for (let times = 0; times < 3; times++) {
        globalThis.gc();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      console.log('held');`;
    const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', code], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    try {
      await once(child.stdout, 'data');
      expect(takeLock(dir)).toBeUndefined();
      expect(refusal(() => openOnce()).exitCode).toBe(3);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    expect(openOnce().identity.epoch).toBe(2);
  });
});

describe('the writer in its own thread', () => {
  test('writes what a later start loads', async () => {
    const state = openOnce();
    const failures: Error[] = [];
    const book = journal(
      workerHost(state.path, state.identity.epoch, (error) => failures.push(error)),
      systemClock,
    );
    book.append(orderRowOf({ state: 'open', orderId: '1001' }));
    expect(insert(book, fillRowOf())).toBe(true);
    expect(await book.durable()).toBe(true);
    book.append(denialOf());
    await book.close();
    expect(failures).toEqual([]);
    const { loaded } = openOnce();
    expect(loaded.orders.map(({ orderId }) => orderId)).toEqual(['1001']);
    const again = journal({ write: () => 'written', close: () => Promise.resolve() }, systemClock, loaded.past.fill);
    expect(insert(again, fillRowOf())).toBe(false);
  });

  test('commits so that a power cut loses nothing', async () => {
    const state = openOnce();
    const code = `
      import { openForWriting } from ${JSON.stringify(new URL('./open-for-writing.ts', import.meta.url).href)};
      const db = openForWriting(${JSON.stringify(state.path)});
      console.log(db.pragma('synchronous', { simple: true }), db.pragma('journal_mode', { simple: true }));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    expect(said.toString().trim()).toBe('2 wal');
    await once(child, 'exit');
  });

  test('that breaks says so once', async () => {
    const state = openOnce();
    const failures: Error[] = [];
    const host = workerHost(state.path, state.identity.epoch, (error) => failures.push(error));
    void host.write([{ ...fillRowOf(), clientOrderId: JSON.parse('{}') as string }]);
    const clock = new ScaledClock();
    for (let tries = 0; failures.length === 0 && tries < 500; tries++) await clock.sleep(10);
    // The thread's end follows its error.
    await clock.sleep(100);
    expect(failures.length).toBe(1);
  });
});

describe('reading', () => {
  test('goes on beside a writer, and sees what is committed', async () => {
    const state = openState(dir, binding, ['s']);
    const book = journal(
      workerHost(state.path, state.identity.epoch, () => {}),
      systemClock,
    );
    const reader = openReader(dir);
    try {
      expect(reader.fills()).toEqual([]);
      book.append(orderRowOf({ state: 'open' }));
      book.append(eventOf('accepted', { detail: { orderId: '1001' } }));
      insert(book, fillRowOf());
      book.append({
        kind: 'instrument',
        symbol: 'BTCUSDT',
        base: 'BTC',
        quote: 'USDT',
        pricePrecision: 2,
        quantityPrecision: 5,
      });
      book.append({ kind: 'protection', strategy: 's', symbol: 'BTCUSDT', protection: { stop: '90' } });
      book.append(denialOf());
      expect(await book.durable()).toBe(true);
      expect(reader.orders().map(({ state: now }) => now)).toEqual(['open']);
      expect(reader.fillsOf('c1')).toEqual([fillRowOf()]);
      expect(reader.events('c1').map(({ event, detail }) => [event, detail])).toEqual([
        ['accepted', { orderId: '1001' }],
      ]);
      expect(reader.denials(5, 's')).toMatchObject([{ code: 'orderValue', facts: { value: '200' }, times: 1 }]);
      expect(reader.positions()).toMatchObject([
        { strategy: 's', symbol: 'BTCUSDT', position: { base: 10n ** 18n }, protection: { stop: '90' } },
      ]);
      expect(reader.meta.get('mode')).toBe('live');
    } finally {
      reader.close();
      await book.close();
      state.lock.release();
    }
  });

  test('changes nothing and makes no journal where there is none', () => {
    mkdirSync(dir);
    expect(refusal(() => openReader(dir)).message).toContain(dir);
    expect(existsSync(join(dir, journalFile))).toBe(false);
  });
});
