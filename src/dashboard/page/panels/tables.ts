/** Open orders and fills. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { OrderState } from '../../../domain/order.ts';
import type { FillView, OpenOrderView, View } from '../../view.ts';
import { askCancel, askCancelAll } from '../dialog.ts';
import { age, direction, exact } from '../format.ts';
import { type Column, Panel, Pill, Side, Table, type Tone, When } from '../parts.ts';
import { isOffline } from '../store.ts';
import { type Subject, Why, whyOrder } from './timeline.ts';

const states: Readonly<Record<OrderState, readonly [Tone, string]>> = {
  intended: ['plain', 'About to send'],
  sending: ['plain', 'Sending'],
  unknown: ['warn', 'Unknown'],
  quarantined: ['bad', 'Quarantined'],
  open: ['good', 'Open'],
  closing: ['plain', 'Closing'],
  filled: ['good', 'Filled'],
  canceled: ['plain', 'Canceled'],
  rejected: ['bad', 'Rejected'],
  notSent: ['plain', 'Not sent'],
  absent: ['plain', 'Absent'],
};
const maxFills = 40;

function Cancel({
  order: { clientOrderId, side, quantity, price, symbol, strategy },
}: {
  order: OpenOrderView;
}): VNode {
  const label = `${side} ${exact(quantity)} ${symbol}${price === undefined ? '' : ` at ${exact(price)}`} of ${strategy}`;
  return html`<button type="button" class="why" disabled=${isOffline.value} aria-label=${`Cancel: ${label}`} onClick=${() => askCancel(clientOrderId, label, strategy)}>Cancel</button>`;
}

const orderColumns = (now: number): readonly Column<OpenOrderView>[] => [
  ['Side', undefined, ({ side }) => html`<${Side} side=${side} />`],
  ['Quantity', 'number', ({ quantity }) => exact(quantity)],
  ['Price', 'number', ({ price }) => (price === undefined ? 'market' : exact(price))],
  ['Filled', 'number wide', ({ filled }) => (direction(filled) === 'even' ? '–' : exact(filled))],
  ['Symbol', 'wide', ({ symbol }) => symbol],
  ['Strategy', 'wide', ({ strategy }) => strategy],
  ['Age', 'number wide', ({ createdAt }) => age(now - createdAt)],
  ['State', undefined, ({ state }) => html`<${Pill} tone=${states[state][0]}>${states[state][1]}<//>`],
  [
    '',
    'buttons',
    (order) => html`
      ${order.state === 'open' ? html`<${Cancel} order=${order} />` : null}
      <${Why} subject=${whyOrder(order.clientOrderId, `order ${order.side} ${order.quantity}`)} />
    `,
  ],
];

const CancelAll = (): VNode =>
  html`<button type="button" class="button small" disabled=${isOffline.value} onClick=${askCancelAll}>Cancel all …</button>`;

export const OpenOrders = ({ view }: { view: View }): VNode => html`
  <${Panel}
    id="orders"
    title="Open orders"
    count=${view.openOrders.length}
    aside=${view.openOrders.length === 0 ? null : html`<${CancelAll} />`}
    empty=${view.openOrders.length === 0 && 'Orders that rest on the exchange, or are on the way there, appear here.'}
  >
    <${Table} caption="Open orders" columns=${orderColumns(view.marketTime)} rows=${view.openOrders} keyOf=${(order: OpenOrderView) => order.clientOrderId} />
  <//>
`;

const purposes: Readonly<Record<FillView['purpose'], string>> = {
  enter: 'entry',
  exit: 'exit',
  quote: 'quote',
  stop: 'stop',
  takeProfit: 'target',
  flatten: 'flatten',
};

const fillColumns: readonly Column<FillView>[] = [
  ['Time', undefined, ({ time }) => html`<${When} at=${time} />`],
  ['Side', undefined, ({ side }) => html`<${Side} side=${side} />`],
  ['Quantity', 'number', ({ quantity }) => exact(quantity)],
  ['Price', 'number', ({ price }) => exact(price)],
  ['Fee', 'number wide', ({ fee, feeAsset }) => `${exact(fee)} ${feeAsset}`],
  ['Symbol', 'wide', ({ symbol }) => symbol],
  ['Strategy', 'wide', ({ strategy }) => strategy],
  ['For', 'wide', ({ purpose, maker }) => `${purposes[purpose]}, ${maker ? 'maker' : 'taker'}`],
  ['', undefined, (fill) => html`<${Why} subject=${whyFill(fill)} />`],
];

export const whyFill = ({ clientOrderId, strategy, side, quantity, price }: FillView): Subject =>
  whyOrder(clientOrderId, `${strategy}: ${side} ${exact(quantity)} at ${exact(price)}`);

const fillKey = ({ tradeId, orderId }: FillView): string => `${tradeId}/${orderId}`;
const noFills = 'Each execution on the exchange becomes one row here, exactly once.';

export const Fills = ({ fills }: { fills: readonly FillView[] }): VNode => html`
  <${Panel} id="fills" title="Latest fills" empty=${fills.length === 0 && noFills}>
    <div class="scroll" tabindex="0" role="region" aria-label="Latest fills, newest first">
      <${Table} caption="Latest fills, newest first" columns=${fillColumns} rows=${fills.slice(0, maxFills)} keyOf=${fillKey} />
    </div>
  <//>
`;
