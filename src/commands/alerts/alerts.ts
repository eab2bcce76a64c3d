/** `sluice alerts`: tries the channels, lists what waits and what nobody acknowledged, and acknowledges it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { channelOf } from '../../alerts/channels.ts';
import { Outbox, outboxFile } from '../../alerts/outbox.ts';
import { get } from '../../alerts/request.ts';
import { alertSecrets } from '../../alerts/secrets.ts';
import { machineWall } from '../../clock/clock.ts';
import { parseSetting, readConfig } from '../../config/read.ts';
import { tradingSchema } from '../../config/schema.ts';
import { Refusal } from '../../domain/refusal.ts';
import { moment } from '../../domain/words.ts';
import { chooseState } from '../../session/state.ts';

interface Output {
  readonly json: boolean;
  readonly out: (line: string) => void;
  readonly say: (line: string) => void;
}

interface Result {
  readonly channel: string;
  readonly type: string;
  /** Null where it works. */
  readonly failure: string | null;
}

/** `sluice alerts test`: one message on each channel, and a ping. The exit code is 1 if one of them failed. */
export async function testAlerts({
  config: file,
  set,
  environment,
  json,
  out,
}: Output & {
  readonly config: string;
  readonly set: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}): Promise<void> {
  const { alerts } = readConfig(file, tradingSchema, set.map(parseSetting));
  if (alerts === undefined)
    throw new Refusal(`${file}: alerts is missing: add channels and routes (docs/how-to/alerts.md)`);
  const secrets = alertSecrets(alerts, environment);
  const text = `Test of the alerts in ${file}: this channel works.`;
  const results: Result[] = await Promise.all(
    Object.entries(alerts.channels).map(async ([channel, one]) => {
      const failure = await channelOf(
        one,
        secrets.channels.get(channel) ?? '',
      )({ level: 'info', time: machineWall(), text });
      return { channel, type: one.type, failure: failure ?? null };
    }),
  );
  if (secrets.ping !== undefined)
    results.push({ channel: 'ping', type: 'ping', failure: (await get(secrets.ping)) ?? null });
  if (json)
    out(JSON.stringify({ version: 2, ok: results.every(({ failure }) => failure === null), channels: results }));
  else
    for (const { channel, type, failure } of results)
      out(`${failure === null ? 'ok  ' : 'fail'}  ${channel} (${type})${failure === null ? '' : `: ${failure}`}`);
  if (results.some(({ failure }) => failure !== null)) process.exitCode = 1;
}

function outboxIn({ state, say }: { readonly state?: string } & Pick<Output, 'say'>, acting = false): Outbox {
  const { dir } = chooseState(state, say, acting);
  if (!existsSync(join(dir, outboxFile)))
    throw new Refusal(`no alerts were sent from ${dir}: no daemon with alerts in its configuration has started there`);
  return new Outbox(dir);
}

/** `sluice alerts list`: alarms that nobody acknowledged, and messages that wait. */
export function listAlerts(options: Output & { readonly state?: string }): void {
  const { json, out } = options;
  const outbox = outboxIn(options);
  const [alarms, waiting] = [outbox.alarms(), outbox.waiting()];
  outbox.close();
  if (json) {
    out(JSON.stringify({ version: 2, alarms, waiting: Object.fromEntries(waiting) }));
    return;
  }
  for (const { id, time, text } of alarms) out(`alarm ${id}    ${moment(time)} UTC  ${text}`);
  for (const [channel, count] of waiting) out(`waiting    ${count} for ${channel}`);
  if (alarms.length === 0 && waiting.size === 0) out('nothing waits, and every alarm is acknowledged');
}

/** `sluice alerts ack [ID]`: without an id, all of them. */
export function acknowledge(given: string | undefined, options: Output & { readonly state?: string }): void {
  const { json, out } = options;
  const id = given === undefined ? undefined : Number(given);
  if (id !== undefined && !Number.isSafeInteger(id))
    throw new Refusal(`${given} is not the number of an alarm: sluice alerts list shows them`);
  const outbox = outboxIn(options, true);
  const count = outbox.acknowledge(id, 'operator', machineWall());
  outbox.close();
  if (count === 0 && id !== undefined)
    throw new Refusal(`alarm ${id} does not wait to be acknowledged: sluice alerts list shows those that do`);
  if (json) out(JSON.stringify({ version: 2, acknowledged: count }));
  else out(count === 1 ? 'one alarm is acknowledged' : `${count} alarms are acknowledged`);
}
