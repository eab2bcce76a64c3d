/** `sluice account` and `sluice call`: the balances, and one raw request for support. */
import { type ClientIo, type ExchangeChoice, okOrRefuse, withClient } from '../../client/connection.ts';
import { jsonOf } from '../../domain/json.ts';
import { noUnits, unitsText } from '../../domain/money.ts';
import { Refusal } from '../../domain/refusal.ts';
import { isConfirmed } from '../../terminal/questions.ts';
import { printRows } from '../../terminal/table.ts';
import { whyNot } from '../../venue/exchange/rest/raw-call.ts';

/** `all` lists coins without a balance, too; exchanges name every coin they have. */
export const account = (command: ExchangeChoice & ClientIo & { readonly all?: boolean }): Promise<void> =>
  withClient(command, true, async (client) => {
    if (client.account === 'margin')
      throw new Refusal('the interface has no query for margin balances: check them in the user centre');
    const balances = okOrRefuse(await client.exchange.account.balances(), client)
      .filter(({ free, locked }) => command.all === true || free !== noUnits || locked !== noUnits)
      .map(({ asset, free, locked }) => ({ asset, free: unitsText(free), locked: unitsText(locked) }));
    printRows(balances, command, 'no balances');
  });

export interface CallCommand extends ExchangeChoice, ClientIo {
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
  if (verb === 'POST' && body !== undefined && jsonOf(body) === undefined) throw new Refusal('--body must be JSON');
  await withClient(command, !unsigned, async (client) => {
    const question = `POST ${path} ${body ?? '{}'}\nto ${client.host}`;
    if (verb === 'POST' && command.yes !== true && !(await isConfirmed(question, command)))
      throw new Refusal('not confirmed, nothing was sent (--yes skips the question)');
    const sent = verb === 'POST' ? { body: body ?? '{}' } : {};
    const value = okOrRefuse(await client.exchange.raw({ method: verb, path, signed: !unsigned, ...sent }), client);
    command.out(client.exchange.redact(JSON.stringify(value, undefined, command.json ? undefined : 2)));
  });
}
