/** Resolves the unknown outcome of an application by queries alone: nothing is ever sent again. */
import type { Clock } from '../clock/clock.ts';
import type { WithdrawalPage, Withdrawals } from '../venue/exchange/orders/withdrawals.ts';
import type { Answer } from '../venue/venue.ts';
import type { Entry, WithdrawalJournal } from './journal.ts';

/**
 * An application is valid for seconds. One that the exchange does not list after this time (ms of the exchange) never reached it. A shorter time
 * would call a withdrawal absent that a slow exchange still carries out.
 */
export const absentAfterMs = 15 * 60_000;

/** The query begins a day before the entry, in case the clock was wrong then; the exchange's default is 90 days. */
const marginMs = 24 * 3_600_000;

/** Queries one entry by its id alone, because the exchange may list the currency by another name. A failed query changes nothing. */
export async function resolve(
  entry: Entry,
  journal: WithdrawalJournal,
  withdrawals: Withdrawals,
  clock: Clock,
): Promise<Entry> {
  const { withdrawOrderId } = entry;
  const startTime = Math.max(0, entry.createdAt - marginMs);
  const answer = await withdrawals.query({ withdrawOrderId, startTime });
  const verdict = verdictOf(entry, answer, clock.now() - entry.createdAt);
  journal.settle(withdrawOrderId, verdict.state, verdict.id, verdict.cause);
  return journal.entry(withdrawOrderId) ?? entry;
}

function verdictOf(entry: Entry, answer: Answer<WithdrawalPage>, ageMs: number): Pick<Entry, 'state' | 'id' | 'cause'> {
  const unknown = (cause: string) => ({ state: 'unknown', id: undefined, cause }) as const;
  if (answer.kind === 'failed') return unknown(answer.cause);
  const { rows, count } = answer.value;
  const found = rows.find((row) => row.withdrawOrderId === entry.withdrawOrderId);
  if (found !== undefined) {
    const same = found.amount === entry.amount && found.address === entry.address;
    return same
      ? { state: 'accepted', id: found.id, cause: found.status }
      : unknown(`the exchange lists another withdrawal under this id (${found.id}): ask its support`);
  }
  // A list without our ids, or a part of a list, proves nothing.
  const counted = count === undefined ? rows.length === 0 : count <= rows.length;
  const isWhole = counted && rows.every((row) => row.withdrawOrderId !== undefined);
  if (!isWhole)
    return unknown(
      'the exchange lists withdrawals without their ids, or not all of them: compare by amount and address',
    );
  if (ageMs < absentAfterMs) return unknown('the exchange does not list it yet');
  return { state: 'absent', id: undefined, cause: 'the exchange never listed it' };
}
