/** A grid for the terminal: the best parameter set with the number of trials, the best plateau, the first sets, the heat map. */

import { axisNames } from '../../backtest/search/axes.ts';
import {
  type Found,
  fewText,
  findIn,
  type GridResult,
  hasWords,
  missingIn,
  setText,
  stoppedText,
} from '../../backtest/search/grid-result.ts';
import type { Objective } from '../../backtest/search/objective.ts';
import { hasRun, isFew, isRanked, type Ran } from '../../backtest/search/outcome.ts';
import { overfittingTexts } from '../../backtest/search/overfitting.ts';
import { counted, grouped, roundedMoney } from '../../domain/words.ts';
import { cellText as csvCell } from '../../report/csv.ts';
import { figureText, shareText } from '../../report/figures.ts';
import type { Plateau } from '../../research/significance/plateau.ts';
import { doubtsText } from '../../research/verdict.ts';

const shownSets = 10;
const nameWidth = 20;
const line = (name: string, value: string): string => `${name.padEnd(nameWidth)}${value}`;

/** `doubts`: what makes the data doubtful by itself. */
export function gridLines(result: GridResult, doubts: readonly string[] = []): readonly string[] {
  const { axes, sets, outcomes, tries, asset, klines } = result;
  const refused = outcomes.filter((one) => one !== undefined && !hasRun(one)).length;
  const missing = missingIn(result);
  const parts = [
    `${counted(sets.length, 'parameter set')} over ${counted(klines, 'kline')}`,
    ...(refused > 0 ? [`${grouped(refused)} refused`] : []),
    ...(missing > 0 ? [`${grouped(missing)} not run yet`] : []),
  ];
  const names = axisNames(axes);
  const head = [
    line(
      'Grid',
      axes
        .map(({ values }, index) => `${names[index]} ${values[0]} to ${values.at(-1)} (${values.length})`)
        .join(' × '),
    ),
    line('', parts.join(', ')),
  ];
  if (doubts.length > 0) head.push(line('Doubtful data', doubtsText(doubts)));
  head.push(...refusals(result));
  const few = fewText(result);
  if (few !== undefined) head.push(line('Not ranked', few));
  const { best, plateau, heat } = findIn(result);
  const stopped = stoppedText(result, best).map((text) => line('Stopped', text));
  if (best === undefined)
    return outcomes.some(hasRun)
      ? [...head, line('Best parameter set', noneText(result)), ...stopped, '', ...topLines(result)]
      : head;
  const winner = outcomes[best] as Ran;
  return [
    ...head,
    line(
      'Best parameter set',
      `${setText(axes, sets[best])}: ${roundedMoney(winner.finalEquity)} ${asset}  (exactly ${winner.finalEquity})`,
    ),
    line('', `${winnerText(result, winner)}; ${luckText(result, tries)}`),
    line(
      'Best plateau',
      plateau === undefined
        ? `n/a  (${hasWords(axes) ? 'not defined on an axis of words' : 'needs three numeric values on each axis, all of them run'})`
        : plateauText(result, plateau),
    ),
    ...stopped,
    ...overfittingTexts(result.doubt).map(([name, text]) => line(name, text)),
    '',
    ...topLines(result),
    '',
    ...heatLines(result, heat, best, plateau),
  ];
}

/** The figure that it is the best by, and its return. */
const luckText = ({ outcomes }: GridResult, tries: number): string => {
  const isLost = outcomes.filter(isRanked).every((one) => one.return < 0);
  return `best of ${counted(tries, 'trial')} on these data: ${isLost ? 'every one lost money' : 'expect some luck'}`;
};

function winnerText({ objective }: GridResult, winner: Ran): string {
  const gain = `return ${shareText(winner.return)}`;
  return objective.name === 'return' ? gain : `${objectiveText(objective, objective.figureOf(winner))}, ${gain}`;
}

/** Sets without the figure come last. */
const rankOf = (objective: Objective, one: Ran): number => objective.figureOf(one) ?? -Number.MAX_VALUE;

const objectiveText = ({ title, form }: Objective, value: number | undefined): string =>
  `${title} ${figureText(value, form)}`;

const noneText = ({ objective, outcomes }: GridResult): string =>
  outcomes.some(isRanked) ? `none: no ranked one has the figure ${objective.title} (too few days?)` : 'none';

/** Why sets could not be run: each reason in the words of the first set, with that set's numbers. */
function refusals({ outcomes }: GridResult): readonly string[] {
  const all = outcomes.flatMap((one) => (one !== undefined && 'refused' in one ? [one.refused] : []));
  const kinds = [...Map.groupBy(all, (why) => why.replace(/\d+/g, '0')).values()].slice(0, 3);
  return kinds.map(([why = '', ...others]) =>
    line('Refused', others.length === 0 ? why : `${why} (${grouped(others.length)} more alike)`),
  );
}

function plateauText(
  { objective, axes, sets }: GridResult,
  { centre, sets: block, mean, worst, best }: Plateau,
): string {
  return `around ${setText(axes, sets[centre])}: ${block.length} parameter sets, ${objectiveText(objective, mean)} on average, ${figureText(worst, objective.form)} to ${figureText(best, objective.form)}`;
}

function topLines({ objective, axes, sets, outcomes }: GridResult): readonly string[] {
  const names = axisNames(axes);
  const isShown = ['return', 'sharpe', 'maxDrawdown'].includes(objective.name);
  const all = outcomes
    .flatMap((one, index) => (hasRun(one) ? [{ one, index }] : []))
    .toSorted(
      (a, b) =>
        Number(isFew(a.one)) - Number(isFew(b.one)) ||
        rankOf(objective, b.one) - rankOf(objective, a.one) ||
        a.index - b.index,
    );
  const rows = all
    .slice(0, shownSets)
    .map(({ one, index }) => [
      ...(sets[index] ?? []).map(String),
      one.finalEquity,
      shareText(one.return),
      shareText(one.maxDrawdown),
      figureText(one.sharpe, 'ratio'),
      ...(isShown ? [] : [figureText(objective.figureOf(one), objective.form)]),
      grouped(one.fills),
      `${grouped(one.roundTrips)}${isFew(one) ? ', not ranked' : ''}`,
    ]);
  const table = [
    [
      ...names,
      'final equity',
      'return',
      'drawdown',
      'Sharpe',
      ...(isShown ? [] : [objective.title]),
      'fills',
      'round trips',
    ],
    ...rows,
  ];
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const lines = table.map((row) => row.map((text, column) => text.padStart(widths[column] ?? 0)).join('  '));
  return all.length > shownSets ? [...lines, `The first ${shownSets} of ${grouped(all.length)}.`] : lines;
}

/** From the worst to the best fifth of the range. */
const shades = ['··', '░░', '▒▒', '▓▓', '██'] as const;
/** More columns would not fit a terminal. */
const maxColumns = 60;

function heatLines(
  { objective, axes }: GridResult,
  heat: Found['heat'],
  best: number,
  plateau: Plateau | undefined,
): readonly string[] {
  const named = axisNames(axes).map((name, index) => ({ name, values: axes[index]?.values ?? [] }));
  const [down, across] = axes.length === 1 ? [undefined, named[0]] : [named[0], named[1]];
  if (across === undefined || across.values.length > maxColumns)
    return ['The heat map is wider than a terminal: --csv DIR writes every parameter set.'];
  const all = heat.flat().filter((value) => value !== undefined);
  const [min, max] = [Math.min(...all), Math.max(...all)];
  const others = axes.slice(2).reduce((product, { values }) => product * values.length, 1);
  const at = (set: number | undefined): number => (set === undefined ? -1 : Math.floor(set / others));
  const shadeOf = (value: number | undefined, place: number): string => {
    if (place === at(best)) return '◆◆';
    if (place === at(plateau?.centre)) return '◇◇';
    if (value === undefined) return '  ';
    const share = max === min ? 1 : (value - min) / (max - min);
    return shades[Math.min(shades.length - 1, Math.floor(share * shades.length))] as string;
  };
  const labels = down?.values.map(String) ?? [''];
  const width = Math.max(...labels.map((label) => label.length), down?.name.length ?? 0);
  const rows = heat.map((row, index) => {
    const shaded = row.map((value, column) => shadeOf(value, index * row.length + column)).join('');
    return `${(labels[index] ?? '').padStart(width)} ${shaded}`;
  });
  const title = `${down === undefined ? '' : `${down.name} down, `}${across.name} across (${across.values[0]} to ${across.values.at(-1)})`;
  const scale = `${objectiveText(objective, min)} ${shades.join('')} ${figureText(max, objective.form)};  ◆◆ best parameter set${plateau === undefined ? '' : '  ◇◇ middle of the best plateau'}`;
  return [title, ...rows, scale];
}

/** One row for each parameter set. */
export function gridCsv({ axes, sets, outcomes }: GridResult): string {
  const names = [
    ...(['finalEquity', 'return', 'maxDrawdown', 'sharpe', 'sortino', 'calmar'] as const),
    ...(['fills', 'roundTrips', 'fees'] as const),
  ];
  const rows = sets.map((set, index) => {
    const one = outcomes[index];
    const figures = hasRun(one) ? names.map((name) => one[name] ?? '') : names.map(() => '');
    const kills = hasRun(one) ? one.kills.join('; ') : '';
    const refused = one !== undefined && 'refused' in one ? one.refused : '';
    const ranked = hasRun(one) ? String(!isFew(one)) : '';
    return [...set, ...figures, ranked, kills, refused].map(csvCell).join(',');
  });
  return [[...axisNames(axes), ...names, 'ranked', 'kills', 'refused'].map(csvCell).join(','), ...rows, ''].join('\n');
}
