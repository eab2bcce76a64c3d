/** The verdict card: what speaks for a result and what against it, and what that comes to. It stops nobody. */
import { type Late, lateText } from './late-fills.ts';
import type { Metrics } from './metrics.ts';
import { yearDays } from './ratios.ts';
import { deflatedSharpe, leastBacktestYears } from './significance/deflated-sharpe.ts';
import { fewestTrips } from './trip-numbers.ts';

export interface Tries {
  /** Different trials of the same strategies on overlapping data, this one included. */
  readonly count: number;
  /** Variance of the Sharpe ratios of one day of those under the costs of this one; undefined for fewer than two. */
  readonly variance: number | undefined;
}

/** One of the runs with worse conditions. */
export interface Stressed {
  readonly name: string;
  readonly finalEquity: number;
  readonly return: number;
  readonly sharpe: number | null;
  readonly fills: number;
  /** The limits that stopped it before its end, where there were any. */
  readonly kills?: readonly string[];
}

export interface Verdict {
  readonly sharpe: number | null;
  readonly sharpeLow: number | null;
  readonly sharpeHigh: number | null;
  readonly trials: number;
  readonly psr: number | null;
  readonly dsr: number | null;
  /** Profit if ambiguous klines went against us, and if they went for us. */
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
  /** Why, one sentence each. */
  readonly reasons: readonly string[];
}

export interface Judged {
  readonly metrics: Metrics;
  readonly cash: number;
  readonly finalEquity: number;
  readonly bestEquity: number;
  readonly worstEquity: number;
  readonly fills: number;
  /** Why there are none, where that is known. */
  readonly silent?: readonly string[];
  readonly ambiguousFills: number;
  /** Large orders whose impact nobody knows, and the most of a day's volume that one of them asked for. */
  readonly beyondPrint?: BeyondPrint | undefined;
  readonly withoutImpact?: { readonly unknownOrders: number; readonly largestUnknownShare: number } | undefined;
  /** Orders that waited where klines were missing. */
  readonly late?: Late | undefined;
  readonly skewness: number;
  readonly kurtosis: number;
  readonly tries: Tries;
  readonly stressed: readonly Stressed[];
  /** What limits stopped it before its end. */
  readonly stopped?: readonly string[];
  /** What makes its data doubtful: repairs, and what no sound market has. */
  readonly data?: readonly string[];
}

/** The conventional gate of PSR and DSR. */
const sure = 0.95;

/** A small loss is no loss of `0 %`. */
function lossText(share: number): string {
  if (share === 0) return 'earns nothing';
  if (share < 0.0001) return 'loses less than 0.01 %';
  return `loses ${(100 * share).toFixed(share < 0.01 ? 2 : 0)} %`;
}

export function verdictOf(judged: Judged): Verdict {
  const { metrics, cash, finalEquity, bestEquity, worstEquity, tries } = judged;
  const { sharpe, psr, days, breakEvenFees } = metrics;
  const dsr =
    sharpe === null || tries.count < 2
      ? undefined
      : deflatedSharpe(sharpe / Math.sqrt(yearDays), days, judged, {
          // Without two trials to compare, that of ratios of chance.
          variance: tries.variance ?? 1 / (days - 1),
          tries: tries.count,
        });
  const leastYears = leastBacktestYears(tries.count);
  const against = doubts(judged, dsr, leastYears);
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
    trials: tries.count,
    psr,
    dsr: dsr ?? null,
    worstProfit: worstEquity - cash,
    bestProfit: bestEquity - cash,
    ambiguousShare: judged.fills === 0 ? null : judged.ambiguousFills / judged.fills,
    breakEvenFees,
    minimumYears: leastYears,
    conclusion,
    // What lost money needs no further reasons, and what never traded only those of that.
    reasons:
      conclusion === 'lost money'
        ? []
        : judged.fills === 0
          ? ['nothing was traded', ...(judged.silent ?? [])]
          : against,
  };
}

/** Late fills speak against a result where one waited for so long, or so large a part of all did: hardly any data are without a hole of minutes. */
const [longWaitMs, manyLate] = [86_400_000, 0.01];

function doubts(
  {
    metrics,
    tries,
    stressed,
    cash,
    fills,
    worstEquity,
    withoutImpact,
    beyondPrint,
    late,
    stopped = [],
    data = [],
  }: Judged,
  dsr: number | undefined,
  leastYears: number,
): readonly string[] {
  const {
    sharpe,
    sharpeLow,
    sharpeHigh,
    psr,
    days,
    daysWithKlines: daysKnown,
    breakEvenFees,
    buyAndHoldReturn: holdReturn,
    roundTrips,
  } = metrics;
  const found = stopped.map((text) => `a limit stopped it before its end: ${text}`);
  if (data.length > 0) found.push(`its data are doubtful: ${doubtsText(data)}`);
  if (worstEquity < cash) found.push('it loses where stops come first in the klines that a chosen path decided');
  if (withoutImpact !== undefined && withoutImpact.unknownOrders > 0) found.push(withoutImpactText(withoutImpact));
  if (beyondPrint !== undefined) found.push(beyondPrintText(beyondPrint));
  if (late !== undefined && (late.longestMs >= longWaitMs || late.count > manyLate * fills)) found.push(lateText(late));
  if (sharpe === null) found.push(`${daysKnown} daily returns are too few for a Sharpe ratio, or equity did not move`);
  if (sharpe !== null && sharpeLow !== null && sharpeLow <= 0)
    found.push(
      `95 % interval of the Sharpe ratio: ${sharpeLow.toFixed(2)} to ${(sharpeHigh ?? Number.NaN).toFixed(2)}`,
    );
  if (dsr !== undefined && dsr < sure)
    found.push(`${tries.count} trials explain it: DSR ${dsr.toFixed(2)} is below ${sure}`);
  else if (dsr === undefined && psr !== null && psr < sure) found.push(`PSR ${psr.toFixed(2)} is below ${sure}`);
  const years = days / yearDays;
  if (leastYears > years)
    found.push(
      `after ${tries.count} trials, the best by luck looks good for ${leastYears.toFixed(1)} years; the data have ${years.toFixed(1)}`,
    );
  if (roundTrips < fewestTrips) found.push(`${roundTrips} round trips are few`);
  if (breakEvenFees !== null && breakEvenFees < 2) found.push(`break-even at ${breakEvenFees.toFixed(1)} × fees`);
  for (const one of stressed) if (one.return <= 0) found.push(`with ${one.name} it ${lossText(-one.return)}`);
  if (holdReturn > 0 && metrics.cagr !== null && metrics.beta !== null && metrics.alpha !== null && metrics.alpha <= 0)
    found.push('no excess return over buy & hold (alpha ≤ 0)');
  return found;
}

/** Doubts of data that are said; each series of each file may have its own. */
const mostDoubts = 4;

/** In one line. */
export const doubtsText = (doubts: readonly string[]): string =>
  [
    ...doubts.slice(0, mostDoubts),
    ...(doubts.length > mostDoubts ? [`and ${doubts.length - mostDoubts} more, see the notes`] : []),
  ].join('; ');

/** `22 large orders moved their own price, the largest of 48 % of a usual day's volume`. */
export const movedText = ({
  orders: moved,
  largestShare,
}: {
  readonly orders: number;
  readonly largestShare?: number;
}): string =>
  `${moved.toLocaleString('en')} large ${moved === 1 ? 'order' : 'orders'} moved ${moved === 1 ? 'its' : 'their'} own price${largestShare === undefined ? '' : `, the largest of ${twoDigits(largestShare)} of a usual day's volume`}`;

/** Fills at a print that took many times of what it traded. */
export interface BeyondPrint {
  readonly count: number;
  /** Times the print. */
  readonly most: number;
}

/** Prints are small, and an order somewhat larger than one is usual; of one so much larger they say nothing. */
const farTimes = 100;

/** `shares`: what each fill took of the print that granted it. */
export function beyondPrint(shares: Iterable<number>): BeyondPrint | undefined {
  let [count, most] = [0, 0];
  for (const share of shares)
    if (share > farTimes) {
      count++;
      most = Math.max(most, share);
    }
  return count === 0 ? undefined : { count, most };
}

const beyondPrintText = ({ count, most }: BeyondPrint): string =>
  `${count.toLocaleString('en')} ${count === 1 ? 'fill' : 'fills'} took more than ${farTimes} times what the print that granted ${count === 1 ? 'it' : 'them'} traded (${Math.round(most).toLocaleString('en')} times at most)`;

const twoDigits = (share: number): string => `${Number((100 * share).toPrecision(2))} %`;

/** Large orders under rules by which size moves no price, and the most of a usual day's volume that one of them had. */
export interface UnmovedOrders {
  readonly orders: number;
  readonly largestShare: number;
}

export const unmovedText = ({ orders, largestShare: largest }: UnmovedOrders): string =>
  `${orders.toLocaleString('en')} ${orders === 1 ? 'order' : 'orders'} of more than 0.1 % of a usual day's volume (the largest ${twoDigits(largest)}) filled at the price of a small one: these rules know no impact`;

/** What there is to say of large orders that filled as if they were small. */
export const withoutImpactText = ({
  unknownOrders: unknown,
  largestUnknownShare,
}: NonNullable<Judged['withoutImpact']>): string =>
  `${unknown} ${unknown === 1 ? 'order' : 'orders'} of more than 0.1 % of a day's volume (the largest ${twoDigits(largestUnknownShare)}) filled without impact: fewer than 5 earlier days are known`;
