/** The report of a grid: its heat map, the best parameter set beside what chance would show, the best plateau. */
import { counted, grouped } from '../domain/words.ts';
import type { Form } from '../research/conventions.ts';
import { yearDays } from '../research/ratios.ts';
import { fewestRoundTrips } from '../research/round-trip-figures.ts';
import { standardDeviation } from '../research/sample-moments.ts';
import { expectedBestSharpe } from '../research/significance/deflated-sharpe.ts';
import type { Plateau } from '../research/significance/plateau.ts';
import { figureText, fixed, moneyFigure, periodText, shareText } from './figures.ts';
import {
  about,
  type Content,
  configurationSection,
  fact,
  type Html,
  heatClass,
  html,
  numbers,
  section,
  signed,
  stamp,
  tableHtml,
} from './html.ts';
import { pageText } from './page.ts';

export interface GridSet {
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
    /** What sets are ranked by, higher is better; undefined where it would mean nothing. */
    readonly figure: number | undefined;
  };
}

export interface GridInput {
  readonly title: string;
  /** What sets are ranked by. */
  readonly objective: { readonly title: string; readonly form: Form };
  readonly asset: string;
  readonly from: number;
  readonly to: number;
  readonly klines: number;
  readonly axes: readonly { readonly name: string; readonly values: readonly string[] }[];
  /** The last axis fastest. */
  readonly sets: readonly GridSet[];
  /** The best figure over the axes beyond the first two, by row and column; a single axis is one row. */
  readonly heat: readonly (readonly (number | undefined)[])[];
  /** Index of the best set. */
  readonly best: number | undefined;
  readonly plateau: Plateau | undefined;
  /** Trials of the same strategies on overlapping data, this grid included. */
  readonly trials: number;
  /** Signs that the result is chance, a name and a sentence each. */
  readonly doubts: readonly (readonly [name: string, text: string])[];
  /** How many sets have too few round trips to be ranked; undefined for none. */
  readonly notRanked: string | undefined;
  /** What is doubtful about the data, or was repaired in them. */
  readonly warnings: readonly string[];
  readonly provenance: readonly (readonly [name: string, value: string])[];
  readonly configuration: string;
}

const setName = ({ axes, sets }: GridInput, index: number): string =>
  axes.map(({ name }, axis) => `${name} ${sets[index]?.values[axis] ?? ''}`).join(', ');

/** The yearly Sharpe ratio that the best of these trials is expected to show without skill. */
function chanceSharpe({ sets, trials }: GridInput): number | undefined {
  const ratios = sets.flatMap(({ ran }) => (ran === undefined || ran.sharpe === null ? [] : [ran.sharpe]));
  const spread = standardDeviation(ratios);
  return spread === undefined ? undefined : expectedBestSharpe(spread * spread, Math.max(trials, ratios.length));
}

function bestSection(input: GridInput): Html {
  const { objective, sets, best, plateau, trials, asset, doubts, notRanked } = input;
  const winner = best === undefined ? undefined : sets[best]?.ran;
  const few = notRanked === undefined ? undefined : html`<p><b>Not ranked</b> ${notRanked}.</p>`;
  if (best === undefined || winner === undefined)
    return few === undefined
      ? section(
          'best',
          'No parameter set was run',
          about(
            'Each was refused, or the grid was stopped before the first. The terminal and the CSV of --csv give the reasons.',
          ),
        )
      : section('best', 'No best parameter set', few);
  const chance = chanceSharpe(input);
  const beats = chance !== undefined && winner.sharpe !== null && winner.sharpe > chance;
  const isLost = sets.every(({ ran }) => ran === undefined || ran.roundTrips < fewestRoundTrips || ran.return < 0);
  return html`<section class="panel verdict ${isLost ? 'bad' : beats ? 'good' : 'warn'}" id="best"><h2>The best of ${counted(trials, 'trial')}${isLost ? ': every one lost money' : ''}</h2><dl class="facts">${[
    fact('Best parameter set', setName(input, best), `${moneyFigure(winner.finalEquity)} ${asset}`),
    ...(objective.title === 'Return'
      ? []
      : [fact(`Its ${objective.title}`, figureText(winner.figure, objective.form))]),
    fact('Its return', signed(winner.return, shareText(winner.return)), `drawdown ${shareText(winner.maxDrawdown)}`),
    fact('Its Sharpe ratio', figureText(winner.sharpe, 'ratio'), counted(winner.fills, 'fill')),
    fact(
      'Expected by chance',
      figureText(chance, 'ratio'),
      `the Sharpe ratio that the best of ${grouped(trials)} trials is expected to have without skill`,
    ),
    plateau === undefined
      ? fact('Best plateau', 'n/a', 'needs three numeric values on each axis, all of them run')
      : fact(
          'Best plateau',
          `around ${setName(input, plateau.centre)}`,
          `${plateau.sets.length} parameter sets: ${figureText(plateau.mean, objective.form)} on average, ${figureText(plateau.worst, objective.form)} to ${figureText(plateau.best, objective.form)}`,
        ),
  ]}</dl>${few}${doubts.map(([name, text]) => html`<p><b>${name}</b> ${text}.</p>`)}${about(
    `Years of ${yearDays} days. A plateau is worth more than a peak: its centre stays good where the market differs a little. Run the chosen parameter set by itself for its own report; the trials of the grid still count.`,
  )}</section>`;
}

function heatSection({ objective, axes, heat, best, plateau }: GridInput): Content {
  const [first, second] = axes;
  const across = second ?? first;
  const down = second === undefined ? undefined : first;
  if (across === undefined) return undefined;
  const others = axes.slice(2).reduce((product, { values }) => product * values.length, 1);
  const isShare = objective.form === 'share';
  const indexOf = (set: number): number => Math.floor(set / others);
  const flat = new Set(plateau?.sets.map(indexOf) ?? []);
  const max = Math.max(1e-9, ...heat.flatMap((row) => row.map((value) => Math.abs(value ?? 0))));
  const cell = (value: number | undefined, index: number): Html =>
    value === undefined
      ? html`<td class="none"></td>`
      : html`<td class="${heatClass(value, max)}${flat.has(index) ? ' flat' : ''}${best !== undefined && index === indexOf(best) ? ' best' : ''}" title="${figureText(value, objective.form)}">${isShare ? fixed(value * 100, 1) : fixed(value, 2)}</td>`;
  return section(
    'heat',
    `${objective.title} of each parameter set`,
    about(
      `${isShare ? 'In %. ' : ''}${down === undefined ? '' : `Down ${down.name}, across `}${across.name}${others > 1 ? ', the best over the other axes' : ''}.`,
      ` The best is framed${plateau === undefined ? '' : ', the best plateau underlined'}.`,
      across.values.length > 8 ? html` <span class="phone">Scroll sideways for more columns.</span>` : '',
    ),
    html`<div class="scroll-x"><table class="heat grid"><thead><tr><th>${
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

function tableSection({ axes, sets, asset }: GridInput): Html {
  const ran = sets
    .flatMap(({ values, ran: one }) =>
      one === undefined ? [] : [{ values, one, isFew: one.roundTrips < fewestRoundTrips }],
    )
    .toSorted(
      (a, b) =>
        Number(a.isFew) - Number(b.isFew) || (b.one.figure ?? -Number.MAX_VALUE) - (a.one.figure ?? -Number.MAX_VALUE),
    );
  const ranked = ran.filter(({ isFew }) => !isFew).length;
  const figures = [`Final equity, ${asset}`, 'Return', 'Max drawdown', 'Sharpe ratio', 'Fills', 'Round trips'];
  return section(
    'sets',
    `The best ${Math.min(listed, ranked)} of ${grouped(ran.length)} parameter ${ran.length === 1 ? 'set' : 'sets'}`,
    tableHtml(
      numbers(...axes.map(({ name }) => name), ...figures),
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
  const { title, from, to, klines, axes, warnings } = input;
  const body = html`<header class="top"><h1>${title}</h1><p class="muted">${axes
    .map(({ name, values }) => `${name} ${values[0] ?? ''} to ${values.at(-1) ?? ''} (${values.length})`)
    .join(' × ')} · ${periodText(from, to)} · ${counted(klines, 'kline')}</p></header>${[
    ...warnings.map(stamp),
    bestSection(input),
    heatSection(input),
    tableSection(input),
    configurationSection(input),
  ]}`;
  return pageText({ title, body });
}
