/** The schema of a configuration. Unknown keys are refused; money is quoted text, so that no digit is lost. */
import { z } from 'zod';
import { type Rate, rate, rateNumber } from '../domain/money.ts';
import { alerts } from './alerts.ts';
import {
  amount,
  asset,
  bySymbol,
  cash,
  count,
  feeRate,
  fraction,
  interval,
  limit,
  plainDecimal,
  positiveMs,
  symbol,
  url,
} from './fields.ts';
import { log } from './log.ts';
import { metrics } from './metrics.ts';
import { momentOf, momentWanted } from './times.ts';

const market = z.strictObject(
  { symbol, interval: interval.optional() },
  { error: ({ code }) => (code === 'invalid_type' ? 'must have its symbol, such as { symbol: BTCUSDT }' : undefined) },
);

const oneStrategy = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be lower case letters, digits and dashes, at most 32'),
  use: z.string().min(1),
  symbol: symbol.optional(),
  /** Of a strategy of several markets: the symbol of each role, and its interval where it is another. */
  markets: z.record(z.string(), market).optional(),
  /** Of a strategy that chooses among symbols. */
  symbols: z.array(symbol).min(1).optional(),
  interval,
  params: z.record(z.string(), z.unknown()).default({}),
  allocation: amount.optional(),
  /** What it may do at most, beside the limits of all. */
  limits: z
    .strictObject({
      maxOrderValue: limit.optional(),
      maxPosition: limit.optional(),
      maxGross: amount.optional(),
      maxNet: amount.optional(),
      maxOpenOrders: count.optional(),
    })
    .prefault({}),
  /** For the weight plan alone: nothing holds a strategy to it. */
  expects: z
    .strictObject({
      /** One for each kline when left out. */
      ordersPerMinute: z.number().min(0).max(2_400).optional(),
      resting: z.boolean().default(true),
    })
    .prefault({}),
});

/** One of the three says what it trades; `symbol` is the first of several. */
const strategy = oneStrategy
  .superRefine(({ symbol, markets, symbols }, context) => {
    const given = Object.entries({ symbol, markets, symbols }).filter(([, value]) => value !== undefined);
    if (given.length === 0)
      context.addIssue({
        code: 'custom',
        path: ['symbol'],
        message: 'is missing: what it trades, such as BTCUSDT; of several: markets, or symbols',
      });
    for (const [second] of given.slice(1))
      context.addIssue({
        code: 'custom',
        path: [second],
        message: `cannot stand beside ${given[0]?.[0]}: a strategy has one symbol, or markets by role, or symbols to choose among`,
      });
    const twice = symbols?.find((symbol, index) => symbols.indexOf(symbol) < index);
    if (twice !== undefined) context.addIssue({ code: 'custom', path: ['symbols'], message: `names ${twice} twice` });
  })
  .transform((one) => ({
    ...one,
    symbol: one.symbol ?? one.symbols?.[0] ?? Object.values(one.markets ?? {})[0]?.symbol ?? '',
  }));
export type StrategyConfig = z.output<typeof strategy>;

const risk = z.strictObject({
  maxOrderValue: limit,
  maxPosition: limit,
  priceCollar: fraction.default(rate('0.03')),
  maxDataAgeMs: positiveMs.default(10_000),
  duplicateWindowMs: z.int().min(0).max(86_400_000).default(2_000),
  maxOrdersPerSecond: z.int().min(1).max(40).default(20),
  maxDailyLoss: fraction
    .refine((loss) => loss > 0n, 'must be above "0": it is the loss at which creation stops')
    .default(rate('0.03')),
  /** Whether limits that are left out below hold by their standard value; left out: where the exchange is not on this machine. */
  controls: z.enum(['all', 'stated']).optional(),
  maxOrderShare: fraction.optional(),
  maxPositionShare: fraction.optional(),
  maxAccountShare: fraction.optional(),
  maxSlippage: fraction.optional(),
  maxDepthAgeMs: positiveMs.optional(),
  maxDepthShare: fraction.optional(),
  maxMove: fraction.optional(),
  moveWindowMs: positiveMs.optional(),
  maxStrategyOrdersPerSecond: count.optional(),
  maxOpenOrders: count.optional(),
  noSelfMatch: z.boolean().optional(),
  maxEntries: count.optional(),
  maxConsecutiveLosses: count.optional(),
  maxDenials: count.optional(),
  maxSignalsPerSecond: count.optional(),
  maxDecideMs: positiveMs.optional(),
  maxDrawdown: fraction
    .refine((fall) => fall > 0n, 'must be above "0": it is the fall at which creation stops')
    .optional(),
  newVersionShare: fraction.optional(),
  symbols: z.array(symbol).optional(),
});
export type RiskConfig = z.output<typeof risk>;

const fees = z.strictObject({ maker: feeRate.optional(), taker: feeRate.optional() });

const strategies = z
  .array(strategy)
  .min(1, 'needs at least one strategy')
  .superRefine((list, context) => {
    const seen = new Set<string>();
    for (const [index, { id }] of list.entries()) {
      if (seen.has(id))
        context.addIssue({
          code: 'custom',
          path: [index, 'id'],
          message: `"${id}" is used twice; each strategy needs an id of its own`,
        });
      seen.add(id);
    }
  });

/** A daemon's strategies say what they may use: it must not change with what the account happens to hold at a start. */
const allotted = strategies.superRefine((list, context) => {
  for (const [index, { allocation }] of list.entries()) {
    if (allocation === undefined)
      context.addIssue({
        code: 'custom',
        path: [index, 'allocation'],
        message: 'is missing: the quote amount that this strategy may use, such as "1000"',
      });
  }
});

const common = { account: z.enum(['spot', 'margin']).default('spot'), strategies, risk, fees: fees.default({}) };

/** True for an address of this machine. */
export const isLoopback = (address: string): boolean =>
  ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(address).hostname);

/** Why no gateway at this address can take the prefix from the paths of requests; one that is misspelled would make every signature wrong. */
export function whyNotStripped(restUrl: string, prefix: string): string | undefined {
  const begin = `${new URL(restUrl).pathname.replace(/\/+$/, '')}/sapi/`;
  return prefix.startsWith('/') && !prefix.endsWith('/') && begin.startsWith(`${prefix}/`)
    ? undefined
    : `must be what the paths of requests begin with (here ${begin}…), from / on and without one at the end, not ${prefix}`;
}

const exchange = z
  .strictObject({
    restUrl: url(['http:', 'https:']),
    wsUrl: url(['ws:', 'wss:']),
    speed: z.number().positive().max(1_000).default(1),
    stripPrefix: z.string().optional(),
  })
  .superRefine(({ restUrl, wsUrl, speed, stripPrefix }, context) => {
    const against =
      stripPrefix === undefined || !URL.canParse(restUrl) ? undefined : whyNotStripped(restUrl, stripPrefix);
    if (against !== undefined) context.addIssue({ code: 'custom', path: ['stripPrefix'], message: against });
    for (const [name, address] of Object.entries({ restUrl, wsUrl })) {
      if (!URL.canParse(address) || isLoopback(address)) continue;
      if (!/^(https|wss):/.test(address))
        context.addIssue({
          code: 'custom',
          path: [name],
          message: 'must be encrypted (https:// or wss://) unless it is on this machine',
        });
      if (speed !== 1)
        context.addIssue({
          code: 'custom',
          path: ['speed'],
          message: 'may differ from 1 only for an exchange on this machine',
        });
    }
  });

/** `config/live.yaml` and `config/paper.yaml`. */
export const tradingSchema = z
  .strictObject({
    exchange,
    ...common,
    /** Nobody and nothing else trades on the account: orders that the exchange shows without a client id are found by what they are. */
    dedicatedAccount: z.boolean().default(false),
    strategies: allotted,
    requestWeight: z
      .strictObject({
        ipWeightPerMinute: z.int().min(100).max(1_000_000).default(12_000),
        uidWeightPerMinute: z.int().min(100).max(1_000_000).default(60_000),
      })
      .prefault({}),
    execution: z
      .strictObject({
        pollMs: positiveMs.default(1_000),
        sweepMs: positiveMs.default(5_000),
        absentAfterMs: positiveMs.default(60_000),
        maxSendDelayMs: positiveMs.default(10_000),
        /** Only on a dedicated account: orders of a batch have no client id at the exchange. */
        batchCreate: z.boolean().default(false),
        /** A key that may withdraw is a danger that a daemon does not need. */
        withdrawKey: z.enum(['refused', 'accepted']).default('refused'),
      })
      .prefault({}),
    /** For `sluice watchdog`, a process of its own. */
    watchdog: z.strictObject({ afterMs: z.int().min(1_000).max(3_600_000).default(30_000) }).prefault({}),
    dashboard: z.strictObject({ port: z.int().min(0).max(65_535).default(0) }).prefault({}),
    alerts: alerts.optional(),
    log,
    metrics: metrics.optional(),
    onShutdown: z.enum(['cancel', 'keep']).default('cancel'),
    /** Whether the market that is traded on is recorded, too. */
    record: z.boolean().default(false),
    /** Where to, relative to the configuration; left out, `var/data` in the working directory. */
    catalogue: z.string().min(1).optional(),
    /** What recorded frames may take on the disk, MB. */
    recordMaxMb: z.int().min(1).max(1_000_000_000).default(20_000),
    /** Paper only: what the account begins with, in quote, and the rules of the fill engine. */
    cash: cash.optional(),
  })
  .refine(({ dedicatedAccount, execution: { batchCreate } }) => dedicatedAccount || !batchCreate, {
    path: ['execution', 'batchCreate'],
    message:
      'needs dedicatedAccount: true, which says that nobody else trades on the account: orders of a batch carry no client id',
  });
export type TradingConfig = z.output<typeof tradingSchema>;

const moment = z
  .union([z.string(), z.date()], { error: `must be ${momentWanted}` })
  .transform((value) => (typeof value === 'string' ? momentOf(value) : value.getTime()))
  .refine((time) => Number.isFinite(time), `must be ${momentWanted}`);

const latencyMs = z.int().min(0).max(86_400_000);

/** What differs from the ruleset. */
const fills = z.strictObject({
  halfSpread: fraction.optional(),
  slippage: fraction.optional(),
  penetrationTicks: z.int().min(0).max(1_000).optional(),
  limitParticipation: fraction.optional(),
  marketParticipation: fraction.optional(),
  stopSlippageShare: fraction.optional(),
  worseOfOpenAndClose: z.boolean().optional(),
  feedLatencyMs: latencyMs.optional(),
  entryLatencyMs: latencyMs.optional(),
  responseLatencyMs: latencyMs.optional(),
  /** A CSV file of measured latencies, relative to the configuration. */
  latencies: z.string().min(1).optional(),
  latencyDrawn: z.boolean().default(false),
  pollMs: positiveMs.optional(),
  staleAfterMs: positiveMs.optional(),
  maxDepthAgeMs: positiveMs.optional(),
  beyondDepth: fraction.optional(),
  queue: z.enum(['riskAverse', 'log', 'log2', 'power', 'power2', 'power3']).optional(),
  queueExponent: z.number().positive().max(100).optional(),
  assumedQueue: z.number().min(0).max(1e12).optional(),
  touchChance: z.number().min(0).max(1).optional(),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .optional(),
  path: z.enum(['pessimistic', 'OHLC', 'OLHC', 'nearest']).optional(),
  impact: z.enum(['none', 'squareRoot', 'volumeShare']).optional(),
  closeAtEnd: z.boolean().optional(),
});

/** What a margin account costs and allows: nobody publishes it, so every word is the user's. */
const margin = z
  .strictObject({
    /** Most that a strategy may hold or be short of, as a multiple of its equity. */
    maxLeverage: plainDecimal
      .regex(/^([1-9]\d?|100)(\.\d{1,8})?$/, 'must be a multiple from "1" to "100" with at most 8 decimals')
      .transform((text): Rate => rate(text)),
    /** Equity over what is held below which the exchange leaves the position. */
    maintenanceRatio: fraction,
    /** Of the value that is sold or bought back then. */
    liquidationFee: fraction,
    /** Of what is borrowed of an asset, each time. */
    interest: z.record(asset, fraction),
    interestEveryHours: z.int().min(1).max(24),
  })
  .refine(
    ({ maxLeverage, maintenanceRatio }) => rateNumber(maxLeverage) * rateNumber(maintenanceRatio) < 1,
    'maintenanceRatio must be below one over maxLeverage: else a position is liquidated as soon as it is entered',
  );

/** `config/backtest.yaml` and the scenarios in `backtests/`. */
export const backtestSchema = z.strictObject({
  ...common,
  /** A klines file for each symbol, relative to the configuration; `catalogue`, or nothing, for what was imported. */
  data: bySymbol(z.string().min(1)).default({}),
  /** The interval of a symbol's klines where that is smaller than its strategies'; these are made from them, and orders fill by them. */
  dataIntervals: bySymbol(interval).default({}),
  /** Files of trades and of books for a symbol, relative to the configuration; `catalogue`: what was imported. */
  trades: bySymbol(z.string().min(1)).default({}),
  depth: bySymbol(z.string().min(1)).default({}),
  /** By what orders fill where more than klines is there; `trades` and `depth` require it. */
  fidelity: z.enum(['auto', 'klines', 'trades', 'depth']).default('auto'),
  /** The folder of imported data, relative to the configuration; `var/data` in the working directory when left out. */
  catalogue: z.string().min(1).optional(),
  /** A file of instruments, relative to the configuration; the built-in one when left out. */
  instruments: z.string().min(1).optional(),
  from: moment.optional(),
  to: moment.optional(),
  cash,
  /** What the equity is counted in, where strategies are paid in several currencies. */
  currency: asset.optional(),
  /** The other currencies: what there is of each, what it is worth, and its limits. */
  currencies: z
    .record(
      asset,
      z.strictObject({
        cash,
        /** The symbol whose closes are the rate. */
        pair: symbol,
        interval: interval.default('60min'),
        /** A klines file of the pair, relative to the configuration; `catalogue`, or nothing, for what was imported. */
        data: z.string().min(1).optional(),
        /** A rate that is older ends the run before it begins. */
        maxRateAgeMs: z
          .int()
          .min(1)
          .max(31 * 86_400_000)
          .default(86_400_000),
        maxOrderValue: limit,
        maxPosition: limit,
      }),
    )
    .default({}),
  /** The rules of `account: margin`. */
  margin: margin.optional(),
  /** Money that is paid in or out while the run goes on. */
  cashFlows: z
    .array(
      z.strictObject({
        time: moment,
        currency: asset,
        amount: amount.refine((moved) => moved > 0n, 'must be above "0"'),
        kind: z.enum(['deposit', 'withdrawal']),
        /** Who may use it, or has to spare it. */
        strategy: z.string().min(1).optional(),
        reason: z.string().min(1),
      }),
    )
    .max(10_000)
    .default([]),
  rules: z.enum(['sluice', 'plain', 'backtesting.py', 'backtrader', 'vectorbt']).default('sluice'),
  fills: fills.prefault({}),
  /** Rates of a symbol in place of `fees`, and rates from a volume of 30 days on, in quote. */
  symbolFees: bySymbol(z.strictObject({ maker: feeRate, taker: feeRate })).optional(),
  feeTiers: z
    .array(z.strictObject({ volume: amount, maker: feeRate, taker: feeRate }))
    .min(1)
    .refine(
      (tiers) => tiers.every(({ volume }, at) => at === 0 || volume > (tiers[at - 1]?.volume ?? volume)),
      'must rise by volume',
    )
    .optional(),
  /** An interval of the catalogue whose klines decide what larger ones leave open. */
  detail: interval.optional(),
  repair: z.boolean().default(false),
  /** A year's return without risk, taken off before ratios are formed. */
  riskFree: fraction.default(rate('0')),
});
export type BacktestConfig = z.output<typeof backtestSchema>;
