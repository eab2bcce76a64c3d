/** Why something happened: the timeline of an order or a decision, and the list of what happened within one kline. */
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { TimelineStep, TimelineView } from '../../history.ts';
import type { DecisionView } from '../../view.ts';
import { type Answer, ask } from '../ask.ts';
import { day } from '../format.ts';

/** Something with a timeline. */
export interface Subject {
  readonly label: string;
  readonly ask: () => Promise<Answer<TimelineView>>;
}

type Shown =
  | { readonly kind: 'list'; readonly title: string; readonly subjects: readonly Subject[] }
  | { readonly kind: 'timeline'; readonly label: string; readonly answer: Answer<TimelineView> };
const shown = signal<Shown | undefined>(undefined);

const close = (): void => {
  shown.value = undefined;
};

async function open({ label, ask: question }: Subject): Promise<void> {
  const waiting: Shown = { kind: 'timeline', label, answer: { kind: 'waiting' } };
  shown.value = waiting;
  const answer = await question();
  // Another may have been opened, or this one closed, meanwhile.
  if (shown.value === waiting) shown.value = { kind: 'timeline', label, answer };
}

export const whyOrder = (clientOrderId: string, label: string): Subject => ({
  label,
  ask: () => ask('why', { subject: clientOrderId }),
});

/** Of an approved decision its order; of another one what became of the signal in force. */
export function whyDecision({ order, strategy, symbol, at, draft }: DecisionView): Subject {
  const label = `${strategy}: ${draft}`;
  if (order !== undefined) return whyOrder(order, label);
  return { label, ask: () => ask('decision', { strategy, symbol, at: Math.round(at) }) };
}

/** One subject is opened; of several, a list is shown first. */
export function openWhy(subjects: readonly Subject[], title = ''): void {
  const [first] = subjects;
  if (first !== undefined && subjects.length === 1) void open(first);
  else if (first !== undefined) shown.value = { kind: 'list', title, subjects };
}

/** A button that opens a timeline. `label` is for screen readers: the word alone does not say of what. */
export const Why = ({ subject }: { subject: Subject }): VNode => html`
  <button type="button" class="why" aria-label=${`Why: ${subject.label}`} onClick=${() => openWhy([subject])}>Why</button>
`;

const stamp = (at: number): string => new Date(at).toISOString().slice(11, 23);

function Step({ step, before }: { step: TimelineStep; before: TimelineStep | undefined }): VNode {
  const isNewDay = before === undefined || day(before.at) !== day(step.at);
  return html`
    ${isNewDay && html`<li class="day">${day(step.at)} UTC</li>`}
    <li>
      <time datetime=${new Date(step.at).toISOString()}>${stamp(step.at)}</time>
      <span><b>${step.event}</b>${step.detail === '' ? '' : ` ${step.detail}`}</span>
    </li>
  `;
}

function Answered({ answer }: { answer: Answer<TimelineView> }): VNode {
  if (answer.kind === 'waiting') return html`<p role="status">Reading the journal …</p>`;
  if (answer.kind === 'failed') return html`<p class="error" role="alert">${answer.message}</p>`;
  const { steps, advice } = answer.value;
  return html`
    ${advice === undefined ? null : html`<p class="advice">Only you can decide it: <code>${advice}</code></p>`}
    <ol class="steps timeline" tabindex="0" aria-label="Timeline, oldest first">
      ${steps.map((step, index) => html`<${Step} key=${index} step=${step} before=${steps[index - 1]} />`)}
    </ol>
    ${steps.length === 0 ? html`<p>The journal has no rows of this order or decision.</p>` : null}
  `;
}

function Content({ now }: { now: Shown }): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const title = now.kind === 'list' ? now.title : now.answer.kind === 'answered' ? now.answer.value.title : now.label;
  return html`
    <dialog ref=${dialog} class="wide-dialog" onClose=${close} aria-labelledby="why-title">
      <h2 id="why-title">${title}</h2>
      ${
        now.kind === 'timeline'
          ? html`<${Answered} answer=${now.answer} />`
          : html`<ul class="subjects">
              ${now.subjects.map((subject, index) => html`<li key=${index}><button type="button" class="link" onClick=${() => void open(subject)}>${subject.label}</button></li>`)}
            </ul>`
      }
      <div class="row"><button type="button" class="button" onClick=${close}>Close</button></div>
    </dialog>
  `;
}

export const Timeline = (): VNode | null =>
  shown.value === undefined ? null : html`<${Content} key="why" now=${shown.value} />`;
