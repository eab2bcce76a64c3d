/** Rulesets fill as the libraries do whose names they bear: by what those gave when they were run (`npm run compare-libraries`). */
import { describe, expect, test } from 'vitest';
import { edges, generated, type KindName, kinds, type LibraryCase, libraries } from '../libraries/cases.ts';
import { type Measured, readMeasured } from '../libraries/measured.ts';
import { isSame, lineOf, otherRuns, sluiceRun } from '../libraries/run.ts';

const { summary, measured } = readMeasured();
const cases = new Map<string, LibraryCase>(
  [...edges, ...(Object.keys(kinds) as KindName[]).flatMap((kind) => [1, 2].map((seed) => generated(seed, kind)))].map(
    (given) => [given.name, given],
  ),
);

describe.for(libraries)('%s', (library) => {
  test.for(measured.filter((one) => one.library === library).map((one): [string, Measured] => [one.name, one]))(
    '%s',
    async ([name, theirs]) => {
      const given = cases.get(name) as LibraryCase;
      const ours = await sluiceRun(library, given);
      for (const other of await otherRuns(library, given)) expect(lineOf(other)).toBe(lineOf(ours));
      const differs = given.differs?.includes(library) === true;
      if (!differs) expect(lineOf(ours)).toBe(lineOf(theirs));
      expect(isSame(ours, theirs)).toBe(!differs);
    },
  );
});

test('hundreds of series were compared, and what differed was expected to', () => {
  expect(summary.series).toBeGreaterThanOrEqual(400);
  const different = summary.counts
    .filter(({ equal, of }) => equal < of)
    .map(({ library, kind }) => `${library}: ${kind}`);
  expect(different).toEqual([
    'backtesting.py: constructed edges',
    'backtrader: constructed edges',
    'backtrader: trailing stops, long',
    'vectorbt: trailing stops, long',
  ]);
});
