/** The report of a grid: its heat map, its best cell beside what luck alone would show, its best plateau. */

import { yearDays } from '../research/ratios.ts';
import { deviation } from '../research/sample-moments.ts';
import { luckySharpe } from '../research/significance/deflated-sharpe.ts';
import { fewestTrips } from '../research/trip-numbers.ts';
import { spanOf } from './curves.ts';
import { figureText, fixed, grouped, moneyFigure, shareText } from './figures.ts';
import { type Content, type Html, html, section, signed, tableHtml } from './html.ts';
import { pageText } from './page.ts';

export interface GridCell {
  /** One value for each axis. */
  readonly values: readonly string[];
  /** Undefined where it was refused or not run. */
  readonly ran?: {
    readonly finalEquity: number;
    readonly return: number;
    readonly maxDrawdown: number;
    readonly sharpe: number | null;
    readonly fills: number;
    readonly roundTrips: number;
  };
}

export interface GridInput {
  readonly title: string;
  readonly asset: string;
  readonly from: number;
  readonly to: number;
  readonly klines: number;
  readonly axes: readonly { readonly name: string; readonly values: readonly string[] }[];
  /** The last axis fastest. */
  readonly cells: readonly GridCell[];
  /** The best over the axes beyond the first two, by row and column; a single axis is one row. */
  readonly heat: readonly (readonly (number | undefined)[])[];
  readonly best: number | undefined;
  readonly plateau:
    | {
        readonly centre: number;
        readonly cells: readonly number[];
        readonly mean: number;
        readonly worst: number;
        readonly best: number;
      }
    | undefined;
  /** Of the same strategies on overlapping data, this grid counted. */
  readonly tries: number;
  /** What speaks for luck, a name and a sentence each. */
  readonly doubts: readonly (readonly [name: string, text: string])[];
  /** How many cells have too few round trips to be ranked, where any has. */
  readonly notRanked: string | undefined;
  /** What is doubtful about the data, or was repaired in them. */
  readonly warnings: readonly string[];
  readonly provenance: readonly (readonly [name: string, value: string])[];
  readonly configuration: string;
}

const cellName = ({ axes, cells }: GridInput, index: number): string =>
  axes.map(({ name }, axis) => `${name} ${cells[index]?.values[axis] ?? ''}`).join(', ');

const fact = (name: string, value: Content, about: string): Html =>
  html`<div class="fact"><dt>${name}</dt><dd>${value}</dd><dd class="muted small">${about}</dd></div>`;

/** The yearly Sharpe ratio that the best of so many cells without skill shows, from how far their ratios lie apart. */
function luckOf({ cells, tries }: GridInput): number | undefined {
  const ratios = cells.flatMap(({ ran }) => (ran === undefined || ran.sharpe === null ? [] : [ran.sharpe]));
  const spread = deviation(ratios);
  return spread === undefined ? undefined : luckySharpe(spread * spread, Math.max(tries, ratios.length));
}

function headSection(input: GridInput): Html {
  const { cells, best, plateau, tries, asset, doubts, notRanked } = input;
  const winner = best === undefined ? undefined : cells[best]?.ran;
  const few = notRanked === undefined ? '' : html`<p><b>Not ranked</b> ${notRanked}.</p>`;
  if (best === undefined || winner === undefined)
    return notRanked === undefined
      ? section(
          'best',
          'No cell was run',
          html`<p class="about">Each was refused, or it was stopped before the first; the terminal, and the CSV that --csv writes, say why.</p>`,
        )
      : section('best', 'No best cell', few);
  const luck = luckOf(input);
  const beats = luck !== undefined && winner.sharpe !== null && winner.sharpe > luck;
  return html`<section class="panel verdict ${beats ? 'good' : 'warn'}" id="best"><h2>The best of ${grouped(tries)} trials</h2><dl class="facts">${[
    fact('Best cell', cellName(input, best), `${moneyFigure(winner.finalEquity)} ${asset}`),
    fact('Its return', signed(winner.return, shareText(winner.return)), `drawdown ${shareText(winner.maxDrawdown)}`),
    fact('Its Sharpe ratio', figureText(winner.sharpe, 'ratio'), `${grouped(winner.fills)} fills`),
    fact(
      'Luck alone shows',
      figureText(luck, 'ratio'),
      `the Sharpe ratio that the best of ${grouped(tries)} trials is expected to have without skill`,
    ),
    plateau === undefined
      ? fact('Best plateau', 'n/a', 'it takes three values an axis, and no holes; along words there is none')
      : fact(
          'Best plateau',
          `around ${cellName(input, plateau.centre)}`,
          `${plateau.cells.length} cells: ${shareText(plateau.mean)} on average, ${shareText(plateau.worst)} to ${shareText(plateau.best)}`,
        ),
  ]}</dl>${few}${doubts.map(([name, text]) => html`<p><b>${name}</b> ${text}.</p>`)}<p class="about">Years of ${yearDays} days. A plateau is worth more than a peak: its middle stays good where the market differs a little. Run the chosen cell by itself for its own report; its trials still count.</p></section>`;
}

function heatSection(input: GridInput): Html {
  const { axes, heat, best, plateau } = input;
  const [first, second] = axes;
  const across = second ?? first;
  const down = second === undefined ? undefined : first;
  if (across === undefined) return html``;
  const others = axes.slice(2).reduce((product, { values }) => product * values.length, 1);
  const place = (cell: number): number => Math.floor(cell / others);
  const flat = new Set(plateau?.cells.map(place) ?? []);
  const all = heat.flat().filter((value) => value !== undefined);
  const most = Math.max(1e-9, ...all.map(Math.abs));
  const shade = (value: number): string =>
    `${value >= 0 ? 'g' : 'r'}${Math.max(1, Math.ceil(5 * Math.sqrt(Math.abs(value) / most)))}`;
  const cell = (value: number | undefined, index: number): Html =>
    value === undefined
      ? html`<td class="none"></td>`
      : html`<td class="${shade(value)}${flat.has(index) ? ' flat' : ''}${best !== undefined && index === place(best) ? ' best' : ''}" title="${shareText(value)}">${fixed(value * 100, 1)}</td>`;
  return section(
    'heat',
    'Return of each cell',
    html`<p class="about">In %. ${down === undefined ? '' : `Down ${down.name}, across `}${across.name}${
      others > 1 ? ', the best over the other axes' : ''
    }. The best cell is framed${plateau === undefined ? '' : ', the best plateau underlined'}.${
      across.values.length > 8 ? html` <span class="phone">Push it sideways: more columns are to the right.</span>` : ''
    }</p><div class="scroll-x"><table class="heat grid"><thead><tr><th>${
      down === undefined ? '' : `${down.name} \\ `
    }${across.name}</th>${across.values.map((value) => html`<th scope="col">${value}</th>`)}</tr></thead><tbody>${heat.map(
      (row, index) =>
        html`<tr><th scope="row">${down?.values[index] ?? ''}</th>${row.map((value, column) =>
          cell(value, index * row.length + column),
        )}</tr>`,
    )}</tbody></table></div>`,
  );
}

const listed = 30;

function tableSection({ axes, cells, asset }: GridInput): Html {
  const ran = cells
    .flatMap(({ values, ran: one }) =>
      one === undefined ? [] : [{ values, one, isFew: one.roundTrips < fewestTrips }],
    )
    .toSorted((a, b) => Number(a.isFew) - Number(b.isFew) || b.one.return - a.one.return);
  const ranked = ran.filter(({ isFew }) => !isFew).length;
  const names = [`Final equity, ${asset}`, 'Return', 'Drawdown', 'Sharpe ratio', 'Fills', 'Round trips'];
  return section(
    'cells',
    `The best ${Math.min(listed, ranked)} of ${grouped(ran.length)} ${ran.length === 1 ? 'cell' : 'cells'}`,
    tableHtml(
      [...axes.map(({ name }) => [name, 'n'] as const), ...names.map((name) => [name, 'n'] as const)],
      ran
        .slice(0, listed)
        .map(({ values, one, isFew }) => [
          ...values,
          moneyFigure(one.finalEquity),
          signed(one.return, shareText(one.return)),
          shareText(one.maxDrawdown),
          figureText(one.sharpe, 'ratio'),
          grouped(one.fills),
          `${grouped(one.roundTrips)}${isFew ? ', not ranked' : ''}`,
        ]),
    ),
  );
}

export function gridText(input: GridInput): string {
  const { title, from, to, klines, axes, warnings, provenance, configuration } = input;
  const body = html`<header class="top"><h1>${title}</h1><p class="muted">${axes
    .map(({ name, values }) => `${name} ${values[0] ?? ''} to ${values.at(-1) ?? ''} (${values.length})`)
    .join(' × ')} · ${spanOf(from, to)} · ${grouped(klines)} klines</p></header>${[
    ...warnings.map((warning) => html`<p class="stamp">${warning}</p>`),
    headSection(input),
    heatSection(input),
    tableSection(input),
    section(
      'configuration',
      'Configuration and hashes',
      html`<table class="plain"><tbody>${provenance.map(
        ([name, value]) => html`<tr><th scope="row">${name}</th><td class="hash">${value}</td></tr>`,
      )}</tbody></table><pre>${configuration}</pre>`,
    ),
  ]}`;
  return pageText({ title, body });
}
