/** `backtest()` of the package: prepares, runs and summarises like `sluice backtest`, with options from code. */
import { checkGiven, givenPlaces } from '../config/read.ts';
import { backtestSchema } from '../config/schema.ts';
import { instrumentsSchema } from '../data/instruments.ts';
import type { Interval } from '../domain/interval.ts';
import type { Columns } from '../domain/market.ts';
import { Refusal } from '../domain/refusal.ts';
import { refuseFault } from '../strategy/fault.ts';
import type { Params } from '../strategy/params.ts';
import { runBacktest } from './engines.ts';
import type { Amount, BacktestOptions, BacktestResult, KlineRow } from './options.ts';
import { castOf, type Given, prepared } from './prepare/prepare.ts';
import { fillRows } from './result/fill-rows.ts';
import { summarise } from './result/summary.ts';

/** How messages name the configuration. Paths are relative to the working directory. */
const name = 'backtest()';

/** Limits that do not bind: only the cash limits the run. */
const wide = { maxOrderValue: '1000000000000000', maxPosition: '1000000000000000' };

/** Rejects with a `Refusal` where the command would refuse, and for an error that the strategy throws. */
export async function backtest<P extends Params>(options: BacktestOptions<P>): Promise<BacktestResult> {
  try {
    return await run(options);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // The one strategy's keys stand in the options themselves.
    throw new Refusal(error.message.replaceAll('strategies.0.', ''), error.exitCode);
  }
}

async function run<P extends Params>(options: BacktestOptions<P>): Promise<BacktestResult> {
  const { strategy, params = {}, data, symbol: _symbol, interval: _interval, ...others } = options;
  const { dataInterval, instrument, cash, fees = {}, risk = {}, riskFree, ...same } = others;
  if (typeof strategy?.name !== 'string')
    throw new Refusal(`${name} has no strategy: pass the result of defineStrategy(), such as strategy: mine`);
  const { symbol, interval, columns } = klinesIn(options);
  const id = idOf(strategy.name);
  const config = checkGiven(
    name,
    {
      ...same,
      strategies: [{ id, use: id, symbol, interval, params }],
      ...(typeof data === 'string' && symbol !== undefined && { data: { [symbol]: data } }),
      ...(dataInterval !== undefined && symbol !== undefined && { dataIntervals: { [symbol]: dataInterval } }),
      ...{ cash: textOf(cash), riskFree: textOf(riskFree), risk: { ...wide, ...risk } },
      fees: { ...fees, maker: textOf(fees.maker), taker: textOf(fees.taker) },
    },
    backtestSchema,
  );
  const traded = config.strategies[0]?.symbol ?? '';
  const given: Given = {
    registry: { [id]: () => Promise.resolve({ default: strategy }) },
    placeOf: givenPlaces,
    klines: new Map(columns === undefined ? [] : [[traded, columns]]),
    ...(instrument !== undefined && {
      instruments: checkGiven(`instrument of ${name}`, { [traded]: instrument }, instrumentsSchema),
    }),
  };
  const ready = await prepared(name, config, await castOf(name, config, [], given), given);
  const result = await runBacktest(ready.input).catch(refuseFault);
  const { summary, measured } = summarise(ready, result, config);
  return {
    fills: fillRows(result, ready.input.instruments),
    equity: measured.walked.chart,
    daily: measured.walked.days,
    figures: summary.metrics,
    summary,
  };
}

/** Fills and orders carry it; the name itself is checked with the rest of the strategy. */
const idOf = (strategy: string): string => (/^[a-z0-9][a-z0-9-]{0,31}$/.test(strategy) ? strategy : 'strategy');

const textOf = (amount: Amount | undefined): string | undefined =>
  typeof amount === 'number' ? String(amount) : amount;

/** Klines in memory, with their symbol and interval where they contain them. */
function klinesIn({ data, symbol, interval }: Pick<BacktestOptions, 'data' | 'symbol' | 'interval'>): {
  readonly symbol: string | undefined;
  readonly interval: Interval | undefined;
  readonly columns?: Columns;
} {
  if (data === undefined || typeof data === 'string') return { symbol, interval };
  if (!(Symbol.iterator in data)) return { symbol, interval, columns: columnsOf((column) => data[column]) };
  const rows: readonly KlineRow[] = [...data];
  return {
    symbol: symbol ?? rows[0]?.symbol,
    interval: interval ?? rows[0]?.interval,
    columns: columnsOf((column) => rows.map((row) => row[column])),
  };
}

function columnsOf(valuesOf: (column: keyof Columns) => ArrayLike<number> | undefined): Columns {
  const column = (name: keyof Columns): Float64Array => {
    const values = valuesOf(name);
    if (values === undefined) throw new Refusal(`data has no ${name}: pass klines, or columns of klines`);
    return values instanceof Float64Array ? values : Float64Array.from(values);
  };
  return {
    openTime: column('openTime'),
    open: column('open'),
    high: column('high'),
    low: column('low'),
    close: column('close'),
    volume: column('volume'),
  };
}
