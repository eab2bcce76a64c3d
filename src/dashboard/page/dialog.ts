/** One dialog that says what a button does before it is done. */
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { call } from './daemon.ts';

export interface Question {
  readonly title: string;
  /** What will happen. */
  readonly what: string;
  readonly yes: string;
  readonly danger: boolean;
  readonly path: '/api/kill' | '/api/resume' | '/api/cancel';
}

const question = signal<Question | undefined>(undefined);
export const ask = (next: Question): void => {
  question.value = next;
};

const close = (): void => {
  question.value = undefined;
};

function answer(asked: Question, form: HTMLFormElement): void {
  const given = new FormData(form).get('reason');
  const reason = (typeof given === 'string' && given.trim()) || 'from the dashboard';
  close();
  void call(asked.path, asked.path === '/api/cancel' ? {} : { reason });
}

const Reason = (): VNode => html`
  <label class="field">
    Reason, for the journal
    <input name="reason" maxlength="500" placeholder="from the dashboard" autocomplete="off" />
  </label>
`;

function Asked({ asked }: { asked: Question }): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    answer(asked, event.currentTarget as HTMLFormElement);
  };
  return html`
    <dialog ref=${dialog} onClose=${close} aria-labelledby="dialog-title">
      <form onSubmit=${submit}>
        <h2 id="dialog-title">${asked.title}</h2>
        <p>${asked.what}</p>
        ${asked.path === '/api/cancel' ? null : html`<${Reason} />`}
        <div class="row">
          <button type="button" class="button" onClick=${close}>Leave it</button>
          <button type="submit" class=${`button ${asked.danger ? 'danger solid' : 'primary'}`}>${asked.yes}</button>
        </div>
      </form>
    </dialog>
  `;
}

export const Dialog = (): VNode | null =>
  question.value === undefined ? null : html`<${Asked} key=${question.value.path} asked=${question.value} />`;
