/** What the limits would have denied in the last days: for the doctor, and for a daemon with limits that are new to it. */

import { type Replayed, replayLimits } from '../../backtest/limit-replay/replay.ts';
import type { Setting } from '../../config/read.ts';
import type { TradingConfig } from '../../config/schema.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { compareIntervals, type Interval, intervalMs } from '../../domain/interval.ts';
import { columnsOf } from '../../domain/market.ts';
import { noUnits, plus } from '../../domain/money.ts';
import type { LimitEntry } from '../../journal/entries.ts';
import { lossesText, manyDenied } from '../../research/entry-losses.ts';
import { isStrict, limitsOf, versionRows } from '../../session/preflight/limits.ts';
import { warmupOf } from '../../strategy/warmup.ts';
import { marketsIn } from '../../trading/lanes.ts';
import type { Configured } from '../../trading/strategies.ts';
import type { Exchange } from '../../venue/exchange/exchange.ts';
import { queryFailure } from '../../venue/venue.ts';

/** Klines of each symbol that are traded on at most, and for how long: ten requests or so. */
const maxKlines = 3_000;
const dayMs = 86_400_000;
const maxMs = 30 * dayMs;

export interface RecentGiven {
  readonly config: TradingConfig;
  readonly configured: readonly Configured[];
  readonly file: string;
  readonly settings: readonly Setting[];
  readonly instruments: readonly Instrument[];
  /** Steps about limits in the journal: a version of code that nobody released may use a part of its allocation. */
  readonly steps: readonly LimitEntry[];
  readonly feed: Pick<Exchange['feed'], 'history'>;
}

export interface RecentDenials {
  /** Of the entries of the last days, those that would have been denied. */
  readonly share: number;
  /** Whether a limit would have stopped a strategy. */
  readonly isKilled: boolean;
  readonly text: string;
}

/** What the rules would have denied; a text why that is not known. */
export async function recentDenials(given: RecentGiven): Promise<RecentDenials | string> {
  const { config, configured, file, settings, instruments, steps, feed } = given;
  if (config.account === 'margin') return 'not replayed: the rules of the exchange for margin are not known';
  const klines = [];
  for (const { symbol, interval, needed } of smallestOf(configured)) {
    const answer = await feed.history(symbol, interval, needed);
    if (answer.kind === 'failed') return `not replayed: ${queryFailure(`klines of ${symbol}`, answer.cause)}`;
    klines.push({ symbol, interval, columns: columnsOf(answer.value) });
  }
  const limits = limitsOf(config.risk, config.strategies, isStrict(config));
  const cash = config.strategies.reduce((sum, { allocation }) => plus(sum, allocation ?? noUnits), noUnits);
  const traded = new Set(klines.map(({ symbol }) => symbol));
  const reply = await replayLimits({
    ...{ file, settings, klines, limits, cash },
    newVersions: versionRows(config, configured, steps, 0).unreleased,
    instruments: instruments.filter(({ symbol }) => traded.has(symbol)),
  });
  return 'fault' in reply ? `not replayed: ${reply.fault}` : deniedText(reply.replayed);
}

function deniedText({ entries, fills, example, kill, from, to }: Replayed): RecentDenials {
  const span = `the last ${spanText(to - from)}`;
  const losses = entries === undefined ? undefined : lossesText(entries);
  const stopped = kill === undefined ? '' : `; a limit would have stopped trading: ${kill}`;
  const isKilled = kill !== undefined;
  if (entries === undefined || losses === undefined) {
    const none =
      fills === 0
        ? `no order in ${span}, so nothing is known of the limits`
        : `no entry of ${span} would have been denied`;
    return { share: 0, isKilled, text: none + stopped };
  }
  const denied = entries.rules.reduce((sum, rule) => sum + rule.denied, 0);
  const such = example === undefined ? '' : `, such as ${example}`;
  return {
    share: manyDenied(entries) ? denied / entries.asked : 0,
    isKilled,
    text: `of ${span}: ${losses}${such}${stopped}`,
  };
}

const spanText = (ms: number): string =>
  ms >= dayMs ? `${(ms / dayMs).toFixed(1)} days` : `${(ms / 3_600_000).toFixed(1)} hours`;

interface Wanted {
  readonly symbol: string;
  readonly interval: Interval;
  readonly needed: number;
}

/** The smallest interval of each symbol, from which the larger ones are made, and how many of its klines. */
function smallestOf(configured: readonly Configured[]): readonly Wanted[] {
  const markets = configured.flatMap((one) =>
    marketsIn(one).map(({ role, symbol, interval }) => ({
      ...{ symbol, interval },
      warmup: warmupOf(one.strategy, one.params, interval, role),
    })),
  );
  return [...Map.groupBy(markets, ({ symbol }) => symbol)].map(([symbol, some]) => {
    const interval = some.map((one) => one.interval).toSorted(compareIntervals)[0] as Interval;
    const ms = intervalMs(interval, 0);
    const warmup = Math.max(...some.map((one) => (one.warmup * intervalMs(one.interval, 0)) / ms));
    return { symbol, interval, needed: Math.ceil(warmup) + Math.min(maxKlines, Math.ceil(maxMs / ms)) };
  });
}
