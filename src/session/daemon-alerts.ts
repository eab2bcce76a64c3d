/**
 * The alerts of a daemon: they begin with its start, as soon as its configuration is valid, and the session that starts goes on with them. What was
 * configured is kept, without the secrets of the environment, for a start whose configuration cannot be read.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Alerts, startAlerts } from '../alerts/alerts.ts';
import type { Alert } from '../alerts/routes.ts';
import { type AlertSecrets, alertSecrets } from '../alerts/secrets.ts';
import { systemClock } from '../clock/clock.ts';
import { type AlertsConfig, alerts as schema } from '../config/alerts.ts';
import type { FillView } from '../dashboard/view.ts';
import { jsonOf } from '../domain/json.ts';
import { registeredSecrets } from '../domain/redaction.ts';
import { orRefusal, Refusal } from '../domain/refusal.ts';
import type { Notice } from '../journal/entries.ts';
import { prepareDir } from '../journal/open.ts';
import { alertTexts } from './alarm-pages.ts';
import { eventText, type SessionEvent } from './log/events.ts';
import { fillsText } from './log/fills-text.ts';
import { isHeld, replaceFile } from './state.ts';
import { daemonName, stateOptionFor } from './state-in-commands.ts';

export interface ConfiguredAlerts {
  readonly config: AlertsConfig;
  readonly secrets: AlertSecrets;
}

export interface DaemonAlertsParts {
  readonly mode: string;
  readonly stateDir: string;
  /** Undefined where none are configured. */
  readonly configured: ConfiguredAlerts | undefined;
  /** For tests: what sends. */
  readonly send?: typeof startAlerts;
}

/** Receives troubles of the alerts themselves. */
type Troubles = (level: Notice['level'], text: string) => void;

/** How long the first fill of an order waits for others, real ms. */
const gatherMs = 500;

export class DaemonAlerts {
  readonly #parts: Required<DaemonAlertsParts>;
  #sender: Alerts | undefined;
  #text: (event: SessionEvent) => string = eventText;
  #troubles: Troubles = () => undefined;
  /** By client order id, fills that came within `gatherMs`. */
  readonly #gathered = new Map<string, { readonly fills: FillView[]; readonly send: () => void }>();

  constructor({ send = startAlerts, ...parts }: DaemonAlertsParts) {
    this.#parts = { send, ...parts };
  }

  /** Undefined where none are configured, and before they have begun. */
  get sender(): Alerts | undefined {
    return this.#sender;
  }

  /** Starts them, unless a daemon runs in the directory: they are its own then. */
  begin(): void {
    const { configured, mode, stateDir, send } = this.#parts;
    if (configured === undefined || this.#sender !== undefined) return;
    // It may hold links, or files of others: nothing is written there then. A refused configuration must not make it, either.
    const isOurs = existsSync(stateDir) && !(orRefusal(() => prepareDir(stateDir)) instanceof Refusal);
    if (isOurs && isOfAnother(stateDir)) return;
    // Read now: later a disk may be full.
    const stateOption = stateOptionFor(mode, stateDir);
    this.#text = alertTexts(stateOption);
    this.#sender = send(
      {
        ...{ ...configured, redacted: registeredSecrets(), stateOption, daemon: daemonName(stateDir) },
        stateDir: isOurs ? stateDir : undefined,
      },
      {
        failed: (error) => this.#troubles('error', `alerts have stopped, trading goes on: ${error.message}`),
        notice: (level, text) => this.#troubles(level, text),
      },
    );
  }

  add(event: SessionEvent, more: Pick<Alert, 'isOfStart' | 'resumesAll'> = {}): void {
    if (event.kind === 'fill') {
      this.#gather(event);
      return;
    }
    const { kind, level, time } = event;
    this.#sender?.add({ kind, level, time, text: this.#text(event), ...more });
  }

  /** Fills of an order that come together are one alert. */
  #gather({ level, time, fill }: Extract<SessionEvent, { kind: 'fill' }>): void {
    const known = this.#gathered.get(fill.clientOrderId);
    if (known !== undefined) {
      known.fills.push(fill);
      return;
    }
    const fills: [FillView, ...FillView[]] = [fill];
    const send = (): void => {
      if (this.#gathered.delete(fill.clientOrderId))
        this.#sender?.add({ kind: 'fill', level, time, text: fillsText(fills) });
    };
    this.#gathered.set(fill.clientOrderId, { fills, send });
    systemClock.at(systemClock.now() + gatherMs, send);
  }

  troublesTo(receive: Troubles): void {
    this.#troubles = receive;
  }

  /** Trading begins. */
  cameUp(): void {
    this.#sender?.cameUp();
    keep(this.#parts.stateDir, this.#parts.configured?.config);
  }

  /** Sends by other channels and routes from now on, and keeps them. */
  configure(next: ConfiguredAlerts): void {
    this.#sender?.configure({ ...next, redacted: registeredSecrets() });
    keep(this.#parts.stateDir, next.config);
  }

  /** Sends what is left. */
  async end(): Promise<void> {
    for (const { send } of this.#gathered.values()) send();
    await this.#sender?.end();
  }
}

/** A lock that cannot be read is nobody's. */
function isOfAnother(stateDir: string): boolean {
  try {
    return isHeld(stateDir, 'read');
  } catch {
    return false;
  }
}

const keptFile = 'alerts.json';

function keep(dir: string, config: AlertsConfig | undefined): void {
  const path = join(dir, keptFile);
  try {
    if (config === undefined) rmSync(path, { force: true });
    else replaceFile(path, `${JSON.stringify(config)}\n`);
  } catch {
    // A full disk: those of an earlier start are kept, or none.
  }
}

/** The alerts of the last configuration that started there, with the secrets of the environment; undefined where they cannot be had. */
export function keptAlerts(
  dir: string,
  environment: Readonly<Record<string, string | undefined>>,
): ConfiguredAlerts | undefined {
  try {
    const config = schema.parse(jsonOf(readFileSync(join(dir, keptFile), 'utf8')));
    return { config, secrets: alertSecrets(config, environment) };
  } catch {
    return undefined;
  }
}
