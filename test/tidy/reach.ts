/** What a program can reach through its imports: no code that can apply for a withdrawal is among what a daemon can. */
import { type Breach, child, isTest, lineAt, literalOf, type Source, sourceOf } from './source.ts';

/** Where a daemon, a strategy, a script of the user's or a worker begins. `src/withdraw/main.ts` is the one that is not here. */
export const beginnings: readonly string[] = [
  'src/main.ts',
  'src/index.ts',
  'src/testing.ts',
  'src/simulator/entry.ts',
  'src/journal/worker.ts',
  'strategies/registry.ts',
];

const isWithdrawing = (path: string): boolean => path.startsWith('src/withdraw/');
/** The other side of the wire serves it. */
const mayName = (path: string): boolean => isWithdrawing(path) || path.startsWith('src/simulator/');
/** Files that import what they are told at run time: a user's own strategy. */
const tellsAtRunTime: readonly string[] = ['src/strategy/load.ts'];

/** Every file that can be reached from one, with the way there; imports of types count as well. */
export function reached(sources: readonly Source[], from: string): ReadonlyMap<string, readonly string[]> {
  const targets = new Map(sources.map(({ path, imports }) => [path, imports.flatMap((one) => one.path ?? [])]));
  const ways = new Map<string, readonly string[]>([[from, [from]]]);
  for (const [path, way] of ways)
    for (const target of targets.get(path) ?? []) if (!ways.has(target)) ways.set(target, [...way, target]);
  return ways;
}

/** Everything by which a daemon could apply for a withdrawal: an import, the operation's path, an import that is put together. */
export function withdrawalFaults(sources: readonly Source[]): Breach[] {
  const code = sources.filter(({ path }) => /^(src|strategies)\//.test(path) && !isTest(path));
  const imported = beginnings.flatMap((from) =>
    [...reached(code, from)]
      .filter(([path]) => isWithdrawing(path))
      .map(
        ([, way]) =>
          `${from}:1 can reach code that applies for withdrawals (${way.join(' -> ')}): only sluice-withdraw may`,
      ),
  );
  const named = code
    .filter(({ path }) => !mayName(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/withdraw\/apply(?!\.ts)/gi)].map(
        ({ index }) =>
          `${path}:${lineAt(text, index)} names the operation that applies for withdrawals: only src/withdraw/ may`,
      ),
    );
  const computed = code
    .filter(({ path }) => !tellsAtRunTime.includes(path))
    .flatMap(({ path, text, nodes }) =>
      nodes
        .filter(({ node }) => node.type === 'ImportExpression' && typeof literalOf(child(node, 'source')) !== 'string')
        .map(
          ({ node }) =>
            `${path}:${lineAt(text, node.start)} imports what only shows at run time: write the file's name`,
        ),
    );
  return [...imported, ...named, ...computed];
}

/** Breaches that must be found, each beside nothing else. */
export const plantedWays: readonly (readonly Source[])[] = [
  [
    sourceOf('src/main.ts', "import { a } from './commands/a.ts';\na;"),
    sourceOf('src/commands/a.ts', "export const a = () => import('../venue/b.ts');"),
    sourceOf('src/venue/b.ts', "export { apply } from '../withdraw/apply.ts';"),
  ],
  [sourceOf('src/index.ts', "import type { Apply } from './withdraw/apply.ts';\nexport type A = Apply;")],
  [sourceOf('src/venue/exchange/rest/endpoints.ts', "const path = '/sapi/v1/withdraw/apply';")],
  [sourceOf('src/commands/a.ts', "const way = '../withdraw/' + name;\nawait import(way);")],
];

export const fineWays: readonly Source[] = [
  sourceOf('src/main.ts', "import { list } from './venue/exchange/withdrawals.ts';\nlist;"),
  sourceOf('src/withdraw/apply.ts', "export const path = '/sapi/v1/withdraw/apply';"),
  sourceOf('src/simulator/http/withdraw.ts', "const path = '/sapi/v1/withdraw/apply';"),
];
