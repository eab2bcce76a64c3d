/** The tree keeps its own rules. Each rule is proved able to fail by breaches planted in texts that are not in the tree. */
import { describe, expect, test } from 'vitest';
import { creationRule, modeRule, moneyRule, streamRule, timeRule, withdrawalRule } from './tidy/code.ts';
import { codeOfTree, filesBelow, isTidy, lineAt, type Rule, type Source, sourceOf, textOf } from './tidy/source.ts';
import { sizeRule, syntaxRule } from './tidy/syntax.ts';
import { compilerRule, leakRule, lockRule, pinnedRule, strategyFaults } from './tidy/tree.ts';
import { nameRule, proseRule } from './tidy/words.ts';

const code = codeOfTree();
/** The rules quote what they refuse. */
const judged = code.filter(({ path }) => !isTidy(path));
const paths = filesBelow('');
const texts = (pattern: RegExp): Source[] =>
  paths
    .filter((path) => pattern.test(path) && !isTidy(path))
    .map((path) => ({ path, text: textOf(path), nodes: [], imports: [] }));

interface Case {
  readonly rule: Rule;
  readonly sources: readonly Source[];
}
const cases: readonly Case[] = [
  { rule: timeRule, sources: judged },
  { rule: modeRule, sources: judged },
  { rule: moneyRule, sources: judged },
  { rule: creationRule, sources: judged },
  { rule: streamRule, sources: judged },
  { rule: withdrawalRule, sources: judged },
  { rule: syntaxRule, sources: judged },
  { rule: sizeRule, sources: code },
  { rule: nameRule, sources: judged },
  { rule: proseRule, sources: [...judged, ...texts(/\.(md|yaml|html)$/)] },
  { rule: pinnedRule, sources: texts(/(^|\/)package\.json$/) },
  { rule: lockRule, sources: texts(/^package-lock\.json$/) },
  { rule: compilerRule, sources: texts(/(^|\/)tsconfig\.json$/) },
  { rule: leakRule, sources: texts(/(?<!\.(gz|png|ico|db))$/) },
];

for (const { rule, sources } of cases) {
  describe(`the tree keeps: ${rule.name}`, () => {
    test('everywhere', () => {
      expect(sources.length).toBeGreaterThan(0);
      expect(sources.flatMap((source) => rule.check(source))).toEqual([]);
    });

    test.for(rule.planted)('and a breach planted in %s is found: %j', ([path, text]) => {
      const found = rule.check(sourceOf(path, text));
      expect(found.length).toBeGreaterThan(0);
      for (const fault of found) expect(fault).toMatch(new RegExp(`^${path}:\\d+ .{10,}`, 's'));
    });

    test.for(rule.fine)('and what is right in %s is left alone: %j', ([path, text]) => {
      expect(rule.check(sourceOf(path, text))).toEqual([]);
    });
  });
}

describe('the tree keeps: a strategy folder is whole', () => {
  test('everywhere', () => expect(strategyFaults(paths)).toEqual([]));
  test('and what is missing is named', () => {
    const whole = ['strategies/one/index.ts', 'strategies/one/index.test.ts', 'strategies/one/README.md'];
    expect(strategyFaults(whole)).toEqual([]);
    for (const left of whole) expect(strategyFaults(whole.filter((path) => path !== left))).toHaveLength(1);
  });
});

test('breaches are named by the line they stand in', () => {
  expect(lineAt('a\nbé…\nc', 'a\nbé…\n'.length)).toBe(3);
  const found = timeRule.check(sourceOf('src/risk/risk.ts', "const price = '… €';\n\nconst now = Date.now();\n"));
  expect(found[0]).toMatch(/^src\/risk\/risk\.ts:3 /);
});
