/** `sluice check` of files of one's own: over what it judged, and when that proves nothing. */
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { desk } from '../kit/command.ts';

const at = desk();
afterAll(() => at.remove());

/** What is said of a strategy that decides so. */
async function checked(decide: string): Promise<{ code: number | null; out: string; err: string }> {
  at.write(
    'My_own.ts',
    `import { defineStrategy, flat, hold } from 'sluice';
export default defineStrategy({ name: 'mine', about: '', params: {}, indicators: () => ({}),
  decide(_, { kline }) { return ${decide}; } });
`,
  );
  return at.sluice(['check', './My_own.ts']);
}

test('a file goes by its name, and it is said over what it was judged and how to change that', async () => {
  const { code, out } = await checked("kline.close > 4000 ? hold({ share: 1 }, '') : flat('')");
  expect(code).toBe(0);
  expect(out).toMatch(
    /^my-own +2,500 klines of ETHUSDT, 15min, 2025-10-01 00:00 to 2025-10-27 00:45 UTC\nparameters +none\nto change +--set .*\nlook-ahead +none/,
  );
});

test('one that reads a field that is not there never signals anything but flat: nothing was proven', async () => {
  const { code, out, err } = await checked("kline.time > 5 ? hold({ share: 1 }, '') : flat('')");
  expect(out).toMatch(/emitted only flat targets on 2,500 klines: nothing was proven\. .*openTime/);
  expect(err).toBe('sluice: my-own: it emitted only flat targets on 2,500 klines: nothing was proven\n');
  expect(code).toBe(1);
});

test('one that signals for more than all it has is told', async () => {
  const { code, out } = await checked("kline.close > 4000 ? hold({ share: 1.5 }, '') : flat('')");
  expect(out).toMatch(
    /\nmore than all +2025-10-\S+ \S+, the first of [\d,]+: it targets a share of 1\.5; 1 is all its equity\n/,
  );
  expect(code).toBe(1);
});

test.for([
  ["hold({ quantity: 5, share: 1 }, '')", /say quantity, amount or share \(My_own\.ts, line 3\); strategy my-own \(/],
  [
    "{ kind: 'target', size: { amount: 5, share: 1 }, reason: '' }",
    /say quantity, amount or share; strategy my-own, at the kline of 2025-10-\S+\n/,
  ],
] as const)('one that has two goals is told: %s', async ([target, place]) => {
  const { code, err } = await checked(target);
  expect(err).toMatch(/a strategy threw: SignalError: a target with more than one size: \{"\w+":5,"share":1\}; say/);
  expect(err).toMatch(place);
  expect(code).toBe(1);
});

test.for([
  ["hold({ share: 0 / 0 }, '')", /a target without a finite size: .*"NaN".* \(My_own\.ts, line 3\)/],
  ["hold({ share: 1 }, '', { stop: 0 / 0 })", /a number that is not finite .*"NaN".* \(My_own\.ts, line 3\)/],
  ["hold({ share: 1 }, '', { trailing: 5 })", /a trailing stop of 5, .* \(My_own\.ts, line 3\)/],
] as const)('a number that is none is told with its line: %s', async ([target, told]) => {
  const { code, err } = await checked(target);
  expect([code, err]).toEqual([1, expect.stringMatching(told)]);
});

test('one that signals to be short is told that spot cannot', async () => {
  const { code, out } = await checked("kline.close > 4000 ? hold({ share: -1 }, '') : hold({ share: 1 }, '')");
  expect(out).toMatch(/\nshort on spot +.*: it targets a short position, which counts as flat on spot/);
  expect(code).toBe(0);
});

test('what is wrong with a file names it, not the bundled configuration', async () => {
  at.write('bad.ts', 'const a = 1;');
  const bad = await at.sluice(['check', 'bad.ts']);
  expect(bad.code).toBe(2);
  expect(bad.err).toMatch(/^sluice: bad\.ts: strategy file \/.*bad\.ts has no strategy: /);
  expect((await at.sluice(['check', './gone.ts'])).err).toMatch(
    /^sluice: \.\/gone\.ts: strategy file \/.*sluice-cli-.*gone\.ts does not exist\n$/,
  );
  expect((await at.sluice(['check', 'sma-corss'])).err).toMatch(/^sluice: sma-corss: unknown strategy "sma-corss" /);
});

test('one of several markets needs a configuration, which may name the file by another path', async () => {
  at.write(
    'both.ts',
    `import { defineStrategy, flat, hold, of, sma } from 'sluice';
export default defineStrategy({ name: 'both', about: '', params: {}, markets: { coin: 'traded', trend: 'data' },
  indicators: () => ({ last: of('trend', 'close'), average: of('trend', sma('close', 5)) }),
  decide: ({ last, average }) => ({ coin: last > average ? hold({ share: 0.5 }, 'up') : flat('down') }) });
`,
  );
  const alone = await at.sluice(['check', 'both.ts']);
  expect(alone.err).toMatch(
    /^sluice: both\.ts: .* has the markets coin, trend: set markets: \{ coin: \{ symbol: … \}, trend: \{ symbol: … \} \}, in a configuration of your own: sluice check both\.ts --config FILE\./,
  );
  expect(alone.code).toBe(2);
  const wrong = await at.sluice(['check', 'rotation']);
  expect(wrong.err).toMatch(/^sluice: rotation: rotation chooses among a list, .*--config FILE/);
  const data = (symbol: string): string =>
    fileURLToPath(new URL(`../../backtests/data/${symbol}-15m-2025-10_2026-03.csv.gz`, import.meta.url));
  at.write(
    'both.yaml',
    `cash: "1000"
data: { BTCUSDT: ${data('BTCUSDT')}, ETHUSDT: ${data('ETHUSDT')} }
dataIntervals: { BTCUSDT: 15min, ETHUSDT: 15min }
to: 2025-10-08
strategies: [{ id: mine, use: ./both.ts, interval: 60min, markets: { coin: { symbol: BTCUSDT }, trend: { symbol: ETHUSDT } } }]
risk: { maxOrderValue: "1000", maxPosition: "1000" }
`,
  );
  const named = await at.sluice(['check', 'both.ts', '--config', 'both.yaml']);
  expect(named.err).toBe('');
  expect(named.out).toMatch(/^mine +\d+ moments of 2 markets, 60min/);
});
