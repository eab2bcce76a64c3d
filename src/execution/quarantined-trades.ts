/**
 * Invalid trades: an unreadable field, a price or quantity of zero or less, or a contradiction to the order. They are not booked. After
 * two complete reads show a trade invalid, it is quarantined and its symbol is blocked. The block ends when the exchange corrects the row
 * or a human decides (`sluice resolve-trade`).
 */
import type { Clock } from '../clock/clock.ts';
import type { Instrument } from '../domain/instrument.ts';
import { jsonText } from '../domain/json.ts';
import type { TradeDecision, VenueTrade } from '../domain/order.ts';
import type { Entry, Notice, QuarantinedTradeEntry, VenueTradeEntry } from '../journal/entries.ts';
import type { Journal } from '../journal/journal.ts';
import { finer } from '../journal/load.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import { isSameTrade, restoreTrade, tradeKey, venueTradeRow } from './records.ts';

/** Kept length of a row's raw text, characters. */
const maxRaw = 2_000;
/** Trades named in one message; others are counted. */
const maxNamed = 3;

/** Why a trade is invalid; `booking.ts` finds it. */
export interface InvalidTrade {
  /** A sentence. */
  readonly why: string;
  /** Whether a human may book it as it is. */
  readonly canBeAccepted: boolean;
}

/** An invalid trade that is not quarantined yet. */
interface Pending {
  readonly symbol: string;
  readonly trade: VenueTrade;
  readonly invalid: InvalidTrade;
  readonly since: number;
  reads: number;
  isSeen: boolean;
}

interface Quarantined {
  row: QuarantinedTradeEntry;
  readonly trade: VenueTrade;
}

export interface QuarantinedTradesParts {
  readonly clock: Clock;
  readonly journal: Pick<Journal, 'append'>;
  readonly portfolio: Portfolio;
  readonly timing: { readonly sweepGapMs: number };
  readonly notice: (notice: Notice) => void;
  /** Trades that earlier runs quarantined, oldest first. */
  readonly rows: readonly QuarantinedTradeEntry[];
}

/** The state of a trade's row: an unchecked one is validated before it is booked. */
export type Known = 'accepted' | 'ignored' | 'discarded' | 'unchecked';

export class QuarantinedTrades {
  readonly #parts: QuarantinedTradesParts;
  readonly #pending = new Map<string, Pending>();
  readonly #quarantined = new Map<string, Quarantined>();

  constructor(parts: QuarantinedTradesParts) {
    this.#parts = parts;
    const { portfolio, rows } = parts;
    for (const row of rows) {
      const instrument = portfolio.instruments.get(row.symbol);
      if (instrument !== undefined) this.#put(row, restoreTrade(row, finer(row, instrument)));
    }
    for (const { symbol } of this.open()) portfolio.block(symbol);
  }

  /** Undecided trades. */
  open(): readonly QuarantinedTradeEntry[] {
    return [...this.#quarantined.values()].flatMap(({ row }) => (row.decision === null ? [row] : []));
  }

  /** Whether a trade waits for a decision: it is read again after a restart. */
  isOpen(symbol: string, tradeId: string): boolean {
    return this.open().some((row) => row.symbol === symbol && row.tradeId === tradeId);
  }

  /** The state of a row of a symbol's list as it is shown now. */
  known(symbol: string, trade: VenueTrade): Known {
    const one = this.#quarantined.size === 0 ? undefined : this.#quarantined.get(nameOf(symbol, trade));
    const decision = one?.row.decision;
    // An undecided row may be corrected by now. An unreadable field is 0 here, so an equal row can still be another one.
    if (one === undefined || decision === null) return 'unchecked';
    if (!isSameTrade(one.trade, trade)) return decision === 'discarded' ? decision : 'unchecked';
    return decision === 'accepted' ? decision : 'ignored';
  }

  /** Holds an invalid trade. `isLast`: it is not read again, so it is quarantined at once. */
  hold(symbol: string, trade: VenueTrade, invalid: InvalidTrade, isLast = false): void {
    const name = nameOf(symbol, trade);
    // It is quarantined already.
    if (this.#quarantined.get(name)?.row.decision === null) return;
    const before = this.#pending.get(name);
    const since = before?.since ?? this.#parts.clock.now();
    const one: Pending = { symbol, trade, invalid, since, reads: before?.reads ?? 0, isSeen: true };
    this.#pending.set(name, one);
    if (isLast) this.#report(symbol, [this.#quarantine(one)]);
  }

  /** The rows that wait for no decision. The others are read again, since the exchange may correct them. */
  settled(symbol: string, rows: readonly VenueTrade[]): readonly VenueTrade[] {
    return this.#quarantined.size === 0 ? rows : rows.filter(({ tradeId }) => !this.isOpen(symbol, tradeId));
  }

  /** The exchange shows a valid row: ends the quarantine of an invalid row of the same trade. */
  corrected(symbol: string, trade: VenueTrade): void {
    this.#end(nameOf(symbol, trade));
    this.#endUnnamed(symbol, trade);
  }

  /** A row without order ids is replaced by one with them, whose key differs for a self-trade. */
  #endUnnamed(symbol: string, { tradeId }: VenueTrade): void {
    const name = `${symbol} ${tradeId}`;
    if (this.#quarantined.get(name)?.row.orderIds.length === 0) this.#end(name);
  }

  #end(name: string): void {
    this.#pending.delete(name);
    const row = this.#quarantined.get(name)?.row;
    if (row?.decision !== null || row === undefined) return;
    const decidedAt = this.#parts.clock.now();
    this.decide([{ ...row, decision: 'corrected', decidedAt, by: 'exchange', reason: 'shown with other numbers' }]);
    this.#parts.notice({
      level: 'warn',
      text: `trade ${row.tradeId} on ${row.symbol}, which was quarantined, is shown with other numbers now: it is booked as shown`,
    });
  }

  /** Whether an invalid trade must be read again. */
  isHeld(symbol: string): boolean {
    return this.#pendingOn(symbol).some(([, { isSeen }]) => isSeen);
  }

  /**
   * Ends a sweep of a symbol. Quarantines a trade that two complete reads, the sweep gap apart, show invalid. Drops a row that is not
   * shown any more. Returns why the sweep does not count as complete.
   */
  endSweep(symbol: string, isComplete: boolean): string | undefined {
    if (this.#pending.size === 0) return undefined;
    const { clock, timing } = this.#parts;
    const quarantined: QuarantinedTradeEntry[] = [];
    for (const [name, one] of this.#pendingOn(symbol)) {
      const { isSeen } = one;
      one.isSeen = false;
      if (!isComplete) continue;
      if (!isSeen) this.#pending.delete(name);
      else if (++one.reads >= 2 && clock.now() - one.since >= timing.sweepGapMs)
        quarantined.push(this.#quarantine(one));
    }
    if (quarantined.length > 0) this.#report(symbol, quarantined);
    const [left] = this.#pendingOn(symbol);
    return left === undefined ? undefined : `trade ${left[1].trade.tradeId} is not booked: ${left[1].invalid.why}`;
  }

  /** Whether a quarantined trade of an order waits for a decision, or was discarded. */
  decisionFor(orderId: string | undefined): 'open' | 'discarded' | undefined {
    if (this.#quarantined.size === 0 || orderId === undefined) return undefined;
    const decisions = [...this.#quarantined.values()].flatMap(({ row }) =>
      row.orderIds.includes(orderId) ? [row.decision] : [],
    );
    return decisions.includes(null) ? 'open' : decisions.includes('discarded') ? 'discarded' : undefined;
  }

  /** Journals decisions; returns the trades to book. */
  decide(rows: readonly QuarantinedTradeEntry[]): readonly VenueTrade[] {
    const accepted: VenueTrade[] = [];
    for (const row of rows) {
      const one = [...this.#quarantined.values()].find(({ row: its }) => its.decision === null && isOf(its, row));
      if (one === undefined) continue;
      one.row = row;
      for (const entry of decisionEntries(row)) this.#parts.journal.append(entry);
      if (row.decision === 'accepted') accepted.push(one.trade);
      if (!this.open().some(({ symbol }) => symbol === row.symbol)) this.#parts.portfolio.unblock(row.symbol);
    }
    return accepted;
  }

  #pendingOn(symbol: string): readonly (readonly [string, Pending])[] {
    return this.#pending.size === 0 ? [] : [...this.#pending].filter(([, one]) => one.symbol === symbol);
  }

  #put(row: QuarantinedTradeEntry, trade: VenueTrade): void {
    this.#quarantined.set(nameOf(row.symbol, trade), { row, trade });
  }

  #quarantine({ symbol, trade, invalid }: Pending): QuarantinedTradeEntry {
    const { clock, journal, portfolio } = this.#parts;
    this.#pending.delete(nameOf(symbol, trade));
    if (trade.orderIds.length > 0) this.#endUnnamed(symbol, trade);
    const row = quarantinedRow(symbol, trade, invalid, portfolio.instrument(symbol), clock.now());
    this.#put(row, trade);
    journal.append(row);
    portfolio.block(symbol);
    return row;
  }

  #report(symbol: string, rows: readonly QuarantinedTradeEntry[]): void {
    const named = rows
      .slice(0, maxNamed)
      .map(({ tradeId, why }) => `trade ${tradeId} on ${symbol} is quarantined: ${why}`);
    const more = rows.length > maxNamed ? `; and ${rows.length - maxNamed} more` : '';
    this.#parts.notice({
      level: 'error',
      topic: 'quarantined',
      text: `${named.join('; ')}${more}. It is not booked. Nothing is placed on ${symbol}, stops included, until the exchange corrects it or you run sluice resolve-trade ${rows[0]?.tradeId}. sluice status lists it`,
    });
  }
}

const nameOf = (symbol: string, trade: VenueTrade): string => `${symbol} ${tradeKey(trade)}`;

const isOf = (a: QuarantinedTradeEntry, b: QuarantinedTradeEntry): boolean =>
  a.symbol === b.symbol && a.tradeId === b.tradeId && a.side === b.side;

function quarantinedRow(
  symbol: string,
  trade: VenueTrade,
  { why, canBeAccepted }: InvalidTrade,
  instrument: Instrument,
  now: number,
): QuarantinedTradeEntry {
  const { kind: _, seenAt, ...row } = venueTradeRow(trade, instrument, now);
  const raw = jsonText(trade.raw ?? row).slice(0, maxRaw);
  const undecided = { decision: null, decidedAt: null, by: null, reason: null };
  return { ...row, kind: 'quarantinedTrade', at: seenAt, symbol, why, raw, canBeAccepted, ...undecided };
}

/** The entries of a decision. An accepted row becomes evidence, from which a start books the fill. */
export function decisionEntries(row: QuarantinedTradeEntry): readonly Entry[] {
  const { symbol, tradeId, orderIds, side, price, quantity, fee, feeAsset, maker, time } = row;
  const at = row.decidedAt ?? row.at;
  const text = `trade ${tradeId} on ${symbol} is ${row.decision} by ${row.by}: ${row.reason}`;
  const trade = { symbol, tradeId, orderIds, side, price, quantity, fee, feeAsset, maker, time };
  return [
    row,
    // A later decision replaces the row; the notice stays.
    { kind: 'notice', at, level: 'info', text, typed: row.reason ?? undefined },
    ...(row.decision === 'accepted' ? [{ ...trade, kind: 'venueTrade', seenAt: at } satisfies VenueTradeEntry] : []),
  ];
}

/** The quarantined rows of a human's decision, or why it cannot be made. `subject`: a trade id, or SYMBOL:ID. */
export function rowsToDecide(
  open: readonly QuarantinedTradeEntry[],
  subject: string,
  as: TradeDecision,
): readonly QuarantinedTradeEntry[] | string {
  const found = open.filter(({ symbol, tradeId }) => tradeId === subject || `${symbol}:${tradeId}` === subject);
  if (found.length === 0) return `trade ${subject} is not quarantined: sluice status lists those that are`;
  const symbols = [...new Set(found.map(({ symbol }) => symbol))];
  if (symbols.length > 1)
    return `trade ${subject} is quarantined on ${symbols.join(' and on ')}: write ${symbols.map((symbol) => `${symbol}:${subject}`).join(' or ')}`;
  const never = as === 'accepted' ? found.find(({ canBeAccepted }) => !canBeAccepted) : undefined;
  return never === undefined
    ? found
    : `trade ${subject} cannot be accepted: ${never.why}. Use --discard. If it changed balances, correct them with sluice adjust`;
}
