/**
 * One withdrawal: allowed, confirmed, journalled, sent once. An unknown outcome is resolved by queries alone. In: the options of `apply` and
 * `list`. Out: the journal of withdrawals. Begin with `apply`.
 */
import {
  addressOf,
  type ClientIo,
  type ExchangeChoice,
  exchangeRefusal,
  okOrRefuse,
  refuseBan,
  sharedBudget,
} from '../client/connection.ts';
import { newId } from '../client/manual-orders.ts';
import { ScaledClock, systemRng } from '../clock/clock.ts';
import { readSecrets } from '../config/secrets.ts';
import { momentOf } from '../config/times.ts';
import { MoneyError, noUnits, type Units, units, unitsText } from '../domain/money.ts';
import { Refusal } from '../domain/refusal.ts';
import { type Asking, withQuestions } from '../terminal/questions.ts';
import { printRows } from '../terminal/table.ts';
import { openCaller } from '../venue/exchange/exchange.ts';
import { type Withdrawals, withdrawals } from '../venue/exchange/orders/withdrawals.ts';
import type { Rest } from '../venue/exchange/rest/rest.ts';
import { syncTime } from '../venue/exchange/rest/sync-time.ts';
import { readAllowList, refuseUnlisted } from './allow-list.ts';
import { type Application, applyFor } from './application.ts';
import { entryJson, entryText, withdrawalRow } from './format.ts';
import { type Entry, journalDir, openJournal, type WithdrawalJournal } from './journal.ts';
import { resolve } from './resolve.ts';

export interface WithdrawCommand extends ExchangeChoice, ClientIo, Pick<Asking, 'input'> {
  /** Directory of the journal; `journalDir` by default. */
  readonly state?: string;
}

export interface ApplyCommand extends WithdrawCommand {
  readonly asset: string;
  readonly amount: string;
  readonly address: string;
  readonly label?: string;
  /** Your own id; a new one by default. A used id is never sent again: its outcome is printed. */
  readonly id?: string;
  readonly allowList: string;
}

/** The key that may withdraw; the trading key must not. */
const secretNames = { key: 'SLUICE_WITHDRAW_API_KEY', secret: 'SLUICE_WITHDRAW_API_SECRET' };
/** Queries for an unknown outcome, and real ms between them, before the user has to ask again later. */
const maxQueries = 5;
const queryMs = 2_000;

interface Session {
  readonly host: string;
  readonly rest: Rest;
  readonly journal: WithdrawalJournal;
  readonly history: Withdrawals;
  readonly clock: ScaledClock;
}

/** Opens journal and client, sets the clock, acts, and closes everything whatever happens. */
async function withSession(command: WithdrawCommand, act: (session: Session) => Promise<void>): Promise<void> {
  const address = addressOf(command);
  const { environment, say } = command;
  const secrets = readSecrets(environment, '.env', secretNames);
  const { host } = new URL(address.restUrl);
  const journal = openJournal(command.state ?? journalDir(environment));
  const closing = [() => journal.close()];
  try {
    const clock = new ScaledClock(address.speed);
    const limits = sharedBudget(address, clock, environment, { warn: say, apiKey: secrets.apiKey });
    closing.push(() => limits.close());
    refuseBan(limits, clock, host);
    const { spend, notice } = limits;
    const { caller, close } = openCaller({ ...address, ...secrets, clock, spend, notice });
    closing.push(close);
    okOrRefuse(await syncTime(caller, clock), { host });
    await act({ host, rest: caller, journal, history: withdrawals(caller), clock });
  } finally {
    for (const close of closing.toReversed()) close();
  }
}

/** `sluice-withdraw apply`. */
export async function apply(command: ApplyCommand): Promise<void> {
  const application = applicationOf(command);
  refuseUnlisted(readAllowList(command.allowList), command.allowList, application);
  await withSession(command, async (session) => {
    const known = session.journal.entry(application.withdrawOrderId);
    const entry =
      known === undefined
        ? await applyOnce(command, application, session)
        : await outcomeOf(known, application, session);
    command.out(command.json ? JSON.stringify(entryJson(entry)) : entryText(entry));
    const { state, cause } = entry;
    if (state === 'refused') throw exchangeRefusal(session.host, cause ?? '', cause?.split(' ')[1]);
    if (state === 'accepted') return;
    const advice =
      state === 'unknown'
        ? 'sluice-withdraw list asks again; it is never sent twice, and no other one is sent until its outcome is known'
        : 'apply again, with a new id';
    throw new Refusal(`no confirmation that the exchange accepted it: ${cause ?? state}\n  what to do: ${advice}`, 1);
  });
}

function applicationOf({ asset, amount, address, label, id }: ApplyCommand): Application {
  if (id !== undefined && !/^[\w-]{1,64}$/.test(id))
    throw new Refusal('--id has 1 to 64 letters, digits, underscores and dashes');
  if (!/^[!-~]{8,200}$/.test(address)) throw new Refusal(`${address} cannot be an address`);
  const withdrawOrderId = id ?? newId('w', systemRng);
  return { withdrawOrderId, asset: asset.toUpperCase(), amount: amountOf(amount), address, label };
}

function amountOf(text: string): Units {
  if (!/^\d{1,30}(\.\d{1,18})?$/.test(text))
    throw new Refusal(`the amount must be a decimal number such as 25.5, not ${text}`);
  try {
    const amount = units(text);
    if (amount > noUnits) return amount;
  } catch (error) {
    if (!(error instanceof MoneyError)) throw error;
  }
  throw new Refusal(`the amount must be above 0, not ${text}`);
}

/** The outcome of an id that is in the journal. It is queried, and not sent. */
async function outcomeOf(known: Entry, given: Application, { journal, history, clock }: Session): Promise<Entry> {
  const isSame = (['asset', 'amount', 'address', 'label'] as const).every((name) => known[name] === given[name]);
  if (!isSame)
    throw new Refusal(`the id ${known.withdrawOrderId} was used for another withdrawal: ${entryText(known)}`, 3);
  return isOpen(known) ? resolve(known, journal, history, clock) : known;
}

const isOpen = ({ state }: Entry): boolean => state === 'sending' || state === 'unknown';

async function applyOnce(command: ApplyCommand, application: Application, session: Session): Promise<Entry> {
  const { journal, host, history, clock, rest } = session;
  for (const earlier of journal.open(host)) {
    const now = await resolve(earlier, journal, history, clock);
    if (isOpen(now))
      throw new Refusal(
        `the outcome of an earlier withdrawal is not known yet, and another one could pay twice: ${entryText(now)}\n  what to do: sluice-withdraw list, until its outcome is known`,
        3,
      );
  }
  await confirm(command, application, host);
  const { withdrawOrderId: id } = application;
  journal.begin(application, host, clock.now());
  const outcome = await applyFor(rest, application);
  if (outcome.kind === 'accepted') journal.settle(id, 'accepted', outcome.id, 'unapproved');
  else if (outcome.kind === 'refused')
    journal.settle(id, 'refused', undefined, `code ${outcome.code} ${outcome.message}`.trimEnd());
  else journal.settle(id, outcome.kind, undefined, outcome.cause);
  let entry = journal.entry(id) as Entry;
  for (let query = 0; query < maxQueries && isOpen(entry) && !command.signal.aborted; query++) {
    command.say(`its outcome is unknown (${entry.cause ?? ''}); asking`);
    if (query > 0) await clock.sleep(clock.machine(queryMs));
    entry = await resolve(entry, journal, history, clock);
  }
  return entry;
}

/** Amount and address must be typed again, letter by letter. Anything else sends nothing. */
async function confirm(command: ApplyCommand, application: Application, host: string): Promise<void> {
  const { asset, address, label } = application;
  const amount = unitsText(application.amount);
  const to = label === undefined ? address : `${address} with label ${label}`;
  command.say(`withdraw ${amount} ${asset} from ${host} to ${to}`);
  command.say('This cannot be undone.');
  await withQuestions(command, async (ask) => {
    if ((await ask('Type the amount:')) !== amount) throw new Refusal('the amount differs: nothing was sent');
    if ((await ask('Type the address:')) !== address) throw new Refusal('the address differs: nothing was sent');
  });
}

export interface ListCommand extends WithdrawCommand {
  readonly asset?: string;
  /** Our id. */
  readonly id?: string;
  /** Back to this day; 90 days by default. */
  readonly since?: string;
  readonly page?: number;
}

/** `sluice-withdraw list`: withdrawals as the exchange lists them. Unknown outcomes are resolved first. */
export async function list(command: ListCommand): Promise<void> {
  const { asset, id, since, page, say } = command;
  const startTime = since === undefined ? undefined : momentOf(`${since}T00:00Z`);
  if (Number.isNaN(startTime)) throw new Refusal(`--since ${since}: must be a day such as 2026-01-31`);
  await withSession(command, async (session) => {
    const { journal, history, clock } = session;
    for (const entry of journal.open(session.host)) say(entryText(await resolve(entry, journal, history, clock)));
    const answer = await history.query({
      ...(asset !== undefined && { asset: asset.toUpperCase() }),
      ...(id !== undefined && { withdrawOrderId: id }),
      ...(startTime !== undefined && { startTime }),
      ...(page !== undefined && { page }),
    });
    const { rows, count } = okOrRefuse(answer, session);
    printRows(rows.map(withdrawalRow), command, 'no withdrawals');
    if (count === undefined && rows.length > 0)
      say('the exchange does not say how many there are: --page N shows whether there are more');
    if (count !== undefined && count > rows.length) say(`${rows.length} of ${count}: --page N shows more`);
  });
}
