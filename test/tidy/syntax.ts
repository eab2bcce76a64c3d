/** Rules about the form of code that no tool has: escapes from the type checker, size. */
import { find } from './code.ts';
import { child, children, lineAt, type Node, nameOf, type Rule } from './source.ts';

/** What the compiler (`erasableSyntaxOnly`), Biome and oxlint let pass. */
export const syntaxRule: Rule = {
  name: 'TypeScript is erasable and honest',
  check: (source) =>
    find(source, ({ node }) => {
      if (node.type === 'Decorator') return 'decorators are not erasable: call the function';
      const inner = node.type === 'TSAsExpression' ? child(node, 'expression') : undefined;
      return inner?.type === 'TSAsExpression' && child(inner, 'typeAnnotation')?.type === 'TSUnknownKeyword'
        ? '`as unknown as` is a lie to the type checker: check the value, or fix the type'
        : undefined;
    }),
  planted: [
    ['src/fill/rules.ts', '@frozen\nclass A {}'],
    ['src/fill/rules.ts', 'const a = b as unknown as string;'],
  ],
  fine: [['src/fill/rules.ts', "const sides = ['BUY', 'SELL'] as const;\n// as unknown as"]],
};

const maxFileLines = 400;
const maxFunctionLines = 70;
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
  name: `no file is above ${maxFileLines} lines and no function above ${maxFunctionLines}`,
  check(source) {
    const fileLines = lineAt(source.text, source.text.trimEnd().length);
    const long = find(source, ({ node, parent }) => {
      if (!functions.has(node.type) || isSuite(node, parent)) return undefined;
      const lines = lineAt(source.text, node.end) - lineAt(source.text, node.start) + 1;
      const name = nameOf(child(node, 'id') ?? child(parent, 'key') ?? child(parent, 'id')) ?? 'a function';
      return lines > maxFunctionLines
        ? `${name} has ${lines} lines, ${maxFunctionLines} are the most: give its parts names of their own`
        : undefined;
    });
    return fileLines <= maxFileLines
      ? long
      : [
          `${source.path}:${maxFileLines} has ${fileLines} lines, ${maxFileLines} are the most: split it by job`,
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
