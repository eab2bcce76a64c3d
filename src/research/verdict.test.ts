import { expect, test } from 'vitest';
import { seededRng } from '../clock/clock.ts';
import { units } from '../domain/money.ts';
import type { Metrics } from './metrics.ts';
import { kurtosis, mean, skewness, standardDeviation } from './sample-moments.ts';
import { probabilisticSharpe } from './significance/deflated-sharpe.ts';
import { countTrials, familyOf, type LedgerLine } from './significance/trials.ts';
import { beyondPrint, doubtsText, type Judged, verdictOf } from './verdict.ts';

const metrics = (given: Partial<Metrics>): Metrics => ({
  ...{
    days: 1_000,
    daysWithKlines: 1_000,
    cagr: 0.3,
    buyAndHoldReturn: 0.1,
    buyAndHoldDrawdown: 0.1,
    volatility: 0.2,
    sharpe: 2,
    sharpeLow: 0.9,
  },
  ...{
    sharpeHigh: 3,
    psr: 0.99,
    trackRecordYears: 0.7,
    sortino: 3,
    maxDrawdown: 0.1,
    longestDrawdownDays: 10,
    calmar: 3,
  },
  ...{ ulcerIndex: 0.03, martin: 10, omega: 1.4, valueAtRisk: -0.01, conditionalValueAtRisk: -0.02, tailRatio: 1 },
  ...{ skewness: 0, kurtosis: 3, alpha: 0.2, beta: 0.1, bestDay: 0.03, worstDay: -0.02, timeInMarket: 0.4 },
  ...{ exposure: 0.4, roundTrips: 300, winRate: 0.6, profitFactor: 1.7, expectancy: 3, expectancyInR: 0.2 },
  ...{
    sqn: 3,
    kelly: 0.2,
    averageWin: 9,
    averageLoss: -6,
    bestRoundTrip: 40,
    worstRoundTrip: -30,
    maxConsecutiveWins: 9,
  },
  ...{
    maxConsecutiveLosses: 5,
    averageDurationMs: 1,
    averageAdverseExcursion: -0.01,
    averageFavourableExcursion: 0.02,
    turnoverYearly: 30,
  },
  ...{ feeShare: 0.1, breakEvenFees: 9, fees: units('10'), turnover: units('10000') },
  ...given,
});
const judged = (given: Partial<Judged>, more: Partial<Metrics> = {}): Judged => ({
  metrics: metrics(more),
  cash: 1_000,
  finalEquity: 1_300,
  bestEquity: 1_310,
  worstEquity: 1_300,
  fills: 600,
  ambiguousFills: 6,
  skewness: 0,
  kurtosis: 3,
  trials: { count: 1, variance: undefined },
  stressed: [],
  ...given,
});

test('a small loss under worse conditions is not told as none', () => {
  const under = (result: number) =>
    verdictOf(
      judged({ stressed: [{ name: 'One kline later', finalEquity: 1, return: result, sharpe: 1, fills: 9 }] }),
    ).reasons.at(0);
  expect(under(-0.0002)).toBe('with One kline later it loses 0.02 %');
  expect(under(-0.000001)).toBe('with One kline later it loses less than 0.01 %');
  expect(under(0)).toBe('with One kline later it earns nothing');
});

test('a good result of one try is better than luck so far, with its band and its share of doubt', () => {
  const verdict = verdictOf(judged({}));
  expect(verdict).toMatchObject({
    conclusion: 'better than luck so far',
    reasons: [],
    worstProfit: 300,
    bestProfit: 310,
    ambiguousShare: 0.01,
    dsr: null,
  });
});

test('large orders that filled as if they were small speak against a result', () => {
  const withoutImpact = { unknownOrders: 3, largestUnknownShare: 1.8 };
  expect(verdictOf(judged({ withoutImpact }))).toMatchObject({
    conclusion: 'not distinguishable from luck',
    reasons: [
      "3 orders of more than 0.1 % of a day's volume (the largest 180 %) filled without impact: fewer than 5 earlier days are known",
    ],
  });
  expect(verdictOf(judged({ withoutImpact: { unknownOrders: 0, largestUnknownShare: 0 } })).reasons).toEqual([]);
});

test('a limit that stopped the run before its end speaks against its result', () => {
  const { reasons, conclusion } = verdictOf(judged({ stopped: ['2024-03-04 19:00 UTC: lost 590.8'] }));
  expect(reasons).toEqual(['a limit stopped it before its end: 2024-03-04 19:00 UTC: lost 590.8']);
  expect(conclusion).toBe('not distinguishable from luck');
});

test.each([{ finalEquity: 1 }, { fills: 0 }])(
  'a limit that stopped the run is named, whatever came of it: %j',
  (given) => {
    const { reasons } = verdictOf(judged({ ...given, stopped: ['lost 590.8'] }));
    expect(reasons).toContain('a limit stopped it before its end: lost 590.8');
  },
);

test('data that were repaired or cannot be of a sound market speak against a result, of many the first', () => {
  const verdict = verdictOf(judged({ data: ['x.csv: every trade is a SELL', 'x.csv: repaired (sort): 1 row'] }));
  expect(verdict.conclusion).toBe('not distinguishable from luck');
  expect(verdict.reasons).toEqual([
    'its data are doubtful: x.csv: every trade is a SELL; x.csv: repaired (sort): 1 row',
  ]);
  expect(doubtsText(['a', 'b', 'c', 'd', 'e', 'f'])).toBe('a; b; c; d; and 2 more, see the notes');
});

test('fills that came late speak against a result where one waited for days or many did, not where a few minutes are missing', () => {
  const late = (count: number, longestMs: number) => verdictOf(judged({ late: { count, longestMs, longestAt: 0 } }));
  expect(late(6, 23 * 3_600_000).conclusion).toBe('better than luck so far');
  for (const much of [late(1, 86_400_000), late(7, 180_000)])
    expect(much).toMatchObject({
      conclusion: 'not distinguishable from luck',
      reasons: [expect.stringMatching(/came late, where klines were missing/)],
    });
});

test('fills that took far more than the prints that granted them speak against a result', () => {
  expect(verdictOf(judged({ beyondPrint: beyondPrint([0.5, 1, 100]) })).reasons).toEqual([]);
  expect(verdictOf(judged({ beyondPrint: beyondPrint([0.5, 250, 116_770.6]) }))).toMatchObject({
    conclusion: 'not distinguishable from luck',
    reasons: ['2 fills took more than 100 times what the print that granted them traded (116,771 times at most)'],
  });
});

test.for([
  ['the best of many tries', judged({ trials: { count: 400, variance: 0.004 } }), /400 trials explain it: DSR 0\.\d\d/],
  [
    'what is not sure by itself, whatever the trials',
    judged({ trials: { count: 2, variance: 0.004 } }, { psr: 0.7 }),
    /^PSR 0\.70 is below 0\.95$/m,
  ],
  ['an interval that reaches zero', judged({}, { sharpeLow: -0.2 }), /95 % interval of the Sharpe ratio: -0\.20 to/],
  ['fees that are nearly all of it', judged({}, { breakEvenFees: 1.7 }), /break-even at 1\.7 × fees/],
  ['few round trips', judged({}, { roundTrips: 12 }), /12 round trips are few/],
  ['nothing beyond holding', judged({}, { alpha: -0.01 }), /no excess return over buy & hold/],
  [
    'a loss one kline later',
    judged({ stressed: [{ name: 'One kline later', finalEquity: 900, return: -0.1, sharpe: -1, fills: 1 }] }),
    /with One kline later it loses 10 %/,
  ],
] as const)('%s is not distinguishable from luck', ([, given, reason]) => {
  const verdict = verdictOf(given);
  expect(verdict.conclusion).toBe('not distinguishable from luck');
  expect(verdict.reasons.join('\n')).toMatch(reason);
});

test('what lost money lost money, and what is too short is too short', () => {
  expect(verdictOf(judged({ finalEquity: 999 }))).toMatchObject({ conclusion: 'lost money', reasons: [] });
  expect(verdictOf(judged({}, { sharpe: null, psr: null, sharpeLow: null })).conclusion).toBe('too little to judge');
});

test('what never traded lost nothing, and says nothing', () => {
  expect(
    verdictOf(judged({ finalEquity: 1_000, bestEquity: 1_000, fills: 0 }, { sharpe: null, psr: null })),
  ).toMatchObject({
    conclusion: 'too little to judge',
    reasons: ['nothing was traded'],
  });
});

/** A line of the ledger with one trial. */
const line = (hash: string, sharpe: number | null = 0.1, more: Partial<LedgerLine> = {}): LedgerLine => ({
  ...{ settings: 'usual', family: 'sma-cross', symbols: ['BTCUSDT'], from: 0, to: 100, trials: [[hash, sharpe]] },
  ...more,
});

test('trials count once each, of the same strategies on overlapping time and symbols', () => {
  const ledger = [
    line('a', 0),
    line('a', 0),
    line('b', 0.2),
    line('own'),
    line('else', 0.1, { family: 'grid' }),
    line('before', 0.1, { from: -9, to: -1 }),
    line('far', 0.1, { symbols: ['ETHUSDT'] }),
  ];
  const { count, variance } = countTrials(ledger, line('own'));
  expect(count).toBe(3);
  expect(variance).toBeCloseTo(0.01, 12);
  expect(countTrials([], line('own', null))).toEqual({ count: 1, variance: undefined });
});

test('a run that differs from another in its settings alone is the same trial, and ratios with other settings are not compared', () => {
  const own = line('a', 0.1);
  const otherSettings = line('a', -9, { settings: 'other' });
  const other = line('b', 0.12);
  const bothOther = line('b', -8, { settings: 'other' });
  expect(countTrials([otherSettings, own, otherSettings], own)).toEqual({ count: 1, variance: undefined });
  expect(countTrials([other, otherSettings, bothOther], own).count).toBe(2);
  expect(countTrials([other, otherSettings, bothOther], own).variance).toBeCloseTo(0.0002, 12);
  expect(countTrials([bothOther, other], own)).toEqual(countTrials([other, bothOther], own));
  expect(countTrials([bothOther], own)).toEqual({ count: 2, variance: undefined });
  expect(countTrials([other, own], otherSettings)).toEqual({ count: 2, variance: undefined });
  // A grid holds the same trials.
  const trials = [
    ['a', 0.1],
    ['b', 0.12],
    ['c', null],
  ] as const;
  expect(countTrials([line('', null, { trials }), other, otherSettings], own)).toMatchObject({
    count: 3,
    variance: countTrials([other], own).variance,
  });
});

test('the best of several trials is deflated by random ratios where no two can be compared', () => {
  const deflated = (count: number) => verdictOf(judged({ trials: { count, variance: undefined } })).dsr ?? 1;
  expect(deflated(20)).toBeLessThan(deflated(2));
  expect(deflated(2)).toBeLessThan(1);
});

test('a file is one strategy however it was spelled, and no other of its name', () => {
  const own = line('own', 0.1, { family: './mine/breakout.ts sma-cross' });
  const counted = (family: string): boolean => countTrials([line('a', 0.1, { family })], own).count === 2;
  const same = ['mine/breakout.ts', '/somewhere/mine/breakout.ts', '../mine/breakout.ts', './breakout.ts'];
  expect(same.filter((path) => !counted(`${path} sma-cross`))).toEqual([]);
  expect(counted('sma-cross breakout.ts')).toBe(true);
  const others = ['./yours/breakout.ts', './outbreakout.ts', './breakout.mts', 'breakout', 'grid'];
  expect(others.filter((path) => counted(`${path} sma-cross`))).toEqual([]);
  expect(counted('./mine/breakout.ts')).toBe(false);
});

test('a file whose path has blanks is one strategy', () => {
  const own = line('own', 0.1, { family: familyOf(['sma-cross', './my dir/a b.ts', 'sma-cross']) });
  const counted = (family: string): boolean => countTrials([line('a', 0.1, { family })], own).count === 2;
  expect(counted(familyOf(['../my dir/a b.ts', 'sma-cross']))).toBe(true);
  expect(counted(familyOf(['./my dir/b.ts', 'sma-cross']))).toBe(false);
});

/** Daily returns of noise, and of noise with an edge. */
function returns(rng: () => number, edge: number): number[] {
  return Array.from({ length: 500 }, () => {
    const normal = Math.sqrt(-2 * Math.log(1 - rng())) * Math.cos(2 * Math.PI * rng());
    return 0.01 * (normal + edge);
  });
}
const ratioOf = (values: readonly number[]): number => mean(values) / (standardDeviation(values) ?? 1);

test('a sweep over noise is seldom called better than luck, a planted edge mostly is', () => {
  const rng = seededRng(4);
  const best = (edge: number): boolean => {
    const sweep = Array.from({ length: 60 }, (_, index) => returns(rng, index === 0 ? edge : 0));
    const ratios = sweep.map(ratioOf);
    const winner = ratios.indexOf(Math.max(...ratios));
    const found = sweep[winner] ?? [];
    const shape = { skewness: skewness(found) ?? 0, kurtosis: kurtosis(found) ?? 3 };
    const ratio = ratios[winner] ?? 0;
    const spread = standardDeviation(ratios) ?? 0;
    const verdict = verdictOf(
      judged(
        { trials: { count: 60, variance: spread * spread }, ...shape },
        { sharpe: ratio * Math.sqrt(365), days: 500, psr: probabilisticSharpe(ratio, 500, shape) ?? null },
      ),
    );
    return (verdict.dsr ?? 0) >= 0.95;
  };
  const noise = Array.from({ length: 40 }, () => best(0)).filter(Boolean).length;
  const edge = Array.from({ length: 40 }, () => best(0.3)).filter(Boolean).length;
  expect(noise).toBeLessThanOrEqual(4);
  expect(edge).toBeGreaterThanOrEqual(36);
});
