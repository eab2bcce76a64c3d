/**
 * The ledger against the account (I6 and I12): each minute and when the program ends. What the exchange has
 * more is told of; what it has less halts, since nobody knows why.
 */
import { absolute, minus, negate, noUnits, plus, type Units, unitsText } from '../domain/money.ts';
import type { AdjustmentEntry } from '../journal/entries.ts';
import type { Balance } from '../venue/venue.ts';
import type { Execution } from './context.ts';
import { baselineOf, type Difference, differenceText, type Ledger } from './ledger.ts';
import { lag, type Moment, oneMoment } from './reconcile/balance-proof.ts';
import type { Sweeps } from './sweep.ts';

/** Tries for a moment at which nothing moves, and how far they lie apart, ms of the clock. */
const mostTries = 3;
const retryMs = 1_000;
/** So long without a comparison, real ms, and somebody is told: what is not compared may be wrong. */
const longMs = 600_000;

/** `even`: equal to the last decimal. `skipped`: there was no moment to compare at, with why; that proves nothing. */
export type Audit =
  | { readonly kind: 'even' }
  | { readonly kind: 'off'; readonly differences: readonly Difference[] }
  | { readonly kind: 'skipped'; readonly why: string };

export interface Auditor {
  /** Writes down what the account holds before anything of this journal moved it; does nothing once that is on disk. */
  begin(): Promise<void>;
  /** Compares. A difference counts once a second comparison, after the sweep gap, shows the same: balances can lag behind lists. */
  check(): Promise<Audit>;
}

export function auditor(execution: Execution, sweeps: Sweeps): Auditor {
  const { clock, timing, books } = execution;
  const tell = teller(execution);
  const tellOfLong = skipTeller(execution);
  const lagging = lagWatch(execution);
  /** What the account held at the last moment that was compared. */
  let held: readonly Balance[] = [];

  async function compare(): Promise<Audit> {
    if (books?.balances === undefined) return { kind: 'skipped', why: 'there are no balances to compare with' };
    if (!books.ledger.begun) return { kind: 'skipped', why: 'it is not known what the account held at first' };
    const seen = await quietMoment(execution, sweeps, lagging);
    if (typeof seen === 'string') return { kind: 'skipped', why: seen };
    held = seen.balances;
    const differences = [...books.ledger.differences(seen.balances), ...innerDifferences(execution)];
    return differences.length === 0 ? { kind: 'even' } : { kind: 'off', differences };
  }

  const takeBaseline = baselineTaker(execution, sweeps, lagging);
  /** Whoever asks meanwhile waits for the same: a second pair of looks would take what has moved since for held at first. */
  let beginning: Promise<void> | undefined;
  const begun = (): Promise<void> =>
    (beginning ??= takeBaseline().finally(() => {
      beginning = undefined;
    }));

  return {
    begin: begun,
    async check() {
      await begun();
      const audit = await twice();
      if (books?.balances !== undefined) tellOfLong(audit);
      if (audit.kind !== 'skipped') keep(execution, audit, held);
      if (audit.kind !== 'skipped') tell(audit.kind === 'off' ? audit.differences : []);
      return audit;
    },
  };

  async function twice(): Promise<Audit> {
    const first = await compare();
    if (first.kind !== 'off') return first;
    await clock.sleep(timing.sweepGapMs);
    const second = await compare();
    if (second.kind !== 'off') return second;
    const same = second.differences.filter((one) =>
      first.differences.some(({ asset, amount }) => asset === one.asset && amount === one.amount),
    );
    return same.length === 0
      ? { kind: 'skipped', why: 'the balances were on the move' }
      : { kind: 'off', differences: same };
  }
}

/** Leaves a row, against which the journal can be checked when no exchange is at hand. */
function keep(
  { journal, clock }: Execution,
  audit: Exclude<Audit, { kind: 'skipped' }>,
  held: readonly Balance[],
): void {
  if (journal.volatile) return;
  const differences = audit.kind === 'off' ? audit.differences : [];
  const amounts = held.map(({ asset, free, locked }): [string, Units] => [asset, plus(free, locked)]);
  journal.append({
    kind: 'audit',
    at: clock.now(),
    outcome: audit.kind,
    differences: Object.fromEntries(differences.map(({ asset, amount }) => [asset, unitsText(amount)])),
    held: Object.fromEntries(
      amounts.filter(([, amount]) => amount !== 0n).map(([asset, amount]) => [asset, unitsText(amount)]),
    ),
  });
}

/** Says once that the balances have not been compared for long, and why the last time. */
function skipTeller({ clock, notice }: Execution): (audit: Audit) => void {
  let comparedAt = clock.now();
  let told = false;
  return (audit) => {
    if (audit.kind !== 'skipped') {
      comparedAt = clock.now();
      told = false;
    } else if (!told && clock.now() - comparedAt >= clock.machine(longMs)) {
      told = true;
      notice({
        level: 'warn',
        text: `the account has not been compared with the journal for 10 minutes: ${audit.why}`,
      });
    }
  };
}

/** Why a moment is none because lists lag behind balances; undefined when it can be compared. */
type Lagging = (moment: Moment) => string | undefined;

/**
 * What is locked and not by a known order makes lists suspect. When it stays the same past the horizon no list lags so long: it
 * is a withdrawal under way, or an order on a symbol that is not watched, and what the account holds can be compared.
 */
function lagWatch(execution: Execution): Lagging {
  const { clock, horizon } = execution;
  let last = { text: '', since: 0 };
  return (moment) => {
    const text = lag(execution, moment);
    if (text === undefined) return undefined;
    if (text !== last.text) last = { text, since: clock.now() };
    return clock.now() - last.since > horizon.ms ? undefined : text;
  };
}

/** What the account and the lists say at one moment; tries some times for one at which nothing moves. */
async function quietMoment(execution: Execution, sweeps: Sweeps, lagging: Lagging): Promise<Moment | string> {
  const { books, clock } = execution;
  if (books === undefined) return 'there are no balances to compare with';
  for (let tries = 1; ; tries++) {
    const open = undecided(execution);
    if (open !== undefined) return open;
    const seen = await oneMoment(execution, sweeps, books);
    const why = 'kind' in seen ? seen.text : lagging(seen);
    if (!('kind' in seen) && why === undefined) return seen;
    if (tries === mostTries) return why ?? '';
    await clock.sleep(retryMs);
  }
}

/** The baseline counts once it is on disk: after a crash another is taken, with what was paid in since and may have been reported. */
function baselineTaker(execution: Execution, sweeps: Sweeps, lagging: Lagging): () => Promise<void> {
  const { books, journal, clock } = execution;
  let baseline: readonly AdjustmentEntry[] | undefined;
  return async () => {
    if (books?.balances === undefined || books.ledger.begun) return;
    if (baseline === undefined) {
      const amounts = await firstAmounts(execution, sweeps, books.ledger, lagging);
      // The next check tries again; until then no absence can be proven.
      if (amounts === undefined) return;
      baseline = [...amounts].map(([asset, amount]) => ({
        kind: 'adjustment',
        at: clock.now(),
        what: 'baseline',
        asset,
        amount: unitsText(amount),
        by: 'first balances',
        reason: 'held before the first order',
      }));
      for (const entry of baseline) journal.append(entry);
    }
    if (await journal.durable()) for (const entry of baseline) books.ledger.adjust(entry);
  };
}

/**
 * What the account held beside what the ledger knows. Somebody may have traded just before the first start, which account and lists
 * show at moments of their own: it counts only once it is the same again after the sweep gap.
 */
async function firstAmounts(
  execution: Execution,
  sweeps: Sweeps,
  ledger: Ledger,
  lagging: Lagging,
): Promise<ReadonlyMap<string, Units> | undefined> {
  const { clock, timing } = execution;
  const look = async (): Promise<ReadonlyMap<string, Units> | undefined> => {
    const seen = await quietMoment(execution, sweeps, lagging);
    if (typeof seen === 'string') return undefined;
    const amounts = new Map([...assetsOf(execution)].map((asset) => [asset, noUnits]));
    for (const [asset, amount] of baselineOf(ledger, seen.balances)) amounts.set(asset, amount);
    return amounts;
  };
  const first = await look();
  if (first === undefined) return first;
  execution.notice({
    level: 'info',
    text: 'a new journal: the balances are recorded once two consecutive reads agree',
  });
  await clock.sleep(timing.sweepGapMs);
  const second = await look();
  const same = second !== undefined && [...second].every(([asset, amount]) => first.get(asset) === amount);
  return same ? second : undefined;
}

/** Tells of each difference once: what is more is a question, what is less halts. */
function teller({ notice, halts }: Execution): (differences: readonly Difference[]) => void {
  const told = new Map<string, Units>();
  return (differences) => {
    for (const asset of told.keys()) if (!differences.some((one) => one.asset === asset)) told.delete(asset);
    for (const one of differences) {
      if (told.get(one.asset) === one.amount) continue;
      told.set(one.asset, one.amount);
      const text = `the account holds ${differenceText(one)} beside what fills, foreign trades and adjustments explain`;
      if (one.amount < 0n) halts.halt('ledger', text);
      else
        notice({
          level: 'error',
          text: `${text}. If you paid it in or traded elsewhere, say so: sluice adjust ${one.asset} ${unitsText(one.amount)} --reason TEXT`,
        });
    }
  };
}

/** An order of open outcome, or a trade that nobody has decided, may explain any difference. */
function undecided({ portfolio, quarantinedTrades }: Execution): string | undefined {
  const [trade] = quarantinedTrades.open();
  if (trade !== undefined) return `trade ${trade.tradeId} on ${trade.symbol} is quarantined`;
  for (const { state, intent } of portfolio.orders())
    if (state === 'unknown' || state === 'quarantined' || state === 'closing')
      return `order ${intent.clientOrderId} is ${state}`;
  return undefined;
}

const assetsOf = ({ portfolio }: Execution): ReadonlySet<string> =>
  new Set([...portfolio.instruments.values()].flatMap(({ base, quote }) => [base, quote]));

/** The strategies' own ledgers against the account's: both are made of the same fills, so a difference is a bug and halts. */
function innerDifferences({ portfolio, books }: Execution): readonly Difference[] {
  const held = new Map<string, Units>();
  for (const { strategy, symbol } of portfolio.places()) {
    const { base } = portfolio.instrument(symbol);
    held.set(base, plus(held.get(base) ?? noUnits, portfolio.position(strategy, symbol).base));
  }
  const quotes = new Set([...portfolio.instruments.values()].map(({ quote }) => quote));
  const off: Difference[] = [];
  // What is quote elsewhere moves without a position.
  for (const [asset, amount] of held)
    if (!quotes.has(asset) && books !== undefined && books.ledger.ownOf(asset) !== amount)
      off.push({ asset: `${asset} of strategies`, amount: negate(absolute(minus(books.ledger.ownOf(asset), amount))) });
  return off;
}
