/** How round trips are spread: by their profit, and by how far the price went against and for them. */
import { ascending, quantile } from '../research/sample-moments.ts';
import type { Trip } from '../research/trips.ts';
import { grouped, momentText, moneyFigure, shareText, spanText } from './figures.ts';
import { type Content, type Html, html, section, signed, tableHtml } from './html.ts';
import { type ReportInput, uncounted } from './input.ts';
import { dots, high, type Label, linear, plot, rectangle, roundSteps, wide } from './plot.ts';

const bins = 44;
/** Dots in one drawing; more would hide each other and make the file large. */
const mostDots = 2_000;

/** Profit after fees as a share of what was put in. */
const gain = ({ profit, cost }: Trip): number => profit / cost;
const percent = (value: number): string => `${Number((value * 100).toPrecision(3))} %`;

function histogram(trips: readonly Trip[]): Html {
  const gains = Float64Array.from(trips, gain);
  const sorted = ascending(gains);
  // The outer hundredths are counted at the edges, so that one rare trip does not squeeze all others into one column.
  const widest = Math.max(Math.abs(quantile(sorted, 0.01)), Math.abs(quantile(sorted, 0.99)), 1e-6);
  const [low, top] = [
    Math.max(-widest, Math.min(quantile(sorted, 0.01), 0)),
    Math.min(widest, Math.max(quantile(sorted, 0.99), 0)),
  ];
  // Zero is an edge of a bin: a bin that holds both sides would have no colour.
  const size = (top - low) / bins;
  const below = Math.ceil(-low / size);
  const counts = new Map<number, number>();
  const last = bins - below;
  for (const value of gains) {
    const bin = Math.min(last, Math.max(-below, Math.floor(value / size)));
    counts.set(bin, (counts.get(bin) ?? 0) + 1);
  }
  const most = Math.max(...counts.values());
  const x = linear(-below * size, (last + 1) * size, wide);
  const y = linear(0, most * 1.05, high, true);
  const width = wide / (last + 1 + below);
  return plot({
    ...{ x, y, size: 'mid', about: 'How many round trips earned how much' },
    xLabels: roundSteps(x.low, x.high, 5).map((value): Label => ({ value, text: percent(value) })),
    yLabels: roundSteps(0, y.high, 3).map((value) => ({ value, text: grouped(value) })),
    body: [...counts].map(([bin, count]) =>
      rectangle(
        x.at(bin * size) + width * 0.06,
        y.at(count),
        width * 0.88,
        high - y.at(count),
        bin < 0 ? 'column-down' : 'column-up',
        `${percent(bin * size)} to ${percent((bin + 1) * size)}: ${grouped(count)}`,
      ),
    ),
  });
}

function excursions(trips: readonly Trip[]): Html {
  const every = Math.ceil(trips.length / mostDots);
  const shown = trips.filter((_, index) => index % every === 0);
  const worst = Math.max(1e-6, -quantile(ascending(shown.map((trip) => trip.worst)), 0.01));
  const best = Math.max(1e-6, quantile(ascending(shown.map((trip) => trip.best)), 0.99));
  const x = linear(0, worst * 1.05, wide);
  const y = linear(0, best * 1.05, high, true);
  const place = (trip: Trip): readonly [number, number] => [
    x.at(Math.min(-trip.worst, worst)),
    y.at(Math.min(trip.best, best)),
  ];
  const of = (won: boolean): string => dots(shown.filter(({ profit }) => profit > 0 === won).map(place));
  return html`${plot({
    ...{ x, y, size: 'mid', about: 'Furthest against (across) and for (up) each round trip' },
    xLabels: roundSteps(0, x.high, 5).map(
      (value): Label => ({ value, text: value === 0 ? '0' : `-${percent(value)}` }),
    ),
    yLabels: roundSteps(0, y.high, 3).map((value) => ({ value, text: percent(value) })),
    body: html`<path class="dots-down" d="${of(false)}"/><path class="dots-up" d="${of(true)}"/>`,
  })}<p class="about">Across: the furthest against it (MAE); up: the furthest for it (MFE). Green won, red lost.${
    every > 1 ? ` One in ${every} of ${grouped(trips.length)} is drawn.` : ''
  }</p>`;
}

const symbolOf = (input: ReportInput, trip: Trip): string => input.table.places[trip.place]?.symbol ?? '';

/** A moment that can be gone to in the chart. */
export const jump = (symbol: string, time: number): Html =>
  html`<button type="button" class="jump" data-symbol="${symbol}" data-time="${time}">${momentText(time)}</button>`;

/** Without klines nobody knows how far the price went meanwhile. */
const knowsWay = ({ series }: ReportInput): boolean => series.length > 0;

function tripRows(input: ReportInput, trips: readonly Trip[]): readonly (readonly Content[])[] {
  return trips.map((trip) => [
    jump(symbolOf(input, trip), trip.entryTime),
    signed(trip.profit, moneyFigure(trip.profit)),
    signed(gain(trip), shareText(gain(trip))),
    spanText(trip.exitTime - trip.entryTime),
    input.table.places[trip.place]?.strategy ?? '',
    `${trip.long ? 'long' : 'short'} ${symbolOf(input, trip)}`,
    grouped(Number(trip.quantity.toPrecision(8))),
    grouped(Number(trip.entryPrice.toPrecision(10))),
    grouped(Number(trip.exitPrice.toPrecision(10))),
    ...(knowsWay(input) ? [shareText(trip.worst), shareText(trip.best)] : []),
  ]);
}

const listed = 8;

export function tradeSection(input: ReportInput): Html {
  const { trips, asset } = input;
  if (trips.length === 0)
    return section('trips', 'Round trips', html`<p class="about">No position was opened and closed again.</p>`);
  const missing = uncounted(input);
  if (missing !== undefined) return section('trips', 'Round trips', html`<p class="stamp">${missing}</p>`);
  const sorted = trips.toSorted((a, b) => a.profit - b.profit);
  const groups: readonly (readonly [string, readonly Trip[]])[] =
    trips.length <= 2 * listed
      ? [['All', trips]]
      : [
          ['Worst', sorted.slice(0, listed)],
          ['Best', sorted.slice(-listed).toReversed()],
          ['Last', trips.slice(-listed).toReversed()],
        ];
  const numbers = (...names: readonly string[]) => names.map((name) => [name, 'n'] as const);
  // What each earned comes first: a phone shows no more than three columns at once.
  const head = [
    'Entry (UTC)',
    ...numbers(`Profit, ${asset}`, 'Gain'),
    ...['Held', 'Strategy', 'What'],
    ...numbers('Quantity', 'In', 'Out', ...(knowsWay(input) ? ['MAE', 'MFE'] : [])),
  ];
  return section(
    'trips',
    'Round trips',
    html`<div class="two"><div><h3>Gain of each, after fees</h3>${histogram(trips)}<p class="about">The outer hundredths are counted at the edges.</p></div><div><h3>How far the price went</h3>${
      knowsWay(input)
        ? excursions(trips)
        : html`<p class="stamp">Without the klines of this run nothing says how far the price went against and for each.</p>`
    }</div></div>`,
    groups.map(([title, list]) => html`<h3>${title}</h3>${tableHtml(head, tripRows(input, list))}`),
  );
}
