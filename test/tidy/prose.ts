/**
 * The prose linter of `npm run check`: textlint reads the pages, the words are those of docs/glossary.md.
 * textlint's own command would add 110 packages for what these lines do with its kernel.
 */
import { TextlintKernel, type TextlintRuleReporter } from '@textlint/kernel';
import { MarkdownProcessor } from '@textlint/textlint-plugin-markdown/lib/src/MarkdownProcessor.js';
import { splitAST } from 'sentence-splitter';
import { filesBelow, textOf } from './source.ts';

const sentenceWords = 30;
const cellWords = 14;
const lineCharacters = 160;
/** Written by commands or by others. */
const skipped = /^(CHANGELOG|THIRD-PARTY-NOTICES|docs\/benchmarks|backtests\/data\/.*|test\/libraries\/.*)\.md$/;

/** The table "Do not say" of docs/glossary.md: what stands in backquotes, and what to say. */
const avoided = [...textOf('docs/glossary.md').matchAll(/^\| (`.*) \| (.*) \|$/gm)].flatMap(
  ([, names = '', instead = '']) => [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => ({ name, instead })),
);
const isNo = /(?<!\bthere )\bis no (?!longer|more|less)\w+/gi;

/** Words that readers do not know, each with what to write. Code in backquotes is left alone. */
export function wordFaults(given: string): readonly { readonly index: number; readonly text: string }[] {
  const text = given.replace(/`[^`]*`/g, (code) => ' '.repeat(code.length));
  const found = (pattern: RegExp, instead: string) =>
    [...text.matchAll(pattern)].map((one) => ({ index: one.index, text: `"${one[0]}": write ${instead}` }));
  return [
    ...found(isNo, 'is not a …'),
    ...avoided.flatMap(({ name, instead }) =>
      found(new RegExp(`(?<!round[\\s-])\\b${name.replaceAll(' ', '\\s')}\\b`, 'gi'), instead),
    ),
  ];
}

const countOf = (text: string): number =>
  text
    .replace(/`[^`]*`/g, 'code')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

const sentences: TextlintRuleReporter = ({ Syntax, RuleError, report, getSource }) => {
  const check = (node: Parameters<typeof splitAST>[0] & object): void => {
    for (const sentence of splitAST(node as never).children) {
      const count = countOf(getSource(sentence as never));
      if (sentence.type === 'Sentence' && count > sentenceWords)
        report(sentence as never, new RuleError(`a sentence of ${count} words: at most ${sentenceWords}`));
    }
  };
  return { [Syntax.Paragraph]: check as never, TableCell: check as never };
};

const tables: TextlintRuleReporter = ({ RuleError, report, getSource }) => ({
  TableRow(node) {
    if (getSource(node).length > lineCharacters)
      report(node, new RuleError(`a table line of ${getSource(node).length} characters: at most ${lineCharacters}`));
  },
  TableCell(node) {
    const count = countOf(getSource(node));
    if (count > cellWords) report(node, new RuleError(`a table cell of ${count} words: at most ${cellWords}`));
  },
});

const vocabulary: TextlintRuleReporter = ({ Syntax, RuleError, report, getSource }) => ({
  [Syntax.Str](node) {
    for (const { index, text } of wordFaults(getSource(node))) report(node, new RuleError(text, { index }));
  },
});

/** What is wrong with a page: `path:line what`. */
export async function proseFaults(path: string, text: string): Promise<readonly string[]> {
  const { messages } = await new TextlintKernel().lintText(text, {
    filePath: path,
    ext: '.md',
    plugins: [{ pluginId: 'markdown', plugin: { Processor: MarkdownProcessor } }],
    rules: Object.entries({ sentences, tables, vocabulary }).map(([ruleId, rule]) => ({ ruleId, rule })),
  });
  return messages.map(({ loc, message }) => `${path}:${loc.start.line} ${message}`);
}

if (import.meta.main) {
  const pages = filesBelow('').filter((path) => path.endsWith('.md') && !skipped.test(path));
  const faults = (await Promise.all(pages.map((path) => proseFaults(path, textOf(path))))).flat();
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
