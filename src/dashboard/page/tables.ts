/** Open orders and fills. Columns marked `wide` are left out on a phone. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { OrderState } from '../../domain/order.ts';
import type { FillView, OpenOrderView, View } from '../view.ts';
import { ask } from './dialog.ts';
import { age, direction, exact } from './format.ts';
import { Empty, Panel, Pill, Side, type Tone, When } from './parts.ts';

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

function Order({ order, now }: { order: OpenOrderView; now: number }): VNode {
  const [tone, label] = states[order.state];
  return html`
    <tr>
      <td><${Side} side=${order.side} /></td>
      <td class="number">${exact(order.quantity)}</td>
      <td class="number">${order.price === undefined ? 'market' : exact(order.price)}</td>
      <td class="number wide">${direction(order.filled) === 'even' ? '–' : exact(order.filled)}</td>
      <td class="wide">${order.symbol}</td>
      <td>${order.strategy}</td>
      <td class="number wide">${age(now - order.createdAt)}</td>
      <td><${Pill} tone=${tone}>${label}<//></td>
    </tr>
  `;
}

/** Titles of columns, each with its classes. */
const Head = ({ columns }: { columns: readonly (readonly [title: string, cls?: string])[] }): VNode =>
  html`<thead><tr>${columns.map(([title, cls]) => html`<th scope="col" class=${cls}>${title}</th>`)}</tr></thead>`;

const orderColumns = [
  ['Side'],
  ['Quantity', 'number'],
  ['Price', 'number'],
  ['Filled', 'number wide'],
  ['Symbol', 'wide'],
  ['Strategy'],
  ['Age', 'number wide'],
  ['State'],
];

export const OpenOrders = ({ view }: { view: View }): VNode => html`
  <${Panel}
    id="orders"
    title="Open orders"
    count=${view.openOrders.length}
    aside=${view.openOrders.length === 0 ? null : html`<button type="button" class="button small" onClick=${() => ask('cancel', view.actions.cancelAll)}>Cancel all …</button>`}
  >
    ${
      view.openOrders.length === 0
        ? html`<${Empty}>Orders that rest on the exchange, or are on the way there, appear here.<//>`
        : html`<table>
            <${Head} columns=${orderColumns} />
            <tbody>
              ${view.openOrders.map((order) => html`<${Order} key=${order.clientOrderId} order=${order} now=${view.marketTime} />`)}
            </tbody>
          </table>`
    }
  <//>
`;

const purposes: Readonly<Record<FillView['purpose'], string>> = {
  enter: 'entry',
  exit: 'exit',
  quote: 'quote',
  stop: 'stop',
  takeProfit: 'target',
};

const Fill = ({ fill }: { fill: FillView }): VNode => html`
  <tr>
    <td><${When} at=${fill.time} /></td>
    <td><${Side} side=${fill.side} /></td>
    <td class="number">${exact(fill.quantity)}</td>
    <td class="number">${exact(fill.price)}</td>
    <td class="number wide">${exact(fill.fee)} ${fill.feeAsset}</td>
    <td class="wide">${fill.symbol}</td>
    <td>${fill.strategy}</td>
    <td class="wide">${purposes[fill.purpose]}, ${fill.maker ? 'maker' : 'taker'}</td>
  </tr>
`;

const fillColumns = [
  ['Time'],
  ['Side'],
  ['Quantity', 'number'],
  ['Price', 'number'],
  ['Fee', 'number wide'],
  ['Symbol', 'wide'],
  ['Strategy'],
  ['For', 'wide'],
];

export const Fills = ({ fills }: { fills: readonly FillView[] }): VNode => html`
  <${Panel} id="fills" title="Latest fills">
    ${
      fills.length === 0
        ? html`<${Empty}>Each execution on the exchange becomes one row here, exactly once.<//>`
        : html`<div class="scroll" tabindex="0" role="region" aria-label="Latest fills, newest first"><table>
            <${Head} columns=${fillColumns} />
            <tbody>
              ${fills.slice(0, maxFills).map((fill) => html`<${Fill} key=${`${fill.tradeId}/${fill.orderId}`} fill=${fill} />`)}
            </tbody>
          </table></div>`
    }
  <//>
`;
