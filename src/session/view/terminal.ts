/** The terminal while a daemon runs: the status drawn in place, or a line for each event where there is no terminal, plain or as JSON. */
import { filter } from 'rxjs';
import { systemClock } from '../../clock/clock.ts';
import { heightOf, statusLines } from '../../dashboard/terminal.ts';
import type { View } from '../../dashboard/view.ts';
import { eventJson, eventLine, isForPeople } from '../log/events.ts';
import type { Session } from '../session.ts';
import { withState } from '../state-in-commands.ts';

/** Between two drawings, real ms. */
const redrawMs = 250;
const defaultColumns = 100;

/** `stateOption`: what commands in the lines need to find the state directory. */
export function showStatus(
  session: Session,
  out: (line: string) => void,
  json: boolean,
  stateOption: string,
): { stop(): void } {
  const { dashboard, source, events } = session;
  if (process.stdout.isTTY && !json) return redrawing(() => source.view(), dashboard.url);
  const time = source.view().marketTime;
  const { url } = dashboard;
  out(
    json
      ? JSON.stringify({ version: 2, kind: 'dashboard', time, url })
      : `${new Date(time).toISOString()} dashboard  ${url}`,
  );
  const lines = json
    ? events.subscribe((event) => out(JSON.stringify({ version: 2, ...eventJson(event) })))
    : events
        .pipe(filter(isForPeople()))
        .subscribe((event) => out(withState(eventLine(event), stateOption, event.typed)));
  return { stop: () => lines.unsubscribe() };
}

function repeat(work: () => void): { stop(): void } {
  let cancel = (): void => {};
  const next = (): void => {
    work();
    cancel = systemClock.at(systemClock.now() + redrawMs, next);
  };
  next();
  return { stop: () => cancel() };
}

/** Goes back to the first line of the last drawing, writes the lines anew and clears what is left below. */
function redrawing(view: () => View, url: string): { stop(): void } {
  let drawn = 0;
  return repeat(() => {
    const columns = process.stdout.columns || defaultColumns;
    const all = statusLines(view(), columns, url);
    // The dashboard's address comes last and whole, in a narrow window over several lines.
    const last = all.at(-1) ?? '';
    const max = Math.max(5, (process.stdout.rows || 50) - heightOf(last, columns)) - 1;
    const lines = [...all.slice(0, Math.min(max, all.length - 1)), last];
    const up = drawn > 0 ? `\u001b[${drawn}A\r` : '';
    process.stdout.write(`${up}${lines.map((line) => `${line}\u001b[K`).join('\n')}\n\u001b[J`);
    drawn = lines.length - 1 + heightOf(last, columns);
  });
}
