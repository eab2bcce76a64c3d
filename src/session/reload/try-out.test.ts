/** What is wrong with new code of a strategy shows before it takes over, and stays in its thread. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NEVER } from 'rxjs';
// For files outside of the project, Vitest knows the package only once it was loaded.
import 'sluice';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { btc, eth, kline } from '../../../test/kit/builders.ts';
import { TestRig } from '../../../test/kit/test-rig.ts';
import { until } from '../../../test/kit/until.ts';
import { ScaledClock } from '../../clock/clock.ts';
import type { Kline } from '../../domain/market.ts';
import type { Memory } from '../../domain/memory.ts';
import type { Strategy } from '../../strategy/contract.ts';
import { type CodeToLoad, loadAgain } from '../../trading/load-again.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import { failed, type MarketFeed, ok } from '../../venue/venue.ts';
import { tryOut } from './try-out.ts';

const dir = mkdtempSync(join(tmpdir(), 'sluice-try-out-'));
afterAll(() => rmSync(dir, { recursive: true }));
const write = (name: string, text: string): void => writeFileSync(join(dir, name), text);

const rxjs = JSON.stringify(createRequire(import.meta.url).resolve('rxjs'));
/** A file whose strategy has these members beside the usual ones; `top` stands above it. */
const file = (members: string, top = ''): string => `
import { defineStrategy, flat, hold, integer, of, sma, weights } from 'sluice';
import { from, mergeMap } from ${rxjs};
${top}
export default defineStrategy({
  name: 'mine', about: 'A new one', params: { period: integer(3, { min: 1, max: 9 }, 'klines') },
  ${members}
});`;
const usual = 'indicators: () => ({}), decide: () => undefined,';

interface Options {
  /** By symbol; a symbol that is not among them has no klines. */
  readonly klines?: Readonly<Record<string, readonly Kline[]>>;
  readonly markets?: NamedHosted['markets'];
  readonly before?: Partial<CodeToLoad['before']>;
  readonly memory?: Memory;
}

/** Tries the code of mine.ts over 400 klines. */
async function tried(text: string, options: Options = {}, rig = new TestRig()): Promise<void> {
  write('mine.ts', text);
  const { markets, memory } = options;
  if (memory !== undefined) rig.assembled.planner.memories.restore('s', { memory });
  const all = options.klines ?? { [btc.symbol]: minutes(400), [eth.symbol]: minutes(400, eth.symbol) };
  const none = { trades: () => NEVER, depth: () => NEVER, ticker: () => NEVER, gaps: NEVER, klines: () => NEVER };
  const feed: MarketFeed = {
    ...none,
    async history(symbol, _, count) {
      const rows = (all[symbol] ?? []).slice(-count);
      return rows.length === 0 ? { ...failed('none'), isEmpty: true } : ok(rows);
    },
  };
  const again: CodeToLoad = {
    ...{ use: './mine.ts', dir, params: { period: 3 }, markets: markets ?? [{ interval: '1min' }] },
    before: { params: ['period (integer)'], markets: 'one market', legsAlone: 'undefined', ...options.before },
  };
  const runner = {
    ...{
      clock: rig.clock,
      exchange: { feed },
      assembled: rig.assembled,
      screen: { addKline: () => {}, addHistory: () => {} },
    },
    reaching: { url: 'http://x', clock: new ScaledClock(), waiting: () => {}, signal: new AbortController().signal },
    notice: () => {},
  };
  const hosted: NamedHosted = {
    ...{ id: 's', use: './mine.ts', strategy: {} as Strategy, symbol: btc.symbol, interval: '1min' },
    ...{ params: {}, instrument: btc, ...(markets && { markets }) },
  };
  await tryOut(runner, hosted, again);
  await loadAgain(again);
}

const minutes = (count: number, symbol: string = btc.symbol): readonly Kline[] =>
  Array.from({ length: count }, (_, minute) => kline(100, minute, symbol));
const bound = (role: string, instrument: typeof btc) =>
  ({ role, symbol: instrument.symbol, interval: '1min', use: 'traded', instrument }) as const;
const pair: Options = {
  markets: [bound('near', btc), bound('far', eth)],
  before: { markets: "{ far: 'traded', near: 'traded' }" },
};
const list: Options = {
  markets: [bound(btc.symbol, btc), bound(eth.symbol, eth)],
  before: { markets: 'a list of symbols' },
};
/** Code that tells the test that it was reached. */
const reached = `process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(join(dir, 'reached'))}, '');`;
const roles = "markets: { near: 'traded', far: 'traded' }, indicators: () => ({}),";

beforeEach(() => {
  write('words.ts', 'export const word = 1;');
  rmSync(join(dir, 'reached'), { force: true });
});

test.for<[string, string, string, Options?]>([
  ['cannot be parsed', file('decide('), 'mine.ts cannot be loaded: SyntaxError'],
  ['has no default export', 'export const strategy = 1;', 'mine.ts has no strategy: it must end in'],
  [
    'throws as it loads',
    file(usual, "throw new Error('at once');"),
    'mine.ts cannot be loaded: Error: at once (mine.ts',
  ],
  [
    'imports what is not there',
    file(usual, "import './absent.ts';"),
    'mine.ts cannot be loaded: Error: Cannot find module',
  ],
  ['ends the program', file(usual, 'process.exit(0);'), 'it ends the program'],
  ['has a period that is not allowed any more', file(usual).replace('min: 1', 'min: 5'), 'params.period: '],
  ['throws', file("indicators: () => ({}), decide() { throw new Error('no'); },"), 'it throws: Error: no (mine.ts'],
  ['is async', file('indicators: () => ({}), async decide() { return undefined; },'), 'a promise: return what'],
  [
    'fails later',
    file('signals: ({ klines }) => klines.pipe(mergeMap(() => Promise.reject(new Error("late")))),'),
    'it throws: Error: late',
  ],
  [
    'loses a promise',
    file('indicators: () => ({}), decide() { void Promise.reject(new Error("lost")); return undefined; },'),
    'it throws: Error: lost',
  ],
  [
    'has a memory of another type',
    file(`memory: { n: 'none' }, ${usual}`),
    'memory.n is 1: it must be a string',
    { memory: { n: 1 } },
  ],
  [
    'throws long after it chose last',
    file("rebalance: '1month', indicators: () => ({}), choose() { throw new Error('no'); },"),
    'it throws: Error: no',
    list,
  ],
  [
    'throws where a role is silent',
    file(`${roles} decide() { throw new Error('no'); },`),
    'it throws: Error: no',
    { ...pair, klines: { [btc.symbol]: minutes(400), [eth.symbol]: minutes(200, eth.symbol) } },
  ],
  [
    'has another legsAlone',
    file(`${roles} legsAlone: { afterMs: 9000, action: 'unwind' }, decide: () => undefined,`),
    "its legsAlone is { action: 'unwind', afterMs: 9000 }, and that of the running one undefined: restart",
    pair,
  ],
])('code that %s is refused', async ([, text, message, options]) => {
  await expect(tried(text, options)).rejects.toThrow(message);
});

test.for<[string, string, Options?]>([
  ['with a helper', file(usual, "import { word } from './words.ts'; if (word !== 1) throw new Error('other');")],
  ['of streams', file('signals: ({ klines }) => klines.pipe(mergeMap(() => from([flat("none")]))),')],
  ['whose roles are in another order', file(`${roles} decide: () => ({ near: flat('none') }),`), pair],
  [
    'for a market without klines',
    file("indicators: () => ({}), decide() { throw new Error('never asked'); },"),
    { klines: {} },
  ],
  ['whose memory has a new key', file(`memory: { n: 0, more: '' }, ${usual}`), { memory: { n: 1 } }],
])('code %s is taken', async ([, text, options]) => {
  await tried(text, options);
});

test.for<[string, string, string]>([
  ['a loop at its top', file(usual, `${reached} for (;;);`), 'its file did not finish loading within 15 s'],
  [
    'a wait at its top',
    file(usual, `${reached} await new Promise(() => setInterval(() => {}, 1e6));`),
    'its file did not finish loading within 15 s',
  ],
  [
    'a loop in decide',
    file(`indicators: () => ({}), decide() { ${reached} for (;;); },`),
    'it did not finish deciding over recent klines within 15 s',
  ],
])('code with %s is given up', async ([, text, message]) => {
  const rig = new TestRig();
  const refused = expect(tried(text, {}, rig)).rejects.toThrow(message);
  await until('the code is there', () => existsSync(join(dir, 'reached')));
  await rig.clock.advanceTo(rig.clock.now() + 16_000);
  await refused;
});
