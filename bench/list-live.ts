/**
 * A whole live session with one strategy over fifty symbols, at the built-in exchange in a process of its own. Each minute fifty klines close
 * together and the strategy ranks them, rebalances, and its orders fill. Printed is how late this process's event loop was.
 *
 *     node bench/list-live.ts [MINUTES] [--json]     3 minutes of the market
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/clock/clock.ts';
import { instrument } from '../src/domain/instrument.ts';
import { lots, units } from '../src/domain/money.ts';
import { type MinuteColumns, type Simulator, startSimulator } from '../src/simulator/simulator.ts';
import { print } from './goals.ts';
import { liveSession } from './live-session.ts';

const symbols = Array.from({ length: 50 }, (_, index) => `S${index}USDT`);
const user = { uid: '1', key: 'bench-key', secret: 'bench-secret', balances: { USDT: '10000000' } };
const [history, ahead] = [400, 600];

/** Minutes that rise and fall, each symbol at a time of its own. */
function minutesOf(shift: number, first: number): MinuteColumns {
  const close = (index: number): number => 100 + shift + 2 * Math.sin((index + 3 * shift) / 7);
  const column = (value: (index: number) => number): Float64Array =>
    Float64Array.from({ length: history + ahead }, (_, index) => value(index));
  return {
    openTime: column((index) => first + index * 60_000),
    open: column((index) => close(index - 1)),
    high: column((index) => Math.max(close(index), close(index - 1)) + 0.01),
    low: column((index) => Math.min(close(index), close(index - 1)) - 0.01),
    close: column(close),
    volume: column(() => 5_000),
  };
}

const openExchange = (): Promise<Simulator> => {
  const start = Math.floor(systemClock.now() / 60_000) * 60_000 - history * 60_000;
  return startSimulator({
    users: [user],
    instruments: symbols.map((symbol) => {
      const shape = { symbol, base: symbol.slice(0, -4), quote: 'USDT', pricePrecision: 2, quantityPrecision: 4 };
      return instrument({ ...shape, minQuantity: lots('0.0001', shape), minNotional: units('1') });
    }),
    markets: symbols.map((symbol, index) => ({
      kind: 'klines',
      symbol,
      klines: minutesOf(index, start),
      startIndex: history,
    })),
    speed: 1,
  });
};

async function measure({ restUrl, wsUrl }: Pick<Simulator, 'restUrl' | 'wsUrl'>, minutes: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-list-live-'));
  writeFileSync(
    join(dir, 'rotation.mjs'),
    `import { defineStrategy, roc, sma, weights } from 'sluice';
export default defineStrategy({
  name: 'rotation', about: 'Holds the ten that rose the most', params: {},
  indicators: () => ({ rise: roc('close', 5), average: sma('close', 50), slow: sma('close', 200) }),
  choose(markets) {
    const best = markets.toSorted((a, b) => b.values.rise - a.values.rise).slice(0, 10);
    return weights(Object.fromEntries(best.map(({ symbol }) => [symbol, 0.09])), 'they rose the most', { threshold: 0.02 });
  },
});`,
  );
  const file = join(dir, 'config.yaml');
  writeFileSync(
    file,
    JSON.stringify({
      exchange: { restUrl, wsUrl },
      strategies: [
        {
          ...{ id: 'rotation', use: join(dir, 'rotation.mjs'), symbols, interval: '1min', allocation: '1000000' },
          expects: { ordersPerMinute: 20, resting: false },
        },
      ],
      risk: {
        maxOrderValue: '1000000',
        maxPosition: '1000000',
        priceCollar: '0.9',
        maxDailyLoss: '1',
        duplicateWindowMs: 0,
      },
      execution: { pollMs: 3_000, sweepMs: 30_000 },
    }),
  );
  const session = await liveSession(dir, file, user.key, user.secret);
  // What is compiled and loaded at the start is not what is asked about.
  await systemClock.sleep(20_000);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpu = process.cpuUsage();
  await systemClock.sleep(minutes * 60_000);
  const used = process.cpuUsage(cpu);
  delay.disable();
  const { fills, markets } = session.source.view();
  const ms = (ns: number): string => `${(ns / 1e6).toFixed(1)} ms`;
  const of = `one strategy over ${markets.length} symbols, ${minutes} min, ${fills.length} fills`;
  print(
    [
      {
        // 1 ms of it is the timer's own.
        name: `event loop lag, p99: ${of}`,
        result: `${ms(delay.percentile(99))}; p50 ${ms(delay.percentile(50))}, longest ${ms(delay.max)}`,
        goal: '20 ms',
      },
      { name: 'CPU', result: `${((used.user + used.system) / minutes / 600_000).toFixed(0)} % of one core`, goal: '' },
    ],
    json,
  );
  await session.stop();
  rmSync(dir, { recursive: true });
}

const {
  values: { json },
  positionals: [given = '3'],
} = parseArgs({ allowPositionals: true, options: { json: { type: 'boolean' } } });
if (given === 'exchange') {
  const { restUrl, wsUrl } = await openExchange();
  process.send?.({ restUrl, wsUrl });
} else {
  const exchange = fork(fileURLToPath(import.meta.url), ['exchange']);
  const address = await new Promise<Pick<Simulator, 'restUrl' | 'wsUrl'>>((resolve) =>
    exchange.once('message', (said) => resolve(said as Pick<Simulator, 'restUrl' | 'wsUrl'>)),
  );
  try {
    await measure(address, Number(given));
  } finally {
    exchange.kill();
  }
}
