/** The input and the result of a backtest, whichever engine runs it. */

import type { Database } from 'better-sqlite3';
import type { Tape } from '../data/tape.ts';
import type { Instrument } from '../domain/instrument.ts';
import { closeTime, type Interval } from '../domain/interval.ts';
import { type Columns, type FeedGap, mapColumns } from '../domain/market.ts';
import { minus, noRate, noUnits, plus, type Rate, type Units } from '../domain/money.ts';
import type { Account, AloneTimes, Fill, Intent, Leg } from '../domain/order.ts';
import { maxRate } from '../fill/fees.ts';
import type { Fees, Rules } from '../fill/rules.ts';
import { memoryHost } from '../journal/writer-hosts.ts';
import type { Allocation } from '../portfolio/portfolio.ts';
import type { Sizing } from '../portfolio/target-size.ts';
import { momentText } from '../report/figures.ts';
import type { EntryLosses } from '../research/entry-losses.ts';
import type { FillTable } from '../research/fill-table.ts';
import type { RefusedRow } from '../research/summary.ts';
import type { Limits, NewVersion } from '../risk/context.ts';
import type { Risk } from '../risk/risk.ts';
import type { NamedHosted } from '../trading/strategies.ts';
import type { PaperTrade } from '../venue/paper/records.ts';
import type { CashFlow, Charge, Currencies, FlowDone, MarginRules, MarginSums } from './prepare/run-money.ts';
import type { Pace } from './progress.ts';
import type { Asked } from './result/spent-weight.ts';

/** Klines of one symbol that strategies trade on. */
export interface RunSeries {
  readonly symbol: string;
  readonly interval: Interval;
  readonly columns: Columns;
  readonly gaps: readonly FeedGap[];
  /** The first row that may be traded on; those before it warm up. */
  readonly first: number;
  /** One past the last row. */
  readonly end: number;
  /** Where they come from, such as an exchange, where it is known. */
  readonly source?: string;
  /** Finer klines, which decide what these leave open. */
  readonly finer?: Columns;
}

export interface RunInput {
  readonly account: Account;
  readonly hosted: readonly NamedHosted[];
  readonly instruments: ReadonlyMap<string, Instrument>;
  readonly series: readonly RunSeries[];
  readonly allocations: readonly Allocation[];
  readonly cash: Units;
  readonly limits: Limits;
  /** Versions of code that may exceed `newVersionShare` only once they are released; left out: none. */
  readonly newVersions?: ReadonlyMap<string, NewVersion>;
  readonly rules: Rules;
  readonly fees: Fees;
  /** Where strategies are paid in several currencies: then the run is one for each (currencies.ts). */
  readonly currencies?: Currencies;
  /** Money paid in or out during the run, in the order of time. */
  readonly cashFlows?: readonly CashFlow[];
  /** With margin, strategies may borrow. */
  readonly margin?: MarginRules;
  /** Recorded trades and depth by symbol; without them, orders fill by klines. */
  readonly tapes?: ReadonlyMap<string, Tape>;
  /** Reports the progress of a long run, and says when to end it. */
  readonly pace?: Pace;
}

/** Orders that are large for their market. */
export interface ImpactSums {
  /** How many moved their own price, and what that cost them in quote: it is in the prices of their fills. */
  readonly orders: number;
  readonly cost: Units;
  /** The most of a usual day's volume that one of them asked for. */
  readonly largestShare: number;
  /** How many filled without impact since too few days are known, and the most of a day's volume that one of them asked for. */
  readonly unknownOrders: number;
  readonly largestUnknownShare: number;
}

export interface RunResult {
  readonly fills: readonly Fill[];
  /** The fills as columns, from an engine that keeps them so: then `fills` are made on request. */
  readonly table?: () => FillTable;
  /** One fill, from such an engine: all at once they take more memory than the run. */
  readonly fillAt?: (index: number) => Fill;
  /** Cash and positions at the last close, in quote, exact. */
  readonly finalEquity: Units;
  /** How much better ambiguous klines could have gone. */
  readonly couldBeBetterBy: Units;
  /** How much worse those could have gone in which a chosen path let a target come before the stop. */
  readonly couldBeWorseBy: Units;
  readonly ambiguousKlines: number;
  /** What large orders did to their own prices; left out where none was large. */
  readonly impact?: ImpactSums;
  /** Orders that were refused or not filled; left out where nothing can be refused. */
  readonly refused?: readonly RefusedRow[];
  /** The entries that were asked for; left out where none was denied or reduced. */
  readonly entries?: EntryLosses;
  /** The signals at which a target changed, in their order, and perhaps others; made on request. */
  readonly signals?: () => Iterable<Leg>;
  /** The orders it sent, calculated on request. */
  readonly asked: () => Asked;
  /** Why trading was stopped, when a limit stopped it. */
  readonly kills: readonly string[];
  /** UTC ms of the first; left out where none did. */
  readonly stoppedAt?: number;
  /** Requests to the exchange, where they are simulated. */
  readonly requests?: { readonly creates: number; readonly cancels: number; readonly queries: number };
  /** The final equity in each currency, where there are several. */
  readonly finals?: readonly { readonly asset: string; readonly equity: Units }[];
  /** The cash flows that were due, carried out or refused. */
  readonly cashFlows?: readonly FlowDone[];
  /** The costs of margin, charge by charge and in all. */
  readonly margin?: MarginSums & { readonly charges: readonly Charge[] };
  /** Of strategies that say what becomes of legs that are open alone. */
  readonly legsAlone?: readonly AloneTimes[];
  /** UTC ms of the last close that counted, where the run was ended early. */
  readonly endedAt?: number;
  /** Every signal, denial, order and fill as rows; written on request, since it takes longer than the run. */
  journal(): Database;
}

/** A run over klines that advances in steps. */
export interface BacktestEngine {
  /** Klines that are done, of all series, and the last close among them, UTC ms. */
  readonly done: number;
  readonly closedAt: number;
  /** Advances over about this many klines of each series. `unsupported`: another engine has to make the run. */
  advance(klines: number): 'more' | 'done' | 'unsupported';
  /** Waits for pending signals of strategies; throws what they threw. */
  finish?(): Promise<void>;
  /** The result of the klines that are done; `endedAt` (UTC ms) where the run was ended early. */
  result(endedAt?: number): RunResult;
}

/** The share of a purchase that a fee in base may take. */
export const feeInBase = ({ rules, fees }: Pick<RunInput, 'rules' | 'fees'>): Rate =>
  rules.feeIn === 'received' ? maxRate(fees) : noRate;

/** How the rules turn targets into orders. */
export const planTerms = (input: Pick<RunInput, 'account' | 'rules' | 'fees' | 'limits'>) => ({
  account: input.account,
  maxLeverage: input.limits.maxLeverage,
  marketBuyIn: input.rules.marketBuyIn,
  feeInBase: feeInBase(input),
  sizing: {
    fee: input.rules.sizing === 'close' ? noRate : maxRate(input.fees),
    atFill: input.rules.sizing === 'fillWithFee',
  } satisfies Sizing,
});

/** A trade of the simulated account as our own fill. */
export const fillOf = (trade: PaperTrade, intent: Intent): Fill => ({
  tradeId: trade.tradeId,
  orderId: trade.orderIds[0] as string,
  clientOrderId: intent.clientOrderId,
  strategy: intent.strategy,
  account: intent.account,
  symbol: trade.symbol,
  side: trade.side,
  price: trade.price,
  quantity: trade.quantity,
  fee: trade.fee,
  feeAsset: trade.feeAsset,
  maker: trade.maker,
  time: trade.time,
  purpose: intent.purpose,
  evidence: trade.evidence,
});

/** The currency of the equity: the quote asset of the symbols, or the named one of several. */
export const quoteAsset = ({ instruments, currencies }: Pick<RunInput, 'instruments' | 'currencies'>): string =>
  currencies?.reporting ?? [...instruments.values()][0]?.quote ?? '';

export const openingBalances = (input: RunInput): readonly { asset: string; free: Units; locked: Units }[] => [
  { asset: quoteAsset(input), free: input.cash, locked: noUnits },
];

/** Cash that is allocated to no strategy; it stays part of the equity. */
export const idleCash = ({ cash, allocations }: RunInput): Units => {
  const allotted = allocations.reduce((sum, { amount }) => plus(sum, amount), noUnits);
  return minus(cash, allotted);
};

export { memoryHost };

/** When the first and the last kline of each series open. */
export const endsOf = (series: readonly RunSeries[]): readonly number[] =>
  series.flatMap(({ columns, first, end }) => [columns.openTime[first] ?? 0, columns.openTime[end - 1] ?? 0]);

/** A series without the rows after its end. */
export const upToEnd = (series: RunSeries): RunSeries => ({
  ...series,
  columns: mapColumns(series.columns, (column) => column.subarray(0, series.end)),
});

/** From the first open to the last close of a run, and how many klines lie between. */
export const spanOf = (
  series: readonly Pick<RunSeries, 'interval' | 'columns' | 'first' | 'end'>[],
): { readonly start: number; readonly end: number; readonly of: number } => ({
  start: Math.min(...series.map(({ columns, first }) => columns.openTime[first] as number)),
  end: Math.max(
    ...series.map(({ columns, interval, end }) => closeTime(interval, columns.openTime[end - 1] as number)),
  ),
  of: series.reduce((sum, { first, end }) => sum + end - first, 0),
});

/** Why trading was stopped, and when first. */
export const killsOf = ({ switch: { inForce } }: Pick<Risk, 'switch'>): Pick<RunResult, 'kills' | 'stoppedAt'> => ({
  // The first has its time beside it.
  kills: inForce.map(({ reason, at }, index) => (index === 0 ? reason : `${momentText(at)} UTC: ${reason}`)),
  ...(inForce.length > 0 && { stoppedAt: Math.min(...inForce.map(({ at }) => at)) }),
});
