/** What the buttons do: each asks first, in a sentence that says what happens. What loosens asks for a word as well. */
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AlarmView, StrategyView } from '../view.ts';
import { type Call, call } from './daemon.ts';
import { direction, exact, money } from './format.ts';
import { view } from './store.ts';

interface Question {
  readonly action: Call;
  readonly title: string;
  /** What will happen. */
  readonly what: string;
  readonly yes: string;
  /** Sent with the reason, such as the strategy. */
  readonly body: Readonly<Record<string, string | number>>;
  /** What may be ticked: then something else happens. */
  readonly option?: {
    readonly label: string;
    readonly what: string;
    readonly body: Question['body'] | { readonly everything: true };
  };
  /** What is sent, one a line. */
  readonly orders?: readonly string[];
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
    option: {
      label: 'Stop exits, too',
      what: named(strategy, words.killEverything),
      body: { ...of(strategy), everything: true },
    },
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
  const { actions: words, inForce } = view.value;
  question.value = {
    action: 'resume',
    title: strategy === undefined ? 'Resume trading?' : `Resume ${strategy}?`,
    what: [named(strategy, words.resume), inForce.text].join(' ').trim(),
    yes: strategy === undefined ? 'Resume trading' : `Resume ${strategy}`,
    // What comes in force while the question is open is not lifted by its answer.
    body: { ...of(strategy), seen: inForce.mark },
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

const positionText = ({ id, symbol, position: { quantity, value } }: StrategyView): string =>
  `${direction(quantity) === 'down' ? 'Buy' : 'Sell'} ${exact(quantity.replace('-', ''))} ${symbol} of ${id}, worth ${money(value.replace('-', ''))}`;

const isHeld = ({ position }: StrategyView): boolean => !position.isDust && direction(position.quantity) !== 'even';

/** Of one strategy on one symbol, or of all; `symbol` where the strategy has positions on others, too. */
export function askFlatten(strategy?: string, symbol?: string): void {
  if (view.value === undefined) return;
  const { actions, strategies } = view.value;
  const its = strategies.filter((one) => isHeld(one) && (strategy === undefined || one.id === strategy));
  const shown = symbol === undefined ? its : its.filter((one) => one.symbol === symbol);
  const whom = strategy ?? 'all positions';
  const what = named(strategy, actions.flatten);
  question.value = {
    ...{ action: 'flatten', title: `Flatten ${whom}?`, what, yes: `Flatten ${whom}` },
    orders: shown.map(positionText),
    body: { ...of(strategy), ...(symbol !== undefined && { symbol }) },
    ...(strategy !== undefined &&
      its.length > shown.length && {
        option: {
          label: `All positions of ${strategy}`,
          what: `${what} All of its positions: ${its.map(positionText).join('; ')}.`,
          body: of(strategy),
        },
      }),
  };
}

/** Of one alarm, or of all. */
export function askAcknowledge(alarm?: AlarmView): void {
  const what = view.value?.actions.acknowledge;
  if (what === undefined) return;
  question.value = {
    action: 'acknowledge',
    title: alarm === undefined ? 'Acknowledge all alarms?' : 'Acknowledge the alarm?',
    what: alarm === undefined ? what : `${alarm.text}: ${what}`,
    yes: alarm === undefined ? 'Acknowledge all' : 'Acknowledge',
    body: alarm === undefined ? {} : { alarm: alarm.id },
  };
}

const textIn = (form: HTMLFormElement, name: string): string => {
  const given = new FormData(form).get(name);
  return typeof given === 'string' ? given.trim() : '';
};

function answer({ action, body, option }: Question, form: HTMLFormElement): void {
  const isTicked = form.querySelector<HTMLInputElement>('input[name=option]')?.checked === true;
  const maxSlippage = textIn(form, 'maxSlippage');
  close();
  void call(action, {
    ...(isTicked ? option?.body : body),
    ...(isReasoned(action) && { reason: textIn(form, 'reason') || 'from the dashboard' }),
    ...(maxSlippage !== '' && { maxSlippage }),
  });
}

/** The journal keeps why. */
const isReasoned = (action: Call): boolean => action !== 'cancel' && action !== 'acknowledge';

const Slippage = (): VNode => html`
  <label class="field">
    Most slippage, as a fraction of the price
    <input name="maxSlippage" inputmode="decimal" pattern="0?[.][0-9]{1,6}" title="A fraction, such as 0.01 for 1 %" placeholder="as configured, such as 0.01" autocomplete="off" />
  </label>
`;

const Reason = (): VNode => html`
  <label class="field">
    Reason, for the journal
    <input name="reason" maxlength="500" placeholder="from the dashboard" autocomplete="off" />
  </label>
`;

function Asked({ asked }: { asked: Question }): VNode {
  const { action, title, what, yes, option, orders, word } = asked;
  const dialog = useRef<HTMLDialogElement>(null);
  const [isTicked, tick] = useState(false);
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
        <p id="dialog-what" aria-live="polite">${isTicked ? option?.what : what}</p>
        ${orders === undefined ? null : html`<ul class="orders">${orders.map((order) => html`<li>${order}</li>`)}</ul>`}
        ${orders?.length === 0 ? html`<p>There is no position: nothing is bought or sold.</p>` : null}
        ${
          option === undefined
            ? null
            : html`<label class="check">
                <input type="checkbox" name="option" onChange=${(event: Event) => tick(inputOf(event).checked)} />
                ${option.label}
              </label>`
        }
        ${action === 'flatten' ? html`<${Slippage} />` : null}
        ${isReasoned(action) ? html`<${Reason} />` : null}
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
            class=${`button ${action === 'resume' || action === 'acknowledge' ? 'primary' : 'danger solid'}`}
            disabled=${word !== undefined && written.trim() !== word}
          >${yes}</button>
        </div>
      </form>
    </dialog>
  `;
}

export const Dialog = (): VNode | null =>
  question.value === undefined ? null : html`<${Asked} key=${question.value.title} asked=${question.value} />`;
