/** Turns the unknown outcome of an application into a fact, by asking only: nothing is ever sent again. */
import type { Clock } from '../clock/clock.ts';
import type { WithdrawalPage, Withdrawals } from '../venue/exchange/orders/withdrawals.ts';
import type { Answer } from '../venue/venue.ts';
import type { Book, Entry } from './journal.ts';

/**
 * An application that the exchange does not list so long after its signature (ms of the exchange) never reached it: it was valid
 * for seconds. Too short, and a withdrawal that a slow exchange still carries out would be taken for one that never was.
 */
export const absentAfterMs = 15 * 60_000;

/** The exchange looks back 90 days unless told from when on; a day more than the entry's age, in case its clock stood otherwise then. */
const marginMs = 24 * 3_600_000;

/** Asks about one by its id alone, since the exchange may list the currency by another name; the entry as it is then. A question that fails changes nothing. */
export async function resolve(entry: Entry, book: Book, withdrawals: Withdrawals, clock: Clock): Promise<Entry> {
  const { withdrawOrderId } = entry;
  const startTime = Math.max(0, entry.createdAt - marginMs);
  const answer = await withdrawals.query({ withdrawOrderId, startTime });
  const verdict = verdictOf(entry, answer, clock.now() - entry.createdAt);
  book.settle(withdrawOrderId, verdict.state, verdict.id, verdict.cause);
  return book.entry(withdrawOrderId) ?? entry;
}

function verdictOf(entry: Entry, answer: Answer<WithdrawalPage>, ageMs: number): Pick<Entry, 'state' | 'id' | 'cause'> {
  const unknown = (cause: string): Pick<Entry, 'state' | 'id' | 'cause'> => ({
    state: 'unknown',
    id: undefined,
    cause,
  });
  if (answer.kind === 'failed') return unknown(answer.cause);
  const { rows, count } = answer.value;
  const found = rows.find((row) => row.withdrawOrderId === entry.withdrawOrderId);
  if (found !== undefined) {
    const same = found.amount === entry.amount && found.address === entry.address;
    return same
      ? { state: 'accepted', id: found.id, cause: found.status }
      : unknown(`the exchange lists another withdrawal under this id (${found.id}): ask its support`);
  }
  // A list without our ids, or of which this is a part, proves nothing.
  const counted = count === undefined ? rows.length === 0 : count <= rows.length;
  const isWhole = counted && rows.every((row) => row.withdrawOrderId !== undefined);
  if (!isWhole)
    return unknown(
      'the exchange lists withdrawals without their ids, or not all of them: compare by amount and address',
    );
  if (ageMs < absentAfterMs) return unknown('the exchange does not list it yet');
  return { state: 'absent', id: undefined, cause: 'the exchange never listed it' };
}
