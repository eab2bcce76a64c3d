/** What a run through the graph asked for and what was refused, read of its journal's entries: as rows they would cost as much as a third of the run. */
import type { Entry } from '../../journal/entries.ts';
import { latestVersions } from '../../journal/writer.ts';
import { Refusals, type Refused } from './refusals.ts';
import { type Asked, askedOf, type Sent } from './spent-weight.ts';

/** `entries`: all of a run; orders that are open still count to `end`, UTC ms. */
export function requestsIn(
  entries: readonly Entry[],
  end: number,
): { readonly refused: readonly Refused[]; readonly asked: () => Asked } {
  const refusals = new Refusals();
  const sent: Sent[] = [];
  for (const entry of latestVersions(entries)) {
    if (entry.kind === 'denied') refusals.add(entry.code, entry.at);
    if (entry.kind !== 'order') continue;
    const { symbol, state, type, filled, createdAt: from, closedAt, cancelRequested: isCanceled } = entry;
    sent.push({ symbol, from, to: closedAt ?? end, isCanceled });
    if (state === 'rejected') refusals.add(state, from);
    else if (state === 'canceled' && type === 'MARKET' && filled === '0') refusals.add('unfilled', from);
  }
  const asked = askedOf(sent);
  return { refused: refusals.list(), asked: () => asked };
}
