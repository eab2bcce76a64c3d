/** The weight plan of a configuration: what its strategies are expected to do, at the prices of the exchange's table. */
import { type Expected, type PlanInput, type Prices, planWeight, type WeightPlan } from '../../budget/weight-plan.ts';
import type { TradingConfig } from '../../config/schema.ts';
import { intervalMs } from '../../domain/interval.ts';
import type { Account } from '../../domain/order.ts';
import { Refusal } from '../../domain/refusal.ts';
import { liveHistory, warmupOf } from '../../strategy/warmup.ts';
import { marketsIn, tradedIn } from '../../trading/lanes.ts';
import type { Configured } from '../../trading/strategies.ts';
import { endpoints, tradeEndpoints } from '../../venue/exchange/rest/endpoints.ts';

/** Real ms between two readings of the exchange's time (venue/exchange/sync-time.ts). */
const timeMs = 60_000;
const minuteMs = 60_000;

export const pricesOf = (account: Account): Prices => ({
  ...endpoints,
  ...tradeEndpoints[account],
});

/** Unless a configuration says otherwise a strategy is taken to replace one resting order at every kline. */
export function weightPlanOf(
  { account, requestWeight, execution, exchange }: TradingConfig,
  configured: readonly Configured[],
): WeightPlan {
  const input: PlanInput = {
    strategies: configured.flatMap(expectedOf),
    pollMs: execution.pollMs,
    sweepMs: execution.sweepMs,
    timeMs: timeMs * exchange.speed,
    ...requestWeight,
    prices: pricesOf(account),
  };
  return planWeight(input);
}

/** What a strategy does in each market that it trades; the orders that it is expected to send are spread evenly over them. */
function expectedOf(one: Configured): readonly Expected[] {
  const { config, strategy, params } = one;
  const markets = marketsIn(one);
  const traded = tradedIn(markets);
  const { ordersPerMinute = (minuteMs / intervalMs(config.interval, 0)) * traded.length, resting } = config.expects;
  return markets.map(({ role, symbol, interval, use }) => {
    const warmup = liveHistory(warmupOf(strategy, params, interval, one.markets === undefined ? undefined : role));
    return use === 'traded'
      ? { id: config.id, symbol, ordersPerMinute: ordersPerMinute / traded.length, resting, warmup }
      : { id: config.id, symbol, ordersPerMinute: 0, resting: false, warmup, isTraded: false };
  });
}

/** Refuses a configuration whose requests cannot fit, with the sum. */
export function refuseUnfit(config: TradingConfig, configured: readonly Configured[], file: string): void {
  const plan = weightPlanOf(config, configured);
  if (plan.faults.length === 0) return;
  throw new Refusal(
    [`${file} needs more request weight than the exchange allows:`, ...plan.faults, ...planLines(plan)].join('\n  '),
  );
}

/** The plan as lines, the most expensive purpose first; cheap ones are summed up. */
export function planLines({ rows, weightPerMinute }: WeightPlan, max = 8): readonly string[] {
  const sorted = [...rows].sort((a, b) => b.weightPerMinute - a.weightPerMinute);
  const shown = sorted.slice(0, sorted.length > max ? max - 1 : max);
  const rest = sorted.slice(shown.length).reduce((total, one) => total + one.weightPerMinute, 0);
  const line = (weight: number, words: string): string => `${String(round(weight)).padStart(8)} a minute  ${words}`;
  return [
    ...shown.map(({ weightPerMinute: weight, who, purpose, callsPerMinute, price }) =>
      line(weight, `${who}: ${purpose} (${round(callsPerMinute)} × ${price.weight})`),
    ),
    ...(sorted.length > shown.length ? [line(rest, `${sorted.length - shown.length} more`)] : []),
    line(weightPerMinute, 'together'),
  ];
}

const round = (value: number): number => (value >= 10 ? Math.round(value) : Math.round(value * 10) / 10);
