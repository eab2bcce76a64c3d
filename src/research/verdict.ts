/** The verdict: the evidence for and against a result. It is advice and stops nothing. */
import { type EntryLosses, lossesText, manyDenied } from './entry-losses.ts';
import { type Late, lateText } from './late-fills.ts';
import type { Metrics } from './metrics.ts';
import { yearDays } from './ratios.ts';
import { fewestRoundTrips } from './round-trip-figures.ts';
import { deflatedSharpe, minBacktestYears } from './significance/deflated-sharpe.ts';
import type { TrialCount } from './significance/trials.ts';

/** The run under one of the worse conditions. */
export interface Stressed {
  readonly name: string;
  readonly finalEquity: number;
  readonly return: number;
  readonly sharpe: number | null;
  readonly fills: number;
  /** The limits that stopped it before its end. */
  readonly kills?: readonly string[];
}

export interface Verdict {
  readonly sharpe: number | null;
  readonly sharpeLow: number | null;
  readonly sharpeHigh: number | null;
  readonly trials: number;
  readonly psr: number | null;
  readonly dsr: number | null;
  /** Profit if ambiguous klines went against us, and for us. */
  readonly worstProfit: number;
  readonly bestProfit: number;
  readonly ambiguousShare: number | null;
  readonly breakEvenFees: number | null;
  readonly minimumYears: number;
  readonly conclusion:
    | 'lost money'
    | 'too little to judge'
    | 'not distinguishable from luck'
    | 'better than luck so far';
  /** Reasons against the result, one sentence each. */
  readonly reasons: readonly string[];
}

export interface Judged {
  readonly metrics: Metrics;
  readonly cash: number;
  readonly finalEquity: number;
  readonly bestEquity: number;
  readonly worstEquity: number;
  readonly fills: number;
  /** Why there are no fills, where that is known. */
  readonly noTradeReasons?: readonly string[];
  readonly ambiguousFills: number;
  readonly beyondPrint?: BeyondPrint | undefined;
  readonly withoutImpact?: Pick<ImpactRow, 'unknownOrders' | 'largestUnknownShare'> | undefined;
  readonly late?: Late | undefined;
  /** The entries that were asked for, denied and reduced. */
  readonly entries?: EntryLosses | undefined;
  /** Which strategies targeted more than they have in several markets, and had orders refused. */
  readonly sharesTogether?: readonly string[];
  readonly skewness: number;
  readonly kurtosis: number;
  readonly trials: TrialCount;
  readonly stressed: readonly Stressed[];
  /** The limits that stopped it before its end. */
  readonly stopped?: readonly string[];
  /** What it holds at the end in symbols whose klines end before. */
  readonly stale?: readonly string[];
  /** Why its data are doubtful. */
  readonly data?: readonly string[];
}

/** The conventional threshold of PSR and DSR. */
const sure = 0.95;

/** A small loss is not `0 %`. */
function lossText(share: number): string {
  if (share === 0) return 'earns nothing';
  if (share < 0.0001) return 'loses less than 0.01 %';
  return `loses ${(100 * share).toFixed(share < 0.01 ? 2 : 0)} %`;
}

export function verdictOf(judged: Judged): Verdict {
  const { metrics, cash, finalEquity, bestEquity, worstEquity, trials } = judged;
  const { sharpe, psr, days, breakEvenFees } = metrics;
  const dsr =
    sharpe === null || trials.count < 2
      ? undefined
      : deflatedSharpe(sharpe / Math.sqrt(yearDays), days, judged, {
          // Without two trials to compare: the variance of Sharpe ratios of random returns.
          variance: trials.variance ?? 1 / (days - 1),
          trials: trials.count,
        });
  const minYears = minBacktestYears(trials.count);
  const against = doubts(judged, dsr, minYears);
  const profit = finalEquity - cash;
  const conclusion =
    profit < 0 || (profit === 0 && judged.fills > 0)
      ? 'lost money'
      : sharpe === null || judged.fills === 0
        ? 'too little to judge'
        : against.length > 0
          ? 'not distinguishable from luck'
          : 'better than luck so far';
  return {
    sharpe,
    sharpeLow: metrics.sharpeLow,
    sharpeHigh: metrics.sharpeHigh,
    trials: trials.count,
    psr,
    dsr: dsr ?? null,
    worstProfit: worstEquity - cash,
    bestProfit: bestEquity - cash,
    ambiguousShare: judged.fills === 0 ? null : judged.ambiguousFills / judged.fills,
    breakEvenFees,
    minimumYears: minYears,
    conclusion,
    reasons:
      conclusion === 'lost money'
        ? [...stops(judged), ...denied(judged)]
        : judged.fills === 0
          ? ['nothing was traded', ...stops(judged), ...denied(judged), ...(judged.noTradeReasons ?? [])]
          : against,
  };
}

/** Late fills count against a result above one of these: a wait, ms, or a share of all fills. Few data have no gaps of minutes. */
const [longWaitMs, manyLate] = [86_400_000, 0.01];

/** Entries that a rule denied are missing in the result, whatever it is. */
const denied = ({ entries, sharesTogether = [] }: Judged): readonly string[] => {
  const text = entries === undefined || !manyDenied(entries) ? undefined : lossesText(entries);
  return [...(text === undefined ? [] : [text]), ...sharesTogether];
};

/** A result is not that of the whole time, whatever it is. */
const stops = ({ stopped = [] }: Judged): readonly string[] =>
  stopped.map((text) => `a limit stopped it before its end: ${text}`);

function doubts(judged: Judged, dsr: number | undefined, minYears: number): readonly string[] {
  const { metrics, trials, stressed, cash, fills, worstEquity, withoutImpact, beyondPrint, late } = judged;
  const { data = [], stale = [] } = judged;
  const { sharpe, sharpeLow, sharpeHigh, psr, days, daysWithKlines, breakEvenFees, buyAndHoldReturn, roundTrips } =
    metrics;
  const found = [...stops(judged), ...denied(judged), ...stale];
  if (data.length > 0) found.push(`its data are doubtful: ${doubtsText(data)}`);
  if (worstEquity < cash) found.push('it loses where stops come first in the klines that a chosen path decided');
  if (withoutImpact !== undefined && withoutImpact.unknownOrders > 0) found.push(withoutImpactText(withoutImpact));
  if (beyondPrint !== undefined) found.push(beyondPrintText(beyondPrint));
  if (late !== undefined && (late.longestMs >= longWaitMs || late.count > manyLate * fills)) found.push(lateText(late));
  if (sharpe === null)
    found.push(`${daysWithKlines} daily returns are too few for a Sharpe ratio, or equity did not move`);
  if (sharpe !== null && sharpeLow !== null && sharpeLow <= 0)
    found.push(
      `95 % interval of the Sharpe ratio: ${sharpeLow.toFixed(2)} to ${(sharpeHigh ?? Number.NaN).toFixed(2)}`,
    );
  // What is not sure by itself needs no trials to explain it.
  if (psr !== null && psr < sure) found.push(`PSR ${psr.toFixed(2)} is below ${sure}`);
  else if (dsr !== undefined && dsr < sure)
    found.push(`${trials.count} trials explain it: DSR ${dsr.toFixed(2)} is below ${sure}`);
  const years = days / yearDays;
  if (minYears > years)
    found.push(
      `after ${trials.count} trials, the best by luck looks good for ${minYears.toFixed(1)} years; the data have ${years.toFixed(1)}`,
    );
  if (roundTrips < fewestRoundTrips) found.push(`${roundTrips} round trips are few`);
  if (breakEvenFees !== null && breakEvenFees < 2) found.push(`break-even at ${breakEvenFees.toFixed(1)} × fees`);
  for (const one of stressed) if (one.return <= 0) found.push(`with ${one.name} it ${lossText(-one.return)}`);
  if (
    buyAndHoldReturn > 0 &&
    metrics.cagr !== null &&
    metrics.beta !== null &&
    metrics.alpha !== null &&
    metrics.alpha <= 0
  )
    found.push('no excess return over buy & hold (alpha ≤ 0)');
  return found;
}

/** Doubts that are listed: each series of each file may have its own. */
const maxDoubts = 4;

export const doubtsText = (doubts: readonly string[]): string =>
  [
    ...doubts.slice(0, maxDoubts),
    ...(doubts.length > maxDoubts ? [`and ${doubts.length - maxDoubts} more, see the notes`] : []),
  ].join('; ');

/** `22 large orders moved their own price, the largest of 48 % of a usual day's volume`. */
export const movedText = ({ orders, largestShare }: Pick<ImpactRow, 'orders' | 'largestShare'>): string =>
  `${orders.toLocaleString('en')} large ${orders === 1 ? 'order' : 'orders'} moved ${orders === 1 ? 'its' : 'their'} own price, the largest of ${twoDigits(largestShare)} of a usual day's volume`;

/** Fills that took many times the quantity of the print that granted them. */
export interface BeyondPrint {
  readonly count: number;
  /** The largest multiple. */
  readonly max: number;
}

/** Prints are small, and orders are usually larger. Beyond this multiple, a print is no evidence of a fill. */
const farTimes = 100;

/** `shares`: the quantity of each fill over that of its print. */
export function beyondPrint(shares: Iterable<number>): BeyondPrint | undefined {
  let [count, max] = [0, 0];
  for (const share of shares)
    if (share > farTimes) {
      count++;
      max = Math.max(max, share);
    }
  return count === 0 ? undefined : { count, max };
}

const beyondPrintText = ({ count, max }: BeyondPrint): string =>
  `${count.toLocaleString('en')} ${count === 1 ? 'fill' : 'fills'} took more than ${farTimes} times what the print that granted ${count === 1 ? 'it' : 'them'} traded (${Math.round(max).toLocaleString('en')} times at most)`;

const twoDigits = (share: number): string => `${Number((100 * share).toPrecision(2))} %`;

/** Orders that were large for their market. */
export interface ImpactRow {
  /** How many moved their own price, and what that cost in quote, exact: it is in the prices of their fills. */
  readonly orders: number;
  readonly cost: string;
  /** The largest share of a usual day's volume that one of them asked for. */
  readonly largestShare: number;
  /** How many filled without impact since too few days are known, and the largest share of a day's volume of one of them. */
  readonly unknownOrders: number;
  readonly largestUnknownShare: number;
}

/** Large orders under rules without impact. */
export interface UnmovedOrders {
  readonly orders: number;
  /** The largest share of a usual day's volume. */
  readonly largestShare: number;
}

export const unmovedText = ({ orders, largestShare }: UnmovedOrders): string =>
  `${orders.toLocaleString('en')} ${orders === 1 ? 'order' : 'orders'} of more than 0.1 % of a usual day's volume (the largest ${twoDigits(largestShare)}) filled at the price of a small one: these rules know no impact`;

export const withoutImpactText = ({
  unknownOrders,
  largestUnknownShare,
}: Pick<ImpactRow, 'unknownOrders' | 'largestUnknownShare'>): string =>
  `${unknownOrders} ${unknownOrders === 1 ? 'order' : 'orders'} of more than 0.1 % of a day's volume (the largest ${twoDigits(largestUnknownShare)}) filled without impact: fewer than 5 earlier days are known`;
