/**
 * Sends what happens in a daemon to people: Telegram, Slack, Discord, ntfy, e-mail, a webhook of your own. In: the daemon's events. Out: messages.
 * A thread sends them, from an outbox on disk. Begin with `routes.ts`, then `sender.ts`.
 */
import { Worker } from 'node:worker_threads';
import { moduleUrl } from '../domain/module-url.ts';
import { redact } from '../domain/redaction.ts';
import { type Alarm, type AlertsGiven, fromThread, type ToThread } from './messages.ts';
import type { Alert, AlertLevel } from './routes.ts';
import type { ThreadData } from './thread.ts';

export interface Alerts {
  /** Alarms that nobody has acknowledged, oldest first. */
  readonly alarms: readonly Alarm[];
  add(alert: Alert): void;
  /** A start finished: what keeps the next one from it is sent at once. */
  cameUp(): void;
  /** All is well: to be said each `wellEveryMs`. Where it is not, the pings end. */
  well(): void;
  /** Acknowledges an alarm, or all; resolves to how many there were. */
  acknowledge(alarm: number | undefined, by: string): Promise<number>;
  /** Sends by other channels and routes from now on. What waits for a channel that is gone is deleted. */
  configure(given: AlertsGiven): void;
  /** Sends what is due, for at most a few seconds. What is left is sent after the next start. */
  end(): Promise<void>;
}

export interface AlertsWatch {
  /** Once, when the thread died: nothing is sent any more, and trading goes on. */
  readonly failed: (error: Error) => void;
  /** Something about a channel, for the log. It is sent by the other channels already. */
  readonly notice: (level: AlertLevel, text: string) => void;
}

/** A service that floods must not take the memory of the daemon, MB. */
const maxMemoryMb = 200;

export function startAlerts(data: ThreadData, { failed, notice }: AlertsWatch): Alerts {
  const worker = new Worker(moduleUrl('./thread', import.meta.url), {
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: maxMemoryMb },
  });
  let isEnded = false;
  let alarms: readonly Alarm[] = [];
  let requests = 0;
  const waiting = new Map<number, PromiseWithResolvers<number>>();
  const finish = (): void => {
    isEnded = true;
    for (const { reject } of waiting.values()) reject(new Error('the alerts have stopped'));
    waiting.clear();
  };
  const ended = new Promise<void>((resolve) => {
    worker.once('error', (error: Error) => {
      finish();
      failed(error);
    });
    worker.once('exit', () => {
      finish();
      resolve();
    });
  });
  worker.on('message', (given) => {
    const read = fromThread.safeParse(given);
    if (!read.success) return;
    const message = read.data;
    if (message.kind === 'alarms') alarms = message.alarms;
    else if (message.kind === 'notice') notice(message.level, message.text);
    else {
      waiting.get(message.request)?.resolve(message.count);
      waiting.delete(message.request);
    }
  });
  const say = (message: ToThread): void => {
    if (!isEnded) worker.postMessage(message);
  };
  return {
    get alarms() {
      return alarms;
    },
    // Secrets that were read after the thread began are known here alone.
    add: (alert) => say({ kind: 'alert', alert: { ...alert, text: redact(alert.text) } }),
    cameUp: () => say({ kind: 'cameUp' }),
    well: () => say({ kind: 'well' }),
    acknowledge(alarm, by) {
      if (isEnded) return Promise.reject(new Error('the alerts have stopped'));
      const request = requests++;
      const answer = Promise.withResolvers<number>();
      waiting.set(request, answer);
      say({ kind: 'acknowledge', request, alarm, by });
      return answer.promise;
    },
    configure: (given) => say({ kind: 'configure', given }),
    end() {
      say({ kind: 'end' });
      return ended;
    },
  };
}
