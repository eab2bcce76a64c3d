/**
 * Every control that is expected of a trading program (order-protocol §5), what does it here, and what it is where nothing else
 * is configured. `docs/reference/controls.md` is made of this file.
 */
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
  { key: 'duplicateMs', value: 2_000, careful: 'higher' },
  lower('maxOrdersPerSecond', 20),
  lower('maxDailyLoss', '0.03'),
  lower('maxOrderShare', '0.02'),
  lower('maxPositionShare', '0.25'),
  lower('maxAccountShare', '0.8'),
  lower('maxSlippage', '0.01'),
  lower('maxBookAgeMs', 3_000),
  lower('maxDepthShare', '0.2'),
  lower('maxMove', '0.05'),
  { key: 'moveMs', value: 60_000, careful: 'higher' },
  lower('maxStrategyOrdersPerSecond', 5),
  lower('maxOpenOrders', 50),
  { key: 'noSelfMatch', value: true, careful: 'only' },
  lower('maxEntries', 20),
  lower('maxStraightLosses', 5),
  lower('maxDenials', 100),
  lower('maxSignalsPerSecond', 100),
  lower('maxThinkingMs', 1_000),
  lower('maxDrawdown', '0.08'),
  lower('newVersionShare', '0.1'),
] as const satisfies readonly Standard[];

/** True when a value is less careful than the standard one. */
export function isAbove({ value: standard, careful }: Standard, value: string | number | boolean): boolean {
  if (careful === 'only') return value !== standard;
  const [given, most] = [Number(value), Number(standard)];
  return careful === 'lower' ? given > most : given < most;
}

/** `hard`: nobody can lift it. `soft`: it refuses, too, but a human may raise its number, confirmed and written down. */
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
    allocation: 'hard: a strategy spends what it was allotted and earned',
    leverage: 'hard: `margin.maxLeverage`, in backtests on margin alone',
    holdings: 'hard: on spot only what is held can be sold',
  }),
  control('Erroneous price', {
    collar: 'priceCollar',
    slippage: 'maxSlippage',
    bookAge: 'maxBookAgeMs',
    staleData: 'maxDataAgeMs',
    minimum: "hard: the exchange's own minimum",
  }),
  control('Period collar', { move: 'maxMove' }),
  control('Max order value', { orderShare: 'maxOrderShare', orderValue: 'maxOrderValue' }),
  control('Max volume', { depthShare: 'maxDepthShare' }),
  control(
    'Message limit',
    { orderRate: 'maxOrdersPerSecond', strategyRate: 'maxStrategyOrdersPerSecond' },
    'Request weight: creates use at most 80 % of either window, the rest is kept for cancels and queries (`src/budget`). Signals: `maxSignalsPerSecond`.',
  ),
  control('Duplicate orders', { duplicate: 'duplicateMs' }),
  control(
    'Include sent orders immediately',
    {},
    'An order counts as exposure from its reservation on, before it is journalled or sent, until it is closed; also while its outcome is unknown (`src/portfolio/portfolio.ts`).',
  ),
  control(
    'Repeated execution throttle',
    {},
    'The strategy is disabled: killed by name, durably, until `sluice resume --strategy ID`. Exits by a stop go on.',
    ['entries', 'losses', 'denials', 'thinking'],
  ),
  control('Permission, restricted list', { allowList: 'hard: `symbols`, and the strategies of the configuration' }),
  control(
    'Deployment limits',
    {
      strategyOrderValue: '`strategies.limits.maxOrderValue`',
      strategyPosition: '`strategies.limits.maxPosition`',
      newVersion: 'newVersionShare',
    },
    'Instrument and exchange are those of the configuration; the number of orders is `strategies.limits.maxOpenOrders`, the price the collar. A new version of the code, told by its hash, begins with a part of its allocation until `sluice limits release STRATEGY`.',
  ),
  control(
    'Kill',
    { killed: 'hard: until `sluice resume`' },
    '`sluice kill`, the dashboard, the file `kill` in the state directory, the signal SIGUSR2; of one strategy or all. Asked again at the last hop before the socket.',
  ),
  control(
    'Cancel on disconnect',
    {},
    '`sluice watchdog`, a process with a key of its own: after 30 s without heartbeat.',
  ),
  control('Self-match', { selfMatch: 'noSelfMatch' }),
  control('Max open orders', { openOrders: 'maxOpenOrders' }),
  control('Loss limit', {}, 'Everything is killed, durably; exits by a stop go on.', ['dailyLoss', 'drawdown']),
  control(
    'Real-time alerts',
    {},
    'A kill, HALT or notice is in the log, on the dashboard and in the terminal as it happens, a denial in the journal and on the dashboard; kills and HALT stand there until somebody resumes. Nothing leaves the machine: waking somebody up is for what reads the log.',
  ),
  control(
    'Post-trade reconciliation',
    {},
    'A sweep of every traded symbol each `execution.sweepMs` (5 s), the ledger against the balances each minute; a difference that stays is a HALT.',
  ),
  control('Stress test', {}, '`node bench/kill.ts` and `npm run torture -- --kind load`: ten times the messages.'),
  control(
    'Soft and hard blocks',
    {},
    'Every rule denies. A soft one has a number that a human may raise by a confirmed, journalled step (`sluice limits raise`), asked once; a hard one has none.',
  ),
  control(
    'Change control',
    {},
    "The configuration's SHA-256 and each strategy's are journalled and logged at every start (`sluice limits`); one directory holds one daemon, so one version trades.",
  ),
];

/** Whether a human may raise what a rule refuses by. */
export const blockOf = (rule: string): Block =>
  controls.some((one) => one.rules[rule]?.startsWith('hard') === true) ? 'hard' : 'soft';
