/** What the buttons do: each asks first, in a sentence that says what happens. What loosens asks for a word as well. */
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Call, call } from './daemon.ts';
import { view } from './store.ts';

interface Question {
  readonly action: Call;
  readonly title: string;
  /** What will happen. */
  readonly what: string;
  readonly yes: string;
  /** Sent with the reason, such as the strategy. */
  readonly body: Readonly<Record<string, string>>;
  /** Of a kill: what happens instead where exits are stopped, too. */
  readonly everything?: string;
  /** It loosens: this word has to be written first. */
  readonly word?: string;
}
const question = signal<Question | undefined>(undefined);
const close = (): void => {
  question.value = undefined;
};

const of = (strategy: string | undefined): Readonly<Record<string, string>> =>
  strategy === undefined ? {} : { strategy };
const named = (strategy: string | undefined, what: string): string =>
  strategy === undefined ? what : `Strategy ${strategy} alone. ${what}`;

/** Of one strategy, or of all. */
export function askKill(strategy?: string): void {
  const words = view.value?.actions;
  if (words === undefined) return;
  question.value = {
    action: 'kill',
    title: strategy === undefined ? 'Kill trading?' : `Kill ${strategy}?`,
    what: named(strategy, words.kill),
    everything: named(strategy, words.killEverything),
    yes: strategy === undefined ? 'Kill trading' : `Kill ${strategy}`,
    body: of(strategy),
  };
}

export function askPause(strategy?: string): void {
  const words = view.value?.actions;
  if (words === undefined) return;
  const whom = strategy ?? 'all strategies';
  const what = named(strategy, words.pause);
  question.value = { action: 'pause', title: `Pause ${whom}?`, what, yes: `Pause ${whom}`, body: of(strategy) };
}

export function askResume(strategy?: string): void {
  if (view.value === undefined) return;
  const { actions: words, standing } = view.value;
  question.value = {
    action: 'resume',
    title: strategy === undefined ? 'Resume trading?' : `Resume ${strategy}?`,
    what: [named(strategy, words.resume), standing.text].join(' ').trim(),
    yes: strategy === undefined ? 'Resume trading' : `Resume ${strategy}`,
    // What comes in force while the question is open is not lifted by its answer.
    body: { ...of(strategy), seen: standing.mark },
    word: strategy ?? 'resume',
  };
}

export function askCancelAll(): void {
  const what = view.value?.actions.cancelAll;
  if (what === undefined) return;
  question.value = { action: 'cancel', title: 'Cancel all open orders?', what, yes: 'Cancel all', body: {} };
}

/** `order`: our client id. */
export function askCancel(order: string, label: string, strategy: string): void {
  question.value = {
    action: 'cancel',
    title: 'Cancel one order?',
    what: `${label} is cancelled on the exchange. ${strategy} keeps running and may place it again.`,
    yes: 'Cancel the order',
    body: { order },
  };
}

function answer({ action, body }: Question, form: HTMLFormElement): void {
  const given = new FormData(form).get('reason');
  const reason = (typeof given === 'string' && given.trim()) || 'from the dashboard';
  const isEverything = form.querySelector<HTMLInputElement>('input[name=everything]')?.checked === true;
  close();
  void call(action, {
    ...body,
    ...(action !== 'cancel' && { reason }),
    ...(isEverything && { everything: true }),
  });
}

const Reason = (): VNode => html`
  <label class="field">
    Reason, for the journal
    <input name="reason" maxlength="500" placeholder="from the dashboard" autocomplete="off" />
  </label>
`;

function Asked({ asked }: { asked: Question }): VNode {
  const { action, title, what, yes, everything, word } = asked;
  const dialog = useRef<HTMLDialogElement>(null);
  const [isEverything, setEverything] = useState(false);
  const [written, write] = useState('');
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (word === undefined || written.trim() === word) answer(asked, event.currentTarget as HTMLFormElement);
  };
  const inputOf = (event: Event): HTMLInputElement => event.currentTarget as HTMLInputElement;
  return html`
    <dialog ref=${dialog} onClose=${close} aria-labelledby="dialog-title" aria-describedby="dialog-what">
      <form onSubmit=${submit}>
        <h2 id="dialog-title">${title}</h2>
        <p id="dialog-what" aria-live="polite">${isEverything ? everything : what}</p>
        ${
          everything === undefined
            ? null
            : html`<label class="check">
                <input type="checkbox" name="everything" onChange=${(event: Event) => setEverything(inputOf(event).checked)} />
                Stop exits, too
              </label>`
        }
        ${action === 'cancel' ? null : html`<${Reason} />`}
        ${
          word === undefined
            ? null
            : html`<label class="field">
                Write ${word} to go on
                <input name="word" autocomplete="off" value=${written} onInput=${(event: Event) => write(inputOf(event).value)} />
              </label>`
        }
        <div class="row">
          <button type="button" class="button" onClick=${close}>Leave it</button>
          <button
            type="submit"
            class=${`button ${action === 'resume' ? 'primary' : 'danger solid'}`}
            disabled=${word !== undefined && written.trim() !== word}
          >${yes}</button>
        </div>
      </form>
    </dialog>
  `;
}

export const Dialog = (): VNode | null =>
  question.value === undefined ? null : html`<${Asked} key=${question.value.title} asked=${question.value} />`;
