/** Draws indicators: over the prices where they are about as high, otherwise below in a pane for each indicator. */
import type { IChartApi, ISeriesApi } from 'lightweight-charts';
import { colour, seconds } from '../../dashboard/page/charts/kline-chart.ts';
import { isPriceLike } from '../../dashboard/page/charts/price-like.ts';
import type { PayloadIndicator } from '../chart-data.ts';
import type { OpenLevel } from './levels.ts';
import type { Kline } from './unpack.ts';

/** Panes below the prices: more leave no room. Further indicators share the last. */
const maxPanes = 3;
/** Height of such a pane, of that of the prices. */
const paneShare = 0.25;

export class IndicatorLines {
  readonly #chart: IChartApi;
  readonly #add: (pane: number) => ISeriesApi<'Line'>;
  #lines: readonly ISeriesApi<'Line'>[] = [];

  /** `add`: a line in a pane, the first of which has the prices. */
  constructor(chart: IChartApi, add: (pane: number) => ISeriesApi<'Line'>) {
    this.#chart = chart;
    this.#add = add;
  }

  /** Shows those of another symbol. `whole`: its klines and values over the whole run. */
  begin(indicators: readonly PayloadIndicator[], whole: Pick<OpenLevel, 'klines' | 'values'>): void {
    for (const line of this.#lines) this.#chart.removeSeries(line);
    const isOver = indicators.map((_, index) => isPriceLike(whole.values[index] ?? [], whole.klines));
    const groups = [...new Set(indicators.filter((_, index) => !isOver[index]).map(groupOf))];
    this.#lines = indicators.map((one, index) => {
      const pane = isOver[index] ? 0 : Math.min(maxPanes, groups.indexOf(groupOf(one)) + 1);
      return this.#add(pane);
    });
    for (const [index, pane] of this.#chart.panes().entries()) pane.setStretchFactor(index === 0 ? 1 : paneShare);
    this.paint();
  }

  paint(): void {
    for (const [index, line] of this.#lines.entries()) line.applyOptions({ color: colour(lineName(index)) });
  }

  draw(klines: readonly Kline[], values: readonly Float64Array[]): void {
    for (const [index, line] of this.#lines.entries())
      line.setData(
        klines.map(({ time }, row) => {
          const value = values[index]?.[row] ?? Number.NaN;
          return Number.isFinite(value) ? { time: seconds(time), value } : { time: seconds(time) };
        }),
      );
  }
}

const lineName = (index: number): string => `line-${(index % 8) + 1}`;
/** As the legend has it. */
export const lineColour = (index: number): string => `var(--${lineName(index)})`;

const groupOf = ({ strategy, group }: PayloadIndicator): string => `${strategy} ${group}`;
