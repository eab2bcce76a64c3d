/** The confirmation dialog of a button. */
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { call } from './daemon.ts';

export type Action = 'kill' | 'resume' | 'cancel';
const words: Readonly<Record<Action, readonly [title: string, yes: string]>> = {
  kill: ['Kill trading?', 'Kill trading'],
  resume: ['Resume trading?', 'Resume trading'],
  cancel: ['Cancel all open orders?', 'Cancel all'],
};

interface Question {
  readonly action: Action;
  /** What will happen. */
  readonly what: string;
}
const question = signal<Question | undefined>(undefined);
export const ask = (action: Action, what: string): void => {
  question.value = { action, what };
};

const close = (): void => {
  question.value = undefined;
};

function answer(action: Action, form: HTMLFormElement): void {
  const given = new FormData(form).get('reason');
  const reason = (typeof given === 'string' && given.trim()) || 'from the dashboard';
  close();
  void call(action, action === 'cancel' ? {} : { reason });
}

const Reason = (): VNode => html`
  <label class="field">
    Reason, for the journal
    <input name="reason" maxlength="500" placeholder="from the dashboard" autocomplete="off" />
  </label>
`;

function Asked({ asked: { action, what } }: { asked: Question }): VNode {
  const [title, yes] = words[action];
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    answer(action, event.currentTarget as HTMLFormElement);
  };
  return html`
    <dialog ref=${dialog} onClose=${close} aria-labelledby="dialog-title">
      <form onSubmit=${submit}>
        <h2 id="dialog-title">${title}</h2>
        <p>${what}</p>
        ${action === 'cancel' ? null : html`<${Reason} />`}
        <div class="row">
          <button type="button" class="button" onClick=${close}>Leave it</button>
          <button type="submit" class=${`button ${action === 'resume' ? 'primary' : 'danger solid'}`}>${yes}</button>
        </div>
      </form>
    </dialog>
  `;
}

export const Dialog = (): VNode | null =>
  question.value === undefined ? null : html`<${Asked} key=${question.value.action} asked=${question.value} />`;
