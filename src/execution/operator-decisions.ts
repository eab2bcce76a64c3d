/** Decisions of an operator: how an unproven order ended, whether an invalid trade is booked, and adjustments of balances. */
import { type Units, unitsText } from '../domain/money.ts';
import type { OrderState, TradeDecision } from '../domain/order.ts';
import { moment } from '../domain/words.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import type { Execution } from './context.ts';
import { move } from './order-steps.ts';
import { rowsToDecide } from './quarantined-trades.ts';
import { type Adoption, adoptByHand } from './reconcile/adopt.ts';
import { horizonOf } from './reconcile/creation-window.ts';
import { type OrderEvent, transitions } from './states.ts';
import { type Sweeps, silentMs } from './sweep.ts';

/** The words for an order's end in `sluice resolve --as`, each with its event. */
export const operatorOutcomes = {
  absent: 'humanAbsent',
  quarantined: 'humanQuarantined',
  filled: 'humanFilled',
  canceled: 'humanCanceled',
} as const satisfies Readonly<Record<string, OrderEvent>>;
export type OperatorOutcome = keyof typeof operatorOutcomes;

/** The words that are possible in a state. */
export const wordsFor = (state: OrderState): readonly OperatorOutcome[] =>
  (Object.keys(operatorOutcomes) as OperatorOutcome[]).filter(
    (word) => transitions[state][operatorOutcomes[word]] !== undefined,
  );

/** Why an order cannot be resolved so, or undefined. */
export function whyNot(clientOrderId: string, state: OrderState, as: OperatorOutcome): string | undefined {
  const words = wordsFor(state);
  if (words.includes(as)) return undefined;
  return words.length === 0
    ? `order ${clientOrderId} is ${state}: the exchange decides its outcome, you cannot`
    : `order ${clientOrderId} is ${state}: it can be resolved as ${words.join(' or ')}, not as ${as}`;
}

/**
 * Why nobody may say yet how an order ended: Sluice still queries it, and may find it. An unknown order is decided by two complete sweeps after its
 * horizon, any other order needs an exchange that answers.
 */
function stillQueried(execution: Execution, sweeps: Sweeps, order: WorkingOrder): string | undefined {
  const { clock, timing } = execution;
  // Its symbol need not be swept any more.
  if (order.state !== 'unknown' && sweeps.unanswered === undefined) return undefined;
  const { clientOrderId, symbol } = order.intent;
  const { since, last } = sweeps.answered(symbol) ?? {};
  const isSilent = since === undefined || last === undefined || clock.now() - last > clock.machine(silentMs);
  const known = Math.max(horizonOf(execution, order), since ?? 0) + 2 * timing.sweepGapMs;
  if (!isSilent && (order.state !== 'unknown' || clock.now() > known)) return undefined;
  const silence = `the exchange has not answered about ${symbol}${last === undefined ? '' : ` since ${moment(last)} UTC`}`;
  const later = `. Its outcome is known some seconds after it answers again, at the earliest ${moment(known)} UTC`;
  const when = isSilent
    ? `${silence}${order.state === 'unknown' ? later : ''}`
    : `its outcome is known at about ${moment(known)} UTC`;
  return `Sluice still queries order ${clientOrderId}, sent at ${moment(order.signedAt ?? order.intent.createdAt)} UTC: ${when}. Look for it on the website of the exchange, and decide after that. If the exchange never answers again, stop the daemon and resolve it then`;
}

export interface ByHand {
  /** Binds our order to one at the exchange, and books its fills; returns why that is not possible. */
  readonly adoptByHand: (adoption: Adoption) => Promise<string | undefined>;
  /** Closes an order that only a human may close; returns why that is not possible. */
  readonly resolveByHand: (
    clientOrderId: string,
    as: OperatorOutcome,
    by: string,
    reason: string,
  ) => Promise<string | undefined>;
  /** Books a quarantined trade as it is shown, or never; returns why that is not possible. */
  readonly resolveTrade: (
    subject: string,
    as: TradeDecision,
    by: string,
    reason: string,
  ) => Promise<string | undefined>;
  /** Books a deposit (positive) or withdrawal, durably. */
  readonly adjust: (asset: string, amount: Units, by: string, reason: string) => Promise<void>;
}

export function byHand(execution: Execution, sweeps: Sweeps): ByHand {
  const { portfolio, journal, clock, quarantinedTrades } = execution;
  return {
    adoptByHand: (adoption) => adoptByHand(execution, sweeps, adoption),
    async resolveByHand(clientOrderId, as, by, reason) {
      const order = portfolio.order(clientOrderId);
      if (order === undefined) return `order ${clientOrderId} is not open here: there is nothing to resolve`;
      const against = whyNot(clientOrderId, order.state, as);
      if (against !== undefined) return against;
      const early = as === 'quarantined' ? undefined : stillQueried(execution, sweeps, order);
      if (early !== undefined) return early;
      if (as === 'quarantined') order.quarantineReason = 'human';
      move(execution, order, operatorOutcomes[as], { as, by, reason });
      await journal.durable();
      return undefined;
    },
    async resolveTrade(subject, as, by, reason) {
      const rows = rowsToDecide(quarantinedTrades.open(), subject, as);
      if (typeof rows === 'string') return rows;
      const decided = { decision: as, decidedAt: clock.now(), by, reason };
      sweeps.bookAgain(quarantinedTrades.decide(rows.map((row) => ({ ...row, ...decided }))));
      execution.changes.count++;
      for (const { symbol } of rows) sweeps.nudge(symbol);
      await journal.durable();
      return undefined;
    },
    async adjust(asset, amount, by, reason) {
      const change = { asset, amount: unitsText(amount), by, reason };
      const entry = { kind: 'adjustment', at: clock.now(), what: 'adjust', ...change } as const;
      execution.books?.ledger.adjust(entry);
      execution.changes.count++;
      journal.append(entry);
      await journal.durable();
    },
  };
}
