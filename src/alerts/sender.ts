/**
 * Sends what the outbox holds: for each channel one message at a time, several alerts in one where they are due together. A channel that fails or
 * hangs is tried again later, ever more rarely, and another channel says so. Alerts wait in the outbox meanwhile, also over a restart.
 */
import type { AlertsConfig } from '../config/alerts.ts';
import { escapeText, signed } from '../domain/printable.ts';
import { redact } from '../domain/redaction.ts';
import { maxCharacters, type Send } from './channels.ts';
import type { Message, Outbox } from './outbox.ts';
import { type Alert, type AlertLevel, alertLevels, heldUntil, routed } from './routes.ts';

/** What a reload of the configuration changes. */
export interface SenderGiven {
  readonly config: AlertsConfig;
  readonly channels: ReadonlyMap<string, Send>;
}

interface SenderParts extends SenderGiven {
  readonly outbox: Outbox;
  /** The name of the daemon where the configuration gives none. */
  readonly daemon?: string;
  /** The option that names the state directory in a command, after a space; left out where it needs none. */
  readonly stateOption?: string;
  /** UTC ms of the machine. */
  readonly now: () => number;
  /** Something about a channel, for the log. */
  readonly notice?: (level: AlertLevel, text: string) => void;
}

/** First and longest wait after a failure, ms. */
const firstRetryMs = 5_000;
const longestRetryMs = 10 * 60_000;
/** Failures in a row after which another channel reports it. */
const reportedFailures = 3;
/** Messages that a channel may send at once before `maxPerHour` spaces them. */
const burst = 10;
const hourMs = 3_600_000;

interface ChannelState {
  failures: number;
  /** When it failed last, UTC ms, and how long it waits since then, ms. */
  failedAt: number;
  waitMs: number;
  /** Messages that may be sent now, those that only errors may use, and when that was counted. */
  allowance: number;
  errorAllowance: number;
  countedAt: number;
  /** The message on its way. */
  sending: Promise<void> | undefined;
}

/** The kind of an alarm that a start has opened. */
const ofStart = 'start';

export class Sender {
  #parts: SenderParts;
  #states: ReadonlyMap<string, ChannelState> = new Map();

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.configure(parts);
  }

  /** Changes channels and routes. A channel of the same name goes on where it was: it may be sending. */
  configure(given: SenderGiven): void {
    this.#parts = { ...this.#parts, ...given };
    const [names, now] = [[...given.channels.keys()], this.#parts.now()];
    this.#states = new Map(
      names.map((name) => [
        name,
        this.#states.get(name) ?? {
          ...{ failures: 0, failedAt: 0, waitMs: 0, sending: undefined },
          ...{ allowance: burst, errorAllowance: burst, countedAt: now },
        },
      ]),
    );
    this.#parts.outbox.tidy(names, now);
  }

  /** Whether some channel works, as far as is known. */
  get works(): boolean {
    return [...this.#states.values()].some(({ failures }) => failures < reportedFailures);
  }

  /** Takes an alert; it is on disk when this returns. */
  add(alert: Alert): void {
    const { config, outbox, now } = this.#parts;
    if (alert.resumesAll === true) outbox.acknowledgeKinds(['kill', 'pause', 'halt'], 'resume', now());
    const safe = { ...alert, text: escapeText(redact(alert.text)) };
    const { due, escalation } = routed(config, safe, now());
    if (due.length === 0) return;
    if (alert.isOfStart === true && !outbox.isNews(withoutNumbers(safe.text), now(), hourMs)) return;
    if (escalation === undefined) {
      outbox.add(safe, due);
      return;
    }
    const { repeatMs, to } = escalation;
    const kind = alert.isOfStart === true ? ofStart : safe.kind;
    const id = outbox.open({ ...safe, kind }, now() + repeatMs, repeatMs, [
      ...new Set([...due.map(({ channel }) => channel), ...to]),
    ]);
    outbox.add({ ...safe, text: `${safe.text} (${this.#alarmText(id)})` }, due);
  }

  /** Writes alerts that are in memory to the disk, where it takes them again. */
  writeOut(): void {
    const { outbox, notice } = this.#parts;
    if (outbox.writeOut()) notice?.('info', 'alerts are kept on disk again');
  }

  /** Trading has begun: whoever received an error of the start receives its end, and its alarms ring no more. */
  cameUp(): void {
    const { config, outbox, now } = this.#parts;
    // What an earlier start reported may be in a file that this one could not open before.
    this.writeOut();
    if (!outbox.forgetReported()) return;
    outbox.acknowledgeKinds([ofStart], 'start', now());
    const end: Alert = {
      kind: 'notice',
      level: 'error',
      time: now(),
      text: 'the daemon has started: sluice status shows what may trade',
    };
    outbox.add({ ...end, level: 'info' }, routed(config, end, now()).due);
  }

  /** A phone may receive the alerts of several daemons. */
  #daemonText(): string {
    const { config, daemon } = this.#parts;
    const name = config.name ?? daemon;
    return name === undefined ? '' : signed(redact(name));
  }

  #alarmText(id: number): string {
    return `alarm ${id}: sluice alerts ack${this.#parts.stateOption ?? ''} ${id}`;
  }

  /**
   * Sends what is due. Resolves when every channel has answered or failed. `isLast`: the program ends, so each channel gets one more chance after what
   * is on its way, without digests, spacing and waits after a failure. What quiet hours hold waits for the next start.
   */
  async send(isLast = false): Promise<void> {
    this.#escalate();
    await Promise.all(
      [...this.#parts.channels].map(async ([name, send]) => {
        const state = this.#states.get(name);
        if (state === undefined) return;
        while (isLast && state.sending !== undefined) await state.sending;
        state.sending ??= this.#sendAll(name, send, state, isLast).finally(() => {
          state.sending = undefined;
        });
        await state.sending;
      }),
    );
  }

  #escalate(): void {
    const { config, channels, outbox, now } = this.#parts;
    for (const alarm of outbox.alarms()) {
      const waitMs = alarm.nextAt - now();
      // One that lies further ahead is of before the clock was set back.
      if ((waitMs > 0 && waitMs <= alarm.everyMs) || heldUntil(config, alarm.level, now()) > now()) continue;
      const text = `not acknowledged yet: ${alarm.text} (${this.#alarmText(alarm.id)})`;
      // A channel that does not answer keeps one copy of it.
      const free = alarm.to.filter((channel) => channels.has(channel) && !outbox.holds(channel, text));
      outbox.add(
        { ...alarm, text },
        free.map((channel) => ({ channel, at: now() })),
      );
      outbox.escalated(alarm, now());
    }
  }

  /** Also what becomes due while a message is on its way: an alarm must not wait for the next call. */
  async #sendAll(name: string, send: Send, state: ChannelState, isLast: boolean): Promise<void> {
    while (await this.#sendOn(name, send, state, isLast));
  }

  /** Sends one message; false where there is none, or it failed. */
  async #sendOn(name: string, send: Send, state: ChannelState, isLast: boolean): Promise<boolean> {
    const { config, outbox, now } = this.#parts;
    const sinceMs = now() - state.failedAt;
    // Below 0 the clock was set back.
    if (!isLast && sinceMs >= 0 && sinceMs < state.waitMs) return false;
    const messages = isLast
      ? outbox.due(name).filter(({ level }) => heldUntil(config, level, now()) <= now())
      : outbox.due(name, now());
    const rated = messages.length === 0 ? undefined : this.#share(state, worst(messages));
    const share = rated ?? (isLast && messages.length > 0 ? 'allowance' : undefined);
    if (share === undefined) return false;
    const { text, included } = together(messages, this.#daemonText());
    const failure = await send({ level: worst(included), time: Math.max(...included.map(({ time }) => time)), text });
    if (failure === undefined) {
      outbox.sent(included);
      state[share] -= 1;
      if (state.failures >= reportedFailures) this.#report(name, 'info', `alerts by ${name} work again`);
      state.failures = 0;
      state.waitMs = 0;
      return true;
    }
    state.failures += 1;
    state.failedAt = now();
    state.waitMs = Math.min(longestRetryMs, firstRetryMs * 2 ** (state.failures - 1));
    if (state.failures === reportedFailures)
      this.#report(
        name,
        'error',
        `alerts by ${name} fail: ${failure}. They wait, and are tried again (docs/how-to/alarms/channel-failed.md)`,
      );
    return false;
  }

  /** What a message is taken from, so that errors never wait behind others; undefined where it has to wait. */
  #share(state: ChannelState, level: AlertLevel): 'allowance' | 'errorAllowance' | undefined {
    const { config, now } = this.#parts;
    // A clock that was set back must not take away what may be sent.
    const refill = (Math.max(0, now() - state.countedAt) * config.maxPerHour) / hourMs;
    const max = Math.min(burst, config.maxPerHour);
    state.allowance = Math.min(max, state.allowance + refill);
    state.errorAllowance = Math.min(max, state.errorAllowance + refill);
    state.countedAt = now();
    if (level === 'error' && state.errorAllowance >= 1) return 'errorAllowance';
    return state.allowance >= 1 ? 'allowance' : undefined;
  }

  /** By every other channel, and in the log. */
  #report(failed: string, level: AlertLevel, text: string): void {
    const { outbox, channels, now, notice } = this.#parts;
    notice?.(level, text);
    const others = [...channels.keys()].filter((name) => name !== failed);
    outbox.add(
      { kind: 'alerts', level, time: now(), text },
      others.map((channel) => ({ channel, at: now() })),
    );
  }
}

/** Times, amounts and processes differ from one start to the next. */
const withoutNumbers = (text: string): string => text.replaceAll(/\d+/g, '#');

const worst = (messages: readonly Message[]): AlertLevel =>
  messages.reduce<AlertLevel>(
    (max, { level }) => (alertLevels.indexOf(level) > alertLevels.indexOf(max) ? level : max),
    'info',
  );

/** One text of several alerts with their times, the worst first, as many as fit. Others are counted and count as sent; errors wait for the next message. */
function together(
  messages: readonly Message[],
  daemon: string,
): { readonly text: string; readonly included: readonly Message[] } {
  const [only] = messages;
  if (only !== undefined && messages.length === 1)
    return { text: `${daemon}${line(only)}`.slice(0, maxCharacters), included: messages };
  const head = `${daemon}${messages.length} alerts (times in UTC):`;
  const lines: string[] = [];
  let length = head.length + 40;
  const included: Message[] = [];
  const sorted = messages.toSorted((a, b) => alertLevels.indexOf(b.level) - alertLevels.indexOf(a.level));
  for (const message of sorted) {
    const one = `• ${new Date(message.time).toISOString().slice(11, 19)} ${line(message)}`.slice(0, 400);
    const fits = length + one.length + 1 <= maxCharacters;
    if (fits) lines.push(one);
    if (fits || message.level !== 'error') included.push(message);
    length = fits ? length + one.length + 1 : maxCharacters;
  }
  const left = messages.length - lines.length;
  const text = [head, ...lines, ...(left > 0 ? [`and ${left} more: sluice.log has them`] : [])].join('\n');
  return { text, included };
}

const line = ({ level, text }: Message): string => `${level === 'info' ? '' : `${level.toUpperCase()} `}${text}`;
