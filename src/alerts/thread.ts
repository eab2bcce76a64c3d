/** The thread of the alerts: a channel that hangs, and a database that waits for the disk, delay no order. */
import { parentPort, workerData } from 'node:worker_threads';
import { every, machineWall, systemClock } from '../clock/clock.ts';
import type { AlertsConfig } from '../config/alerts.ts';
import { channelOf } from './channels.ts';
import { Outbox } from './outbox.ts';
import type { Alert } from './routes.ts';
import { Sender } from './sender.ts';

export interface ThreadData {
  readonly config: AlertsConfig;
  /** By channel. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Other texts that no message may contain. */
  readonly hidden: readonly string[];
  readonly stateDir: string;
}

/** Between two looks at what is due, real ms. */
const sendEveryMs = 1_000;
/** How long the end waits for what is being sent, real ms. */
const endMs = 3_000;

if (parentPort !== null) {
  const port = parentPort;
  const { config, secrets, hidden, stateDir } = workerData as ThreadData;
  const outbox = new Outbox(stateDir);
  const channels = new Map(
    Object.entries(config.channels).map(([name, one]) => [name, channelOf(one, secrets.get(name) ?? '')]),
  );
  const sender = new Sender({
    ...{ config, channels, outbox, now: machineWall },
    secrets: [...secrets.values(), ...hidden],
  });
  const fail = (error: unknown): void => {
    throw error;
  };
  const ending = new AbortController();
  // A channel that hangs must not keep the others: nothing waits for it here.
  void every(systemClock, sendEveryMs, ending.signal, () => void sender.send().catch(fail));
  port.on('message', (alert: Alert | 'end') => {
    if (alert !== 'end') {
      sender.add(alert);
      void sender.send().catch(fail);
      return;
    }
    ending.abort();
    // What is on its way first, then what became due meanwhile.
    const last = sender.send().then(() => sender.send());
    void Promise.race([last, systemClock.sleep(endMs)]).then(() => {
      outbox.close();
      port.close();
      process.exit(0);
    }, fail);
  });
}
