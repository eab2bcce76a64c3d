/** json.md names every field that `sluice data` and `sluice doctor` print as JSON. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { desk, klineLines } from '../kit/command.ts';

const at = desk();
beforeAll(() => {
  const lines = klineLines(130);
  // A hole, so that there are findings and gaps to be shown.
  at.write('BTCUSDT-1min.csv', `${[...lines.slice(0, 40), ...lines.slice(42)].join('\n')}\n`);
});
afterAll(() => at.remove());

const page = readFileSync(fileURLToPath(new URL('../../docs/reference/json.md', import.meta.url)), 'utf8');
const named = (heading: string): ReadonlySet<string> => {
  const [, rest = ''] = page.split(`\n## ${heading}\n`);
  const text = rest.split('\n## ')[0] ?? '';
  return new Set([...text.matchAll(/`([^`]+)`/g)].flatMap(([, name = '']) => name.split(/[ .]/)));
};

/** Every key at any depth. */
function keysIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((one: unknown) => keysIn(one));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...keysIn(inner)]);
}

async function printed(...args: readonly string[]): Promise<readonly unknown[]> {
  const { out, err } = await at.sluice([...args, '--json']);
  expect(out, err).toMatch(/^\{.*\}\n/);
  return out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

test('every data command prints what is written down', async () => {
  const file = 'BTCUSDT-1min.csv';
  const given = ['--symbol', 'BTCUSDT', '--interval', '1min', '--source', 'x'];
  const all = [
    ...(await printed('data', 'import', file, ...given, '--dry-run')),
    ...(await printed('data', 'import', file, ...given)),
    ...(await printed('data', 'list')),
    ...(await printed('data', 'check')),
    ...(await printed('data', 'resample', 'BTCUSDT', '--into', '60min')),
    ...(await printed('data', 'export', 'BTCUSDT', '--interval', '1min', '-o', 'x.csv')),
    ...(await printed('data', 'remove', 'BTCUSDT', '--interval', '60min', '--yes')),
  ];
  const keys = new Set(keysIn(all));
  expect(keys.size).toBeGreaterThan(30);
  const known = named('data');
  expect([...keys].filter((key) => !known.has(key))).toEqual([]);
});

test('the doctor prints what is written down, also where it finds nobody', async () => {
  const strategies = [{ id: 'a', use: 'grid', symbol: 'BTCUSDT', interval: '1min', allocation: '1' }];
  const exchange = { restUrl: 'http://127.0.0.1:9', wsUrl: 'ws://127.0.0.1:9' };
  const risk = { maxOrderValue: '1', maxPosition: '1' };
  at.write('live.yaml', JSON.stringify({ exchange, account: 'spot', strategies, risk }), 0o600);
  const [answer] = await printed('doctor', '--config', 'live.yaml');
  expect(answer).toMatchObject({ version: 2, ok: false, checks: expect.any(Array) });
  const known = named('doctor');
  expect([...new Set(keysIn(answer))].filter((key) => !known.has(key))).toEqual([]);
});
