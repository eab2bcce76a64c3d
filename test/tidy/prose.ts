/**
 * The prose linter of `npm run check`: textlint reads the pages, the rules are those of docs/glossary.md and CONTRIBUTING.md.
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

/** What a trader or an engineer would not say, and what to write instead. Code in backquotes is left alone. */
const words: readonly (readonly [RegExp, string])[] = [
  [/\b(tells?|told|telling|heard|hears?|hearing)\b/gi, 'report, warn, notify, log or receive'],
  [/\b(wish(es|ed)?|wants?|wanted|goals?)\b/gi, 'signal, target or intent'],
  [/\b(an?|one|two|each|every|next|last|first|second) looks?\b/gi, 'poll, read or sweep'],
  [/\b(insists?|insisted|mend(s|ed)?|dear|seats?|heeds?|bethink)\b/gi, 'a plain word'],
  [/\b(naked|bare)\b/gi, 'unprotected'],
  [/(?<!round[\s-])\btrips?\b/gi, 'round trip'],
  [/\blargest drawdown\b/gi, 'max drawdown'],
  [/\bof it\b/gi, 'the name of the thing'],
  [/(?<!\bthere )\bis no (?!longer|more|less)\w+/gi, '"is not a …" or a verb'],
  [/\b(that|and|but) not (?=[.,;])/gi, 'a full sentence'],
  [/\b(it used to|before that|until now|up to now)\b/gi, 'the present tense, without history'],
];

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
    for (const [pattern, instead] of words)
      for (const found of getSource(node).matchAll(pattern))
        report(node, new RuleError(`"${found[0]}": write ${instead}`, { index: found.index }));
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
