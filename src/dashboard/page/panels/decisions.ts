/** Why it traded, and why it did not. */
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { DecisionView } from '../../view.ts';
import { Choice, Panel, Pill, type Tone, When } from '../parts.ts';
import { Why, whyDecision } from './timeline.ts';

const verdicts: Readonly<Record<DecisionView['verdict'], readonly [Tone, string]>> = {
  approved: ['good', 'Approved'],
  denied: ['warn', 'Denied'],
  none: ['plain', 'New signal'],
};

type Shown = 'all' | 'denied';
const shown = signal<Shown>('all');
/** More rows than anybody reads only make the page slow. */
const maxShown = 40;

const choices: readonly (readonly [Shown, string])[] = [
  ['all', 'All'],
  ['denied', 'Denied'],
];
const choose = (which: Shown): void => {
  shown.value = which;
};
const Filter = (): VNode =>
  html`<${Choice} label="Which decisions" options=${choices} chosen=${shown.value} choose=${choose} />`;

function Decision({ decision }: { decision: DecisionView }): VNode {
  const [tone, label] = verdicts[decision.verdict];
  return html`
    <li class="decision">
      <div class="line">
        <${When} at=${decision.at} />
        <b>${decision.strategy}</b>
        <span class="draft">${decision.draft}</span>
        <${Pill} tone=${tone}>${label}<//>
      </div>
      ${decision.verdict === 'denied' && html`<p class="verdict denied">${decision.text}</p>`}
      <p class="because">Because ${decision.reason} <${Why} subject=${whyDecision(decision)} /></p>
    </li>
  `;
}

export function Decisions({ decisions }: { decisions: readonly DecisionView[] }): VNode {
  const chosen = decisions.filter(({ verdict }) => shown.value === 'all' || verdict === 'denied');
  const none =
    shown.value === 'all'
      ? 'Each signal of a strategy appears here, with the verdict and its reason.'
      : 'Nothing was denied lately.';
  return html`
    <${Panel} id="decisions" title="Decisions" aside=${html`<${Filter} />`} empty=${chosen.length === 0 && none}>
      <ol class="list scroll" tabindex="0" aria-label="Latest decisions, newest first">
        ${chosen
          .slice(0, maxShown)
          .map(
            (decision) =>
              html`<${Decision} key=${`${decision.at}${decision.strategy}${decision.draft}`} decision=${decision} />`,
          )}
      </ol>
    <//>
  `;
}
