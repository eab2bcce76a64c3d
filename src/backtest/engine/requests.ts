/** The orders that a run requested and those that were refused, read from its journal entries on demand. */
import type { Leg } from '../../domain/order.ts';
import type { SignalEntry } from '../../journal/entries.ts';
import type { MemoryJournal } from '../../journal/memory.ts';
import type { RefusedRow } from '../../research/summary.ts';
import { Refusals } from '../result/refusals.ts';
import { type Asked, SentOrders } from '../result/spent-weight.ts';
import { type RunInput, type RunResult, spanOf } from '../run.ts';

interface Requests {
  readonly refused: readonly RefusedRow[];
  readonly asked: Asked;
}

/** Adds the requested and refused orders to the result of a run. `book`: of the whole run; open orders count until its end. */
export function withRequests(
  book: Pick<MemoryJournal, 'entries'>,
  input: RunInput,
  result: Omit<RunResult, keyof Requests>,
): RunResult {
  let known: Requests | undefined;
  const requests = (): Requests => {
    known ??= read(book, input, result.endedAt);
    return known;
  };
  return {
    ...result,
    get refused() {
      return requests().refused;
    },
    signals: () => signalsIn(book),
    asked: () => requests().asked,
  };
}

/** Without their memories, which nothing reads here. */
const signalsIn = (book: Pick<MemoryJournal, 'entries'>): readonly Leg[] =>
  book.entries().flatMap((entry) => (entry.kind === 'signal' ? [legOf(entry)] : []));
const legOf = ({ strategy, role, symbol, at, signal }: SignalEntry): Leg => ({ strategy, role, symbol, at, signal });

function read(
  book: Pick<MemoryJournal, 'entries'>,
  { account, series, rules }: RunInput,
  endedAt: number | undefined,
): Requests {
  const { end } = spanOf(series);
  const refusals = new Refusals();
  const sent = new SentOrders();
  for (const entry of book.entries()) {
    if (entry.kind === 'denied') refusals.denied(entry);
    if (entry.kind === 'signal') refusals.signal(account, entry, { series });
    if (entry.kind !== 'order') continue;
    const { symbol, state, type, filled, createdAt: from, closedAt, cancelRequested } = entry;
    sent.add(symbol, from, closedAt ?? end, cancelRequested);
    const whose = { strategy: entry.strategy, symbol, at: from };
    if (closedAt === null) refusals.open(entry, endedAt ?? end, rules);
    else if (state === 'rejected') refusals.add(state, whose);
    else if (state === 'canceled' && type === 'MARKET' && filled === '0') refusals.add('unfilled', whose);
  }
  return { refused: refusals.list(), asked: sent.asked };
}
