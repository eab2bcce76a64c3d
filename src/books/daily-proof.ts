/** The daily proof that ledger and account agree: what the daemon's comparisons of each minute found, by UTC day. */
import { Decimal } from '../domain/money.ts';
import type { AuditEntry, FillEntry, InstrumentEntry } from '../journal/entries.ts';
import type { HeldPosition, JournalReader } from '../journal/reader.ts';
import { dayOf, type Price, type Profit, profitOf } from './profit.ts';

export interface DayProof {
  /** Such as `2026-01-31`. */
  readonly day: string;
  /** UTC ms of the last comparison that found account and ledger equal to the last decimal; null: none did. */
  readonly even: number | null;
  /** Comparisons that found a difference: the last one of each. */
  readonly off: readonly {
    readonly at: number;
    /** What the account held beyond the ledger, by asset. */
    readonly differences: AuditEntry['differences'];
  }[];
}

/** Days with a comparison, oldest first. */
export const dailyProofs = (audits: readonly AuditEntry[]): readonly DayProof[] =>
  [...Map.groupBy(audits, ({ at }) => dayOf(at))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([day, rows]) => ({
      day,
      even: rows.filter(({ outcome }) => outcome === 'even').reduce((at, row) => Math.max(at, row.at), 0) || null,
      off: rows
        .filter(({ outcome }) => outcome === 'off')
        .map(({ at, differences }) => ({ at, differences }))
        .sort((a, b) => a.at - b.at),
    }));

/** `even at 23:59:30`, `off at 12:00:30: +0.5 BTC`, `not compared`. The last comparison stands last. */
export function proofText(proof: DayProof | undefined): string {
  if (proof === undefined) return 'not compared';
  const clock = (at: number): string => new Date(at).toISOString().slice(11, 19);
  const even = proof.even === null ? [] : [{ at: proof.even, text: `even at ${clock(proof.even)}` }];
  const off = proof.off.map(({ at, differences }) => ({
    at,
    text: `off at ${clock(at)}: ${Object.entries(differences)
      .map(([asset, amount]) => `${amount.startsWith('-') ? '' : '+'}${amount} ${asset}`)
      .join(', ')}`,
  }));
  return [...off, ...even]
    .sort((a, b) => a.at - b.at)
    .map(({ text }) => text)
    .join('; ');
}

/**
 * Where the positions of all strategies do not add up to what the fills moved, by asset; positive: the fills moved more. Both are sums of the
 * same rows, by different ways. Fees in a third asset belong to no position.
 */
export function subLedgerDifferences(
  fills: readonly FillEntry[],
  positions: readonly HeldPosition[],
  instruments: readonly InstrumentEntry[],
): Readonly<Record<string, string>> {
  const off = new Map<string, Decimal>();
  const move = (asset: string, amount: Decimal): void =>
    void off.set(asset, (off.get(asset) ?? new Decimal(0)).plus(amount));
  const known = new Map(instruments.map((one) => [one.symbol, one]));
  for (const { symbol, side, price, quantity, fee, feeAsset } of fills) {
    const at = known.get(symbol);
    if (at === undefined) continue;
    const base = new Decimal(quantity).times(side === 'BUY' ? 1 : -1);
    move(at.base, base);
    move(at.quote, base.times(price).negated());
    if (feeAsset === at.base || feeAsset === at.quote) move(feeAsset, new Decimal(fee).negated());
  }
  for (const { instrument, position } of positions) {
    const units = (amount: bigint): Decimal => new Decimal(amount.toString()).div('1e18');
    move(instrument.base, units(position.base).negated());
    move(instrument.quote, units(position.realised - position.fees - position.cost).negated());
  }
  return Object.fromEntries([...off].filter(([, sum]) => !sum.isZero()).map(([asset, sum]) => [asset, sum.toFixed()]));
}

/** The name of the memory with the last prices, as the equity curve used them. */
export const pricesName = 'prices';

/** The last prices that a daemon saw, by symbol; none in a journal of an earlier version. */
export const pricesIn = (memories: ReadonlyMap<string, string>): ReadonlyMap<string, Price> =>
  new Map(Object.entries(JSON.parse(memories.get(pricesName) ?? '{}') as Record<string, Price>));

/** The books from UTC ms on and before, for a summary: closed profit by strategy, and on which days account and ledger agreed. */
export const booksBetween = (
  reader: Pick<JournalReader, 'pastFills' | 'instruments' | 'memories' | 'audits'>,
  from: number,
  to: number,
): { readonly profit: Profit; readonly proofs: readonly DayProof[] } => ({
  profit: profitOf(reader.pastFills(), reader.instruments(), pricesIn(reader.memories()), {
    ...{ by: ['strategy'], method: 'average', from, to },
  }),
  proofs: dailyProofs(reader.audits().filter(({ at }) => at >= from && at < to)),
});
