/**
 * Withdrawals and their seven states (specification §3.2, §4.5). Users apply; an operator does the rest. The transitions are
 * not shown there; these are the ones that the words allow:
 *
 *     0 unapproved → 1 approved → 3 payment in progress → 5 completed
 *                  → 2 rejected                         → 4 payment failed
 *     0, 1 → 6 revoked
 *
 * The amount is locked when it is applied for. Completed, it leaves the exchange, the fee within it; in every other final
 * state it is free again.
 */
import { type Units, unitsText } from '../../domain/money.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Accounts } from './accounts.ts';
import { done, type Result, refusals, refuse } from './errors.ts';

export const withdrawalStates = {
  unapproved: 0,
  approved: 1,
  rejected: 2,
  paying: 3,
  failed: 4,
  completed: 5,
  revoked: 6,
} as const;
type WithdrawalState = keyof typeof withdrawalStates;
/** A state to which an operator brings a withdrawal. */
export type WithdrawalStep = Exclude<WithdrawalState, 'unapproved'>;

export interface Withdrawal {
  /** Of the platform. */
  readonly id: number;
  readonly uid: string;
  /** Of the user, unique for each. */
  readonly withdrawOrderId: string;
  /** As applied for: of a coin with several chains, the name of the coin on that chain. */
  readonly symbol: string;
  /** What is locked. */
  readonly asset: string;
  readonly amount: Units;
  readonly fee: Units;
  readonly address: string;
  readonly label: string;
  /** UTC ms. */
  readonly createdAt: number;
  /** When its payment went on chain, UTC ms. */
  paidAt: number | undefined;
  txId: string;
  state: WithdrawalState;
  /** Why the review rejected it. */
  info: string;
}

type WithdrawalRequest = Pick<
  Withdrawal,
  'uid' | 'withdrawOrderId' | 'symbol' | 'asset' | 'amount' | 'fee' | 'address' | 'label'
>;

/** From which states an operator may bring a withdrawal to one. */
const before: Readonly<Record<WithdrawalStep, readonly WithdrawalState[]>> = {
  approved: ['unapproved'],
  rejected: ['unapproved'],
  paying: ['approved'],
  failed: ['paying'],
  completed: ['paying'],
  revoked: ['unapproved', 'approved'],
};
const released: readonly WithdrawalState[] = ['rejected', 'failed', 'revoked'];

/** True while its amount is locked. */
export const isPending = ({ state }: Withdrawal): boolean => state !== 'completed' && !released.includes(state);

/** Maximum number of withdrawals; then no more are accepted, because a forgotten id could be used twice. */
const withdrawalLimit = 1_000_000;

export type Withdrawals = ReturnType<typeof openWithdrawals>;

/** `changed` gets each one that is new or has another state. */
export function openWithdrawals(accounts: Accounts, changed: (withdrawal: Withdrawal) => void) {
  /** By id less one: ids count from one. */
  const all: Withdrawal[] = [];
  const byOrderId = new Map<string, Withdrawal>();

  /** Puts back what was saved, in order of the ids. */
  function restore(withdrawal: Withdrawal): void {
    all.push(withdrawal);
    byOrderId.set(keyOf(withdrawal), withdrawal);
  }

  return {
    restore,
    /** Locks the amount and waits for the operator; refuses a `withdrawOrderId` that the user has used before. */
    apply(request: WithdrawalRequest, now: number): Result<Withdrawal> {
      if (byOrderId.has(keyOf(request))) return refuse(refusals.repeatedWithdrawal);
      if (all.length >= withdrawalLimit) return refuse(refusals.frozen);
      if (!accounts.lock(request.uid, request.asset, request.amount)) return refuse(refusals.funds);
      const fresh = { createdAt: now, paidAt: undefined, txId: '', state: 'unapproved', info: '' } as const;
      const withdrawal: Withdrawal = { ...request, ...fresh, id: all.length + 1 };
      restore(withdrawal);
      changed(withdrawal);
      return done(withdrawal);
    },
    /** Every one, or a user's, the oldest first. */
    list: (uid?: string): readonly Withdrawal[] =>
      uid === undefined ? all : all.filter((withdrawal) => withdrawal.uid === uid),
    /** The operator's step; throws a `Refusal` when there is no such withdrawal or it is not in a state from which this can follow. */
    move(
      id: number,
      to: WithdrawalStep,
      about: { info?: string | undefined; txId?: string | undefined },
      now: number,
    ): Withdrawal {
      const withdrawal = all[id - 1];
      if (withdrawal === undefined) throw new Refusal(`there is no withdrawal ${id}`);
      if (!before[to].includes(withdrawal.state))
        throw new Refusal(
          `withdrawal ${id} is ${withdrawal.state}; only one that is ${before[to].join(' or ')} can become ${to}`,
        );
      withdrawal.state = to;
      if (about.info !== undefined) withdrawal.info = about.info;
      if (to === 'paying') {
        withdrawal.paidAt = now;
        withdrawal.txId = about.txId ?? `tx-${id}`;
      }
      const { uid, asset, amount } = withdrawal;
      if (to === 'completed') accounts.payOut(uid, asset, amount);
      else if (released.includes(to)) accounts.unlock(uid, asset, amount);
      changed(withdrawal);
      return withdrawal;
    },
  };
}

const keyOf = ({ uid, withdrawOrderId }: Pick<Withdrawal, 'uid' | 'withdrawOrderId'>): string =>
  `${uid} ${withdrawOrderId}`;

/** A withdrawal as operators, tests and logs see it: amounts as text. */
export interface WithdrawalRow extends Omit<Withdrawal, 'amount' | 'fee'> {
  readonly amount: string;
  readonly fee: string;
}
export const withdrawalRow = (withdrawal: Withdrawal): WithdrawalRow => ({
  ...withdrawal,
  amount: unitsText(withdrawal.amount),
  fee: unitsText(withdrawal.fee),
});
