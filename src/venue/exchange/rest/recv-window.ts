/**
 * How long the exchange may act on a create, and under which name it is told so. The specification spells the field in three ways
 * (§5.3), deployments take one of them or another: which one is a capability, found by asking.
 */
import type { Clock } from '../../../clock/clock.ts';
import type { Reply } from './reply.ts';

/** In the order in which they are tried: the first is that of the sample bodies. */
export const windowNames = ['recvWindow', 'recvwindow', 'recwwindow'] as const;
export type WindowName = (typeof windowNames)[number];
/** `none`: it is taken under no name, so that the exchange's own window holds. */
export type WindowHabit = WindowName | 'none';

/** What is known of a deployment before the first order. */
export interface KnownWindow {
  readonly name: WindowHabit;
  /** Whether tests of an order showed it; a name that was only not refused may be passed over. */
  readonly isHeeded: boolean;
}

/** What holds where nothing is said, real ms (§5.3). */
const standardMs = 5_000;

/** Parameters that are too many, unknown, unread or not wanted: the field's name is not the right one here. */
const unwantedCodes: ReadonlySet<string> = new Set(['-1101', '-1103', '-1104', '-1106']);

export interface RecvWindow {
  /** The longest window that may hold where this one (real ms) is asked for, ms of the clock. */
  ms(wantedMs: number): number;
  /** The end of a body's fields, such as `,"recvWindow":2000`; empty where the exchange takes none. */
  field(wantedMs: number): string;
  /** An answer to a body with the field: a refusal of its name has the next one tried, and the first that is taken is told of. */
  heard(reply: Reply): void;
  /** What was found out by asking. */
  learn(habit: WindowHabit): void;
}

/** `known` was found out before. `seen` is told of a name that was taken after another one was refused. */
export function recvWindow(
  clock: Clock,
  known: KnownWindow | undefined,
  seen: (habit: WindowHabit) => void = () => {},
): RecvWindow {
  let habit: WindowHabit = known?.name ?? windowNames[0];
  let isTaken = known !== undefined;
  /** Only a test of an order that lies back shows that the window is heeded; a name that is not refused may be passed over. */
  let isHeeded = known?.isHeeded === true;
  const round = (ms: number): number => Math.round(clock.machine(ms));
  return {
    ms: (wantedMs) => {
      if (habit === 'none') return round(standardMs);
      return round(isHeeded ? wantedMs : Math.max(wantedMs, standardMs));
    },
    field: (wantedMs) => (habit === 'none' ? '' : `,"${habit}":${round(wantedMs)}`),
    heard(reply) {
      if (isTaken || (habit === windowNames[0] && reply.kind === 'ok')) return;
      if (reply.kind === 'ok') {
        isTaken = true;
        seen(habit);
      } else if (habit !== 'none' && reply.kind === 'refused' && unwantedCodes.has(reply.code)) {
        habit = windowNames[windowNames.indexOf(habit) + 1] ?? 'none';
      }
    },
    learn(found) {
      habit = found;
      isTaken = true;
      isHeeded = true;
    },
  };
}

/** How old the request is with which a name is tried, and the window that it names, real ms: between the two and the standard. */
const agedMs = 3_000;
const triedMs = 1_000;

/**
 * Tries each name on the test of an order whose time lies back: only where its window is heeded is it refused for its time. `ask` sends
 * that test with these fields at its end, `agedMs` (real) old. Undefined where that cannot be told.
 */
export async function probeWindow(
  ask: (fields: string, agedMs: number) => Promise<Reply>,
  clock: Clock,
): Promise<WindowHabit | undefined> {
  const isLate = (reply: Reply): boolean => reply.kind === 'refused' && reply.code === '-1021';
  // Without the field it must pass, or a refusal says nothing.
  if ((await ask('', agedMs)).kind !== 'ok') return undefined;
  for (const name of windowNames) {
    const reply = await ask(`,"${name}":${Math.round(clock.machine(triedMs))}`, agedMs);
    if (isLate(reply)) return name;
    const isPassedOver = reply.kind === 'ok' || (reply.kind === 'refused' && unwantedCodes.has(reply.code));
    if (!isPassedOver) return undefined;
  }
  return 'none';
}
