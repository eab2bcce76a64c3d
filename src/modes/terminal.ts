/** The terminal while a daemon runs: the status drawn in place, or plain lines where there is no terminal. */
import { systemClock } from '../clock/clock.ts';
import { statusLines } from '../ops/terminal.ts';
import type { View } from '../ops/view.ts';
import type { Session } from './session.ts';

/** Between two drawings, and between two looks for news where lines are plain, real ms. */
const redrawMs = 250;
const defaultColumns = 100;

export function showStatus(session: Session, out: (line: string) => void): { stop(): void } {
  const { dashboard, source } = session;
  return process.stdout.isTTY
    ? redrawing(() => source.view(), dashboard.url)
    : printing(() => source.view(), dashboard.url, out);
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
    const lines = statusLines(view(), process.stdout.columns || defaultColumns, url).slice(
      0,
      Math.max(5, (process.stdout.rows || 50) - 1),
    );
    const up = drawn > 0 ? `\u001b[${drawn}A\r` : '';
    process.stdout.write(`${up}${lines.map((line) => `${line}\u001b[K`).join('\n')}\n\u001b[J`);
    drawn = lines.length;
  });
}

/** One line for each change of state, fill, unknown outcome and notice. */
function printing(view: () => View, url: string, out: (line: string) => void): { stop(): void } {
  let state = '';
  const before = view();
  let newestFill = nameOf(before.fills[0]);
  // By identity: a notice can be older than one that was written before it.
  const said = new WeakSet<object>(before.notices);
  const unknown = new Set<string>();
  const known = new Set<string>();
  out(`dashboard  ${url}`);
  return repeat(() => {
    const now = view();
    if (now.state !== state) {
      state = now.state;
      out(`${now.state}: ${now.stateText}`);
    }
    const newest = now.fills.findIndex((fill) => nameOf(fill) === newestFill);
    for (const fill of now.fills.slice(0, newest < 0 ? undefined : newest).reverse()) {
      out(
        `fill       ${new Date(fill.time).toISOString()} ${fill.strategy} ${fill.side} ${fill.quantity} ${fill.symbol} at ${fill.price}`,
      );
    }
    for (const { clientOrderId, order, cause, resolved } of now.unknowns) {
      // Both lines also where it was resolved between two looks.
      if (!unknown.has(clientOrderId)) out(`unknown    ${order}: ${cause}`);
      unknown.add(clientOrderId);
      if (resolved === undefined || known.has(clientOrderId)) continue;
      known.add(clientOrderId);
      out(`resolved   ${order}: ${resolved.text}`);
    }
    for (const notice of now.notices.filter((one) => !said.has(one)).reverse()) {
      said.add(notice);
      out(`${notice.level.padEnd(10)} ${notice.text}${notice.goOn === undefined ? '' : ` ${notice.goOn}`}`);
    }
    newestFill = nameOf(now.fills[0]);
  });
}

const nameOf = (fill: View['fills'][number] | undefined): string =>
  fill === undefined ? '' : `${fill.tradeId} ${fill.orderId}`;
