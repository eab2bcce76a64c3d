/** What happened within the kline that was clicked, by what evidence. */
import type { Pointed, Shown } from './chart.ts';
import { placeAt, type ShownFill } from './unpack.ts';

export const byId = (id: string): HTMLElement => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no ${id}`);
  return found;
};
const element = (name: string, text: string, cls = ''): HTMLElement => {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = cls;
  return made;
};

export const moment = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ');
export const amount = (value: number, most: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: most });
/** Fills of one kline that are listed. */
const mostListed = 40;

function fillRow(fill: ShownFill, shown: Shown, asset: string): HTMLElement {
  const { series } = shown;
  const row = document.createElement('tr');
  const buys = fill.quantity > 0;
  const detail = series.details[fill.index];
  const cells: readonly (readonly [text: string, cls: string])[] = [
    [moment(fill.time), ''],
    [fill.strategy, ''],
    [
      `${buys ? 'BUY' : 'SELL'} ${amount(Math.abs(fill.quantity), series.quantityPrecision)} ${series.base}`,
      buys ? 'buy' : 'sell',
    ],
    [amount(fill.price, series.pricePrecision), 'n'],
    [`${amount(fill.fee, 8)} ${asset}`, 'n'],
    [`${fill.purpose}, ${fill.maker ? 'maker' : 'taker'}`, ''],
    [
      `${fill.rule}${fill.ambiguous ? ', ambiguous' : ''}${detail === undefined ? '' : ` · ${detail}`}`,
      fill.ambiguous ? 'warn' : '',
    ],
  ];
  for (const [text, cls] of cells) row.append(element('td', text, cls));
  return row;
}

/** What happened within one kline, by what evidence. */
export function showEvidence({ kline, ms }: Pointed, shown: Shown, asset: string): void {
  const { fills } = shown;
  const found = fills.slice(placeAt(fills, kline.time), placeAt(fills, kline.time + ms));
  const box = byId('clicked');
  box.replaceChildren(
    element(
      'p',
      `${moment(kline.time)} UTC: ${found.length === 0 ? 'no fill' : `${found.length} ${found.length === 1 ? 'fill' : 'fills'}${found.length > mostListed ? `, the first ${mostListed}` : ''}`}`,
      'about',
    ),
  );
  if (found.length === 0) return;
  const table = document.createElement('table');
  const head = document.createElement('tr');
  for (const [name, cls] of [
    ['Time (UTC)', ''],
    ['Strategy', ''],
    ['Fill', ''],
    ['Price', 'n'],
    ['Fee', 'n'],
    ['For', ''],
    ['Evidence', ''],
  ] as const)
    head.append(element('th', name, cls));
  table.append(head, ...found.slice(0, mostListed).map((fill) => fillRow(fill, shown, asset)));
  const scroll = element('div', '', 'scroll-x');
  scroll.append(table);
  box.append(scroll);
}
