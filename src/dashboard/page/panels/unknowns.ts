/** Orders whose outcome was not known, and how each was turned into a fact. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { StepView, UnknownView } from '../../view.ts';
import { age } from '../format.ts';
import { Panel, Pill, When } from '../parts.ts';
import { Why, whyOrder } from './timeline.ts';

const Step = ({ step, last }: { step: StepView; last: boolean }): VNode => html`
  <li class=${last ? 'last' : ''}><${When} at=${step.at} /><span>${step.text}</span></li>
`;

function Unknown({ unknown, now }: { unknown: UnknownView; now: number }): VNode {
  const { order, strategy, symbol, since, cause, steps, resolved, clientOrderId } = unknown;
  const all = resolved === undefined ? steps : [...steps, resolved];
  return html`
    <li class="unknown">
      <div class="line">
        <b>${order}</b>
        <span class="muted">${symbol} · ${strategy}</span>
        ${
          resolved === undefined
            ? html`<${Pill} tone="warn">Unknown for ${age(now - since)}<//>`
            : html`<${Pill} tone="good">Resolved in ${age(resolved.at - since)}<//>`
        }
      </div>
      <ol class="steps">
        <li><${When} at=${since} /><span>${cause}</span></li>
        ${all.map((step, index) => html`<${Step} key=${index} step=${step} last=${resolved !== undefined && index === all.length - 1} />`)}
      </ol>
      <p class="id">${clientOrderId} <${Why} subject=${whyOrder(clientOrderId, order)} /></p>
    </li>
  `;
}

const none =
  'When the exchange does not say what became of an order, it appears here, with each question that was asked and the answer that settled it. Nothing is sent twice meanwhile.';

export const Unknowns = ({ unknowns, now }: { unknowns: readonly UnknownView[]; now: number }): VNode => html`
  <${Panel} id="unknowns" title="Unknown outcomes" empty=${unknowns.length === 0 && none}>
    <ol class="list scroll" tabindex="0" aria-label="Unknown outcomes">
      ${unknowns.map((unknown) => html`<${Unknown} key=${unknown.clientOrderId} unknown=${unknown} now=${now} />`)}
    </ol>
  <//>
`;
