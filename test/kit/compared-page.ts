/** The page `docs/explanation/compared.md`: what other libraries assume, and what that does to the same strategies on the same data. */
import { fileURLToPath } from 'node:url';
import { loadKlines } from '../../src/data/klines.ts';
import { resampleKlines } from '../../src/data/resample.ts';
import { Decimal } from '../../src/domain/money.ts';
import { rulesetNames } from '../../src/fill/ruleset-names.ts';
import type { RunResult } from '../../src/modes/backtest/run.ts';
import { runColumns } from '../../src/modes/backtest/run-columns.ts';
import { defineStrategy, flat, hold, type Strategy } from '../../src/strategy/contract.ts';
import { sma } from '../../src/strategy/indicators.ts';
import grid from '../../strategies/grid/index.ts';
import smaCross from '../../strategies/sma-cross/index.ts';
import { type Case, inputOf } from '../agreement.ts';

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
    params: { levels: 3, quantity: 2, most: 6, least: 0.006, spacing: 0.5, period: 20 },
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
  return runColumns(
    inputOf({ symbol: 'XBTUSD', interval: '60min', instrument, columns, rules, fees, cash, strategy, params }),
  );
}

/** Aligned, as the formatter of this tree has tables. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
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
  `### ${one.name[0]?.toUpperCase() ?? ''}${one.name.slice(1)}\n\n${table(
    ['rules', 'fills', 'final equity', 'return', 'ambiguous klines'],
    resultRows(one),
  )}`;

const assumptions = table(
  ['', ...rulesetNames.map((name) => `\`${name}\``)],
  [
    [
      'a MARKET order fills at',
      'next open, worse by 5 bp',
      'next open',
      'next open',
      'next open',
      'the close decided on',
    ],
    ['a resting LIMIT fills', 'one tick beyond', 'at a touch', 'at a touch', 'at a touch', 'at a touch'],
    ['and when an open has passed it, at', 'its price', 'its price', 'the open', 'the open', 'the open'],
    [
      'a stop fills at',
      'half way from its price to the extreme, less half a spread, or a worse open',
      'its price, or a worse open',
      'its price, or a worse open',
      'its price, or a worse open',
      'its price, or a worse open',
    ],
    [
      'a stop can be hit',
      'in the kline of the entry',
      'in the kline of the entry',
      'in that of a MARKET entry, else the next',
      'from the next kline on',
      'from the next kline on (entries are at closes)',
    ],
    [
      'a target can fill',
      'from the kline after the first close',
      'from the kline after the first close',
      'in the kline of a MARKET entry',
      'from the kline after the first close',
      'from the next kline on (entries are at closes)',
    ],
    ['stop and target in one kline', 'the stop', 'the stop', 'the stop', 'the stop', 'the stop'],
    ['part of the volume', '10 % resting, all taking', 'no limit', 'no limit', 'no limit', 'no limit'],
    ['an order above 0.1 % of a day moves its price', "by a day's deviation × √(its share)", 'no', 'no', 'no', 'no'],
    [
      'a share of the equity is sized',
      'at the close, mended once',
      'at the close',
      'at the entry, with the fee',
      'at the close, without the fee',
      'at the close, with the fee',
    ],
    ['the fee is taken', 'from what is received', 'in quote', 'in quote', 'in quote', 'in quote'],
    [
      'what is held at the end',
      'the last close; in the equity curve, and figures made of it, what selling it would bring',
      'the last close',
      'the last close',
      'the last close',
      'the last close',
    ],
  ],
);

export const comparedPage = (): string => `# Rules compared

_Written by \`npm run docs\` (\`test/kit/compared-page.ts\`); a test fails when it is not current._

\`sluice backtest --config FILE --rules NAME\` fills orders as another library does, so that its results can be set beside those of that
library, and the difference to Sluice's own rules be seen. Both drivers obey each ruleset, and an independent slow
reference (\`test/reference/\`) gives the same orders and fills, row by row, on generated and on recorded klines.

## What each assumes

${assumptions}

None of the others knows a spread, a volume, a delay, or how fills are found out, unless it is told to.

## What that does to the same strategy on the same data

XBTUSD, hourly klines of February to April 2020 made from minutes (\`backtests/data\`), ${cash} USD, fees of 0.1 % a side. "Ambiguous" are klines in
which a stop and a target could both have filled and the stop was taken.

${tried.map(resultTable).join('\n\n')}

Nothing but the rules differs within a table. In this recording each open equals the close before it, so the next open and the close decided on are one
price; and whose orders rest for hours loses little by waiting for one tick more. Where stops and targets lie within the reach of a kline, the
rules decide more than the strategy does: nothing was found out there but what was assumed. Finer klines (\`detail\`) or trades find out.

## What was followed

None of the libraries was run for this page. Measured elsewhere, vectorbt, backtesting.py, backtrader and jesse give, for one rule of two averages on 2.77 million
minute klines, the same 38,657 round trips and 9,563,694.47043 at the end; \`plain\` gives these two numbers, too ([benchmarks](../benchmarks.md)). Everything else rests on
reading: "source" is code or text in public repositories as a search over them showed it, in excerpts and not always of the newest version; "survey" are notes on what
other engines assume that this project was given at its beginning and that are no part of it.

- **backtesting.py**, source (\`backtesting.py\`: \`_Broker._process_orders\`, \`_open_trade\`, \`Backtest.run\`): the stop is queued before the target; both are asked in the kline of a MARKET entry, after any
  other entry in the next one; a fraction of the cash is divided by price and commission at the entry. Survey: next open, a LIMIT at a touch and at the better of open and
  limit, the worse of stop and open. Its whole units are not followed: a quantity is cut to the instrument's lots, as its \`FractionalBacktest\` does.
- **backtrader**, source (\`brokers/bbroker.py\`: \`_try_exec_limit\`, \`_try_exec_stop\`; \`sizers/percents_sizer.py\`): a LIMIT gets the open that has passed it, else its price at a touch; a stop the
  open, else its price; a share is cash over the close, without commission (with all of the cash an entry above the close, or any with a fee, is
  refused for want of margin). That orders of a bracket become active with the kline after the entry is of the same file's \`next\`.
  The survey does not have this library.
- **vectorbt**, source (\`portfolio/nb.py\`: \`get_stop_price_nb\`): a stop or target that the open has passed gets the open, else its price at a touch. \`simulate_from_signals_nb\` asks the stop before
  the target, and \`buy_nb\` lets all of the cash pay price and fees. Survey: without a shift by the user it fills at the close that decided.

## What is not followed

- What is held at the end stays open by all of them, unless told otherwise. \`fills: { closeAtEnd: true }\` sells it at the last close, by every ruleset; backtesting.py's
  \`finalize_trades=True\` goes over the last kline once more and so sells at its open, which by then is past.
- vectorbt has no resting LIMIT orders but targets; those of a strategy fill as its targets do. It also buys what the cash pays where an order asks for more;
  here such an order is not filled.
- A trailing stop begins with the price of the entry, by every ruleset: with the open where a MARKET order entered, with its own price where a LIMIT order did. It moves by each open
  before the rest of the kline, and by the extremes of a kline after it: whether a high that lifts it came before the low of the same kline is not asked, and not counted as ambiguous (\`dataIntervals: 1min\`
  asks smaller klines). Of the kline in which a LIMIT order entered only the close moves it.
- Where a share is sized and the entry cannot be paid, the wish is tried again at each close with the size it had; backtrader's sizer would take the new one.
- Fees are rounded up to 8 decimals; the others reckon in floating point.
`;
