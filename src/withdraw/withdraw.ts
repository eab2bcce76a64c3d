/** The path of one withdrawal: allowed, confirmed, journalled, sent once, and where its outcome is not known, asked for. */
import { ScaledClock, systemRng } from '../clock/clock.ts';
import { type Asking, questioner } from '../commands/manual/ask.ts';
import {
  allowance,
  answered,
  type Commanded,
  placeOf,
  refused,
  type WhichExchange,
} from '../commands/manual/client.ts';
import { newId } from '../commands/manual/new-id.ts';
import { readSecrets } from '../config/secrets.ts';
import { MoneyError, noUnits, type Units, units, unitsText } from '../domain/money.ts';
import { Refusal } from '../domain/refusal.ts';
import { openCaller } from '../venue/exchange/exchange.ts';
import { type Withdrawals, withdrawals } from '../venue/exchange/orders/withdrawals.ts';
import type { Rest } from '../venue/exchange/rest/rest.ts';
import { syncTime } from '../venue/exchange/rest/sync-time.ts';
import { readAllowList, refuseUnlisted } from './allow-list.ts';
import { type Application, applyFor } from './apply.ts';
import { entryJson, entryText } from './format.ts';
import { type Book, bookDir, type Entry, openBook } from './journal.ts';
import { tellOfOldBook } from './old-journal.ts';
import { resolve } from './resolve.ts';

export interface WithdrawCommand extends WhichExchange, Commanded, Pick<Asking, 'input'> {
  /** Where the journal of withdrawals lies; `bookDir` when left out. */
  readonly state?: string;
  /** Where the program was started; the process's own directory when left out. */
  readonly cwd?: string;
}

export interface ApplyCommand extends WithdrawCommand {
  readonly asset: string;
  readonly amount: string;
  readonly address: string;
  readonly label?: string;
  /** Your own id; left out, a new one. One that was used already is never sent again: its outcome is told. */
  readonly id?: string;
  readonly allowList: string;
}

/** The key that may withdraw; the trading key has no business with it. */
const secretNames = { key: 'SLUICE_WITHDRAW_API_KEY', secret: 'SLUICE_WITHDRAW_API_SECRET' };
/** How often, and how far apart in real ms, an unknown outcome is asked for before the user is told to ask again later. */
const looks = 5;
const lookMs = 2_000;

export interface Desk {
  readonly host: string;
  readonly caller: Rest;
  readonly book: Book;
  readonly history: Withdrawals;
  readonly clock: ScaledClock;
}

/** Opens journal and client, sets the clock, does something, and closes everything whatever happens. */
export async function withDesk<T>(command: WithdrawCommand, act: (desk: Desk) => Promise<T>): Promise<T> {
  const place = placeOf(command);
  const secrets = readSecrets(command.environment, '.env', secretNames);
  const { host } = new URL(place.restUrl);
  const dir = command.state ?? bookDir(command.environment);
  tellOfOldBook(dir, command.cwd ?? process.cwd(), host, command.say);
  const book = openBook(dir);
  const clock = new ScaledClock(place.speed);
  try {
    const limits = allowance(place, clock, command, secrets.apiKey);
    const { caller, close } = openCaller({ ...place, ...secrets, clock, spend: limits.spend, notice: limits.notice });
    try {
      answered(await syncTime(caller, clock), { host });
      return await act({ host, caller, book, history: withdrawals(caller), clock });
    } finally {
      close();
      limits.close();
    }
  } finally {
    book.close();
  }
}

/** `sluice-withdraw apply`. */
export async function apply(command: ApplyCommand): Promise<void> {
  const application = applicationOf(command);
  refuseUnlisted(readAllowList(command.allowList), command.allowList, application);
  await withDesk(command, async (desk) => {
    const known = desk.book.entry(application.withdrawOrderId);
    const entry =
      known === undefined ? await applyNew(command, application, desk) : await again(known, application, desk);
    command.out(command.json ? JSON.stringify(entryJson(entry)) : entryText(entry));
    if (entry.state === 'refused') throw refused(desk.host, entry.cause ?? '', entry.cause?.split(' ')[1]);
    if (entry.state !== 'accepted')
      throw new Refusal(
        `not accepted as far as is known: ${entry.cause ?? entry.state}\n  what to do: ${adviceFor(entry)}`,
        1,
      );
  });
}

const adviceFor = ({ state }: Entry): string =>
  state === 'unknown'
    ? 'sluice-withdraw list asks again; it is never sent twice, and no other one is sent until this one is cleared up'
    : 'apply again, with a new id';

function applicationOf({ asset, amount: text, address, label, id }: ApplyCommand): Application {
  if (id !== undefined && !/^[\w-]{1,64}$/.test(id))
    throw new Refusal('--id has 1 to 64 letters, digits, underscores and dashes');
  if (!/^[!-~]{8,200}$/.test(address)) throw new Refusal(`${address} cannot be an address`);
  return {
    withdrawOrderId: id ?? newId('w', systemRng),
    asset: asset.toUpperCase(),
    amount: amountOf(text),
    address,
    label,
  };
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

/** An id that is in the journal: told, asked about, and not sent. */
async function again(known: Entry, wanted: Application, { book, history, clock }: Desk): Promise<Entry> {
  const same = known.asset === wanted.asset && known.amount === wanted.amount && known.address === wanted.address;
  if (!same || known.label !== wanted.label)
    throw new Refusal(`the id ${known.withdrawOrderId} was used for another withdrawal: ${entryText(known)}`, 3);
  return isOpen(known) ? resolve(known, book, history, clock) : known;
}

const isOpen = ({ state }: Entry): boolean => state === 'sending' || state === 'unknown';

async function applyNew(command: ApplyCommand, application: Application, desk: Desk): Promise<Entry> {
  const { book, host, history, clock, caller } = desk;
  for (const earlier of book.open(host)) {
    const now = await resolve(earlier, book, history, clock);
    if (isOpen(now))
      throw new Refusal(
        `what became of an earlier withdrawal is not known yet, and another one could pay twice: ${entryText(now)}\n  what to do: sluice-withdraw list, until it is cleared up`,
        3,
      );
  }
  await confirm(command, application, host);
  const { withdrawOrderId } = application;
  book.begin(application, host, clock.now());
  const outcome = await applyFor(caller, application);
  if (outcome.kind === 'accepted') book.settle(withdrawOrderId, 'accepted', outcome.id, 'unapproved');
  else if (outcome.kind === 'refused')
    book.settle(withdrawOrderId, 'refused', undefined, `code ${outcome.code} ${outcome.message}`.trimEnd());
  else book.settle(withdrawOrderId, outcome.kind, undefined, outcome.cause);
  let entry = entryIn(book, withdrawOrderId);
  for (let look = 0; look < looks && isOpen(entry) && !command.signal.aborted; look++) {
    command.say(`its outcome is unknown (${entry.cause ?? ''}); asking`);
    if (look > 0) await clock.sleep(clock.machine(lookMs));
    entry = await resolve(entry, book, history, clock);
  }
  return entry;
}

function entryIn(book: Book, id: string): Entry {
  const entry = book.entry(id);
  if (entry === undefined) throw new Error(`withdrawal ${id} was journalled and is not in the journal`);
  return entry;
}

/** Amount and address typed once more, letter by letter; anything else sends nothing. */
async function confirm(
  command: ApplyCommand,
  { asset, amount, address, label }: Application,
  host: string,
): Promise<void> {
  const to = label === undefined ? address : `${address} with label ${label}`;
  command.say(`withdraw ${unitsText(amount)} ${asset} from ${host} to ${to}`);
  command.say('This cannot be undone.');
  const asker = questioner(command);
  try {
    if ((await asker.ask('Type the amount:')) !== unitsText(amount))
      throw new Refusal('the amount differs: nothing was sent');
    if ((await asker.ask('Type the address:')) !== address) throw new Refusal('the address differs: nothing was sent');
  } finally {
    asker.close();
  }
}
