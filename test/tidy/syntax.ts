/** Rules about the form of code: erasable syntax, escapes from the type checker, size. */
import { find } from './code.ts';
import { breach, child, children, lineAt, type Node, nameOf, type Rule, type Seen } from './source.ts';

const isTypeScript = (path: string): boolean => path.endsWith('.ts');

const notErasable: Readonly<Record<string, string>> = {
  TSEnumDeclaration: 'an enum is not erasable: use a union of literals, or an `as const` object',
  TSParameterProperty: 'a parameter property is not erasable: declare the field and assign it',
  TSImportEqualsDeclaration: '`import =` is not erasable: use import',
  TSExportAssignment: '`export =` is not erasable: use export',
  Decorator: 'decorators are not erasable: call the function',
  TSAnyKeyword: '`any` turns the type checker off: use unknown and check, or the right type',
  TSNonNullExpression: '`!` hides a missing value: check for undefined and say what then',
  TSTypeAssertion: 'write `as` instead of angle brackets',
};

/** Where `any` is the only way to say it. */
const anyAllowed: Readonly<Record<string, string>> = {
  'src/strategy/contract.ts': 'a registry holds strategies of every parameter and indicator type',
};

function syntaxFault(path: string, { node }: Seen): string | undefined {
  if (node.type === 'TSAnyKeyword' && Object.hasOwn(anyAllowed, path)) return undefined;
  const fault = notErasable[node.type];
  if (fault !== undefined) return fault;
  if (node.type === 'TSModuleDeclaration' && node['kind'] !== 'global' && node['declare'] !== true)
    return 'a namespace is not erasable: a file is a module already';
  const inner = child(node, 'expression');
  const twice = node.type === 'TSAsExpression' && inner?.type === 'TSAsExpression';
  return twice && child(inner, 'typeAnnotation')?.type === 'TSUnknownKeyword'
    ? '`as unknown as` is a lie to the type checker: check the value, or fix the type'
    : undefined;
}

export const syntaxRule: Rule = {
  name: 'TypeScript is erasable and honest',
  check(source) {
    if (!isTypeScript(source.path)) return [];
    const silenced = [...source.text.matchAll(/^.*\/[/*].*@ts-(ignore|nocheck|expect-error)/gm)];
    return [
      ...find(source, (seen) => syntaxFault(source.path, seen)),
      ...silenced.map((one) => breach(source, one.index, `@ts-${one[1]} silences the type checker: fix the type`)),
    ];
  },
  planted: [
    ['src/fill/rules.ts', 'enum Side {\n  Buy,\n}'],
    ['src/fill/rules.ts', 'namespace Sides {\n  export const one = 1;\n}'],
    ['src/fill/rules.ts', 'class A {\n  constructor(private readonly b: number) {}\n}'],
    ['src/fill/rules.ts', "import fs = require('node:fs');"],
    ['src/fill/rules.ts', '@frozen\nclass A {}'],
    ['src/fill/rules.ts', 'const a: any = 1;'],
    ['src/fill/rules.ts', 'const a = b as unknown as string;'],
    ['src/fill/rules.ts', 'const a = map.get(1)!;'],
    ['src/fill/rules.ts', '// @ts-ignore\nconst a: string = 1;'],
  ],
  fine: [
    [
      'src/fill/rules.ts',
      "declare const unit: unique symbol;\nconst sides = ['BUY', 'SELL'] as const;\n// any enum! as unknown as",
    ],
  ],
};

const mostFileLines = 400;
const mostFunctionLines = 70;
const functions = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** The body of `describe(…)`: a list of tests, not something that is run as one. */
function isSuite(node: Node, parent: Node | undefined): boolean {
  if (parent?.type !== 'CallExpression' || !children(parent, 'arguments').includes(node)) return false;
  let callee = child(parent, 'callee');
  while (callee?.type === 'CallExpression' || callee?.type === 'MemberExpression')
    callee = child(callee, 'callee') ?? child(callee, 'object');
  return nameOf(callee) === 'describe';
}

export const sizeRule: Rule = {
  name: `no file is above ${mostFileLines} lines and no function above ${mostFunctionLines}`,
  check(source) {
    const fileLines = lineAt(source.text, source.text.trimEnd().length);
    const long = find(source, ({ node, parent }) => {
      if (!functions.has(node.type) || isSuite(node, parent)) return undefined;
      const lines = lineAt(source.text, node.end) - lineAt(source.text, node.start) + 1;
      const name = nameOf(child(node, 'id') ?? child(parent, 'key') ?? child(parent, 'id')) ?? 'a function';
      return lines > mostFunctionLines
        ? `${name} has ${lines} lines, ${mostFunctionLines} are the most: give its parts names of their own`
        : undefined;
    });
    return fileLines <= mostFileLines
      ? long
      : [
          `${source.path}:${mostFileLines} has ${fileLines} lines, ${mostFileLines} are the most: split it by job`,
          ...long,
        ];
  },
  planted: [
    ['src/fill/rules.ts', 'const a = 1;\n'.repeat(401)],
    ['src/dashboard/page/layout.css', 'a { color: red; }\n'.repeat(401)],
    ['src/fill/rules.ts', `function long() {\n${'  run();\n'.repeat(69)}}`],
    ['src/fill/rules.ts', `class A {\n  long() {\n${'    run();\n'.repeat(69)}  }\n}`],
    ['src/fill/rules.ts', `const long = () => {\n${'  run();\n'.repeat(69)}};`],
    ['src/fill/rules.test.ts', `test('long', () => {\n${'  run();\n'.repeat(69)}});`],
  ],
  fine: [
    ['src/fill/rules.ts', `${'const a = 1;\n'.repeat(400)}`],
    ['src/fill/rules.ts', `function long() {\n${'  run();\n'.repeat(68)}}`],
    ['src/fill/rules.test.ts', `describe('long', () => {\n${'  run();\n'.repeat(300)}});`],
    ['src/fill/rules.test.ts', `describe.skipIf(none)('long', () => {\n${'  run();\n'.repeat(300)}});`],
  ],
};
