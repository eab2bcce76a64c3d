/** The pages about the built-in exchange say what there is, and nothing that is not. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { routes } from '../../src/simulator/control/routes.ts';
import { wrongs } from '../../src/simulator/report/report.ts';
import { quirkPositions } from '../../src/simulator/simulator.ts';
import { faultPlansPage } from '../kit/fault-plans-page.ts';

const page = (name: string): string => readFileSync(new URL(`../../docs/reference/${name}`, import.meta.url), 'utf8');
const cells = (text: string, heading: string): string[] => {
  const section = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, name = '']) => name);
};

test('fault-plans.md is what scripts/fault-plans.ts makes of the plans', () => {
  expect(page('fault-plans.md'), 'run node scripts/fault-plans.ts').toBe(faultPlansPage());
});

describe('simulator.md', () => {
  const text = page('simulator.md');
  test('names everything that the package gives', () => {
    const entry = readFileSync(new URL('../../src/simulator/entry.ts', import.meta.url), 'utf8');
    const names = [...entry.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list = '']) => list.split(','));
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) expect(text).toMatch(new RegExp(`\\b${name.trim()}\\b`));
  });
  test('has every request of the control address', () => {
    expect(cells(text, 'The control address')).toEqual(routes.map(({ on }) => on));
  });
  test('has every quirk with its positions', () => {
    const rows = Object.entries<readonly unknown[]>(quirkPositions).map(
      ([name, positions]) => `| \`${name}\` | ${positions.map((one) => `\`${String(one)}\``).join(', ')} |`,
    );
    const section = text.split('\n## Quirks\n')[1]?.split('\n## ')[0] ?? '';
    expect(section.split('\n').filter((line) => line.startsWith('| `'))).toEqual(rows);
  });
  test('has every kind of the truth log and everything that a report can find', () => {
    const source = readFileSync(new URL('../../src/simulator/log.ts', import.meta.url), 'utf8');
    const kinds = [...source.matchAll(/readonly kind: '(\w+)'/g)].map(([, kind = '']) => kind);
    expect(cells(text, 'The truth log').toSorted()).toEqual([...kinds, ...Object.keys(wrongs)].toSorted());
  });
});
