/** Finer klines in the catalogue: a run that leaves klines ambiguous names them, and takes them when it is told to. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backtestHere, desk } from '../kit/command.ts';

const at = desk();
afterAll(() => at.remove());

beforeAll(async () => {
  // Within each hour the price falls first and rises by as much then: by little, and from the fifth hour on by a hundredth.
  const price = (minute: number): string =>
    (100 - (minute < 300 ? 0.1 : 1) * Math.sin((minute / 60) * 2 * Math.PI)).toFixed(2);
  const lines = Array.from({ length: 2_880 }, (_, row) => {
    const [open, close] = [price(row), price(row + 1)] as const;
    const [high, low] = Number(close) > Number(open) ? [close, open] : [open, close];
    return `${Date.UTC(2020, 1, 1) + row * 60_000},${open},${high},${low},${close},500`;
  });
  at.write('minutes.csv', `time_ms,open,high,low,close,volume\n${lines.join('\n')}\n`);
  const given = ['--symbol', 'XBTUSD', '--interval', '1min', '--source', 'x', '--data', 'catalogue'];
  const { code, err } = await at.sluice(['data', 'import', 'minutes.csv', ...given]);
  expect(code, err).toBe(0);
  at.write(
    'between.ts',
    `export default {
  name: 'between', about: 'A stop and a target that one hour reaches both', params: {}, indicators: () => ({}),
  decide: () => ({
    kind: 'target', size: { quantity: 1 }, stop: 99.5, takeProfit: 100.5, reason: 'between',
  }),
};
`,
  );
});

const run = (more = '', catalogue = 'catalogue') =>
  backtestHere(
    at.write(
      'run.yaml',
      `catalogue: ${catalogue}
cash: "100000"
strategies: [{ id: b, use: ./between.ts, symbol: XBTUSD, interval: 60min }]
risk: { maxOrderValue: "200000", maxPosition: "200000" }
fees: { maker: "0", taker: "0" }
${more}`,
    ),
    { json: true },
  );

const hint =
  'XBTUSD: 1min klines are stored and show the order of events within 60min klines: use them with detail: 1min (--set detail=1min), or let orders fill by them (--set dataIntervals.XBTUSD=1min)';

test('are named where klines are ambiguous, and what they say of their own data is said, too', async () => {
  const without = await run();
  const found = JSON.parse(without.out) as { ambiguousKlines: number; warnings: string[]; dataHashes: object };
  expect(found.ambiguousKlines).toBeGreaterThan(0);
  expect(found.warnings).toContain(hint);
  expect(without.notes).toContain(hint);
  const within = await run('detail: 1min');
  const decided = JSON.parse(within.out) as typeof found;
  expect(decided.ambiguousKlines).toBe(0);
  expect(decided.warnings).not.toContain(hint);
  expect(Object.keys(decided.dataHashes)).toEqual(['XBTUSD', 'XBTUSD within klines']);
});

test('of another source are not named, and say so in the result where they are asked for', async () => {
  const given = ['--data', 'mixed', '--symbol', 'XBTUSD'];
  await at.sluice(['data', 'import', 'minutes.csv', ...given, '--interval', '1min', '--source', 'x']);
  await at.sluice(['data', 'resample', 'XBTUSD', '--into', '60min', '--data', 'mixed']);
  await at.sluice(['data', 'export', 'XBTUSD', '--interval', '60min', '-o', 'hours.csv', '--data', 'mixed']);
  await at.sluice(['data', 'remove', 'XBTUSD', '--interval', '60min', '--yes', '--data', 'mixed']);
  const { code, err } = await at.sluice(['data', 'import', 'hours.csv', ...given, '--source', 'y']);
  expect(code, err).toBe(0);
  const without = await run('', 'mixed');
  expect(without.notes).not.toContain(hint);
  const within = JSON.parse((await run('detail: 1min', 'mixed')).out) as {
    warnings: string[];
    criticalWarnings: string[];
  };
  const note =
    'XBTUSD: klines of 60min come from y, but those of 1min (detail), which decide the order of events within them, come from x: use one source for both, or leave detail out';
  expect([within.warnings, within.criticalWarnings]).toEqual([
    expect.arrayContaining([note]),
    expect.arrayContaining([note]),
  ]);
});

test('that lie beside the run say so', async () => {
  const given = ['--data', 'beside', '--symbol', 'XBTUSD', '--source', 'x'];
  const { code, err } = await at.sluice(['data', 'import', 'hours.csv', ...given]);
  expect(code, err).toBe(0);
  const [, ...rows] = readFileSync(join(at.dir, 'minutes.csv'), 'utf8').trimEnd().split('\n');
  const later = rows.map((row) => `${Number(row.slice(0, 13)) + 864_000_000}${row.slice(13)}`);
  at.write('later.csv', `time_ms,open,high,low,close,volume\n${later.join('\n')}\n`);
  await at.sluice(['data', 'import', 'later.csv', ...given, '--interval', '1min']);
  const { notes } = await run('detail: 1min', 'beside');
  expect(notes).toContain(
    'XBTUSD: no klines of 1min lie within the run (stored are 2020-02-11T00:00:00Z to 2020-02-12T23:59:00Z), so the order of events within 60min klines is unknown: import them, or leave detail out',
  );
});
