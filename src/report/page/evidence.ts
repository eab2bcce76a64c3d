/** The fills of the kline that was clicked, with their evidence. */
import type { Pointed, Shown } from './chart.ts';
import { indexAt, type ShownFill } from './unpack.ts';

export const byId = (id: string): HTMLElement => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no ${id}`);
  return found;
};
export const element = (name: string, text: string, cls = ''): HTMLElement => {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = cls;
  return made;
};

export const moment = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ');
export const amount = (value: number, max: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: max });
/** Fills of one kline that are listed. */
const maxListed = 40;

type Cell = readonly [text: string, cls?: string];
const row = (name: 'td' | 'th', cells: readonly Cell[]): HTMLElement => {
  const made = document.createElement('tr');
  made.append(...cells.map(([text, cls]) => element(name, text, cls)));
  return made;
};

function fillCells(fill: ShownFill, { series }: Shown, asset: string): readonly Cell[] {
  const isBuy = fill.quantity > 0;
  const detail = series.details[fill.index];
  const quantity = amount(Math.abs(fill.quantity), series.quantityPrecision);
  return [
    [moment(fill.time)],
    [fill.strategy],
    [`${isBuy ? 'BUY' : 'SELL'} ${quantity} ${series.base}`, isBuy ? 'buy' : 'sell'],
    [amount(fill.price, series.pricePrecision), 'n'],
    [`${amount(fill.fee, 8)} ${asset}`, 'n'],
    [`${fill.purpose}, ${fill.maker ? 'maker' : 'taker'}`],
    [
      `${fill.rule}${fill.ambiguous ? ', ambiguous' : ''}${detail === undefined ? '' : ` · ${detail}`}`,
      fill.ambiguous ? 'warn' : '',
    ],
  ];
}

const head: readonly Cell[] = [
  ['Time (UTC)'],
  ['Strategy'],
  ['Fill'],
  ['Price', 'n'],
  ['Fee', 'n'],
  ['For'],
  ['Evidence'],
];

export function showEvidence({ kline, ms }: Pointed, shown: Shown, asset: string): void {
  const { fills } = shown;
  const found = fills.slice(indexAt(fills, kline.time), indexAt(fills, kline.time + ms));
  const count = found.length === 0 ? 'no fill' : `${found.length} ${found.length === 1 ? 'fill' : 'fills'}`;
  const more = found.length > maxListed ? `, the first ${maxListed}` : '';
  const box = byId('clicked');
  box.replaceChildren(element('p', `${moment(kline.time)} UTC: ${count}${more}`, 'about'));
  if (found.length === 0) return;
  const table = document.createElement('table');
  table.append(row('th', head), ...found.slice(0, maxListed).map((fill) => row('td', fillCells(fill, shown, asset))));
  const scroll = element('div', '', 'scroll-x');
  scroll.append(table);
  box.append(scroll);
}
