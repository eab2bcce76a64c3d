/** Import rules are oxlint's (oxlint.config.ts). Here they are proved able to fail, and to read every file. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { arrows } from '../../oxlint.config.ts';
import { filesBelow, root } from './source.ts';

type Text = readonly [path: string, text: string];

const answer = z.object({
  number_of_files: z.number(),
  diagnostics: z.array(z.object({ code: z.string().optional(), filename: z.string() })),
});

/** What oxlint finds in a folder about imports: file and rule. */
function lint(folder: string): { files: number; found: string[] } {
  const oxlint = join(root, 'node_modules/oxlint/bin/oxlint');
  const { stdout } = spawnSync(process.execPath, [oxlint, '--format=json'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const { number_of_files: files, diagnostics } = answer.parse(JSON.parse(stdout));
  const about = diagnostics.filter(({ code }) => /^(boundaries|import)\(/.test(code ?? ''));
  return { files, found: about.map(({ code, filename }) => `${filename} ${code}`).sort() };
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** A tree of its own that holds these files alone. */
function tree(texts: readonly Text[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-imports-'));
  folders.push(folder);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  copyFileSync(join(root, 'oxlint.config.ts'), join(folder, 'oxlint.config.ts'));
  for (const [path, text] of texts) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** What the planted imports name. */
const targets = [
  ...[
    'src/clock/clock.ts',
    'src/domain/money.ts',
    'src/fill/fees.ts',
    'src/fill/builders.ts',
    'src/journal/journal.ts',
  ],
  ...['src/commands/show.ts', 'src/dashboard/view.ts', 'src/portfolio/portfolio.ts', 'src/venue/venue.ts'],
  ...['src/venue/exchange/exchange.ts', 'src/venue/paper/entry.ts', 'src/venue/recorded/recorded.ts'],
  ...['src/session/session.ts', 'src/backtest/run.ts', 'src/withdraw/apply.ts', 'src/domain/refusal.ts'],
  ...['strategies/shipped/index.ts', 'test/conformance/http.ts', 'test/kit/rig.ts'],
].map((path): Text => [path, 'export type A = number;\nexport const a = 1;\n']);

const dependencies = 'boundaries(dependencies)';

const planted: readonly (readonly [rule: string, ...Text])[] = [
  // Every form of an import: of types, handed on, at run time, the long way round, by our own name.
  [dependencies, 'src/risk/p01.ts', "import type { A } from '../venue/venue.ts';\nexport type B = A;"],
  [dependencies, 'src/risk/p02.ts', "import { type A } from '../venue/venue.ts';\nexport type B = A;"],
  [dependencies, 'src/risk/p03.ts', "export { a } from '../venue/venue.ts';"],
  [dependencies, 'src/risk/p04.ts', "export * from '../venue/venue.ts';"],
  [dependencies, 'src/risk/p05.ts', "export type { A } from '../venue/venue.ts';"],
  [dependencies, 'src/risk/p06.ts', "export const load = () => import('../venue/venue.ts');"],
  [dependencies, 'src/risk/p07.ts', "export type A = import('../venue/venue.ts').A;"],
  [dependencies, 'src/risk/p08.ts', "export { a } from '../../src/../src/venue/./venue.ts';"],
  [dependencies, 'src/risk/p09.ts', "export { a } from 'sluice';"],
  [dependencies, 'src/risk/p10.ts', "export { a } from 'sluice/simulator';"],
  [dependencies, 'src/risk/p11.ts', "import '../venue/venue.ts';"],
  [
    'import(no-dynamic-require)',
    'src/risk/p12.ts',
    "const at = '../venue/' + 1;\nexport const load = () => import(at);",
  ],
  // Every kind of arrow.
  [dependencies, 'src/portfolio/p13.ts', "export { a } from '../venue/exchange/exchange.ts';"],
  [dependencies, 'src/simulator/core/p14.ts', "export { a } from '../../venue/exchange/exchange.ts';"],
  [dependencies, 'src/venue/exchange/market/p15.ts', "export { a } from '../../paper/entry.ts';"],
  [dependencies, 'src/venue/paper/p16.ts', "export const load = () => import('../recorded/recorded.ts');"],
  [dependencies, 'src/trader.ts', "export { a } from './portfolio/portfolio.ts';"],
  [dependencies, 'src/main.ts', "export { a } from './domain/money.ts';"],
  [dependencies, 'src/commands/p17.ts', "export type { A } from '../withdraw/apply.ts';"],
  [dependencies, 'src/session/p18.ts', "export const load = () => import('../backtest/run.ts');"],
  [dependencies, 'src/backtest/p19.ts', "export type { A } from '../session/session.ts';"],
  [dependencies, 'src/fill/p20.ts', "export { got } from 'got';"],
  [dependencies, 'src/fill/p21.ts', "export { a } from './builders.ts';"],
  [dependencies, 'src/fill/p22.ts', "export { a } from './fees.js';"],
  [dependencies, 'src/dashboard/page/p23.ts', "export { readFileSync } from 'node:fs';"],
  [dependencies, 'src/dashboard/page/p24.ts', "export { a } from '../view.ts';"],
  [dependencies, 'strategies/mine/index.ts', "export { a } from '../../src/journal/journal.ts';"],
  [dependencies, 'strategies/mine/p25.ts', "export { a } from '../../src/domain/money.ts';"],
  [dependencies, 'test/reference/p26.ts', "export { a } from '../../src/domain/money.ts';"],
  [dependencies, 'test/reference/p27.ts', "export { a } from '../kit/rig.ts';"],
  [dependencies, 'test/conformance/p28.ts', "export type { A } from '../../src/clock/clock.ts';"],
  [dependencies, 'test/third-party/p29.ts', "export { a } from '../conformance/http.ts';"],
  [dependencies, 'strategies/registry.ts', "export { a } from './shipped/index.ts';"],
  ['boundaries(no-unknown-files)', 'src/surprise/p30.ts', 'export const one = 1;'],
  ['boundaries(no-unknown-files)', 'test/surprise/p31.ts', 'export const one = 1;'],
  ['boundaries(no-unknown-files)', 'src/venue/surprise/p32.ts', 'export const one = 1;'],
  // A circle of values and types.
  ['import(no-cycle)', 'src/budget/p33.ts', "export { b as a } from './p34.ts';"],
  ['import(no-cycle)', 'src/budget/p34.ts', "export type { A } from './p35.ts';\nexport const b = 1;"],
  ['import(no-cycle)', 'src/budget/p35.ts', "export { a } from './p33.ts';\nexport type A = 1;"],
];

const fine: readonly Text[] = [
  ['src/trader.ts', "export type { A } from './portfolio/portfolio.ts';\nexport { merge } from 'rxjs';"],
  ['src/main.ts', "export type { A } from './commands/show.ts';"],
  ['strategies/registry.ts', "export const mine = () => import('./shipped/index.ts');"],
  ['src/session/live.ts', "export { a } from '../venue/exchange/exchange.ts';"],
  ['src/data/f1.ts', "export { z } from 'zod';\nexport * from '@duckdb/node-api';\nexport * from 'node:fs/promises';"],
  ['src/dashboard/page/f2.ts', "export { useState } from 'preact/hooks';\nexport { a } from './f3.ts';"],
  ['src/dashboard/page/f3.ts', 'export const a = 1;'],
  ['src/fill/fees.test.ts', "import { test } from 'vitest';\nimport { a } from './builders.ts';\ntest('a', () => a);"],
  ['src/fill/f4.test.ts', "export { a } from '../../test/kit/rig.ts';"],
];

test('every planted breach is found, and nothing else', () => {
  const { files, found } = lint(tree([...targets, ...planted.map(([, path, text]): Text => [path, text])]));
  expect(found).toEqual(planted.map(([rule, path]) => `${path} ${rule}`).sort());
  expect(files).toBe(targets.length + planted.length + 1);
});

test('what is allowed is left alone', () => {
  expect(lint(tree([...targets, ...fine]))).toEqual({ files: targets.length + fine.length + 1, found: [] });
});

test('all code of the tree is read, and keeps the rules', () => {
  const code = filesBelow('').filter((path) => /\.(ts|js)$/.test(path));
  expect(lint(root)).toEqual({ files: code.length, found: [] });
});

test('the arrows themselves are no circle', () => {
  let left = Object.entries(arrows);
  for (let before = 0; before !== left.length; ) {
    before = left.length;
    left = left.filter(([, { ours }]) => ours.some((to) => left.some(([name]) => name === to)));
  }
  expect(left.map(([name]) => name)).toEqual([]);
});
