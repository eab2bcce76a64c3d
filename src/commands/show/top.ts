/** `sluice top`: what the dashboard shows, in a terminal. */
import { stripVTControlCharacters } from 'node:util';
import { type Clock, pause, systemClock } from '../../clock/clock.ts';
import { topLines } from '../../dashboard/terminal.ts';
import type { View } from '../../dashboard/view.ts';
import { causeOf, Refusal } from '../../domain/refusal.ts';
import { viewOfDaemon } from '../../session/control/daemon-client.ts';
import { chooseState, noDaemonText } from '../../session/state.ts';
import type { Io } from '../../terminal/options.ts';

/** Poll interval, real ms. */
const lookMs = 1_000;
/** Of output that is no terminal, columns and lines. */
const plain = { columns: 120, rows: 200 };

const enter = '\u001b[?1049h\u001b[?25l';
const leave = '\u001b[?25h\u001b[?1049l';
/** `q`, Escape and Ctrl-C. */
const quitKeys = ['q', 'Q', '\u001b', '\u0003'];

type TopOptions = Io & { readonly state?: string; readonly json: boolean };

/** `--json`: the view of this moment. */
export async function showTop({ state, json, say, out, signal }: TopOptions): Promise<void> {
  const chosen = chooseState(state, say);
  const { running } = chosen;
  if (running === undefined) throw new Refusal(`${noDaemonText(chosen)}; sluice status shows what its journal says`, 1);
  const look = (): Promise<View> => viewOfDaemon(running);
  const first = await look();
  if (json) {
    out(JSON.stringify(first));
    return;
  }
  const { stdin, stdout } = process;
  if (!stdout.isTTY) {
    for (const line of topLines(first, plain)) out(stripVTControlCharacters(line));
    return;
  }
  const quit = new AbortController();
  const press = (key: Buffer): void => {
    if (quitKeys.includes(key.toString())) quit.abort();
  };
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.on('data', press);
  try {
    await draw({
      ...{ first, look, clock: systemClock, signal: AbortSignal.any([signal, quit.signal]) },
      size: () => ({ columns: stdout.columns || plain.columns, rows: stdout.rows || 24 }),
      write: (text) => void stdout.write(text),
    });
  } finally {
    stdin.off('data', press);
    if (stdin.isTTY) stdin.setRawMode(false);
    stdin.pause();
  }
}

export interface Drawing {
  readonly first: View;
  readonly look: () => Promise<View>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly size: () => { readonly columns: number; readonly rows: number };
  readonly write: (text: string) => void;
}

/** Draws on a screen of its own until the signal, and then shows again what was there before. */
export async function draw({ first, look, clock, signal, size, write }: Drawing): Promise<void> {
  let shown = first;
  let lost: string | undefined;
  write(enter);
  try {
    while (!signal.aborted) {
      const lines = topLines(shown, size(), lost).map((line) => `${line}\u001b[K`);
      write(`\u001b[H${lines.join('\r\n')}\u001b[J`);
      await pause(clock, clock.machine(lookMs), signal);
      if (signal.aborted) return;
      try {
        shown = await look();
        lost = undefined;
      } catch (error) {
        lost = causeOf(error);
      }
    }
  } finally {
    write(leave);
  }
}
