/** The page `docs/explanation/compared.md`: what other libraries assume, and what that does to the same strategies on the same data. */
import { fileURLToPath } from 'node:url';
import type { RunResult } from '../../src/backtest/run.ts';
import { loadKlines } from '../../src/data/klines.ts';
import { resampleKlines } from '../../src/data/resample.ts';
import { Decimal } from '../../src/domain/money.ts';
import { rulesetNames } from '../../src/fill/ruleset-names.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';
import { sma } from '../../src/strategy/indicators.ts';
import { flat, hold } from '../../src/strategy/signals.ts';
import { registry } from '../../strategies/registry.ts';
import { type Case, inputOf } from '../backtest/agreement.ts';
import { libraries } from '../libraries/cases.ts';
import { readMeasured } from '../libraries/measured.ts';
import { markdownTable } from './markdown-table.ts';
import { runNow } from './run-now.ts';

const { default: grid } = await registry.grid();
const { default: smaCross } = await registry['sma-cross']();

/** Enters when the averages cross, with a stop 1.5 % below the close of that moment and a target 1.5 % above. */
const bracket = defineStrategy({
  name: 'bracket',
  about: 'A stop and a target around each entry',
  params: {},
  indicators: () => ({ fast: sma('close', 5), slow: sma('close', 20) }),
  decide({ fast, slow }, { kline, holding }) {
    if (fast - slow <= 1e-6) return flat('not above');
    if (holding.quantity > 0) return undefined;
    return hold({ share: 0.9 }, 'above', { stop: kline.close * 0.985, takeProfit: kline.close * 1.015 });
  },
});

interface Tried {
  readonly name: string;
  readonly strategy: Strategy;
  readonly params: Case['params'];
}
const tried: readonly Tried[] = [
  {
    name: '`sma-cross`, nine tenths of the equity',
    strategy: smaCross,
    params: { fast: 5, slow: 20, quantity: 0, share: 0.9, stop: 0 },
  },
  { name: 'the same averages with a stop 1.5 % below and a target 1.5 % above', strategy: bracket, params: {} },
  {
    name: '`grid` of three resting orders a side',
    strategy: grid,
    params: { levels: 3, quantity: 2, maxPosition: 6, minSpacing: 0.006, spacing: 0.5, period: 20 },
  },
];

const cash = '100000';

/** One run over the whole of the file. */
function outcome({ strategy, params }: Tried, rules: Case['rules']): RunResult {
  const { columns: minutes } = loadKlines({
    path: fileURLToPath(new URL('../../backtests/data/XBTUSD-1m-2020-02_2020-04.csv.gz', import.meta.url)),
    symbol: 'XBTUSD',
    interval: '1min',
    pricePrecision: 2,
  });
  const instrument = {
    base: 'XBT',
    quote: 'USD',
    pricePrecision: 2,
    quantityPrecision: 5,
    minQuantity: '0.0001',
    minNotional: '1',
  };
  const columns = resampleKlines('1min', minutes, { interval: '60min' });
  const fees = { maker: '0.001', taker: '0.001' };
  return runNow(
    inputOf({ symbol: 'XBTUSD', interval: '60min', instrument, columns, rules, fees, cash, strategy, params }),
  );
}

const percent = (fraction: Decimal): string => `${fraction.times(100).toFixed(2)} %`;

function resultRows(one: Tried): readonly (readonly string[])[] {
  return rulesetNames.map((rules) => {
    const { fills, finalEquity, couldBeBetterBy, couldBeWorseBy, ambiguousKlines } = outcome(one, rules);
    const units = (amount: bigint): Decimal => new Decimal(String(amount)).div('1e18');
    const equity = units(finalEquity);
    const gain = percent(equity.div(cash).minus(1));
    const best = percent(equity.plus(units(couldBeBetterBy)).div(cash).minus(1));
    const worst = percent(equity.minus(units(couldBeWorseBy)).div(cash).minus(1));
    return [
      `\`${rules}\``,
      String(fills.length),
      equity.toFixed(2),
      gain,
      ambiguousKlines === 0
        ? ''
        : `${ambiguousKlines}: ${couldBeWorseBy > 0n ? `at worst ${worst}, ` : ''}at best ${best}`,
    ];
  });
}

const resultTable = (one: Tried): string =>
  `### ${one.name[0]?.toUpperCase() ?? ''}${one.name.slice(1)}\n\n${markdownTable(
    ['rules', 'fills', 'final equity', 'return', 'ambiguous klines'],
    resultRows(one),
  )}`;

const assumptions = markdownTable(
  ['', ...rulesetNames.map((name) => `\`${name}\``)],
  [
    ['MARKET orders fill at', 'next open less 5 bp', 'next open', 'next open', 'next open', 'the same close'],
    ['resting LIMIT orders fill', 'one tick beyond', 'at a touch', 'at a touch', 'at a touch', 'at a touch'],
    ['LIMIT orders better than the open fill at', 'their price', 'their price', 'the open', 'the open', 'the open'],
    [
      'stops fill at',
      'halfway to the extreme',
      'stop or worse open',
      'stop or worse open',
      'stop or worse open',
      'stop or worse open',
    ],
    ['stops work from', 'entry kline', 'entry kline', 'entry kline if MARKET', 'next kline', 'next kline'],
    ['targets work from', 'next kline', 'next kline', 'entry kline if MARKET', 'next kline', 'next kline'],
    ['stop and target hit in one kline', 'the stop', 'the stop', 'the stop', 'the stop', 'the stop'],
    ['the same, and the open is beyond the target', 'the stop (1)', 'the stop (1)', 'the stop', 'the stop', 'the stop'],
    ['share of the volume', '10 % (maker), 100 % (taker)', 'no limit', 'no limit', 'no limit', 'no limit'],
    ['large orders move the price', 'yes (2)', 'no', 'no', 'no', 'no'],
    [
      'shares of equity are sized',
      'at the close, corrected once',
      'at the close',
      'at the entry, with fee',
      'at the close, without fee',
      'at the close, with fee',
    ],
    ['fees are taken', 'from the received asset', 'in quote', 'in quote', 'in quote', 'in quote'],
    [
      'open positions count at',
      'the last close (3)',
      'the last close',
      'the last close',
      'the last close',
      'the last close',
    ],
  ],
);

const { summary } = readMeasured();

/** How many runs of each kind were equal, by library. */
function comparedTable(): string {
  const kinds = [...new Set(summary.counts.map(({ kind }) => kind))];
  const cell = (kind: string, name: string): string => {
    const count = summary.counts.find(({ kind: of, library }) => of === kind && library === name);
    return count === undefined ? 'not supported' : `${count.equal} of ${count.of}`;
  };
  return markdownTable(
    ['', ...libraries.map((name) => `${name} ${summary.versions[name]}`)],
    kinds.map((kind) => [kind, ...libraries.map((name) => cell(kind, name))]),
  );
}

export const comparedPage = (): string => `# Rules compared

_Written by \`npm run docs\` (\`test/kit/compared-page.ts\`); a test fails when it is not current._

\`sluice backtest --config FILE --rules NAME\` fills orders as another library does. You can compare the results with those of that library, and with Sluice's own rules. This page was made
by running the libraries ([what was compared](#what-was-compared)). An independent slow reference (\`test/reference/\`) gives the same orders and fills, row by row, on generated and on recorded
klines.

## Assumptions

${assumptions}

1. In the kline after the entry, the target.
2. Above 0.1 % of a day's volume, by a day's standard deviation × √(share of the volume).
3. The equity curve deducts the cost of selling.

"Next kline" is the one after the entry. Entries of \`vectorbt\` are at closes. Stops of \`sluice\` fill halfway between the stop and the kline's extreme, less half a
spread, or at a worse open. Without settings, the other libraries model no spread, no volume, no delay and no polling for fills.

## Effect on the same strategy and data

XBTUSD, hourly klines of February to April 2020 made from minutes (\`backtests/data\`), ${cash} USD, fees of 0.1 % a side. "Ambiguous" are klines in
which a stop and a target could both have filled and the stop was taken.

${tried.map(resultTable).join('\n\n')}

Within a table, only the rules differ. In this recording each open equals the close before it, so the next open and the same close have one price. Resting orders that wait for hours
lose little by one more tick. Where stops and targets lie within the range of a kline, the rules decide more than the strategy does. Finer klines (\`detail\`) or trades show the real
order of events.

## What was compared

\`npm run compare-libraries\` installs these versions in a Python environment, runs the same signals in a library and in Sluice, and compares every
fill (kline, quantity, price) and the final equity. Generated series have ${summary.series} seeds of each kind: 60 klines on a coarse grid of prices, with gaps, touches and
klines without volume. Recorded klines are XBTUSD, BTCUSDT and ETHUSDT of \`backtests/data\`. Each cell is equal runs of all runs.

${comparedTable()}

A test repeats the constructed edges and two series of each kind against the libraries' recorded fills.

The comparison does not cover several resting orders at once, adding to or reversing a position, and several symbols. Quantities are whole units.
\`plain\` is not the rules of a library. For a crossover of two averages, \`plain\` gives the same round trips and equity as vectorbt, backtesting.py, backtrader and jesse
([benchmarks](../benchmarks.md)).

## Differences that remain

- **All of the equity, backtrader.** backtrader refuses an entry unless the cash pays price and fee both at the close and at the open. Here \`backtrader\` counts the fee
  at the open alone: an entry with all of the equity fills when the open is low enough.
- **A short share of the equity, backtesting.py.** backtesting.py sizes it at the entry. \`backtesting.py\` here sizes it at the close.
- **Trailing stops.** They follow Sluice's own rule under every ruleset (below). backtrader moves its stop by closes alone. vectorbt does not move it by opens, and does not
  round it to a tick.
- **Orders above the cash at the last close.** Sluice does not send them. backtesting.py decides at the open. vectorbt buys a part of them unless
  \`allow_partial=False\`.
- **Limits, vectorbt.** vectorbt has no resting LIMIT orders. Those of a strategy fill as its targets do.
- **Entries above the cash.** They are retried at each close with the same size. A backtrader strategy would compute a new size.
- **The end.** A position stays open under every ruleset, as in the libraries. \`fills: { closeAtEnd: true }\` sells it at the last close; \`finalize_trades=True\` of backtesting.py
  sells it at the open of the last kline.
- **Fees.** They are rounded up to 8 decimals. The libraries compute in floating point.

A trailing stop starts at the price of the entry: at the open after a MARKET order, at the order's price after a LIMIT order. It moves by each open before the rest of the kline, and by
the extremes of a kline after it. Of the kline in which a LIMIT order entered, only the close moves it. A high that lifts the stop may come after the low of the same kline:
that is not counted as ambiguous (\`dataIntervals: 1min\` uses smaller klines).
`;
