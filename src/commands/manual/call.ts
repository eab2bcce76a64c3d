/** `sluice call METHOD PATH`: one raw request, for support. */
import { Refusal } from '../../domain/refusal.ts';
import { whyNot } from '../../venue/exchange/rest/raw-call.ts';
import { isConfirmed } from './ask.ts';
import { answered, type Commanded, type WhichExchange, withClient } from './client.ts';

export interface CallCommand extends WhichExchange, Commanded {
  readonly body?: string;
  /** Send it without key and signature. */
  readonly unsigned?: boolean;
  readonly yes?: boolean;
}

/** Prints the answer as JSON. A POST asks first: it may change something. */
export async function call(method: string, path: string, command: CallCommand): Promise<void> {
  const verb = method.toUpperCase();
  if (verb !== 'GET' && verb !== 'POST') throw new Refusal(`the method is GET or POST, not ${method}`);
  const against = whyNot(path);
  if (against !== undefined) throw new Refusal(`${path}: ${against}`, 3);
  const { body, unsigned = false } = command;
  if (verb === 'GET' && body !== undefined) throw new Refusal('a GET has no body: put its parameters into the path');
  if (verb === 'POST' && body !== undefined && !isJson(body)) throw new Refusal('--body must be JSON');
  await withClient(command, command, !unsigned, async (client) => {
    if (verb === 'POST' && command.yes !== true) {
      const question = `POST ${path} ${body ?? '{}'}\nto ${client.host}`;
      if (!(await isConfirmed(question, command)))
        throw new Refusal('not confirmed, nothing was sent (--yes confirms beforehand)');
    }
    const sent = verb === 'POST' ? { body: body ?? '{}' } : {};
    const value = answered(await client.exchange.raw({ method: verb, path, signed: !unsigned, ...sent }), client);
    command.out(client.exchange.redact(JSON.stringify(value, undefined, command.json ? undefined : 2)));
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
