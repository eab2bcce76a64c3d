/** Messages of kill, pause, resume and cancel, for daemons and commands. */
import { createHash } from 'node:crypto';
import type { InForceView } from '../../dashboard/view.ts';
import { didYouMean } from '../../domain/refusal.ts';
import type { Halted } from '../../execution/halt.ts';
import type { KillEntry } from '../../journal/entries.ts';
import { flattenName, type PendingFlatten } from '../../portfolio/flattening.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { type Kill, pastOf } from '../../risk/kill.ts';
import type { Assembled } from '../../trading/assemble.ts';
import { killText } from '../view/notices.ts';

/** The first few of many, and how many more. */
export const fewOf = (texts: readonly string[]): string =>
  texts.length <= 3 ? texts.join('; ') : `${texts.slice(0, 3).join('; ')}; and ${texts.length - 3} more`;

const are = (strategy: string | undefined): string =>
  strategy === undefined ? 'All strategies are' : `${strategy} is`;

/** What a kill or a pause means. `where` is the state directory when no daemon runs on it. */
export function stoppedText(
  { kind, strategy, everything }: Pick<Kill, 'kind' | 'strategy' | 'everything'>,
  where = '',
): string {
  const they = strategy === undefined ? 'they enter' : 'it enters';
  const them = strategy === undefined ? 'They' : 'It';
  if (kind === 'pause')
    return `${are(strategy)} paused${where}: ${they} nothing until you resume. ${them} may leave positions, and exits stay in force.`;
  return everything
    ? `${are(strategy)} killed with all exits${where}: no order is created until you resume, and stops do not work.`
    : `${are(strategy)} killed${where}, and exits stay in force: stops, time exits and take-profits go on, nothing else is created until you resume.`;
}

/** Sentences of what is in force, at most. */
const maxNamed = 3;

/** Kills, pauses and HALTs in force, as they are journalled. */
export const stopsOf = ({ risk, execution }: Pick<Assembled, 'risk' | 'execution'>): readonly KillEntry[] => [
  ...risk.switch.inForce.map((kill) => ({ ...kill, strategy: kill.strategy ?? null })),
  ...execution.halts.inForce.map(({ at, cause: by, text: reason }) => ({
    ...{ kind: 'halt' as const, everything: false, strategy: null, at, by, reason },
  })),
];

/** The same in words, with a mark that changes with them. `ban`: why nothing can be sent now, exits included. */
export function inForceOf(
  assembled: Pick<Assembled, 'risk' | 'execution' | 'flattening'>,
  ban: string | undefined,
): InForceView {
  const entries = stopsOf(assembled);
  const flattens = assembled.flattening.pending();
  const against = assembled.execution.halts.inForce.length > 0 ? 'trading is halted' : ban;
  const mark = createHash('sha256')
    .update(JSON.stringify([entries, flattens.map(flattenName)]))
    .digest('hex')
    .slice(0, 16);
  const newest = entries.toSorted((a, b) => b.at - a.at);
  const more = newest.length > maxNamed ? [`And ${newest.length - maxNamed} more.`] : [];
  return {
    mark,
    text: [
      ...newest.slice(0, maxNamed).map((entry) => killText(entry, { ban: against }).text),
      ...more,
      ...(flattens.length === 0 ? [] : [`A resume ends ${namesOf(flattens)}.`]),
    ].join(' '),
  };
}

const namesOf = (flattens: readonly PendingFlatten[]): string =>
  flattens.map((flatten) => `the flatten of ${flattenName(flatten)}`).join(', and ');

/** What a resume means for the flattens that it ends. */
export const endedText = (flattens: readonly PendingFlatten[]): string =>
  flattens.length === 0
    ? ''
    : ` This ends ${namesOf(flattens)}: what is left of the ${flattens.length === 1 ? 'position stays' : 'positions stay'} open.`;

/** What a resume means for the halts that it lifts. */
export const liftedText = (halts: readonly Pick<Halted, 'text'>[]): string =>
  halts.length === 0
    ? ''
    : ` This lifts HALT (${fewOf(halts.map(({ text }) => text))}). If the cause persists, trading halts again.`;

/** Outcomes of cancelled orders: each may have filled first, or may still be open. */
export function cancelledText(orders: readonly WorkingOrder[]): string {
  if (orders.length === 0) return 'There was no resting order to cancel.';
  const {
    filled = [],
    cancelled = [],
    going = [],
  } = Object.groupBy(orders, ({ state, venueStatus }) =>
    state === 'filled' || venueStatus === 'FILLED'
      ? 'filled'
      : state === 'canceled' || venueStatus === 'CANCELED'
        ? 'cancelled'
        : 'going',
  );
  const inPart = cancelled.filter(({ filled: sofar, executed = sofar }) => executed > 0).length;
  const part = (some: readonly WorkingOrder[], one: string, more: string, ids = true): string[] =>
    some.length === 0
      ? []
      : [
          `${some.length} ${some.length === 1 ? one : more}${ids ? ` (${fewOf(some.map(({ intent }) => intent.clientOrderId))})` : ''}`,
        ];
  const parts = [
    ...part(cancelled, 'resting order was cancelled', 'resting orders were cancelled', false),
    ...(inPart === 0
      ? []
      : [cancelled.length === 1 ? 'partly filled before' : `${inPart} of them partly filled before`]),
    ...part(filled, 'was filled before its cancel arrived', 'were filled before their cancels arrived'),
    ...part(going, 'is not final yet; its cancel is retried', 'are not final yet; their cancels are retried'),
  ];
  return `${parts.join(', ')}.`;
}

/** After a cancel strategies may order again, unless a halt or a kill stops them. */
export function afterCancelText(
  strategy: string | undefined,
  running: readonly { readonly id: string }[],
  { risk, execution: { halts } }: Pick<Assembled, 'risk' | 'execution'>,
): string {
  const kills = (strategy === undefined ? running : [{ id: strategy }]).map(({ id }) => risk.switch.of(id));
  const [kill] = kills.filter((one) => one !== undefined);
  const stopped =
    halts.against() ??
    (kill === undefined || kills.includes(undefined) ? undefined : `${pastOf[kill.kind]}: ${kill.reason}`);
  const whose = strategy === undefined ? '' : ` --strategy ${strategy}`;
  return stopped === undefined
    ? ` ${strategy ?? 'Running strategies'} may place new orders. To prevent that: sluice kill${whose}.`
    : ` ${strategy === undefined ? 'No strategy places' : `${strategy} does not place`} new ones now (${stopped}).`;
}

/** Why a strategy is unknown: a kill of it would seem to be in force. */
export function unknownStrategy(
  strategy: string,
  hosted: readonly { readonly id: string }[],
  { portfolio, risk }: Known,
): string | undefined {
  const ids = new Set([...hosted.map(({ id }) => id), ...portfolio.subAccounts().map(({ strategy }) => strategy)]);
  // A kill that is in force may be lifted, whoever it is of.
  for (const kill of risk.switch.inForce) if (kill.strategy !== undefined) ids.add(kill.strategy);
  return ids.has(strategy)
    ? undefined
    : `no strategy ${strategy} runs here${didYouMean(strategy, [...ids])}; there ${ids.size === 1 ? 'is' : 'are'} ${[...ids].join(', ') || 'none'}`;
}
type Known = Pick<Assembled, 'portfolio' | 'risk'>;

type InForce = Pick<KillEntry, 'kind' | 'strategy' | 'reason'>;

/** What a resume may lift; `file`: a kill that no daemon has carried out. */
interface Lifted {
  readonly kind: KillEntry['kind'] | 'file';
  readonly strategy: string | null;
}

/** `before` and `inForce`: what was and is in force. `where` is the state directory when no daemon runs on it. */
export function resumedText(
  strategy: string | undefined,
  before: readonly Lifted[],
  inForce: readonly InForce[],
  where = '',
): string {
  const whom = strategy ?? 'All strategies';
  const still = inForce.filter(
    (kill) => strategy === undefined || kill.strategy === null || kill.strategy === strategy,
  );
  if (still.length > 0)
    return `${whom} may not create orders yet${where}: ${fewOf(still.map((kill) => `${inForceText(kill)} (${kill.reason})`))}. To lift that, too: sluice resume without --strategy.`;
  const lifted = before.filter((kill) => strategy === undefined || kill.strategy === strategy);
  if (lifted.length === 0)
    return `Nothing was in force${where}: no kill${strategy === undefined ? ', no pause and no HALT' : ` and no pause of ${strategy}`}.`;
  if (lifted.some(({ kind }) => kind === 'kill'))
    return `${whom} may create orders again${where}; the daily loss is measured from now on.`;
  return `${whom} may ${lifted.every(({ kind }) => kind === 'pause') ? 'enter positions' : 'create orders'} again${where}.`;
}

const inForceText = ({ kind, strategy }: InForce): string => {
  if (kind === 'halt') return 'trading is halted';
  return `${strategy === null ? 'all strategies are' : `${strategy} is`} ${pastOf[kind === 'pause' ? kind : 'kill']}`;
};
