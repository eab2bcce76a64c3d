/** The pages of what a strategy may use name all there is, and their strategies have the right types and trade. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { desk } from '../kit/command.ts';
import { typeErrors } from '../kit/type-errors.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pageOf = (...path: readonly string[]): string => readFileSync(join(root, 'docs', ...path), 'utf8');
const page = ['strategies', 'several-markets', 'exits-and-sizing', 'indicators']
  .map((name) => pageOf('reference', `${name}.md`))
  .join('');
const files = [...page.matchAll(/^```ts file=(\S+)\n(.*?)^```$/gms)].map(([, file = '', text = '']) => ({
  id: file.replace('.ts', ''),
  file,
  text,
}));

const at = desk();
afterAll(() => at.remove());

test('the pages name, with the one about backtests from code, everything that the package gives', () => {
  const both = `${page}${pageOf('how-to', 'backtest-from-code.md')}`;
  const index = readFileSync(join(root, 'src', 'index.ts'), 'utf8');
  const given = [...index.matchAll(/\{([^}]*)\} from/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.replace('type', '').trim()),
  );
  const unnamed = given.filter((name) => name !== '' && !new RegExp(`\`[^\`\n]*\\b${name}\\b[^\`\n]*\``).test(both));
  expect(given.length).toBeGreaterThan(30);
  expect(unnamed).toEqual([]);
});

const ids = files.map(({ id }) => id);
const entries = ids.map(
  (id) => `  - { id: ${id}, use: ./${id}.ts, symbol: XBTUSD, interval: 1min, allocation: "10000" }`,
);
for (const { file, text } of files) at.write(file, text);
at.write('package.json', '{ "type": "module" }');
at.write(
  'all.yaml',
  `data: { XBTUSD: ${join(root, 'backtests', 'data', 'XBTUSD-1m-2020-02_2020-04.csv.gz')} }
from: 2020-03-10
to: 2020-03-12
cash: "${10_000 * ids.length}"
strategies:
${entries.join('\n')}
risk: { maxOrderValue: "20000", maxPosition: "100000" }
fees: { maker: "0.001", taker: "0.002" }
`,
);

test('without the package of streams it is said what to install', async () => {
  const { code, err } = await at.sluice(['backtest', '--config', 'all.yaml']);
  expect(code).toBe(2);
  expect(err).toMatch(/hours\.ts cannot be loaded: .*'rxjs'.*: run npm install rxjs in the folder of that file$/m);
});

test('their strategies need the types that they have, and trade', async () => {
  expect(typeErrors(at.dir)).toBe('');

  const { code, out, err } = await at.sluice(['backtest', '--config', 'all.yaml', '--json']);
  expect(code, err).toBe(0);
  const { fills } = JSON.parse(out) as { readonly fills: readonly { readonly strategy: string }[] };
  expect([...new Set(fills.map(({ strategy }) => strategy))].toSorted()).toEqual(ids.toSorted());
});
