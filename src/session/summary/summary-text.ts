/** The whole account in a few lines, for people who read them on a phone. */
import type { View } from '../../dashboard/view.ts';
import { minus, noUnits, plus, type Units, units, unitsText } from '../../domain/money.ts';
import { durationText, moment, roundedMoney } from '../../domain/words.ts';
import type { Counts } from './counts-thread.ts';

type Shown = Pick<
  View,
  'equity' | 'strategies' | 'openOrders' | 'unknowns' | 'marketTime' | 'mode' | 'state' | 'stateText'
>;

/** What the next summary is compared with. */
export interface Base {
  /** The time of day that it was for, UTC ms of the machine. */
  readonly due: number;
  /** By the exchange's clock, UTC ms. */
  readonly at: number;
  readonly equity: string;
}

/** Equity of each strategy; the places of one with several markets share theirs. */
export function equityByStrategy({ strategies }: Pick<View, 'strategies'>): Readonly<Record<string, string>> {
  const sums = new Map<string, Units>();
  for (const { id, equity, markets } of strategies)
    if (markets === undefined || !sums.has(id)) sums.set(id, plus(sums.get(id) ?? noUnits, units(equity)));
  return Object.fromEntries([...sums].map(([id, sum]) => [id, unitsText(sum)]));
}

/** What changed between two amounts, with its sign. */
export function changeText(from: string, to: string): string {
  const change = roundedMoney(unitsText(minus(units(to), units(from))));
  return change.startsWith('-') ? change : `+${change}`;
}

const times = (count: number, one: string, many = `${one}s`): string =>
  `${count === 0 ? 'no' : count} ${count === 1 ? one : many}`;

/** Positions that are held, one a line. */
export const positionLines = ({ strategies }: Pick<View, 'strategies'>): readonly string[] =>
  strategies
    .filter(({ position }) => position.quantity !== '0' && !position.isDust)
    .map(({ id, symbol, position, stop, isUnprotected }) => {
      const guard = stop === undefined ? '' : `, stop ${stop}`;
      const profit = changeText('0', position.openProfit);
      return `${id} ${position.quantity} ${symbol} at ${position.entryPrice ?? '?'}: ${profit}${guard}${isUnprotected ? ', UNPROTECTED' : ''}`;
    });

/** What a person may have to do something about, one a line. */
export const openLines = (shown: Shown): readonly string[] => {
  const unknown = shown.unknowns.filter(({ resolved }) => resolved === undefined).length;
  return [
    ...positionLines(shown),
    ...(shown.openOrders.length === 0 ? [] : [times(shown.openOrders.length, 'open order')]),
    ...(unknown === 0 ? [] : [times(unknown, 'unknown outcome')]),
    ...shown.strategies
      .filter(({ status }) => status !== 'running')
      .map(({ id, status, error }) => `${id} is ${status}${error === undefined ? '' : `: ${error}`}`),
  ];
};

/** `upMs`: how long the daemon runs. */
export function summaryText(shown: Shown, since: Base, counts: Counts, upMs: number): string {
  const { equity, marketTime, mode } = shown;
  const { fills, denials, unknowns, closed, proofs } = counts;
  const profits = closed.map(({ strategy, net, quote }) => `${strategy} ${changeText('0', net)} ${quote}`);
  const denied = denials.reduce((sum, one) => sum + one.times, 0);
  const byRule = denials.map(({ rule, times: count }) => `${rule} ${count}`).join(', ');
  const open = openLines(shown);
  return [
    `Daily summary (${mode}), ${moment(since.at)} to ${moment(marketTime)} UTC`,
    `Equity ${roundedMoney(equity.now)} ${equity.asset}, ${changeText(since.equity, equity.now)}`,
    `Closed less fees: ${profits.join(', ') || 'nothing was traded'}`,
    `${times(fills, 'fill')}, ${times(denied, 'denial')}${denied === 0 ? '' : ` (${byRule})`}, ${times(unknowns, 'unknown outcome')}`,
    ...(proofs.length === 0
      ? []
      : [`Account and ledger: ${proofs.map(({ day, text }) => `${day} ${text}`).join('; ')}`]),
    open.length === 0 ? 'Nothing is open.' : `Open: ${open.join('; ')}`,
    `State: ${shown.stateText} Running for ${durationText(upMs)}.`,
  ].join('\n');
}
