/** The distribution of round trips: by profit, and by how far the price moved against and for them. */
import { grouped } from '../domain/words.ts';
import type { RoundTrip } from '../research/round-trips.ts';
import { ascending, quantile } from '../research/sample-moments.ts';
import { durationText, momentText, moneyFigure, shareText } from './figures.ts';
import { about, type Content, type Html, html, numbers, section, signed, stamp, tableHtml } from './html.ts';
import { missingRates, type ReportInput } from './input.ts';
import { maxTrips } from './payload.ts';
import { dots, high, linear, percentLabel, plot, rectangle, roundSteps, wide } from './plot.ts';

const bins = 44;
/** More dots in one drawing would hide each other and make the file large. */
const maxDots = 2_000;

/** Profit after fees over the value at the entry. */
const gain = ({ profit, cost }: RoundTrip): number => profit / cost;

function histogram(trips: readonly RoundTrip[]): Html {
  const gains = Float64Array.from(trips, gain);
  const sorted = ascending(gains);
  // The outer 1 % counts at the edges, so that one rare round trip does not squeeze all others into one column.
  const [first, last] = [quantile(sorted, 0.01), quantile(sorted, 0.99)];
  const widest = Math.max(Math.abs(first), Math.abs(last), 1e-6);
  const [low, top] = [Math.max(-widest, Math.min(first, 0)), Math.min(widest, Math.max(last, 0))];
  // Zero is an edge of a bin: a bin with both sides would have no colour.
  const size = (top - low) / bins;
  const below = Math.ceil(-low / size);
  const above = bins - below;
  const counts = new Map<number, number>();
  for (const value of gains) {
    const bin = Math.min(above, Math.max(-below, Math.floor(value / size)));
    counts.set(bin, (counts.get(bin) ?? 0) + 1);
  }
  const x = linear(-below * size, (above + 1) * size, wide);
  const y = linear(0, Math.max(...counts.values()) * 1.05, high, true);
  const width = wide / (above + 1 + below);
  return plot({
    ...{ x, y, size: 'mid', label: 'Round trips by gain' },
    xLabels: roundSteps(x.low, x.high, 5).map((value) => ({ value, text: percentLabel(value) })),
    yLabels: roundSteps(0, y.high, 3).map((value) => ({ value, text: grouped(value) })),
    body: [...counts].map(([bin, count]) =>
      rectangle(
        x.at(bin * size) + width * 0.06,
        y.at(count),
        width * 0.88,
        high - y.at(count),
        bin < 0 ? 'column-down' : 'column-up',
        `${percentLabel(bin * size)} to ${percentLabel((bin + 1) * size)}: ${grouped(count)}`,
      ),
    ),
  });
}

function excursions(trips: readonly RoundTrip[]): Html {
  const every = Math.ceil(trips.length / maxDots);
  const shown = trips.filter((_, index) => index % every === 0);
  const worst = Math.max(1e-6, -quantile(ascending(shown.map((trip) => trip.worst)), 0.01));
  const best = Math.max(1e-6, quantile(ascending(shown.map((trip) => trip.best)), 0.99));
  const x = linear(0, worst * 1.05, wide);
  const y = linear(0, best * 1.05, high, true);
  const dotsOf = (isWin: boolean): string =>
    dots(
      shown
        .filter(({ profit }) => profit > 0 === isWin)
        .map((trip) => [x.at(Math.min(-trip.worst, worst)), y.at(Math.min(trip.best, best))]),
    );
  return html`${plot({
    ...{ x, y, size: 'mid', label: 'Adverse (across) and favourable (up) excursion of each round trip' },
    xLabels: roundSteps(0, x.high, 5).map((value) => ({
      value,
      text: value === 0 ? '0' : `-${percentLabel(value)}`,
    })),
    yLabels: roundSteps(0, y.high, 3).map((value) => ({ value, text: percentLabel(value) })),
    body: html`<path class="dots-down" d="${dotsOf(false)}"/><path class="dots-up" d="${dotsOf(true)}"/>`,
  })}${about(
    'Across: maximum adverse excursion (MAE); up: maximum favourable excursion (MFE). Green: profit, red: loss.',
    every > 1 ? ` One in ${every} of ${grouped(trips.length)} is drawn.` : '',
  )}`;
}

/** A moment that a click shows in the chart. */
export const jump = (symbol: string, time: number): Html =>
  html`<button type="button" class="jump" data-symbol="${symbol}" data-time="${time}">${momentText(time)}</button>`;

/** Rows of a table. Without klines there are no excursions. */
function tripRows({ table, series }: ReportInput, trips: readonly RoundTrip[]): readonly (readonly Content[])[] {
  return trips.map((trip) => {
    const { strategy, symbol } = table.positions[trip.position] ?? { strategy: '', symbol: '' };
    return [
      jump(symbol, trip.entryTime),
      signed(trip.profit, moneyFigure(trip.profit)),
      signed(gain(trip), shareText(gain(trip))),
      durationText(trip.exitTime - trip.entryTime),
      strategy,
      `${trip.long ? 'long' : 'short'} ${symbol}`,
      grouped(Number(trip.quantity.toPrecision(8))),
      grouped(Number(trip.entryPrice.toPrecision(10))),
      grouped(Number(trip.exitPrice.toPrecision(10))),
      ...(series.length > 0 ? [shareText(trip.worst), shareText(trip.best)] : []),
    ];
  });
}

/** Filled by the script of the page. */
const allTrips = (count: number): Html =>
  html`<div class="trip-list"><h3>All${count > maxTrips ? ` (the last ${grouped(maxTrips)} of ${grouped(count)})` : ''}</h3><div id="trip-filters"></div><div id="trip-table" class="scroll-x"></div><div id="trip-pages"></div></div>`;

const listed = 8;

export function roundTripSection(input: ReportInput): Html {
  const { trips, asset, series } = input;
  if (trips.length === 0) return section('trips', 'Round trips', about('No position was opened and closed again.'));
  const missing = missingRates(input);
  if (missing !== undefined) return section('trips', 'Round trips', stamp(missing));
  const sorted = trips.toSorted((a, b) => a.profit - b.profit);
  const groups: readonly (readonly [string, readonly RoundTrip[]])[] =
    trips.length <= 2 * listed
      ? [['All', trips]]
      : [
          ['Worst', sorted.slice(0, listed)],
          ['Best', sorted.slice(-listed).toReversed()],
        ];
  // Profit comes first: a phone shows no more than three columns at once.
  const head = [
    'Entry (UTC)',
    ...numbers(`Profit, ${asset}`, 'Gain'),
    ...['Duration', 'Strategy', 'Position'],
    ...numbers('Quantity', 'Entry price', 'Exit price', ...(series.length > 0 ? ['MAE', 'MFE'] : [])),
  ];
  return section(
    'trips',
    'Round trips',
    about(
      'What one order opened and another closed, first in, first out. A position closed in parts counts as several.',
    ),
    html`<div class="two"><div><h3>Gain of each, after fees</h3>${histogram(trips)}${about('The outer 1 % counts at the edges.')}</div><div><h3>Excursions of the price</h3>${
      series.length > 0 ? excursions(trips) : stamp('Excursions need the klines of this run.')
    }</div></div>`,
    groups.map(([title, list]) => html`<h3>${title}</h3>${tableHtml(head, tripRows(input, list))}`),
    trips.length > 2 * listed && series.length > 0 ? allTrips(trips.length) : undefined,
  );
}
