/** The result of each strategy in each of its symbols, as a table of the report. */
import { grouped } from '../domain/words.ts';
import type { MarketRow } from '../research/market-results.ts';
import { moneyFigure, shareText } from './figures.ts';
import { about, type Content, numbers, section, signed, tableHtml } from './html.ts';
import type { ReportInput } from './input.ts';
import { marketPlot } from './market-plot.ts';
import { filled } from './plot.ts';

/** Where there is more than one. */
export function marketSection({ summary, asset, profitByMarket }: ReportInput): Content {
  const { markets } = summary;
  if (markets.length < 2) return undefined;
  const sumOf = (key: 'profit' | 'contribution' | 'fills' | 'fees' | 'turnover'): number =>
    markets.reduce((sum, one) => sum + one[key], 0);
  const figures = (one: Pick<MarketRow, 'profit' | 'contribution' | 'fills' | 'fees' | 'turnover'>): Content[] => [
    ...[signed(one.profit, moneyFigure(one.profit)), shareText(one.contribution)],
    ...[grouped(one.fills), moneyFigure(one.fees), moneyFigure(one.turnover)],
  ];
  const total = {
    ...{ profit: sumOf('profit'), contribution: sumOf('contribution'), fills: sumOf('fills') },
    ...{ fees: sumOf('fees'), turnover: sumOf('turnover') },
  };
  const max = Math.max(...markets.map(({ profit }) => Math.abs(profit)), 1e-9);
  return section(
    'markets',
    'Result by market',
    about(
      'Profit of closed and open positions after all costs, at the last close. Together it is the profit of the account.',
    ),
    tableHtml(
      ['Strategy', 'Symbol', ...numbers(`Profit, ${asset}`, 'Of the cash', 'Fills', 'Fees', 'Turnover', 'Held'), ''],
      [
        ...markets.map((one) => [
          ...[one.strategy, one.symbol, ...figures(one), one.held === 0 ? '' : moneyFigure(one.held)],
          filled(Math.abs(one.profit) / max, one.profit < 0 ? 'down' : 'up'),
        ]),
        ['Total', '', ...figures(total), '', ''],
      ],
      'groups',
    ),
    profitByMarket === undefined ? undefined : marketPlot(profitByMarket, asset),
  );
}
