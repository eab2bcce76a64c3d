/** Invariants that hold once everything has come to rest: the journal and the exchange say the same, to the last decimal. */
import type { Database } from 'better-sqlite3';
import {
  baseUnits,
  minus,
  notional,
  noUnits,
  plus,
  type Units,
  units,
  unitsNumber,
  unitsText,
} from '../../src/domain/money.ts';
import { isClosed, sizeValue } from '../../src/domain/order.ts';
import { differenceText } from '../../src/execution/ledger.ts';
import { restoreFill } from '../../src/journal/fill-entries.ts';
import { readFills } from '../../src/journal/past-orders.ts';
import { readOrders } from '../../src/journal/rows.ts';
import type { Exchange } from '../../src/simulator/core/exchange.ts';
import { isOpen } from '../../src/simulator/core/order.ts';
import type { Assembled } from '../../src/trading/assemble.ts';
import type { Unprotected } from '../../src/trading/unprotected.ts';
import type { ByHand } from './by-hand.ts';
import { entriesKeepTheirTerms } from './entry-checks.ts';
import { endsOtherwise } from './exact.ts';
import { isSharedWithoutIds, type Plan } from './plan.ts';
import { orderRow } from './rows.ts';
import type { Verdict, Violation } from './step-checks.ts';
import { strategyIds, symbolsOf } from './strategies.ts';
import { baseMoved, idOf, instrumentOf, quoteMoved, type Truth } from './truth.ts';
import { baseline } from './venue.ts';

export interface AtRest {
  readonly db: Database;
  readonly truth: Truth;
  readonly exchange: Exchange;
  /** Whose balances the account's are. */
  readonly holder: string;
  readonly assembled: Assembled;
  /** What a human has paid in or out. */
  readonly transfers: readonly { readonly asset: string; readonly amount: Units }[];
  readonly byHand: ByHand;
  readonly plan: Plan;
}

/** What is compared where nothing of the process is asked. */
export type Written = Omit<AtRest, 'assembled' | 'byHand' | 'plan'>;

/** I1 at rest: every order with an id of ours has one intent. */
export function everyOrderHasOneIntent({ db, truth }: Written): Verdict {
  for (const [id, orders] of truth.ours) {
    if (orders.length > 1) return `${orders.length} orders carry ${id}`;
    if (orderRow(db, id) === undefined) return `order ${orders[0]?.orderId} has no intent ${id}`;
  }
  return undefined;
}

/** I3: our fills are the exchange's fills of our orders, as sets. */
export function fillsAreEqual({ db, truth }: Written): Verdict {
  const ours = new Set(readFills(db, '1').map(({ tradeId, orderId }) => `${tradeId} ${orderId}`));
  const theirs = new Set(truth.legs.map(({ trade, leg }) => `${trade.tradeId} ${leg.orderId}`));
  const lost = [...theirs].filter((one) => !ours.has(one));
  const invented = [...ours].filter((one) => !theirs.has(one));
  if (lost.length > 0) return `${lost.length} fills are missing, the first is ${lost[0]}`;
  return invented.length > 0
    ? `${invented.length} fills are not the exchange's, the first is ${invented[0]}`
    : undefined;
}

/** I6: balances are what the account began with, our fills less fees, and what others did on it. */
export function balancesAreExplained({ db, truth, exchange, holder, transfers }: Written): Verdict {
  const expected = new Map<string, Units>(Object.entries(baseline).map(([asset, text]) => [asset, units(text)]));
  const move = (asset: string, amount: Units): void =>
    void expected.set(asset, plus(expected.get(asset) ?? noUnits, amount));
  for (const row of readFills(db, '1')) {
    const at = instrumentOf(row.symbol);
    const { price, quantity, fee, feeAsset, side } = restoreFill(row, at);
    const [base, quote] = [baseUnits(quantity, at), notional(price, quantity, at)];
    move(at.base, side === 'BUY' ? base : minus(noUnits, base));
    move(at.quote, side === 'BUY' ? minus(noUnits, quote) : quote);
    move(feeAsset, minus(noUnits, fee));
  }
  for (const own of truth.foreignLegs) {
    const at = instrumentOf(own.trade.symbol);
    move(at.base, baseMoved(own, at));
    move(at.quote, quoteMoved(own, at));
  }
  for (const { asset, amount } of transfers) move(asset, amount);
  const held = exchange.accounts.holdings(holder);
  for (const [asset, amount] of expected) {
    const { free, locked } = held.get(asset) ?? { free: noUnits, locked: noUnits };
    const has = plus(free, locked);
    if (has !== amount) return `${asset}: the exchange has ${unitsText(has)}, our books explain ${unitsText(amount)}`;
  }
  return undefined;
}

/** I7: what is closed as absent, rejected or not sent had no effect at the exchange. */
function closedWithoutEffectHadNone({ db, truth }: AtRest): Verdict {
  for (const row of readOrders(db, "state IN ('absent', 'rejected', 'notSent')")) {
    const order = truth.order(row.clientOrderId);
    if (order === undefined || (order.executed === 0n && !isOpen(order))) continue;
    return `${row.clientOrderId} is ${row.state}, but the exchange has it ${order.status}`;
  }
  return undefined;
}

/** I11: everything has ended. An outcome that nobody can know may stay quarantined, for a human to close. */
function everythingHasEnded({ db }: AtRest): Verdict {
  const rows = readOrders(db, 'closed_at IS NULL').filter(({ state }) => !isClosed(state));
  const stuck = rows.filter(({ state }) => String(state) !== 'quarantined');
  return stuck.length === 0
    ? undefined
    : `${stuck.length} orders have not ended: ${stuck.map(({ clientOrderId, state }) => `${clientOrderId} is ${state}`).join(', ')}`;
}

/** I12: what each strategy holds by our books is what the exchange's trades of its orders come to, and nothing of ours rests. */
function booksAreEqual({ truth, assembled, exchange, holder }: AtRest): Verdict {
  for (const strategy of strategyIds) {
    for (const symbol of symbolsOf[strategy]) {
      const ours = assembled.portfolio.position(strategy, symbol).base;
      const theirs = truth.position(strategy, symbol);
      if (ours !== theirs)
        return `${strategy} holds ${unitsText(ours)} of ${symbol} by our books and ${unitsText(theirs)} by the exchange's`;
    }
  }
  const resting = [...exchange.orders.open(holder)].filter((order) => truth.ours.has(idOf(order)));
  return resting.length === 0
    ? undefined
    : `${resting.length} orders of ours rest, the first is ${resting[0]?.clientOrderId}`;
}

/** What was paid in or out and not said yet. */
function unsaidOf(db: AtRest['db'], transfers: AtRest['transfers']): ReadonlyMap<string, Units> {
  const unsaid = new Map<string, Units>();
  const add = (asset: string, amount: Units): void =>
    void unsaid.set(asset, plus(unsaid.get(asset) ?? noUnits, amount));
  for (const { asset, amount } of transfers) add(asset, amount);
  const said = db.prepare("SELECT asset, amount FROM adjustments WHERE what = 'adjust'").all() as {
    asset: string;
    amount: string;
  }[];
  for (const { asset, amount } of said) add(asset, minus(noUnits, units(amount)));
  return unsaid;
}

/** I12 of the account: what strategies own, what others did and what was said of payments is what the account holds, to the last decimal. */
function theLedgerIsTheAccount({ db, assembled, exchange, holder, transfers }: AtRest): Verdict {
  const ledger = assembled.execution.books?.ledger;
  if (ledger?.begun !== true) return undefined;
  const unsaid = unsaidOf(db, transfers);
  const held = [...exchange.accounts.holdings(holder)].map(([asset, { free, locked }]) => ({ asset, free, locked }));
  const off = ledger.differences(held).filter(({ asset, amount }) => amount !== (unsaid.get(asset) ?? noUnits));
  return off.length === 0 ? undefined : `our ledger and the account differ by ${off.map(differenceText).join(', ')}`;
}

/** Nothing in these worlds is a reason to halt but a payment that nobody has told of yet: what halts else was misread. */
function nothingHalts({ assembled, db, transfers, plan }: AtRest): Verdict {
  const isUnsaid = [...unsaidOf(db, transfers).values()].some((amount) => amount !== noUnits);
  const [first] = assembled.execution.halts.inForce.filter(
    ({ cause }) => !(isUnsaid && cause === 'ledger') && !(cause === 'noEcho' && isSharedWithoutIds(plan)),
  );
  return first === undefined ? undefined : `it halts for ${first.cause}: ${first.text}`;
}

/** ms for which a stop may not have been able to act, in time of the exchange: what an unknown outcome takes at most. */
const maxUnprotectedMs = 75_000;
/** A ban (418) that faults bring about, ms: the exchange forbids requests for as long (specification §8). */
const banMs = 120_000;

/** No position stood without its stop for longer (docs/explanation/exactly-once.md). */
export function nothingStoodBare(
  { unprotected }: { readonly unprotected: Pick<Unprotected, 'of'> },
  { classes, events }: Pick<Plan, 'classes' | 'events'>,
): Verdict {
  // It is measured in time of the exchange, whose clock may jump.
  const jumpedMs = events.reduce((sum, event) => sum + ('byMs' in event ? Math.abs(event.byMs) : 0), 0);
  const maxMs = maxUnprotectedMs + jumpedMs + (classes.includes('limits') ? banMs : 0);
  for (const strategy of strategyIds) {
    for (const symbol of symbolsOf[strategy]) {
      const { longestMs } = unprotected.of(strategy, symbol);
      if (longestMs > maxMs)
        return `${strategy} stood ${longestMs} ms on ${symbol} without its stop, ${maxMs} at most are promised`;
    }
  }
  return undefined;
}

/** Nothing is being closed by hand any more. */
function flattensHaveEnded({ assembled, plan }: AtRest): Verdict {
  const [first] = plan.exact === undefined ? assembled.flattening.active : [];
  return first === undefined ? undefined : `the flatten of ${first.strategy} on ${first.symbol} does not end`;
}

/** A leg of the pair is reported as open alone exactly while it is. */
function legsAloneAreReported({ assembled }: AtRest): Verdict {
  const { portfolio, planner, legsAlone } = assembled;
  for (const { strategy, since } of legsAlone.times()) {
    const symbols = symbolsOf.pair;
    const isHeld = (symbol: string): boolean => !portfolio.isFlat(strategy, symbol);
    const wanted = symbols.filter((symbol) => {
      const signal = planner.standing(strategy, symbol)?.signal;
      return signal?.kind === 'target' && sizeValue(signal.size) > 0;
    });
    const isAlone = wanted.some(isHeld) && !wanted.every(isHeld);
    if (wanted.some(isHeld) && isAlone !== (since !== null))
      return `${strategy} holds ${symbols.filter(isHeld).join(' and ') || 'nothing'} of ${wanted.join(' and ')}, and a leg is reported as ${since === null ? 'not ' : ''}open alone`;
  }
  return undefined;
}

/** A scenario of two legs ends with what its strategy wants, or chose for a leg that is open alone. */
const endsAsWanted = ({ truth, plan }: AtRest): Verdict =>
  endsOtherwise(plan, (strategy, symbol) => unitsNumber(truth.position(strategy, symbol)));

/** The exchange's own ledger must sum to zero: a fault there would be taken for one of ours. */
function theExchangeIsSound({ exchange }: AtRest): Verdict {
  try {
    exchange.checkLedger();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** By the numbers of the invariants in docs/explanation/exactly-once.md; what holds at every step is in step-checks.ts. */
export const restChecks: Readonly<Record<string, (at: AtRest) => Verdict>> = {
  exchange: theExchangeIsSound,
  I1: everyOrderHasOneIntent,
  I3: fillsAreEqual,
  I6: balancesAreExplained,
  I7: closedWithoutEffectHadNone,
  I11: everythingHasEnded,
  I12: booksAreEqual,
  ledger: theLedgerIsTheAccount,
  halt: nothingHalts,
  audit: ({ byHand }) => byHand.rowsAreExact(),
  flatten: flattensHaveEnded,
  alone: legsAloneAreReported,
  ends: endsAsWanted,
  entries: ({ db, plan }) => entriesKeepTheirTerms(db, plan),
  // Where only a human can tell, a position waits for him.
  bare: ({ assembled, plan }) => (isSharedWithoutIds(plan) ? undefined : nothingStoodBare(assembled, plan)),
};

/** The first invariant that does not hold at rest. */
export function brokenAtRest(at: AtRest): Violation | undefined {
  for (const [invariant, check] of Object.entries(restChecks)) {
    const text = check(at);
    if (text !== undefined) return { invariant, text };
  }
  return undefined;
}
