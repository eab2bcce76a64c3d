/** The short status of a daemon in a terminal. The caller prints the lines and redraws them as it likes. */
import { stripVTControlCharacters, styleText } from 'node:util';
import type { LimitUse } from '../domain/limit-use.ts';
import { Decimal } from '../domain/money.ts';
import { escapeText } from '../domain/printable.ts';
import { counted, grouped, moment, roundedMoney } from '../domain/words.ts';
import type { DaemonState, DecisionView, FillView, OpenOrderView, StrategyView, UnknownView, View } from './view.ts';

type Style = Parameters<typeof styleText>[0];
// The caller knows whether its stream shows colours and strips them when it does not.
const styled = (style: Style, text: string): string => styleText(style, text, { validateStream: false });
const dim = (text: string): string => styled('dim', text);
const bold = (text: string): string => styled('bold', text);

/** Rows of each list: the whole status fits a terminal of 24 lines. */
const maxFills = 4;
const maxDecisions = 3;
const maxUnknowns = 3;
const maxNotices = 2;
const labelWidth = 11;

const stateStyles: Readonly<Record<DaemonState, Style>> = {
  starting: 'cyan',
  recovering: 'yellow',
  ready: 'green',
  killed: ['red', 'bold'],
  stopping: 'cyan',
};

const shownState = ({ state, blocked }: View): string =>
  state === 'ready' && blocked !== undefined ? styled('yellow', 'orders blocked') : styled(stateStyles[state], state);

/** One line of the terminal: what strategies and exchanges say may have several. Cut at the visible width it loses its colours, so that none runs on into the next. */
function fitted(text: string, columns: number): string {
  const line = text.replaceAll(/\s*[\r\n]+\s*/g, ' ');
  const plain = stripVTControlCharacters(line);
  return plain.length <= columns ? line : `${plain.slice(0, Math.max(0, columns - 1))}…`;
}

/** Lines that a terminal makes of one, which it breaks at its edge. */
export const heightOf = (line: string, columns: number): number =>
  Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns));

const clockTime = (at: number): string => new Date(at).toISOString().slice(11, 19);
/** With its day where that is not the market's of now. */
const when = (at: number, now: number): string =>
  moment(at).slice(0, 10) === moment(now).slice(0, 10) ? clockTime(at) : moment(at).slice(0, 16);
const row = (label: string, text: string): string => `${dim(label.padEnd(labelWidth))}${text}`;
const under = (label: string, lines: readonly string[]): string[] =>
  lines.map((line, index) => row(index === 0 ? label : '', line));

function gain(text: string): string {
  const shown = roundedMoney(text);
  if (!/[1-9]/.test(shown)) return shown;
  return shown.startsWith('-') ? styled('red', shown) : styled('green', `+${shown}`);
}

function strategyLine({
  id: name,
  symbol,
  status,
  error,
  position,
  stop,
  takeProfit,
  isUnprotected,
}: StrategyView): string {
  const id = status === 'former' ? `${name} (not configured)` : name;
  // What it holds comes first: the reason may be longer than the line.
  const stopped = status === 'stopped' ? styled('red', `stopped: ${error ?? 'no reason given'}`) : '';
  const isFlat = position.isDust || !/[1-9]/.test(position.quantity);
  if (isFlat && stopped !== '') return `${bold(id)} ${stopped}`;
  if (isFlat) return `${bold(id)} ${symbol} ${dim(position.isDust ? `flat, dust ${position.quantity}` : 'flat')}`;
  const entry = position.entryPrice === undefined ? '' : ` from ${grouped(position.entryPrice)}`;
  const protection = [
    stop === undefined ? '' : `stop ${grouped(stop)}`,
    takeProfit === undefined ? '' : `target ${grouped(takeProfit)}`,
    isUnprotected ? 'NOT PROTECTED' : '',
  ];
  const protectedBy = protection.filter((part) => part !== '').join(', ');
  return `${bold(id)} ${symbol} ${grouped(position.quantity)}${entry}  ${gain(position.openProfit)} ${dim(protectedBy)} ${stopped}`.trimEnd();
}

const fillLine = ({ time, side, quantity, price, symbol, strategy }: FillView, now: number): string =>
  `${dim(when(time, now))} ${styled(side === 'BUY' ? 'blue' : 'yellow', side.padEnd(4))} ${grouped(quantity)} ${symbol} at ${grouped(price)} ${dim(strategy)}`;

function decisionLine({ at, strategy, draft, verdict, text }: DecisionView): string {
  const said = verdict === 'denied' ? styled('yellow', text) : dim(text);
  return `${dim(clockTime(at))} ${strategy}: ${draft}. ${said}`;
}

function unknownLine({ since, order, steps, cause, resolved }: UnknownView): string {
  if (resolved !== undefined) return `${dim(clockTime(since))} ${order}: ${styled('green', resolved.text)}`;
  return `${dim(clockTime(since))} ${order}: ${styled('yellow', steps.at(-1)?.text ?? cause)}`;
}

function equityLine({ equity }: View): string {
  const change = new Decimal(equity.now).minus(equity.start).toFixed(2);
  return `${bold(roundedMoney(equity.now))} ${equity.asset}  ${gain(change)} since the start`;
}

function weightLine({ weight, openOrders }: View): string {
  const share = ({ used, max }: { used: number; max: number }): string =>
    `${max === 0 ? 0 : Math.round((100 * used) / max)} %`;
  const banned =
    weight.bannedUntil === undefined
      ? ''
      : styled('red', `  stopped by the exchange until ${clockTime(weight.bannedUntil)}`);
  return `IP ${share(weight.ip)}, UID ${share(weight.uid)}, ${weight.waiting} waiting${banned}   ${dim(`${counted(openOrders.length, 'open order')}`)}`;
}

/** The same, with every text in it as a terminal may show it. */
function printableIn<T>(value: T): T {
  if (typeof value === 'string') return escapeText(value) as T;
  if (Array.isArray(value)) return value.map(printableIn) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, printableIn(inner)])) as T;
}

/** One string a line, none wider than `columns`, with colours. `dashboardUrl` is shown last, whole, so that it can be clicked. */
export function statusLines(given: View, columns: number, dashboardUrl?: string): string[] {
  // Before colours are added: afterwards ours cannot be distinguished from others.
  const view = printableIn({ ...given, equity: { ...given.equity, series: [] } });
  const market = `${new Date(view.marketTime).toISOString().slice(0, 10)} ${clockTime(view.marketTime)} UTC`;
  const speed = view.speed === 1 ? '' : ` at ×${view.speed}`;
  const lines = [
    `${bold('Sluice')} ${view.mode}  ${shownState(view)}  ${market}${speed}  ${dim(view.exchangeUrl)}`,
    row('', view.stateText),
    row('Equity', equityLine(view)),
    ...under('Positions', view.strategies.map(strategyLine)),
    ...under(
      'Fills',
      view.fills.slice(0, maxFills).map((fill) => fillLine(fill, view.marketTime)),
    ),
    ...under('Decisions', view.decisions.slice(0, maxDecisions).map(decisionLine)),
    ...under('Unknown', view.unknowns.slice(0, maxUnknowns).map(unknownLine)),
    row('Weight', weightLine(view)),
    ...view.notices
      .slice(0, maxNotices)
      .map(({ level, text, advice: goOn }) =>
        row(
          '',
          styled(
            level === 'info' ? 'cyan' : level === 'warn' ? 'yellow' : 'red',
            goOn === undefined ? text : `${text} ${goOn}`,
          ),
        ),
      ),
  ].map((line) => fitted(line, columns));
  return dashboardUrl === undefined ? lines : [...lines, row('Dashboard', styled('cyan', dashboardUrl))];
}

/** Rows of the lists that `sluice top` adds. */
const maxOrders = 8;
const maxLimits = 6;

const orderLine = ({ strategy, side, quantity, symbol, price, state }: OpenOrderView): string =>
  `${bold(strategy)}  ${side} ${grouped(quantity)} ${symbol} at ${price ?? 'market'}  ${state}`;

function limitLine({ name, strategy, symbol, unit, used = '0', allowed, share }: LimitUse): string {
  const shown = (text: string): string => (unit === 'amount' ? roundedMoney(text) : grouped(text));
  const percent = `${Math.round(100 * share)} %`;
  const tone = share >= 1 ? styled('red', percent) : share >= 0.8 ? styled('yellow', percent) : percent;
  return `${[name, strategy, symbol].filter((one) => one !== undefined).join(' ')}  ${tone}  ${shown(used)} of ${shown(allowed)}`;
}

/**
 * The status with orders and limits, as many lines as `rows` at most, the last of which says how to leave. `lost`: why the daemon does not answer,
 * which is said first.
 */
export function topLines(
  given: View,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  lost?: string,
): string[] {
  const view = printableIn({ ...given, equity: { ...given.equity, series: [] } });
  const limits = view.limits.filter(({ unit }) => unit !== 'each').toSorted((a, b) => b.share - a.share);
  const gone = `Not connected: ${escapeText(lost ?? '')}. What you see is old; trying again.`;
  const lines = [
    ...(lost === undefined ? [] : [fitted(styled('red', gone), columns)]),
    ...statusLines(given, columns),
    ...[
      ...under('Orders', view.openOrders.slice(0, maxOrders).map(orderLine)),
      ...under('Limits', limits.slice(0, maxLimits).map(limitLine)),
    ].map((line) => fitted(line, columns)),
  ];
  return [...lines.slice(0, rows - 1), fitted(dim('q quits'), columns)];
}
