/** The cookbook: each recipe has the types that it needs and trades over recorded data, and its command runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { desk } from '../kit/command.ts';
import { typeErrors } from '../kit/type-errors.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs', 'cookbook.md'), 'utf8');
const recipes = [...page.matchAll(/^```ts file=(\S+)\.ts\n(.*?)^```$/gms)].map(([, id = '', text = '']) => ({
  id,
  text,
}));
const bindings = new Map(
  [...page.matchAll(/^```yaml bind=(\S+)\n(.*?)\n```$/gms)].map(([, id = '', text = '']) => [id, text]),
);

const at = desk();
afterAll(() => at.remove());
const dataOf = (symbol: string): string => join(root, 'backtests', 'data', `${symbol}-15m-2025-10_2026-03.csv.gz`);
const entries = recipes.map(
  ({ id }) =>
    `  - { id: ${id}, use: ./${id}.ts, ${bindings.get(id) ?? 'symbol: ETHUSDT'}, interval: 15min, allocation: "10000" }`,
);
for (const { id, text } of recipes) at.write(`${id}.ts`, text);
at.write('package.json', '{ "type": "module" }');
at.write(
  'cookbook.yaml',
  `data: { BTCUSDT: ${dataOf('BTCUSDT')}, ETHUSDT: ${dataOf('ETHUSDT')} }
dataIntervals: { BTCUSDT: 15min, ETHUSDT: 15min }
cash: "1000000"
strategies:
${entries.join('\n')}
risk: { maxOrderValue: "8000", maxPosition: "1000000", maxDailyLoss: "1" }
fees: { maker: "0.001", taker: "0.002" }
`,
);

test('it has thirty recipes', () => {
  expect([...page.matchAll(/^### /gm)]).toHaveLength(30);
});

test('their strategies have the types that they need', () => {
  expect(typeErrors(at.dir)).toBe('');
});

test('they trade', async () => {
  const { code, out, err } = await at.sluice(['backtest', '--config', 'cookbook.yaml', '--json', '--no-save']);
  expect(code, err).toBe(0);
  const { fills } = JSON.parse(out) as { readonly fills: readonly { readonly strategy: string }[] };
  expect([...new Set(fills.map(({ strategy }) => strategy))].toSorted()).toEqual(
    recipes.map(({ id }) => id).toSorted(),
  );
});

test.for([...page.matchAll(/^npx sluice ([^#\n]*)/gm)].map(([, line = '']) => line.trim()))(
  'sluice %s',
  async (line) => {
    const { code, err } = await at.sluice(line.split(/\s+/));
    expect(code, err).toBe(0);
  },
);

/** The addresses of the headings of a page, as GitHub makes them. */
const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

test('the page for users of other frameworks links to recipes and sections that exist', () => {
  const dir = join(root, 'docs', 'explanation');
  const table = readFileSync(join(dir, 'from-other-frameworks.md'), 'utf8');
  const links = [...table.matchAll(/\]\(([^)#]+)(?:#([^)]+))?\)/g)].map(([, path = '', anchor]) => ({ path, anchor }));
  expect(links.length).toBeGreaterThan(30);
  const missing = links.filter(
    ({ path, anchor }) => anchor !== undefined && !anchorsOf(readFileSync(join(dir, path), 'utf8')).has(anchor),
  );
  expect(missing).toEqual([]);
});
