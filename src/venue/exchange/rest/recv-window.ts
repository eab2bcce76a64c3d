/**
 * The time window of a create: how long the exchange may act on it, and the name of the field. The specification spells the field in
 * three ways (§5.3), and deployments accept one of them or another. Which one is a capability, found by testing.
 */
import type { Clock } from '../../../clock/clock.ts';
import type { Reply } from './reply.ts';

/** In the order in which they are tried: the first is that of the sample bodies. */
export const windowNames = ['recvWindow', 'recvwindow', 'recwwindow'] as const;
export type WindowName = (typeof windowNames)[number];
/** `none`: it is taken under no name, so that the exchange's own window holds. */
export type WindowQuirk = WindowName | 'none';

/** What is known of a deployment before the first order. */
export interface KnownWindow {
  readonly name: WindowQuirk;
  /** Whether tests of an order showed it; a name that was only not refused may be passed over. */
  readonly isHeeded: boolean;
}

/** What holds where nothing is said, real ms (§5.3). */
const standardMs = 5_000;

/** Refusals of unknown or superfluous parameters: the field's name is wrong here. */
const unwantedCodes: ReadonlySet<string> = new Set(['-1101', '-1103', '-1104', '-1106']);

export type RecvWindow = ReturnType<typeof recvWindow>;

/** `known` was found out before. `seen` gets a name that was accepted after another one was refused. */
export function recvWindow(
  clock: Clock,
  known: KnownWindow | undefined,
  seen: (quirk: WindowQuirk) => void = () => {},
) {
  let quirk: WindowQuirk = known?.name ?? windowNames[0];
  let isTaken = known !== undefined;
  /** Only a test with an old timestamp proves that the window is applied; an accepted name may be ignored. */
  let isHeeded = known?.isHeeded === true;
  const round = (ms: number): number => Math.round(clock.machine(ms));
  return {
    /** The longest window that may apply where this one (real ms) is requested, ms of the clock. */
    ms: (windowMs: number): number => {
      if (quirk === 'none') return round(standardMs);
      return round(isHeeded ? windowMs : Math.max(windowMs, standardMs));
    },
    /** The last field of a body, such as `,"recvWindow":2000`; empty where the exchange accepts none. */
    field: (windowMs: number): string => (quirk === 'none' ? '' : `,"${quirk}":${round(windowMs)}`),
    /** Learns from the answer to a body with the field: if its name is refused, the next one is tried. */
    onReply(reply: Reply): void {
      if (isTaken || (quirk === windowNames[0] && reply.kind === 'ok')) return;
      if (reply.kind === 'ok') {
        isTaken = true;
        seen(quirk);
      } else if (quirk !== 'none' && reply.kind === 'refused' && unwantedCodes.has(reply.code)) {
        quirk = windowNames[windowNames.indexOf(quirk) + 1] ?? 'none';
      }
    },
    /** Takes the result of a test. */
    learn(found: WindowQuirk): void {
      quirk = found;
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
 * that test with these fields at its end, `agedMs` (real) old. Undefined when the answers do not show it.
 */
export async function probeWindow(
  ask: (fields: string, agedMs: number) => Promise<Reply>,
  clock: Clock,
): Promise<WindowQuirk | undefined> {
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
