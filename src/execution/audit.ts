/**
 * Compares the ledger with the account (I6 and I12), each minute and when the program ends. If the account holds more, it reports; if it
 * holds less, trading halts, since the cause is not known.
 */
import { absolute, minus, negate, noUnits, plus, type Units, unitsText } from '../domain/money.ts';
import type { AdjustmentEntry } from '../journal/entries.ts';
import type { Balance } from '../venue/venue.ts';
import type { Execution } from './context.ts';
import { baselineOf, type Difference, differenceText } from './ledger.ts';
import { type AccountReading, lag, oneMoment } from './reconcile/balance-proof.ts';
import type { Sweeps } from './sweep.ts';

/** Attempts to read account and lists while nothing changes, and the time between them, ms of the clock. */
const maxAttempts = 3;
const retryMs = 1_000;
/** After this long without a comparison a warning is sent, real ms. */
const longMs = 600_000;

/** `even`: equal to the last decimal. `skipped`: no comparison was possible, which proves nothing. */
export type Audit =
  | { readonly kind: 'even' }
  | { readonly kind: 'off'; readonly differences: readonly Difference[] }
  | { readonly kind: 'skipped'; readonly why: string };

const noBalances = 'there are no balances to compare with';

export class Auditor {
  readonly #execution: Execution;
  readonly #sweeps: Sweeps;
  /** What the account held at the last comparison. */
  #held: readonly Balance[] = [];
  #comparedAt: number;
  #isReportedSkipped = false;
  /** The differences that were reported, by asset. */
  readonly #reported = new Map<string, Units>();
  /** The last disagreement of lists and balances, and since when it has been the same. */
  #lag = { text: '', since: 0 };
  #baseline: readonly AdjustmentEntry[] | undefined;
  #taking: Promise<void> | undefined;

  constructor(execution: Execution, sweeps: Sweeps) {
    this.#execution = execution;
    this.#sweeps = sweeps;
    this.#comparedAt = execution.clock.now();
  }

  /** Journals what the account held before this journal's first order; does nothing once that is on disk. */
  begin(): Promise<void> {
    // One attempt at a time: a second one would count what has moved since as held at first.
    this.#taking ??= this.#takeBaseline().finally(() => {
      this.#taking = undefined;
    });
    return this.#taking;
  }

  /** Compares. A difference counts once a second comparison, after the sweep gap, shows the same: balances can lag behind lists. */
  async check(): Promise<Audit> {
    await this.begin();
    const audit = await this.#compareTwice();
    if (audit.kind === 'skipped') this.#reportSkipped(audit.why);
    else {
      this.#comparedAt = this.#execution.clock.now();
      this.#isReportedSkipped = false;
      const differences = audit.kind === 'off' ? audit.differences : [];
      this.#record(audit.kind, differences);
      this.#report(differences);
    }
    return audit;
  }

  async #compareTwice(): Promise<Audit> {
    const { clock, timing } = this.#execution;
    const first = await this.#compare();
    if (first.kind !== 'off') return first;
    await clock.sleep(timing.sweepGapMs);
    const second = await this.#compare();
    if (second.kind !== 'off') return second;
    const same = second.differences.filter((one) =>
      first.differences.some(({ asset, amount }) => asset === one.asset && amount === one.amount),
    );
    return same.length === 0
      ? { kind: 'skipped', why: 'the balances were on the move' }
      : { kind: 'off', differences: same };
  }

  async #compare(): Promise<Audit> {
    const { books } = this.#execution;
    if (books?.balances === undefined) return { kind: 'skipped', why: noBalances };
    if (!books.ledger.begun) return { kind: 'skipped', why: 'it is not known what the account held at first' };
    const seen = await this.#quietMoment();
    if (typeof seen === 'string') return { kind: 'skipped', why: seen };
    this.#held = seen.balances;
    const differences = [...books.ledger.differences(seen.balances), ...innerDifferences(this.#execution)];
    return differences.length === 0 ? { kind: 'even' } : { kind: 'off', differences };
  }

  /** Account and lists of one moment, or why there was none; tries several times. */
  async #quietMoment(): Promise<AccountReading | string> {
    const { books, clock } = this.#execution;
    if (books === undefined) return noBalances;
    for (let attempt = 1; ; attempt++) {
      const open = undecided(this.#execution);
      if (open !== undefined) return open;
      const seen = await oneMoment(this.#execution, this.#sweeps, books);
      const why = 'kind' in seen ? seen.text : this.#lagOf(seen);
      if (!('kind' in seen) && why === undefined) return seen;
      if (attempt === maxAttempts) return why ?? '';
      await clock.sleep(retryMs);
    }
  }

  /**
   * Locked amounts that known orders do not explain: the lists may lag. If they stay the same past the horizon, no list lags that long.
   * Then a withdrawal is in flight, or an order on a symbol that is not watched, and the balances can be compared.
   */
  #lagOf(moment: AccountReading): string | undefined {
    const { clock, horizon } = this.#execution;
    const text = lag(this.#execution, moment);
    if (text === undefined) return undefined;
    if (text !== this.#lag.text) this.#lag = { text, since: clock.now() };
    return clock.now() - this.#lag.since > horizon.ms ? undefined : text;
  }

  /** The baseline counts once it is on disk: after a crash it is taken again, with deposits since then. */
  async #takeBaseline(): Promise<void> {
    const { books, journal, clock } = this.#execution;
    if (books?.balances === undefined || books.ledger.begun) return;
    if (this.#baseline === undefined) {
      const amounts = await this.#firstAmounts();
      // The next check tries again; until then no absence can be proven.
      if (amounts === undefined) return;
      this.#baseline = [...amounts].map(([asset, amount]) => ({
        kind: 'adjustment',
        at: clock.now(),
        what: 'baseline',
        asset,
        amount: unitsText(amount),
        by: 'first balances',
        reason: 'held before the first order',
      }));
      for (const entry of this.#baseline) journal.append(entry);
    }
    if (await journal.durable()) for (const entry of this.#baseline) books.ledger.adjust(entry);
  }

  /** What the account holds beyond the ledger. It counts once a second read after the sweep gap agrees: somebody may just have traded. */
  async #firstAmounts(): Promise<ReadonlyMap<string, Units> | undefined> {
    const { clock, timing, notice } = this.#execution;
    const first = await this.#amountsBeyondLedger();
    if (first === undefined) return undefined;
    notice({
      level: 'info',
      text: 'a new journal: the balances are recorded once two consecutive reads agree',
    });
    await clock.sleep(timing.sweepGapMs);
    const second = await this.#amountsBeyondLedger();
    const same = second !== undefined && [...second].every(([asset, amount]) => first.get(asset) === amount);
    return same ? second : undefined;
  }

  async #amountsBeyondLedger(): Promise<ReadonlyMap<string, Units> | undefined> {
    const { books, portfolio } = this.#execution;
    const seen = await this.#quietMoment();
    if (typeof seen === 'string' || books === undefined) return undefined;
    const assets = [...portfolio.instruments.values()].flatMap(({ base, quote }) => [base, quote]);
    return new Map([
      ...assets.map((asset): [string, Units] => [asset, noUnits]),
      ...baselineOf(books.ledger, seen.balances),
    ]);
  }

  /** Journals the result, so that the journal can be checked without the exchange. */
  #record(outcome: 'even' | 'off', differences: readonly Difference[]): void {
    const { journal, clock } = this.#execution;
    if (journal.volatile) return;
    const amounts = this.#held.map(({ asset, free, locked }): [string, Units] => [asset, plus(free, locked)]);
    journal.append({
      kind: 'audit',
      at: clock.now(),
      outcome,
      differences: Object.fromEntries(differences.map(({ asset, amount }) => [asset, unitsText(amount)])),
      held: Object.fromEntries(
        amounts.filter(([, amount]) => amount !== 0n).map(([asset, amount]) => [asset, unitsText(amount)]),
      ),
    });
  }

  /** Warns once when the balances have not been compared for long. */
  #reportSkipped(why: string): void {
    const { books, clock, notice } = this.#execution;
    if (books?.balances === undefined || this.#isReportedSkipped) return;
    if (clock.now() - this.#comparedAt < clock.machine(longMs)) return;
    this.#isReportedSkipped = true;
    const text = `the account has not been compared with the journal for 10 minutes: ${why}`;
    notice({ level: 'warn', topic: 'ledger', text });
  }

  /** Reports each difference once. A surplus is a question to the operator; a deficit halts. */
  #report(differences: readonly Difference[]): void {
    const { notice, halts } = this.#execution;
    const reported = this.#reported;
    for (const asset of reported.keys()) if (!differences.some((one) => one.asset === asset)) reported.delete(asset);
    for (const one of differences) {
      if (reported.get(one.asset) === one.amount) continue;
      reported.set(one.asset, one.amount);
      const text = `the account holds ${differenceText(one)} beside what fills, foreign trades and adjustments explain`;
      if (one.amount < 0n) halts.halt('ledger', text);
      else
        notice({
          level: 'error',
          topic: 'ledger',
          text: `${text}. If you paid it in or traded elsewhere, say so: sluice adjust ${one.asset} ${unitsText(one.amount)} --reason TEXT`,
        });
    }
  }
}

/** An order of open outcome or an undecided trade may explain any difference. */
function undecided({ portfolio, quarantinedTrades }: Execution): string | undefined {
  const [trade] = quarantinedTrades.open();
  if (trade !== undefined) return `trade ${trade.tradeId} on ${trade.symbol} is quarantined`;
  for (const { state, intent } of portfolio.orders())
    if (state === 'unknown' || state === 'quarantined' || state === 'closing')
      return `order ${intent.clientOrderId} is ${state}`;
  return undefined;
}

/** The strategies' positions against the account's own ledger: both are sums of the same fills, so a difference is a bug and halts. */
function innerDifferences({ portfolio, books }: Execution): readonly Difference[] {
  const held = new Map<string, Units>();
  for (const { strategy, symbol } of portfolio.subAccounts()) {
    const { base } = portfolio.instrument(symbol);
    held.set(base, plus(held.get(base) ?? noUnits, portfolio.position(strategy, symbol).base));
  }
  // An asset that is the quote of another symbol also moves without a position.
  const quotes = new Set([...portfolio.instruments.values()].map(({ quote }) => quote));
  const off: Difference[] = [];
  for (const [asset, amount] of held)
    if (!quotes.has(asset) && books !== undefined && books.ledger.ownOf(asset) !== amount)
      off.push({ asset: `${asset} of strategies`, amount: negate(absolute(minus(books.ledger.ownOf(asset), amount))) });
  return off;
}
