/** Whole programs with strategies of several markets, on paper and live at the built-in exchange. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { instrument } from '../../src/domain/instrument.ts';
import { lots, units, unitsNumber } from '../../src/domain/money.ts';
import type { FillEntry } from '../../src/journal/entries.ts';
import { type JournalReader, openReader } from '../../src/journal/reader.ts';
import type { MinuteColumns, Simulator } from '../../src/simulator/simulator.ts';
import { killLeftovers, type Program, type Ran, sluice, startProgram } from '../kit/program.ts';
import { marketStart, openExchange, speed, trader, whale } from '../kit/rig.ts';
import { pass, until } from '../kit/until.ts';

const history = 200;
const minutes = 3_000;
/** Minutes of a market that rises for three and falls for three, beginning `shift` minutes later than others. */
function waves(price: number, shift: number): MinuteColumns {
  const close = (index: number): number => {
    const phase = (index + shift) % 6;
    return price * (1 + 0.002 * (phase < 3 ? phase : 6 - phase));
  };
  const column = (value: (index: number) => number): Float64Array =>
    Float64Array.from({ length: history + minutes }, (_, index) => value(index));
  return {
    openTime: column((index) => marketStart + (index - history) * 60_000),
    open: column((index) => close(index - 1)),
    high: column((index) => Math.max(close(index), close(index - 1)) * 1.0005),
    low: column((index) => Math.min(close(index), close(index - 1)) * 0.9995),
    close: column(close),
    volume: column(() => 2_000),
  };
}

const traded = [
  { symbol: 'BTCUSDT', price: 10_000 },
  { symbol: 'ETHUSDT', price: 2_000 },
  { symbol: 'SOLUSDT', price: 100 },
  { symbol: 'BTCEUR', price: 9_000 },
].map(({ symbol, price }, shift) => {
  const quote = symbol.slice(3);
  const shape = { symbol, base: symbol.slice(0, 3), quote, pricePrecision: 2, quantityPrecision: 4 };
  const at = instrument({ ...shape, minQuantity: lots('0.0001', shape), minNotional: units('1') });
  return { at, klines: waves(price, shift * 2) };
});

const files = {
  filtered: `import { defineStrategy, flat, hold, of, sma } from 'sluice';
export default defineStrategy({
  name: 'filtered', about: 'Holds a coin while another market is above its average', params: {},
  markets: { coin: 'traded', trend: 'data' },
  indicators: () => ({ last: of('trend', 'close'), average: of('trend', sma('close', 6)) }),
  decide: ({ last, average }) => ({ coin: last > average ? hold({ quantity: 0.5 }, 'the trend is up') : flat('the trend is down') }),
});`,
  pair: `import { defineStrategy, flat, hold, of, sma } from 'sluice';
export default defineStrategy({
  name: 'pair', about: 'Holds the cheaper of two markets', params: {},
  markets: { lead: 'traded', lag: 'traded' },
  indicators: () => ({ lead: of('lead', sma('close', 6)), lag: of('lag', sma('close', 6)) }),
  decide(values, { klines }) {
    const leads = klines.lead.close / values.lead > klines.lag.close / values.lag;
    return leads
      ? { lead: flat('it leads'), lag: hold({ share: 0.9 }, 'it lags', { stop: klines.lag.close * 0.5 }) }
      : { lead: hold({ share: 0.9 }, 'it lags', { stop: klines.lead.close * 0.5 }), lag: flat('it leads') };
  },
});`,
  opposed: `import { defineStrategy, hold, of, sma } from 'sluice';
export default defineStrategy({
  name: 'opposed', about: 'Is long of the cheaper of two markets and short of the other', params: {},
  markets: { lead: 'traded', lag: 'traded' },
  indicators: () => ({ lead: of('lead', sma('close', 6)), lag: of('lag', sma('close', 6)) }),
  decide(values, { klines }) {
    const side = klines.lead.close / values.lead > klines.lag.close / values.lag ? -1 : 1;
    return { lead: hold({ share: 0.4 * side }, 'by its lead'), lag: hold({ share: -0.4 * side }, 'against it') };
  },
});`,
  rotation: `import { defineStrategy, roc, weights } from 'sluice';
export default defineStrategy({
  name: 'rotation', about: 'Holds the two of a list that rose the most', params: {},
  indicators: () => ({ rise: roc('close', 2) }),
  choose(markets) {
    const best = markets.toSorted((a, b) => b.values.rise - a.values.rise).slice(0, 2);
    return weights(Object.fromEntries(best.map(({ symbol }) => [symbol, 0.45])), 'they rose the most', { threshold: 0.1 });
  },
});`,
  guarded: `import { defineStrategy, weights } from 'sluice';
export default defineStrategy({
  name: 'guarded', about: 'Holds two of a list, each with a stop', params: {},
  indicators: () => ({}),
  choose: () => {
    const exits = { trailing: 0.003, reenterAfterKlines: 1000 };
    return weights({ BTCUSDT: 0.4, ETHUSDT: 0.4 }, 'hold', { threshold: 0.1, exits: { BTCUSDT: exits, ETHUSDT: exits } });
  },
});`,
  once: `import { existsSync, writeFileSync } from 'node:fs';
import { defineStrategy, hold } from 'sluice';
export default defineStrategy({
  name: 'once', about: 'Enters both, and says nothing more, also after a restart', params: {},
  markets: { near: 'traded', far: 'traded' },
  indicators: () => ({}),
  decide() {
    if (existsSync('said')) return undefined;
    writeFileSync('said', '');
    return { near: hold({ quantity: 0.1 }, 'enter'), far: hold({ quantity: 0.2 }, 'enter') };
  },
});`,
  wrong: `import { choice, defineStrategy, flat, hold } from 'sluice';
let asked = 0;
export default defineStrategy({
  name: 'wrong', about: 'Enters both, then says what cannot be carried out', params: { how: choice('nan', ['nan', 'unknown'], 'What it says') },
  markets: { good: 'traded', bad: 'traded' },
  indicators: () => ({}),
  decide(_, { klines, params }) {
    if (++asked < 4) return {
      good: hold({ quantity: 0.1 }, 'enter', { stop: klines.good.close * 0.5 }),
      bad: hold({ quantity: 0.1 }, 'enter', { stop: klines.bad.close * 0.5 }),
    };
    return params.how === 'nan' ? { good: flat('over'), bad: hold({ quantity: NaN }, 'none') } : { good: flat('over'), gud: flat('over') };
  },
});`,
};
type Use = keyof typeof files;

let exchange: Simulator;
let dir: string;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-several-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, `${name}.mjs`), text);
  exchange = await openExchange({
    instruments: traded.map(({ at }) => at),
    users: [{ ...trader, margin: { USDT: '1000000', BTC: '1000', ETH: '1000' } }, whale],
    markets: traded.map(({ at, klines }) => ({ kind: 'klines', symbol: at.symbol, klines, startIndex: history })),
  });
});
afterEach(async () => {
  killLeftovers();
  await exchange.close();
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
});

interface Bound {
  readonly use: Use;
  readonly markets?: Readonly<Record<string, { readonly symbol: string; readonly interval?: string }>>;
  readonly symbols?: readonly string[];
  readonly params?: object;
}
const filtered: Bound = {
  use: 'filtered',
  markets: { coin: { symbol: 'BTCUSDT' }, trend: { symbol: 'SOLUSDT' } },
};
const pair: Bound = { use: 'pair', markets: { lead: { symbol: 'BTCUSDT' }, lag: { symbol: 'ETHUSDT' } } };
const rotation: Bound = { use: 'rotation', symbols: ['BTCUSDT', 'ETHUSDT', 'SOLUSDT'] };

const surroundings = (): { readonly cwd: string; readonly env: Readonly<Record<string, string>> } => ({
  cwd: dir,
  env: {
    PATH: process.env['PATH'] ?? '',
    HOME: dir,
    XDG_STATE_HOME: join(dir, 'xdg'),
    NODE_COMPILE_CACHE: join(tmpdir(), 'sluice-compile-cache'),
    SLUICE_API_KEY: trader.key,
    SLUICE_API_SECRET: trader.secret,
  },
});
const state = (): string => join(dir, 'state');

const configure = (...strategies: readonly Bound[]): string => configureOn('spot', ...strategies);
function configureOn(account: 'spot' | 'margin', ...strategies: readonly Bound[]): string {
  const { restUrl, wsUrl } = exchange;
  const file = join(dir, 'run.yaml');
  writeFileSync(
    file,
    JSON.stringify({
      exchange: { restUrl, wsUrl, speed },
      account,
      strategies: strategies.map(({ use, ...one }) => ({
        ...{ id: use, use: join(dir, `${use}.mjs`), interval: '1min', allocation: '100000' },
        ...one,
      })),
      risk: {
        maxOrderValue: '1000000',
        maxPosition: '1000000',
        priceCollar: '0.9',
        maxDailyLoss: '1',
        duplicateWindowMs: 0,
      },
      execution: { pollMs: 3_000, sweepMs: 6_000 },
      fees: { maker: '0', taker: '0' },
    }),
  );
  return file;
}
const launch = (mode: 'live' | 'paper'): Program =>
  startProgram([mode, '--config', join(dir, 'run.yaml'), '--state', state()], surroundings());
async function start(mode: 'live' | 'paper'): Promise<Program> {
  const program = launch(mode);
  await program.line(/Z (ready|killed): /);
  return program;
}
const run = (command: string, ...args: readonly string[]): Promise<Ran> =>
  sluice([command, ...args, '--state', state()], surroundings());
function read<T>(look: (reader: JournalReader) => T): T {
  const reader = openReader(state());
  try {
    return look(reader);
  } finally {
    reader.close();
  }
}
const fillsOf = (strategy: string): readonly FillEntry[] =>
  read((reader) => reader.fills().filter((fill) => fill.strategy === strategy));
const symbolsOf = (fills: readonly FillEntry[]): string[] => [...new Set(fills.map(({ symbol }) => symbol))].sort();

/** Waits until a strategy has bought and sold. */
const roundTrips = (strategy: string, count: number) =>
  until(
    `${count} sales of ${strategy}`,
    () => fillsOf(strategy).filter(({ side }) => side === 'SELL').length >= count,
    60_000,
  );

test('on paper a filter, a pair and a list trade side by side, and go on after a restart', async () => {
  configure(filtered, pair, rotation);
  let daemon = await start('paper');
  for (const one of ['filtered', 'pair', 'rotation']) await roundTrips(one, 1);
  await daemon.end('SIGINT');
  const before = fillsOf('pair').length;
  const open = read((reader) => reader.positions().map(({ strategy, symbol }) => `${strategy} ${symbol}`));
  expect(open.some((place) => place.startsWith('pair '))).toBe(true);
  daemon = await start('paper');
  await until('more of the pair', () => fillsOf('pair').length >= before + 2, 60_000);
  expect(symbolsOf(fillsOf('filtered'))).toEqual(['BTCUSDT']);
  expect(symbolsOf(fillsOf('pair'))).toEqual(['BTCUSDT', 'ETHUSDT']);
  expect(symbolsOf(fillsOf('rotation'))).toEqual(['BTCUSDT', 'ETHUSDT', 'SOLUSDT']);
  expect((await run('orders', '--json')).stdout).toContain('ETHUSDT');
  const why = await run(
    'why',
    read((reader) => reader.orders()[0]?.clientOrderId ?? ''),
  );
  expect(why.stdout).toMatch(/it l(ags|eads)|the trend is|rose the most/);
  await daemon.end('SIGINT');
}, 180_000);

const symbolIn = (line: string): string => (JSON.parse(line) as { readonly symbol: string }).symbol;

describe('live', () => {
  test('what a pair sells comes before what it buys, and both legs keep to the money of the pool', async () => {
    configure(pair);
    const daemon = await start('live');
    await roundTrips('pair', 2);
    const fills = fillsOf('pair');
    const sold = fills.findIndex(({ side }) => side === 'SELL');
    expect(fills.slice(sold).some(({ side }) => side === 'BUY')).toBe(true);
    // A share of 0.9 of each leg at once would need more than there is.
    expect(read((reader) => reader.denials(50).map(({ code }) => code))).toEqual([]);
    const killed = await run('kill', '--strategy', 'pair', '--reason', 'a test');
    expect(killed.stdout).toContain('pair is killed');
    const count = exchange.allOrders(trader.uid).length;
    await pass(3_000);
    expect(exchange.allOrders(trader.uid).length).toBe(count);
    await run('resume', '--strategy', 'pair', '--reason', 'the test goes on');
    await until('orders after the resume', () => exchange.allOrders(trader.uid).length > count, 60_000);
    await daemon.end('SIGINT');
  }, 120_000);

  test('killed with -9 before the create of a leg arrived, it is proven absent, and nothing is sent in its place', async () => {
    configure({ use: 'once', markets: { near: { symbol: 'BTCUSDT' }, far: { symbol: 'ETHUSDT' } } });
    const match = { method: 'POST', path: '/sapi/v1/order', every: 2, times: 1 } as const;
    exchange.addFault({ match, do: { hold: 'on its way', when: 'before' } });
    const daemon = await start('live');
    await exchange.held('on its way');
    await daemon.end('SIGKILL');
    // Longer than an order that was signed may wait for its processing, real ms.
    await pass(2_200);
    exchange.release('on its way');
    const again = await start('live');
    // Some klines at which the strategy says nothing.
    await pass(4_000);
    expect(exchange.allOrders(trader.uid)).toMatchObject([{ symbol: 'BTCUSDT', status: 'FILLED' }]);
    await again.end('SIGINT');
    const orders = read((reader) => reader.orders().map(({ symbol, state }) => `${symbol} ${state}`));
    expect(orders.sort()).toEqual(['BTCUSDT filled', 'ETHUSDT absent']);
  }, 120_000);

  test('on margin a pair turns both legs over at once, long and short, through a restart, in its own ledger', async () => {
    configureOn('margin', { use: 'opposed', markets: { lead: { symbol: 'BTCUSDT' }, lag: { symbol: 'ETHUSDT' } } });
    const daemon = await start('live');
    await roundTrips('opposed', 3);
    await daemon.end('SIGKILL');
    const before = fillsOf('opposed').length;
    const again = await start('live');
    await until('more fills', () => fillsOf('opposed').length >= before + 2, 60_000);
    await run('kill', '--strategy', 'opposed', '--reason', 'a test');
    await pass(3_000);
    await again.end('SIGINT');
    const positions = read((reader) => reader.positions());
    expect(positions.map(({ symbol }) => symbol).toSorted()).toEqual(['BTCUSDT', 'ETHUSDT']);
    const bases = positions.map(({ position }) => unitsNumber(position.base));
    expect(Math.sign(bases[0] ?? 0)).toBe(-Math.sign(bases[1] ?? 0));
    // What the strategy holds is what its orders moved on the account, and nothing else has moved it.
    for (const { symbol, position } of positions) {
      const moved = exchange
        .allTrades(trader.uid)
        .filter((one) => one.symbol === symbol)
        .map(({ side, qty, fee, feeAsset }) => {
          const paid = symbol.startsWith(feeAsset) ? Number(fee) : 0;
          return (side === 'BUY' ? Number(qty) : -Number(qty)) - paid;
        })
        .reduce((sum, one) => sum + one, 0);
      expect(unitsNumber(position.base)).toBeCloseTo(moved, 8);
    }
    const denied = read((reader) => reader.denials(50).map(({ code }) => code));
    expect(denied.filter((code) => code !== 'killed')).toEqual([]);
  }, 120_000);

  test('markets of a list are left by their stops, and stay left through a restart', async () => {
    configure({ use: 'guarded', symbols: ['BTCUSDT', 'ETHUSDT'] });
    const stops = () => fillsOf('guarded').filter(({ purpose }) => purpose === 'stop');
    const daemon = await start('live');
    await until('both stops', () => symbolsOf(stops()).length === 2, 60_000);
    await daemon.end('SIGKILL');
    const again = await start('live');
    await pass(4_000);
    await again.end('SIGINT');
    expect(fillsOf('guarded').filter(({ side }) => side === 'BUY').length).toBe(2);
    // Fees leave less than the smallest order.
    for (const { position } of read((reader) => reader.positions()))
      expect(unitsNumber(position.base)).toBeLessThan(0.0001);
  }, 120_000);

  test.each([
    ['nan', /strategy wrong threw and was stopped.*the signal for bad: a target without a finite size/],
    [
      'unknown',
      /strategy wrong threw and was stopped.*a signal for gud, which is none of its markets; it trades good, bad/,
    ],
  ])(
    'a leg that cannot be carried out (%s) stops the strategy with one message, and its exits stay',
    async (how, message) => {
      configure({
        use: 'wrong',
        markets: { good: { symbol: 'BTCUSDT' }, bad: { symbol: 'ETHUSDT' } },
        params: { how },
      });
      const daemon = await start('live');
      await daemon.line(message, 60_000);
      expect(daemon.lines.filter((line) => message.test(line)).length).toBe(1);
      await until('both positions', () => symbolsOf(fillsOf('wrong')).length === 2, 30_000);
      // The legs may fill in either order.
      const positions = (await run('positions', '--json')).stdout
        .trim()
        .split('\n')
        .toSorted((a, b) => symbolIn(a).localeCompare(symbolIn(b)));
      expect(positions.map((line) => (JSON.parse(line) as { readonly protection: unknown }).protection)).toMatchObject([
        { stop: expect.stringMatching(/^50\d\d/) },
        { stop: expect.stringMatching(/^10\d\d/) },
      ]);
      expect(fillsOf('wrong').every(({ side }) => side === 'BUY')).toBe(true);
      await daemon.end('SIGINT');
    },
    90_000,
  );
});

test.each([
  [{ ...filtered, markets: { coin: { symbol: 'BTCUSDT' } } }, /strategies\.0\.markets\.trend: is missing/],
  [
    { ...filtered, markets: { coin: { symbol: 'BTCUSDT' }, trend: { symbol: 'NONEUSDT' } } },
    /strategies\.0\.markets\.trend\.symbol: .*has no symbol NONEUSDT/,
  ],
  [
    { ...filtered, markets: { coin: { symbol: 'BTCUSDT' }, trend: { symbol: 'BTCEUR' } } },
    /strategy filtered: its markets are quoted in USDT and EUR: the markets of one strategy have one quote asset/,
  ],
  [{ ...rotation, symbols: ['NONEUSDT', 'ALSOUSDT'] }, /strategies\.0\.symbols\.0: .*has no symbol NONEUSDT/],
] satisfies readonly (readonly [Bound, RegExp])[])('%j does not begin', async (bound, message) => {
  configure(bound);
  const program = launch('paper');
  expect(await program.exited).toEqual({ code: 2, signal: null });
  expect(program.lines.join('\n')).toMatch(message);
});

test('a symbol of a list that the exchange does not list is left out and reported', async () => {
  configure({ ...rotation, symbols: ['NONEUSDT', 'ETHUSDT', 'SOLUSDT'] });
  const daemon = await start('paper');
  await until('both', () => symbolsOf(fillsOf('rotation')).length === 2, 60_000);
  expect(readFileSync(join(state(), 'sluice.log'), 'utf8')).toMatch(
    /rotation leaves out NONEUSDT: the exchange does not list it/,
  );
  await daemon.end('SIGINT');
}, 90_000);
