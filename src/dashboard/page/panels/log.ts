/** The end of the daemon's log, by level, strategy and text. */
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { LogLevel, LogLine, LogView } from '../../history.ts';
import { chosenStrategy, useAnswer } from '../ask.ts';
import { Choice, Pill, Shown, StrategyChoice, type Tone } from '../parts.ts';
import { afterMs } from '../timer.ts';

const level = signal<LogLevel>('info');
const text = signal('');
/** Real ms without a key before the text is searched. */
const typedMs = 300;

const levels: readonly (readonly [LogLevel, string])[] = [
  ['debug', 'All'],
  ['info', 'Info'],
  ['warn', 'Warnings'],
  ['error', 'Errors'],
];
const tones: Readonly<Record<LogLevel, Tone>> = { debug: 'plain', info: 'plain', warn: 'warn', error: 'bad' };

let cancel = (): void => {};
function type(event: InputEvent): void {
  const { value } = event.currentTarget as HTMLInputElement;
  cancel();
  cancel = afterMs(typedMs, () => {
    text.value = value;
  });
}

const stamp = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

const Line = ({ line: { at, level: of, text: said } }: { line: LogLine }): VNode => html`
  <li>
    ${at === undefined ? null : html`<time datetime=${new Date(at).toISOString()}>${stamp(at)}</time>`}
    <${Pill} tone=${tones[of]}>${of}<//>
    <span>${said}</span>
  </li>
`;

export function Log(): VNode {
  const answer = useAnswer('log', { level: level.value, strategy: chosenStrategy.value, text: text.value });
  const choose = (value: LogLevel): void => {
    level.value = value;
  };
  return html`
    <div class="controls">
      <${Choice} label="Level" options=${levels} chosen=${level.value} choose=${choose} />
      <${StrategyChoice} />
      <input type="search" class="search" aria-label="Text in the log" placeholder="Text" maxlength="200" onInput=${type} />
    </div>
    <p class="muted pad">Times are by the machine's clock, elsewhere by the exchange's.</p>
    <${Shown} answer=${answer}>
      ${({ lines, isCut }: LogView) => html`
        ${lines.length === 0 ? html`<p class="empty">No line of the log fits.</p>` : null}
        <ol class="log" tabindex="0" aria-label="Log, newest first, by the machine's clock">
          ${lines.map((line, index) => html`<${Line} key=${index} line=${line} />`)}
        </ol>
        ${isCut ? html`<p class="muted pad">Only the end of the log is searched; the files are in the state directory.</p>` : null}
      `}
    <//>
  `;
}
