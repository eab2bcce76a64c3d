/** The terminal while a daemon runs: the status drawn in place, or lines where there is no terminal, plain or as JSON. */
import { systemClock } from '../../clock/clock.ts';
import { heightOf, statusLines } from '../../dashboard/terminal.ts';
import type { FillView, View } from '../../dashboard/view.ts';
import { fillJson } from '../../trading/format.ts';
import type { Session } from '../session.ts';

/** Between two drawings, or two polls for changes where lines are plain, real ms. */
const redrawMs = 250;
const defaultColumns = 100;

export function showStatus(session: Session, out: (line: string) => void, json: boolean): { stop(): void } {
  const { dashboard, source, before } = session;
  if (process.stdout.isTTY && !json) return redrawing(() => source.view(), dashboard.url);
  const print = (news: News): void => out(json ? newsJson(news) : newsText(news));
  print({ kind: 'dashboard', time: source.view().marketTime, url: dashboard.url });
  const report = reportChanges(before, print);
  return repeat(() => report(source.view()));
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
    const most = Math.max(5, (process.stdout.rows || 50) - heightOf(last, columns)) - 1;
    const lines = [...all.slice(0, Math.min(most, all.length - 1)), last];
    const up = drawn > 0 ? `\u001b[${drawn}A\r` : '';
    process.stdout.write(`${up}${lines.map((line) => `${line}\u001b[K`).join('\n')}\n\u001b[J`);
    drawn = lines.length - 1 + heightOf(last, columns);
  });
}

/** An event for the terminal: one line of output each. */
export type News = {
  /** By the exchange's clock, UTC ms. */
  readonly time: number;
} & (
  | { readonly kind: 'dashboard'; readonly url: string }
  | { readonly kind: 'state'; readonly state: string; readonly text: string }
  | { readonly kind: 'fill'; readonly fill: FillView }
  | { readonly kind: 'unknown'; readonly clientOrderId: string; readonly order: string; readonly cause: string }
  | { readonly kind: 'resolved'; readonly clientOrderId: string; readonly order: string; readonly text: string }
  | { readonly kind: 'notice'; readonly level: string; readonly text: string; readonly advice: string | undefined }
);

/** A line for people. */
export const newsText = (news: News): string => `${new Date(news.time).toISOString()} ${textOf(news)}`;

function textOf(news: News): string {
  switch (news.kind) {
    case 'dashboard':
      return `dashboard  ${news.url}`;
    case 'state':
      return news.state === 'ready' && news.text.startsWith('No market data')
        ? `ready, but no${news.text.slice(2)}`
        : `${news.state}: ${news.text}`;
    case 'fill': {
      const { strategy, side, quantity, symbol, price } = news.fill;
      return `fill       ${strategy} ${side} ${quantity} ${symbol} at ${price}`;
    }
    case 'unknown':
      return `unknown    ${news.order}: ${news.cause}`;
    case 'resolved':
      return `resolved   ${news.order}: ${news.text}`;
    case 'notice':
      return `${news.level.padEnd(10)} ${news.text}${news.advice === undefined ? '' : ` ${news.advice}`}`;
  }
}

/** A line for programs (docs/reference/json.md). */
export function newsJson(news: News): string {
  const { kind, ...rest } = news;
  return JSON.stringify({ version: 2, kind, ...('fill' in rest ? fillJson(rest.fill) : rest) });
}

/** Reports each change of state, fill, unknown outcome and notice once. Market data are part of the state. Entries of `before` are not reported. */
export function reportChanges(before: Session['before'], report: (news: News) => void): (now: View) => void {
  let state = '';
  let newestFill = nameOf(before.fills[0]);
  // By identity: a notice can be older than one that was written before it.
  const said = new WeakSet<object>(before.notices);
  const unknown = new Set<string>();
  const known = new Set<string>();
  return (now) => {
    const seen = `${now.state} ${now.state === 'ready' && now.noMarketData !== undefined}`;
    if (seen !== state) {
      state = seen;
      report({ kind: 'state', time: now.marketTime, state: now.state, text: now.stateText });
    }
    const newest = now.fills.findIndex((fill) => nameOf(fill) === newestFill);
    for (const fill of now.fills.slice(0, newest < 0 ? undefined : newest).reverse())
      report({ kind: 'fill', time: fill.time, fill });
    for (const { clientOrderId, order, since, cause, resolved } of now.unknowns) {
      // Both lines, even if it was resolved between two polls.
      if (!unknown.has(clientOrderId)) report({ kind: 'unknown', time: since, clientOrderId, order, cause });
      unknown.add(clientOrderId);
      if (resolved === undefined || known.has(clientOrderId)) continue;
      known.add(clientOrderId);
      report({ kind: 'resolved', time: resolved.at, clientOrderId, order, text: resolved.text });
    }
    for (const notice of now.notices.filter((one) => !said.has(one)).reverse()) {
      said.add(notice);
      const { at, level, text, advice } = notice;
      report({ kind: 'notice', time: at, level, text, advice });
    }
    newestFill = nameOf(now.fills[0]);
  };
}

const nameOf = (fill: View['fills'][number] | undefined): string =>
  fill === undefined ? '' : `${fill.tradeId} ${fill.orderId}`;
