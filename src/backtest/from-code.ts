/** `backtest()` of the package: prepares, runs and summarises like `sluice backtest`, with options from code. */
import { checkGiven, givenPlaces, readConfig } from '../config/read.ts';
import { backtestSchema } from '../config/schema.ts';
import { shippedInstruments } from '../config/shipped.ts';
import { instrumentsSchema } from '../data/instruments.ts';
import type { Instrument } from '../domain/instrument.ts';
import { Refusal } from '../domain/refusal.ts';
import { marketCurves } from '../research/market-curves.ts';
import type { Strategy } from '../strategy/contract.ts';
import { refuseFault } from '../strategy/fault.ts';
import { runBacktest } from './engines.ts';
import { marketsGiven } from './from-code-markets.ts';
import type {
  Amount,
  AnyBacktestOptions,
  BacktestOptions,
  BacktestResult,
  InstrumentOptions,
  ListBacktestOptions,
  MarketsBacktestOptions,
} from './options.ts';
import { castOf, type Given, prepared } from './prepare/prepare.ts';
import { fillRows } from './result/fill-rows.ts';
import { equityInput, summarise } from './result/summary.ts';

/** How messages name the configuration. Paths are relative to the working directory. */
const name = 'backtest()';

/** Limits that do not bind: only the cash limits the run. */
const wide = { maxOrderValue: '1000000000000000', maxPosition: '1000000000000000' };

/** Rejects with a `Refusal` where the command would refuse, and for an error that the strategy throws. */
export async function backtest(options: AnyBacktestOptions): Promise<BacktestResult> {
  try {
    return await run(options);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // The one strategy's keys stand in the options themselves.
    throw new Refusal(error.message.replaceAll('strategies.0.', ''), error.exitCode);
  }
}

async function run(options: AnyBacktestOptions): Promise<BacktestResult> {
  const { strategy, params = {}, ...others } = options;
  if (typeof strategy?.name !== 'string')
    throw new Refusal(`${name} has no strategy: pass the result of defineStrategy(), such as strategy: mine`);
  const { own, files, klines, symbols } = marketsGiven(options);
  const { dataInterval, instrument, instruments, cash, fees = {}, risk = {}, riskFree, ...rest } = others as Others;
  const { data: _, symbol: __, symbols: ___, markets: ____, interval: _____, ...same } = rest;
  const id = idOf(strategy.name);
  const config = checkGiven(
    name,
    {
      ...same,
      strategies: [{ ...own, id, use: id, params }],
      ...{ data: files, cash: textOf(cash), riskFree: textOf(riskFree), risk: { ...wide, ...risk } },
      ...(dataInterval !== undefined && {
        dataIntervals: Object.fromEntries(symbols.map((symbol) => [symbol, dataInterval])),
      }),
      fees: { ...fees, maker: textOf(fees.maker), taker: textOf(fees.taker) },
    },
    backtestSchema,
  );
  const traded = config.strategies[0]?.symbol ?? '';
  const known = instrument === undefined ? instruments : { ...instruments, [traded]: instrument };
  const given: Given = {
    registry: { [id]: () => Promise.resolve({ default: strategy as Strategy }) },
    placeOf: givenPlaces,
    klines,
    ...(known !== undefined && { instruments: withShipped(known) }),
  };
  const ready = await prepared(name, config, await castOf(name, config, [], given), given);
  const result = await runBacktest(ready.input).catch(refuseFault);
  const { summary, measured } = summarise(ready, result, config);
  return {
    fills: fillRows(result, ready.input.instruments),
    equity: measured.walked.chart,
    daily: measured.walked.days,
    profitByMarket: () =>
      marketCurves(
        equityInput(ready.input, measured.fills, result.cashFlows, summary.margin?.charges),
        measured.walked.chart.time,
      ),
    figures: summary.metrics,
    summary,
  };
}

/** All options beside the strategy, whichever it is. */
type Others = Omit<BacktestOptions, 'strategy' | 'params'> &
  Omit<MarketsBacktestOptions, 'strategy' | 'params' | 'data'> &
  Omit<ListBacktestOptions, 'strategy' | 'params' | 'data'>;

const withShipped = (own: Readonly<Record<string, InstrumentOptions>>): ReadonlyMap<string, Instrument> =>
  new Map([
    ...readConfig(shippedInstruments(), instrumentsSchema),
    ...checkGiven(`instrument of ${name}`, own, instrumentsSchema),
  ]);

/** Fills and orders carry it; the name itself is checked with the rest of the strategy. */
const idOf = (strategy: string): string => (/^[a-z0-9][a-z0-9-]{0,31}$/.test(strategy) ? strategy : 'strategy');

const textOf = (amount: Amount | undefined): string | undefined =>
  typeof amount === 'number' ? String(amount) : amount;
