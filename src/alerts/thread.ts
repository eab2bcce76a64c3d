/** The thread of the alerts: a channel that hangs, and a database that waits for the disk, delay no order. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { every, machineWall, systemClock } from '../clock/clock.ts';
import { registerSecrets } from '../domain/redaction.ts';
import { channelOf } from './channels.ts';
import { type AlertsGiven, type FromThread, type ToThread, toThread } from './messages.ts';
import { Outbox } from './outbox.ts';
import { Ping } from './ping.ts';
import type { AlertLevel } from './routes.ts';
import { Sender, type SenderGiven } from './sender.ts';

export interface ThreadData extends AlertsGiven {
  /** Undefined where nothing may be written: then alerts are in memory. */
  readonly stateDir: string | undefined;
  /** The name of the daemon where the configuration gives none. */
  readonly daemon: string;
  /** The option that names it in a command, after a space. */
  readonly stateOption: string;
}

/** Poll interval for what is due, real ms. */
const sendEveryMs = 1_000;
/** Between attempts to write the alerts out while the disk does not take them, real ms. */
const writeOutEveryMs = 5_000;
/** How long the end waits for what is being sent, real ms. */
const endMs = 3_000;

/** The channels of a configuration. Its secrets are redacted from now on. */
function sendingOf({ config, secrets, redacted }: AlertsGiven): SenderGiven {
  registerSecrets(redacted);
  const channels = Object.entries(config.channels).map(
    ([name, one]) => [name, channelOf(one, secrets.channels.get(name) ?? '')] as const,
  );
  return { config, channels: new Map(channels) };
}

const fail = (error: unknown): void => {
  throw error;
};

function serve(port: MessagePort, { stateDir, daemon, stateOption, ...given }: ThreadData): void {
  const say = (message: FromThread): void => port.postMessage(message);
  const notice = (level: AlertLevel, text: string): void => say({ kind: 'notice', level, text });
  const outbox = new Outbox(stateDir, (code) =>
    notice('warn', `alerts cannot be kept on disk (${code}): they are sent, but a restart loses those that wait`),
  );
  const sender = new Sender({ ...sendingOf(given), outbox, daemon, stateOption, now: machineWall, notice });
  const pingOf = ({ config, secrets }: AlertsGiven): Ping | undefined =>
    secrets.ping === undefined || config.ping === undefined
      ? undefined
      : new Ping({ url: secrets.ping, everyMs: config.ping.everyMs, now: () => systemClock.monotonic(), notice });
  let ping = pingOf(given);
  let shown = '';
  // Also those that a command acknowledged, which writes to the same file.
  const showAlarms = (): void => {
    const alarms = outbox.alarms().map(({ id, time, level, text }) => ({ id, time, level, text }));
    if (JSON.stringify(alarms) === shown) return;
    shown = JSON.stringify(alarms);
    say({ kind: 'alarms', alarms });
  };
  // A channel that hangs must not keep the others: nothing waits for it here.
  const send = (): void => {
    void sender.send().catch(fail);
    if (sender.works) void ping?.send().catch(fail);
    showAlarms();
  };
  const ending = new AbortController();
  void every(systemClock, sendEveryMs, ending.signal, send).catch(fail);
  const writeOut = (): void => sender.writeOut();
  void every(systemClock, writeOutEveryMs, ending.signal, writeOut).catch(fail);
  const end = (): void => {
    ending.abort();
    void Promise.race([sender.send(true), systemClock.sleep(endMs)]).then(() => {
      writeOut();
      outbox.close();
      port.close();
      process.exit(0);
    }, fail);
  };
  port.on('message', (given: ToThread) => {
    const message = toThread.parse(given);
    if (message.kind === 'end') end();
    else if (message.kind === 'well') ping?.well();
    else if (message.kind === 'cameUp') sender.cameUp();
    else if (message.kind === 'configure') {
      sender.configure(sendingOf(message.given));
      ping = pingOf(message.given);
    } else {
      if (message.kind === 'alert') sender.add(message.alert);
      else {
        const { request, alarm, by } = message;
        say({ kind: 'acknowledged', request, count: outbox.acknowledge(alarm, by, machineWall()) });
      }
      send();
    }
  });
}

if (parentPort !== null) serve(parentPort, workerData as ThreadData);
