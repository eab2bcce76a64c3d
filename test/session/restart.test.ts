/** What goes on, and what must not, when the exchange or the configuration is another one at the next start. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ScaledClock } from '../../src/clock/clock.ts';
import type { Simulator, SimulatorOptions } from '../../src/simulator/simulator.ts';
import { differencesAtRest, quiet } from '../kit/books.ts';
import { startProgram } from '../kit/program.ts';
import { profiles } from '../kit/quirk-run.ts';
import { makeRig, marketStart, openExchange, puppets, type Rig, speed, target, trader } from '../kit/rig.ts';
import { until } from '../kit/until.ts';

let dir: string;
let exchange: Simulator;
let rig: Rig;

/** A daemon that buys, and the end of it. */
async function buyAndStop(): Promise<void> {
  rig.emit('taker', target(0.1));
  const daemon = await rig.start();
  await quiet(rig, exchange);
  expect((await daemon.end('SIGINT')).code).toBe(130);
}

describe.each(profiles)('on the %s profile', (profile) => {
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'sluice-restart-'));
    exchange = await openExchange({ profile, persistDir: join(dir, 'kept') });
    rig = makeRig(exchange);
  });
  afterEach(async () => {
    rig.remove();
    await exchange.close();
    rmSync(dir, { recursive: true });
  });

  async function reopen(persistDir: string, more: Partial<SimulatorOptions> = {}): Promise<void> {
    const { port } = exchange;
    await exchange.close();
    exchange = await openExchange({ profile, persistDir, port, ...more });
  }

  describe('after daemon and exchange were both stopped', () => {
    test('the next start goes on where they stood', async () => {
      await buyAndStop();
      await reopen(join(dir, 'kept'));
      rig.emit('taker', target(0.3));
      const daemon = await rig.start();
      expect(await differencesAtRest(rig, exchange)).toEqual([]);
      expect(exchange.allTrades(trader.uid).length).toBe(2);
      await daemon.end('SIGINT');
    });

    test('an exchange that began anew is refused, and the journal is left as it was', async () => {
      await buyAndStop();
      // Later than the fill, however slow this machine is: what is missing is the trade, not the time.
      await reopen(join(dir, 'other'), { clock: new ScaledClock(speed, marketStart + 3_600_000) });
      const daemon = rig.launch();
      expect(await daemon.exited).toEqual({ code: 3, signal: null });
      expect(daemon.lines.at(-1)).toMatch(
        /^sluice: the exchange at \S+ does not know the newest fill in \S+ \(trade 1000001 of order 18\d+\): the exchange was reset .*--state DIR$/,
      );
      expect(rig.read((reader) => reader.fills().length)).toBe(1);
    });
  });

  test('the equity is written down on when a symbol is no longer configured', async () => {
    rig.emit('taker', target(0.1));
    const first = await rig.start();
    await quiet(rig, exchange);
    await first.end('SIGINT');
    const { strategies } = JSON.parse(readFileSync(rig.configure(), 'utf8')) as {
      strategies: readonly { symbol: string }[];
    };
    rig.configure({ strategies: strategies.filter(({ symbol }) => symbol === puppets[0]?.symbol) });
    const second = await rig.start();
    const points = (): number => {
      const db = new Database(join(rig.state, 'journal.db'), { readonly: true });
      const { points } = db.prepare('SELECT count(*) AS points FROM equity').get() as { points: number };
      db.close();
      return points;
    };
    const before = points();
    await until('a point of the equity curve', () => points() > before);
    await second.end('SIGINT');
  });
});

describe('sluice simulator', () => {
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'sluice-restart-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const run = async (...args: readonly string[]): Promise<number> => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: dir };
    const program = startProgram(['simulator', '--port', '0', '--json', ...args], { cwd: dir, env });
    const { restUrl } = JSON.parse(await program.line(/restUrl/)) as { restUrl: string };
    const answer = (await (await fetch(`${restUrl}/sapi/v1/time`)).json()) as { serverTime: number };
    await program.end('SIGINT');
    return answer.serverTime;
  };

  test('goes on where it stood, and begins anew only when it is told to', async () => {
    const first = await run('--speed', '1000');
    expect(readdirSync(join(dir, 'var', 'simulator'))).toContain('exchange.db');
    expect(await run('--speed', '0.001')).toBeGreaterThanOrEqual(first);
    expect(await run('--speed', '0.001', '--fresh')).toBeLessThan(first);
  });
});
