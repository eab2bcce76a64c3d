/** The limits in force, with what is used of each. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { LimitUse } from '../../../domain/limit-use.ts';
import { exact, money } from '../format.ts';
import { view } from '../store.ts';

/** From this share on it warns. */
const close = 0.8;

const scopeOf = ({ strategy, symbol }: LimitUse): string =>
  [strategy, symbol].filter((one) => one !== undefined).join(' · ') || 'all';

const numberOf = (text: string, { unit }: LimitUse): string => (unit === 'amount' ? money(text) : exact(text));

function Row({ limit }: { limit: LimitUse }): VNode {
  const { name, share, used = '0', allowed } = limit;
  const tone = share >= 1 ? 'full' : share >= close ? 'close' : '';
  const scope = scopeOf(limit);
  return html`
    <li class=${`limit ${tone}`}>
      <span class="name"><b>${name}</b> <span class="muted">${scope}</span></span>
      <meter min="0" max="1" high=${close} value=${Math.min(1, share)} aria-label=${`${name}, ${scope}: ${Math.round(100 * share)} % used`}></meter>
      <span class="figure">${numberOf(used, limit)} <span class="muted">of ${numberOf(allowed, limit)}</span></span>
    </li>
  `;
}

export function Limits(): VNode {
  const limits = view.value?.limits ?? [];
  const used = limits.filter(({ unit }) => unit !== 'each').toSorted((a, b) => b.share - a.share);
  const orders = limits.filter(({ unit }) => unit === 'each');
  return html`
    <ul class="limits" aria-label="Limits, the most used first">
      ${used.map((limit) => html`<${Row} key=${`${limit.name} ${scopeOf(limit)}`} limit=${limit} />`)}
    </ul>
    <h3>Limits of each order</h3>
    <dl class="facts pad">
      ${orders.map((limit) => html`<div key=${limit.name}><dt>${limit.name}</dt><dd>${exact(limit.allowed)}</dd></div>`)}
    </dl>
  `;
}
