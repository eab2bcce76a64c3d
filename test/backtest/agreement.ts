/** One question put to the column loop, to the live graph and to the slow reference; their answers as rows that compare. */
import type { Database } from 'better-sqlite3';
import { filter, map } from 'rxjs';
import { runBacktest } from '../../src/backtest/engines.ts';
import type { MarginRules } from '../../src/backtest/prepare/run-money.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import { type Instrument, instrument } from '../../src/domain/instrument.ts';
import { type Interval, intervalMs } from '../../src/domain/interval.ts';
import type { Columns } from '../../src/domain/market.ts';
import { Decimal, lots, plus, type Rate, rate, ticks, units, unitsText } from '../../src/domain/money.ts';
import type { Signal as ProductWant } from '../../src/domain/order.ts';
import { feesFrom, type Rules, type RulesetName, rulesets } from '../../src/fill/rules.ts';
import { defineStrategy, isDeciding, type Strategy } from '../../src/strategy/contract.ts';
import { decider } from '../../src/strategy/host.ts';
import { type Params, readParams } from '../../src/strategy/params.ts';
import { wide } from '../kit/builders.ts';
import { runNow } from '../kit/run-now.ts';
import { together } from '../reference/reference.ts';
import type {
  Kline,
  Margin,
  Strategy as PlainStrategy,
  Question,
  Instrument as ReferenceInstrument,
  Rules as ReferenceRules,
  Signal,
} from '../reference/types.ts';
import { rulesets as referenceRules } from '../reference/types.ts';
import { asProduct, inMs } from './product-signals.ts';

/** What all three are asked. */
export interface Case {
  readonly symbol: string;
  readonly interval: Interval;
  readonly instrument: ReferenceInstrument;
  readonly columns: Columns;
  readonly rules: RulesetName;
  readonly fees: { readonly maker: string; readonly taker: string };
  readonly cash: string;
  /** The risk limit of that name; without it there is none that binds. */
  readonly maxPosition?: string;
  /** The strategy as the product runs it. */
  readonly strategy: Strategy;
  readonly params: Readonly<Record<string, number>>;
  /** Money paid in, or out (negative), in the order of time. */
  readonly flows?: readonly { readonly time: number; readonly amount: string }[];
  /** An account on margin, and its rules. */
  readonly margin?: Margin;
  /** The strategy's interval, where that is larger than the one of the klines. */
  readonly decidesOn?: Interval;
  /** Whether what is held at the end is sold at the last close. */
  readonly closeAtEnd?: boolean;
  /** What differs from the ruleset, in the reference's words. */
  readonly fills?: Changed;
}

type Rates = 'halfSpread' | 'limitParticipation' | 'marketParticipation' | 'stopSlippageShare';
type Changed = Partial<Pick<ReferenceRules, Rates | 'penetrationTicks' | 'delayKlines' | 'path'>>;

/** The instrument of most tests. */
export const xz: ReferenceInstrument = {
  base: 'X',
  quote: 'Z',
  pricePrecision: 2,
  quantityPrecision: 4,
  minQuantity: '0.001',
  minNotional: '1',
};

/** Minutes of `xz` with what most tests take beside them; rules and cash are each test's own. */
export const caseOfXz = (given: Pick<Case, 'columns' | 'strategy' | 'rules' | 'cash'> & Partial<Case>): Case => ({
  symbol: 'XZ',
  interval: '1min',
  instrument: xz,
  fees: { maker: '0.001', taker: '0.002' },
  params: {},
  ...given,
});

/** What came of a run, in the reference's words. */
export interface Rows {
  readonly decisions: readonly { readonly time: number; readonly signal: unknown }[];
  readonly orders: readonly {
    readonly number: number;
    readonly side: unknown;
    readonly purpose: unknown;
    readonly state: unknown;
  }[];
  readonly fills: readonly { readonly order: number }[];
  readonly equity: string;
  readonly ambiguousKlines: number;
  /** On margin. */
  readonly charges?: readonly { readonly time: number; readonly kind: unknown; readonly amount: string }[];
}

export const columnsOf = (klines: readonly Kline[]): Columns => {
  const column = (name: keyof Kline): Float64Array => Float64Array.from(klines, (kline) => kline[name]);
  return {
    openTime: column('time'),
    open: column('open'),
    high: column('high'),
    low: column('low'),
    close: column('close'),
    volume: column('volume'),
  };
};

export const klinesOf = ({ openTime, open, high, low, close, volume }: Columns): readonly Kline[] =>
  Array.from(openTime, (time, row) => ({
    time,
    open: open[row] as number,
    high: high[row] as number,
    low: low[row] as number,
    close: close[row] as number,
    volume: volume[row] as number,
  }));

/** Rows `from` up to, not including, `to`, as a series of its own. */
export const cut = (columns: Columns, from: number, to: number): Columns => {
  const part = (column: Float64Array): Float64Array => column.slice(from, to);
  return {
    openTime: part(columns.openTime),
    open: part(columns.open),
    high: part(columns.high),
    low: part(columns.low),
    close: part(columns.close),
    volume: part(columns.volume),
  };
};

/** A strategy that says after each kline what stands at its place in the list; the first kline opens at 0. */
export const scripted = (signals: readonly Signal[], lengthMs = 60_000): Strategy =>
  defineStrategy({
    name: 'scripted',
    about: 'Says what a test wrote down',
    params: {},
    indicators: () => ({}),
    decide: (_, { kline }) => asProduct(signals[kline.openTime / lengthMs] as Signal),
  });

const instrumentOf = ({ symbol, instrument: given }: Case): Instrument => {
  const { minQuantity, minNotional, ...shape } = given;
  return instrument({ symbol, ...shape, minQuantity: lots(minQuantity, shape), minNotional: units(minNotional) });
};

export function inputOf(given: Case): RunInput {
  const { symbol, interval, columns, strategy, params, rules, fees, cash, maxPosition } = given;
  const at = instrumentOf(given);
  const { values } = readParams(strategy.params as Params, params);
  return {
    account: given.margin === undefined ? 'spot' : 'margin',
    ...(given.margin !== undefined && { margin: marginOf(given.margin, at) }),
    hosted: [
      { id: 's', use: 'test', strategy, params: values, symbol, interval: given.decidesOn ?? interval, instrument: at },
    ],
    instruments: new Map([[symbol, at]]),
    series: [{ symbol, interval, columns, gaps: [], first: 0, end: columns.openTime.length }],
    allocations: [{ strategy: 's', symbol, amount: units(cash) }],
    cash: units(cash),
    limits: {
      ...wide,
      maxOrdersPerSecond: 1_000_000,
      // The reference knows no limit of losses, and what is paid out leaves less to lose.
      ...(given.flows === undefined ? {} : { maxDailyLoss: rate('1') }),
      ...(maxPosition === undefined ? {} : { maxPosition: units(maxPosition) }),
      ...(given.margin !== undefined && { maxLeverage: rate(given.margin.maxLeverage) }),
    },
    ...(given.flows !== undefined && {
      cashFlows: given.flows.map(({ time, amount }) => ({
        time,
        asset: at.quote,
        amount: units(amount),
        reason: 'test',
        shares: [{ strategy: 's', symbol, amount: units(amount) }],
      })),
    }),
    rules: { ...rulesets[rules], ...changedIn(given), closeAtEnd: given.closeAtEnd === true },
    fees: feesFrom({ maker: rate(fees.maker), taker: rate(fees.taker) }),
  };
}

/** The same changes in the product's words. */
function changedIn({ fills = {}, interval }: Case): Partial<Rules> {
  const { penetrationTicks, delayKlines, path, ...rates } = fills;
  const limit = (text: string | null): Rate | undefined => (text === null ? undefined : rate(text));
  return {
    ...Object.fromEntries(Object.entries(rates).map(([name, value]) => [name, limit(value)])),
    ...(penetrationTicks !== undefined && { penetrationTicks: ticks(String(penetrationTicks), whole) }),
    ...(delayKlines !== undefined && { feedLatencyMs: 0, entryLatencyMs: delayKlines * intervalMs(interval, 0) }),
    ...(path !== undefined && { path }),
  };
}
const whole = { pricePrecision: 0, quantityPrecision: 0 };

const marginOf = (
  { maxLeverage, maintenanceRatio, liquidationFee, interest, interestEveryMs }: Margin,
  { base, quote }: Instrument,
): MarginRules => ({
  maxLeverage: rate(maxLeverage),
  maintenanceRatio: rate(maintenanceRatio),
  liquidationFee: rate(liquidationFee),
  interest: new Map([
    [base, rate(interest.base)],
    [quote, rate(interest.quote)],
  ]),
  interestEveryMs,
});

export const byColumns = (given: Case): Rows => rowsOf(runNow(inputOf(given)));
/** By the same strategies made of streams, which hear every kline: nothing is passed over. */
export const byStream = async (given: Case): Promise<Rows> => rowsOf(await runStreams(inputOf(given)));

export const runStreams = (input: RunInput): Promise<RunResult> => runBacktest(asStreams(input));

/** The same run with its strategies made of streams. */
const asStreams = (input: RunInput): RunInput => ({
  ...input,
  hosted: input.hosted.map((one) => ({ ...one, strategy: streamed(one) })),
});

function streamed({ strategy, params }: RunInput['hosted'][number]): Strategy {
  if (!isDeciding(strategy)) return strategy;
  return defineStrategy({
    name: strategy.name,
    about: strategy.about,
    params: strategy.params,
    signals({ klines, interval, holding }) {
      const step = decider(strategy, params, interval, holding());
      return klines.pipe(
        map((kline) => step(kline, true)),
        filter((signal) => signal !== undefined),
      );
    },
  });
}

/** Two runs as one, with the cash of both: each strategy on its own symbol and called by that, or on one and called as told. */
export function joined(
  a: RunInput,
  b: RunInput,
  [first, second] = [a, b].map(({ hosted }) => String(hosted[0]?.symbol).toLowerCase()) as [string, string],
): RunInput {
  const others = b.series.filter(({ symbol }) => !a.instruments.has(symbol));
  const named = (run: RunInput, id: string) => ({
    hosted: run.hosted.map((one) => ({ ...one, id })),
    allocations: run.allocations.map((one) => ({ ...one, strategy: id })),
  });
  return {
    ...a,
    hosted: [...named(a, first).hosted, ...named(b, second).hosted],
    instruments: new Map([...a.instruments, ...b.instruments]),
    series: [...a.series, ...others],
    allocations: [...named(a, first).allocations, ...named(b, second).allocations],
    cash: plus(a.cash, b.cash),
  };
}

/** The same question in the reference's own terms. */
export const byReference = (given: Case, strategy: PlainStrategy): Rows =>
  byReferenceTogether([{ given, strategy }])[0] as Rows;

/** Several strategies of one account on one symbol, over the same klines and by the same rules. */
export function byReferenceTogether(
  all: readonly { readonly given: Case; readonly strategy: PlainStrategy }[],
): readonly Rows[] {
  const questions = all.map(({ given, strategy }) => questionOf(given, strategy));
  return together(questions).map((answer, index) => {
    const { decisions, orders, fills, equity, ambiguousKlines, charges } = answer;
    const { decidesEveryMs, intervalMs: lengthMs, margin } = questions[index] as Question;
    const wanted = decisions.map(({ time, signal }) => ({
      time,
      signal: inMs(asProduct(signal), decidesEveryMs ?? lengthMs),
    }));
    const rows = withoutRefused({ decisions: wanted, orders, fills, equity, ambiguousKlines });
    return margin === undefined ? rows : { ...rows, charges };
  });
}

function questionOf(given: Case, strategy: PlainStrategy): Question {
  return {
    klines: klinesOf(given.columns),
    intervalMs: (given.columns.openTime[1] as number) - (given.columns.openTime[0] as number),
    strategy,
    rules: { ...referenceRules[given.rules], ...given.fills, closeAtEnd: given.closeAtEnd === true },
    instrument: given.instrument,
    fees: given.fees,
    cash: given.cash,
    ...(given.flows === undefined ? {} : { cashFlows: given.flows }),
    ...(given.margin === undefined ? {} : { margin: given.margin }),
    ...(given.decidesOn === undefined ? {} : { decidesEveryMs: intervalMs(given.decidesOn, 0) }),
    ...(given.maxPosition === undefined ? {} : { maxPosition: given.maxPosition }),
  };
}

/** What the product's risk denies becomes no order there, and what the reference's exchange rejects for want of funds may be denied, too. */
export function withoutRefused({ orders, fills, ...rest }: Rows): Rows {
  const kept = orders.filter(({ state }) => state !== 'rejected' && state !== 'denied');
  const numbers = new Map(kept.map(({ number }, index) => [number, index + 1]));
  return {
    ...rest,
    orders: kept.map((order) => ({ ...order, number: numbers.get(order.number) ?? 0 })),
    fills: fills.map((fill) => ({ ...fill, order: numbers.get(fill.order) ?? 0 })),
  };
}

/** The rows of a run's journal. Orders count from 1, as their ids do from 0. */
export const rowsOf = (result: RunResult): Rows => rowsWhere(result, [{}])[0] as Rows;

/** Rows of strategies, or symbols, that match this. */
export interface Which {
  readonly strategy?: string;
  readonly symbol?: string;
}

/** The rows of each of these strategies. */
export const rowsOfEach = (result: RunResult, strategies: readonly string[]): readonly Rows[] =>
  rowsWhere(
    result,
    strategies.map((strategy) => ({ strategy })),
  );

/** The rows of each of these, with the orders of each counted from 1; equity and ambiguous klines are the whole run's. */
export function rowsWhere(result: RunResult, each: readonly Which[]): readonly Rows[] {
  const db = result.journal();
  const { finalEquity, ambiguousKlines, margin } = result;
  try {
    return each.map((which) => {
      const fills = fillsOf(db, which);
      const orders = ordersOf(db, which, fills);
      const decisions = all(
        db,
        'SELECT at, signal FROM signals WHERE strategy LIKE ? AND symbol LIKE ? ORDER BY seq',
        which,
      ).map((row) => ({
        time: Number(row['at']),
        signal: { ...(JSON.parse(String(row['signal'])) as ProductWant), reason: '' },
      }));
      const rows = withoutRefused({ decisions, orders, fills, equity: unitsText(finalEquity), ambiguousKlines });
      const charges = margin?.charges
        .filter(({ strategy }) => which.strategy === undefined || strategy === which.strategy)
        .map(({ at, kind, amount }) => ({ time: at, kind, amount: unitsText(amount) }));
      return charges === undefined ? rows : { ...rows, charges };
    });
  } finally {
    db.close();
  }
}

/** The order that ends a run comes after all others. */
const numberOf = (id: unknown): number =>
  Number(String(id).slice(1)) + 1 + (String(id).startsWith('e') ? 1_000_000_000 : 0);

const fillsOf = (db: Database, which: Which) =>
  all(db, 'SELECT * FROM fills WHERE strategy LIKE ? AND symbol LIKE ? ORDER BY seq', which).map((row) => ({
    order: numberOf(row['client_order_id']),
    time: row['time'],
    side: row['side'],
    price: row['price'],
    quantity: row['quantity'],
    fee: row['fee'],
    feeAsset: row['fee_asset'],
    maker: row['maker'] === 1,
    ambiguous: typeof row['evidence'] === 'string' && row['evidence'].includes('"ambiguous":true'),
    late: typeof row['evidence'] === 'string' && row['evidence'].includes('-late"'),
  }));

function ordersOf(db: Database, which: Which, fills: ReturnType<typeof fillsOf>): Rows['orders'] {
  // The row of an order that is still open need not know its fills: they are rows of their own.
  const filled = new Map<number, Decimal>();
  for (const { order, quantity } of fills)
    filled.set(order, (filled.get(order) ?? new Decimal(0)).plus(String(quantity)));
  return all(db, 'SELECT * FROM orders WHERE strategy LIKE ? AND symbol LIKE ? ORDER BY client_order_id', which).map(
    (row) => ({
      number: numberOf(row['client_order_id']),
      time: row['created_at'],
      side: row['side'],
      type: row['type'],
      quantity: row['quantity'],
      amount: row['amount'],
      price: row['price'],
      purpose: row['purpose'],
      executed: (filled.get(numberOf(row['client_order_id'])) ?? new Decimal(0)).toFixed(),
      state: row['state'],
    }),
  );
}

const all = (
  db: Database,
  sql: string,
  { strategy = '%', symbol = '%' }: Which,
): readonly Readonly<Record<string, unknown>>[] => db.prepare(sql).all(strategy, symbol) as Record<string, unknown>[];
