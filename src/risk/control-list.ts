/**
 * Every control that a trading program should have, its implementation here, and its standard value. `docs/reference/controls.md` is made
 * from this file.
 */
import { rate } from '../domain/money.ts';
import type { Limits } from './context.ts';
import type { KillingLimit } from './kill.ts';

/** A limit of the configuration that has a standard value. */
export interface Standard {
  /** The key below `risk`. */
  readonly key: string;
  /** As it would stand in a configuration. */
  readonly value: string | number | boolean;
  /** Which way is more careful; `only` is the one value that is. */
  readonly careful: 'lower' | 'higher' | 'only';
}

const lower = (key: string, value: string | number): Standard => ({ key, value, careful: 'lower' });

/** What holds where money is real and nothing else is configured; a value that is less careful needs `sluice limits raise`. */
export const standards = [
  lower('priceCollar', '0.03'),
  lower('maxDataAgeMs', 10_000),
  { key: 'duplicateWindowMs', value: 2_000, careful: 'higher' },
  lower('maxOrdersPerSecond', 20),
  lower('maxDailyLoss', '0.03'),
  lower('maxOrderShare', '0.02'),
  lower('maxPositionShare', '0.25'),
  lower('maxAccountShare', '0.8'),
  lower('maxSlippage', '0.01'),
  lower('maxDepthAgeMs', 3_000),
  lower('maxDepthShare', '0.2'),
  lower('maxMove', '0.05'),
  { key: 'moveWindowMs', value: 60_000, careful: 'higher' },
  lower('maxStrategyOrdersPerSecond', 5),
  lower('maxOpenOrders', 50),
  { key: 'noSelfMatch', value: true, careful: 'only' },
  lower('maxEntries', 20),
  lower('maxConsecutiveLosses', 5),
  lower('maxDenials', 100),
  lower('maxSignalsPerSecond', 100),
  lower('maxDecideMs', 1_000),
  lower('maxDrawdown', '0.08'),
  lower('newVersionShare', '0.1'),
] as const satisfies readonly Standard[];

/** Every standard value, as the rules take it. */
export const standardLimits = Object.fromEntries(
  standards.map(({ key, value }) => [key, typeof value === 'string' ? rate(value) : value]),
) as Partial<Limits>;

/** True when a value is less careful than the standard one. */
export function isAbove({ value: standard, careful }: Standard, value: string | number | boolean): boolean {
  if (careful === 'only') return value !== standard;
  const [given, usual] = [Number(value), Number(standard)];
  return careful === 'lower' ? given > usual : given < usual;
}

/** `hard`: fixed. `soft`: you may raise its number by a confirmed and journalled step. */
export type Block = 'hard' | 'soft';

export interface Control {
  /** The expected control, as the document calls it. */
  readonly expected: string;
  /** Rules of `rules.ts` that an order has to pass, each with the key of its number or the reason why it has none. */
  readonly rules: Readonly<Record<string, string>>;
  /** Limits that kill. */
  readonly kills: readonly KillingLimit[];
  /** What does it where it is no rule of an order. */
  readonly elsewhere: string;
}

const control = (
  expected: string,
  rules: Control['rules'],
  elsewhere = '',
  kills: readonly KillingLimit[] = [],
): Control => ({ expected, rules, kills, elsewhere });

export const controls: readonly Control[] = [
  control('Credit and capital threshold', {
    positionShare: 'maxPositionShare',
    accountShare: 'maxAccountShare',
    position: 'maxPosition',
    allocation: 'hard: a strategy spends its allocation and profit',
    leverage: 'hard: `margin.maxLeverage`, in backtests on margin alone',
    holdings: 'hard: on spot you can sell only your position',
  }),
  control('Erroneous price', {
    collar: 'priceCollar',
    slippage: 'maxSlippage',
    depthAge: 'maxDepthAgeMs',
    staleData: 'maxDataAgeMs',
    minimum: "hard: the exchange's own minimum",
  }),
  control('Period collar', { move: 'maxMove' }),
  control('Max order value', { orderShare: 'maxOrderShare', orderValue: 'maxOrderValue' }),
  control('Max volume', { depthShare: 'maxDepthShare' }),
  control(
    'Message limit',
    { orderRate: 'maxOrdersPerSecond', strategyRate: 'maxStrategyOrdersPerSecond' },
    'Creates use at most 80 % of the request weight; cancels and queries keep the rest. `maxSignalsPerSecond` limits signals.',
  ),
  control('Duplicate orders', { duplicate: 'duplicateWindowMs' }),
  control(
    'Include sent orders immediately',
    {},
    'An order counts as exposure from its reservation until it is closed, also while its outcome is unknown.',
  ),
  control(
    'Repeated execution throttle',
    {},
    'The strategy is killed until `sluice resume --strategy ID`. Exits go on.',
    ['entries', 'losses', 'denials', 'decideTime'],
  ),
  control('Permission, restricted list', { allowList: 'hard: `symbols`, and the strategies of the configuration' }),
  control(
    'Deployment limits',
    {
      strategyOrderValue: '`strategies.limits.maxOrderValue`',
      strategyPosition: '`strategies.limits.maxPosition`',
      strategyGross: '`strategies.limits.maxGross`',
      strategyNet: '`strategies.limits.maxNet`',
      newVersion: 'newVersionShare',
    },
    'The configuration sets instrument and exchange, `strategies.limits.maxOpenOrders` the number of orders, `priceCollar` the price. A new version of the code gets a part of its allocation until `sluice limits release STRATEGY`.',
  ),
  control(
    'Kill',
    { killed: 'hard: until `sluice resume`', paused: 'hard: until `sluice resume`' },
    'Kill by `sluice kill`, the dashboard, the file `kill` or SIGUSR2, for one strategy or all. `sluice pause` stops entries alone. Each order is checked again right before it is sent.',
  ),
  control(
    'Cancel on disconnect',
    {},
    '`sluice watchdog`, a separate process with its own key, cancels after 30 s without a heartbeat.',
  ),
  control('Self-match', { selfMatch: 'noSelfMatch' }),
  control('Max open orders', { openOrders: 'maxOpenOrders' }),
  control('Loss limit', {}, 'All strategies are killed. Exits go on.', ['dailyLoss', 'drawdown']),
  control(
    'Real-time alerts',
    {},
    'Log, dashboard and terminal show each kill, HALT, denial and notice. Kills and HALT stay visible until you resume. `alerts` sends them to people, until they are acknowledged where a route says so.',
  ),
  control(
    'Post-trade reconciliation',
    {},
    'Every symbol is swept each `execution.sweepMs` (5 s). The ledger is compared with the balances each minute; a lasting difference halts trading.',
  ),
  control('Stress test', {}, '`node bench/kill.ts` and `npm run torture -- --kind load` send ten times the messages.'),
  control(
    'Soft and hard blocks',
    {},
    'Every rule denies. You can raise the number of a soft rule by a confirmed, journalled step (`sluice limits raise`). A hard rule has none.',
  ),
  control(
    'Change control',
    {},
    'Each start journals the SHA-256 of the configuration and of each strategy (`sluice limits`). One directory runs one daemon, so one version trades.',
  ),
];

/** Whether a human may raise what a rule refuses by. */
export const blockOf = (rule: string): Block =>
  controls.some((one) => one.rules[rule]?.startsWith('hard') === true) ? 'hard' : 'soft';
