/**
 * Sends what happens in a daemon to people: Telegram, Slack, Discord, ntfy, e-mail, a webhook of your own. In: the daemon's events. Out: messages.
 * A thread sends them, from an outbox on disk. Begin with `routes.ts`, then `sender.ts`.
 */
import { Worker } from 'node:worker_threads';
import { moduleUrl } from '../domain/module-url.ts';
import type { Alert } from './routes.ts';
import type { ThreadData } from './thread.ts';

export interface Alerts {
  add(alert: Alert): void;
  /** Sends what is due, for at most a few seconds. What is left is sent after the next start. */
  end(): Promise<void>;
}

/** `failed` is called once when the thread died: nothing is sent any more, and trading goes on. */
export function startAlerts(data: ThreadData, failed: (error: Error) => void): Alerts {
  const worker = new Worker(moduleUrl('./thread', import.meta.url), { workerData: data });
  let isEnded = false;
  const ended = new Promise<void>((resolve) => {
    worker.once('error', (error: Error) => {
      isEnded = true;
      failed(error);
    });
    worker.once('exit', () => {
      isEnded = true;
      resolve();
    });
  });
  return {
    add(alert) {
      if (!isEnded) worker.postMessage(alert);
    },
    end() {
      if (!isEnded) worker.postMessage('end');
      return ended;
    },
  };
}
