/** A fixed share of the simulated world; `npm run simulate` runs the rest (docs/explanation/exactly-once.md). */
import { describe, expect, test } from 'vitest';
import { hunt, mutantOf, runPart, tooLittle } from './campaign.ts';
import { cornersOf, exactPlan, explore } from './exhaustive.ts';
import { mutants } from './mutants/all.ts';
import type { Bent } from './mutation-points.ts';
import { planOf } from './plan.ts';
import { shrink } from './shrink.ts';
import { runWorld } from './world.ts';

/** Seeds that see enough together to count, and, with a late queue, orders that come late. */
const [from, seeds, fromLate] = [301, 60, 21];

test('no invariant breaks in the fixed share of seeds, and it sees enough to count', async () => {
  const { failures, totals } = await runPart({ from, to: from + seeds - 1 });
  expect(failures.map(({ seed, invariant, text }) => `seed ${seed} ${invariant}: ${text}`)).toEqual([]);
  expect(tooLittle(totals)).toEqual([]);
});

test('a seed decides everything: run twice it leaves the same trace', async () => {
  const { unlike } = await runPart({ from: 101, to: 105, twice: true });
  expect(unlike).toEqual([]);
  const [one, other] = [await runWorld({ plan: planOf(1) }), await runWorld({ plan: planOf(2) })];
  expect(one.hash).not.toBe(other.hash);
});

describe('the invariants see a protocol that was broken on purpose', () => {
  const quick: readonly (readonly [name: string, invariant: RegExp])[] = [
    ['exceptionMeansFailed', /I[789]|exit/],
    ['resendsSameId', /I2/],
    ['transportRetries', /I2/],
    ['trustsCancels', /I4/],
    ['skipsSums', /I4/],
    ['numberIds', /I3|I12|foreign/],
    ['epochStands', /I[129]/],
    ['feesIgnored', /I3|I12/],
    ['sendsBeforeCommit', /I2/],
    ['forgetsOpen', /I(8|11|12)/],
    ['reservesNothing', /I8/],
    ['ignoresBans', /I10/],
    ['cancelsEverybody', /foreign/],
    ['absentTooEarly', /I7/],
    ['killIsNotAsked', /stop/],
    ['pauseIsNotAsked', /stop/],
    ['flattenHasNoBudget', /flatten/],
    ['flattenNeverStops', /flatten/],
    ['pauseIsWrittenFirst', /flatten/],
    ['commandsAreWrittenTwice', /audit/],
    ['mixesUpFills', /I12/],
    ['ledgerCountsTwice', /I12|ledger|halt/],
    ['fsyncIsIgnored', /disk/],
    ['ioErrorIsWritten', /I2|disk/],
    ['missIsAbsence', /I9/],
    ['goesByTheWall', /I11/],
    ['neverConnectsAgain', /I11/],
    ['klinesComeTwice', /kline/],
    ['legsAloneUnseen', /alone/],
    ['spendsTwice', /I8/],
  ];

  test.for(quick)('%s', async ([name, invariant]) => {
    const killed = await hunt(mutantOf(name).bent, 1, 60);
    expect(killed?.invariant).toMatch(invariant);
  });

  test('each has a name of its own', () => {
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
    expect(mutants.length).toBeGreaterThanOrEqual(40);
  });
});

test('an exchange that carries orders out after their window breaks no book, and what came too late is counted', async () => {
  const late = [];
  for (const [absentAfterMs, count] of [
    [2_000, 20],
    [45_000, 5],
  ] as const) {
    const { failures, totals } = await runPart({
      from: fromLate,
      to: fromLate + count - 1,
      lateQueue: true,
      absentAfterMs,
    });
    expect(failures.map(({ seed, invariant, text }) => `seed ${seed} ${invariant}: ${text}`)).toEqual([]);
    late.push(totals.late);
  }
  expect(late[0]).toBeGreaterThan(0);
  expect(late[1]).toBe(0);
});

describe('every crash point of a scenario', () => {
  // Every fifth point, and no second crash: all of them are \`npm run simulate -- --exhaustive\`.
  const quiet = cornersOf().filter(({ fault }) => fault === 'none');

  test.for(quiet)('$scenario', async (corner) => {
    const { first, failures } = await explore(corner, { stride: 5, twice: false });
    expect(failures.map(({ invariant, text }) => `${invariant}: ${text}`)).toEqual([]);
    expect(first).toBeGreaterThan(5);
  });

  test('a second crash is put at every point of the recovery', async () => {
    const whole = await runWorld({ plan: exactPlan({ scenario: 'create', fault: 'dropResponse' }, [8]) });
    const [, recovery = 0] = whole.points;
    expect(recovery).toBeGreaterThan(10);
    const again = await runWorld({
      plan: exactPlan({ scenario: 'create', fault: 'dropResponse' }, [8, recovery - 1]),
    });
    expect([whole.crashes, again.crashes, again.failure]).toEqual([1, 2, undefined]);
  });

  test('an entry that rests on after its time shows', async () => {
    const assembled: Bent['assembled'] = ({ planner: { expiries } }) =>
      void Object.assign(expiries, { expire: () => [], pass: () => {} });
    const { failure } = await runWorld({
      plan: exactPlan({ scenario: 'expire', fault: 'none' }, []),
      bent: { assembled },
    });
    expect(failure?.text).toMatch(/an entry that has expired still rests/);
  });

  test('a rule that is broken shows', async () => {
    const { bent } = mutantOf('forgetsSending');
    const { failures } = await explore({ scenario: 'create', fault: 'none' }, { twice: false, bent });
    expect(failures).not.toEqual([]);
  });
});

test('a failing plan is made smaller and still fails', async () => {
  const { bent } = mutantOf('forgetsOpen');
  const killed = await hunt(bent, 1, 20);
  const plan = planOf(killed?.seed ?? 1);
  const whole = await runWorld({ plan, bent });
  const small = await shrink(plan, whole, { bent });
  expect(small.result.failure?.invariant).toBe(whole.failure?.invariant);
  expect(small.plan.classes.length).toBeLessThan(plan.classes.length);
  // What it forgets is forgotten by a restart, after a crash or an I/O error: that cannot be taken away.
  expect(small.result.crashes).toBeGreaterThan(0);
});
