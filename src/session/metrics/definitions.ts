/** Every metric with its help text and labels. `docs/reference/metrics.md` is made from them. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DaemonState } from '../../dashboard/view.ts';
import type { EventKind } from '../../journal/entries.ts';

/** `waiting`: recovered, but no position can be entered for now. */
export const states = ['starting', 'recovering', 'waiting', 'ready', 'killed', 'stopping'] as const satisfies readonly (
  | DaemonState
  | 'waiting'
)[];

/** `decide`: code of a strategy. `weight`: waiting for request weight. `commit`: the journal on disk. `create`, `cancel`: a request and its answer. */
export type Stage = 'decide' | 'weight' | 'commit' | 'create' | 'cancel';

/** The outcome that an event of an order means; others are steps on the way. */
export const outcomes: Readonly<Partial<Record<EventKind, string>>> = {
  sending: 'sent',
  accepted: 'accepted',
  rejected: 'rejected',
  notSent: 'not_sent',
  unknown: 'unknown',
};

/** Upper bounds, s: from the code of a strategy to a request that hangs. */
const buckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

/** prom-client's delays of the event loop contain its poll interval. Ours do not, so its own are left out and polled seldom, ms. */
const seldomMs = 60_000;

/** A registry with all metrics, without values. */
export function definitions() {
  const registry = new Registry();
  const registers = [registry];
  /** By metric, for its page. */
  const labels = new Map<string, readonly string[]>();
  const options = <L extends string>(name: string, help: string, labelNames: readonly L[]) => {
    labels.set(name, labelNames);
    return { name, help, labelNames: [...labelNames], registers };
  };
  const gauge = <L extends string = never>(name: string, help: string, ...names: readonly L[]): Gauge<L> =>
    new Gauge(options(`sluice_${name}`, help, names));
  const counter = <L extends string = never>(name: string, help: string, ...names: readonly L[]): Counter<L> =>
    new Counter(options(`sluice_${name}_total`, help, names));
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: seldomMs });
  for (const { name } of registry.getMetricsAsArray())
    if (name.startsWith('nodejs_eventloop_lag')) registry.removeSingleMetric(name);
  return {
    registry,
    labels,
    build: gauge('build_info', 'Version of Sluice and Node, and the mode; the value is 1', 'version', 'mode', 'node'),
    state: gauge('state', 'What the daemon is doing: 1 for that state', 'state'),
    healthy: gauge('healthy', '1 if /health answers 200'),
    ready: gauge('ready', '1 if /ready answers 200'),
    orders: counter('orders', 'Orders by outcome: sent, accepted, rejected, not_sent, unknown', 'strategy', 'outcome'),
    fills: counter('fills', 'Fills', 'strategy', 'symbol', 'side'),
    denials: counter('denials', 'Orders denied by a risk rule', 'strategy', 'rule'),
    notices: counter('notices', 'Notices to the operator', 'level'),
    openOrders: gauge('open_orders', 'Orders that are not closed', 'strategy', 'symbol'),
    unknown: gauge('unknown_outcomes', 'Orders of unknown outcome, quarantined ones too'),
    unknownAge: gauge('unknown_outcome_age_seconds', 'Time since the oldest of them was decided'),
    latency: new Histogram({
      ...options('sluice_latency_seconds', 'Duration of decide, weight (waiting for it), commit, create and cancel', [
        'stage',
      ]),
      buckets,
    }),
    loopDelay: gauge(
      'event_loop_delay_seconds',
      'Delay of the event loop since the last scrape: half, 99 %, all',
      'quantile',
    ),
    feedAge: gauge('feed_age_seconds', 'Age of the last price', 'symbol'),
    marketData: gauge('market_data', '1 while market data comes'),
    weightUsed: gauge('request_weight_used', 'Request weight of the last minute', 'of'),
    weightLimit: gauge('request_weight_limit', 'Its limit; of: ip or uid', 'of'),
    requestsWaiting: gauge('requests_waiting', 'Requests that wait for weight'),
    banned: gauge('banned_seconds', 'Time for which the exchange forbids requests'),
    kills: gauge('kills_in_force', 'Kills and pauses in force', 'kind'),
    halts: gauge('halts_in_force', 'Halts in force'),
    equity: gauge('equity', 'Equity, in quote'),
    strategyEquity: gauge('strategy_equity', 'Equity of a strategy, of all its markets, in quote', 'strategy'),
    dayStartEquity: gauge('day_start_equity', 'Equity from which the daily loss is measured, in quote'),
    positionValue: gauge(
      'position_value',
      'Position at the last price, in quote; negative when short',
      'strategy',
      'symbol',
    ),
    journalBytes: gauge('journal_bytes', 'Size of the journal on disk'),
    diskFree: gauge('disk_free_bytes', 'Free space of the disk with the state directory'),
    alertsQueued: gauge('alerts_queued', 'Messages that wait to be sent', 'channel'),
    logLost: counter('log_lines_lost', 'Lines of the log that could not be written'),
  };
}
export type Definitions = ReturnType<typeof definitions>;
