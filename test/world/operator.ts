/** The human at the commands: says what he knows of orders and payments, and acts by hand. What was said is said again after a restart until it is on disk. */
import type { Database } from 'better-sqlite3';
import type { Units } from '../../src/domain/money.ts';
import { ByHand, by } from './by-hand.ts';
import { isSharedWithoutIds, type Plan } from './plan.ts';
import type { Process } from './process.ts';

export interface OperatorOptions {
  readonly now: () => number;
  readonly after: (ms: number, fn: () => void) => void;
  readonly process: () => Process | undefined;
  readonly db: () => Database;
  readonly fatal: (error: unknown) => void;
  /** The exchange's id of an order of ours, where he has to look it up since the exchange shows no client ids. */
  readonly lookUp: ((clientOrderId: string) => string | undefined) | undefined;
}

interface Transfer {
  readonly asset: string;
  readonly amount: Units;
  readonly reason: string;
}

export class Operator {
  readonly #options: OperatorOptions;
  /** What was paid in or out, and is to be said. */
  readonly #transfers: Transfer[] = [];
  /** Orders that are being adopted. */
  readonly #adoptions = new Set<Promise<unknown>>();
  readonly byHand: ByHand;

  constructor(options: OperatorOptions) {
    this.#options = options;
    this.byHand = new ByHand(options);
  }

  /**
   * Says of each order in this state how it ended: absent where the exchange does not have it and `gone` says that nothing of it is
   * on its way; where it is unknown and may yet come, that it is to be left to him.
   */
  resolve(state: 'unknown' | 'quarantined', gone: (clientOrderId: string) => boolean): void {
    const { process, fatal, lookUp } = this.#options;
    const running = process();
    if (running?.life.alive !== true) return;
    const { assembled } = running;
    for (const order of [...assembled.portfolio.orders()]) {
      const { clientOrderId } = order.intent;
      const orderId = order.state === state && order.orderId === undefined ? lookUp?.(clientOrderId) : undefined;
      if (orderId !== undefined) {
        const adoption = assembled.adoptByHand({ clientOrderId, orderId, by, reason: 'looked it up' }).catch(fatal);
        this.#adoptions.add(adoption);
        void adoption.then(() => this.#adoptions.delete(adoption));
        continue;
      }
      const as = gone(clientOrderId) ? 'absent' : 'quarantined';
      if (order.state !== state || state === as) continue;
      void assembled.resolveByHand(clientOrderId, as, by, 'looked it up').catch(fatal);
    }
  }

  /** Closes what is in doubt, and where nobody but him can tell what became of an order, also what is unknown. */
  closeDoubts(gone: (clientOrderId: string) => boolean, plan: Pick<Plan, 'classes'>): void {
    this.resolve('quarantined', gone);
    if (!isSharedWithoutIds(plan)) return;
    this.resolve('unknown', gone);
    this.lookAtHalts();
  }

  /** Whether an order that he adopts is still being asked for. */
  get isAdopting(): boolean {
    return this.#adoptions.size > 0;
  }

  /** Says what was paid in or out, until it is on disk; what halted for it goes on. */
  adjust(asset: string, amount: Units): void {
    this.#transfers.push({ asset, amount, reason: `transfer ${this.#transfers.length + 1}` });
    this.#sayTransfers();
  }

  #sayTransfers(): void {
    const { process, db, fatal } = this.#options;
    const running = process();
    if (running?.life.alive !== true) return;
    const { assembled } = running;
    const isSaid = db().prepare('SELECT 1 FROM adjustments WHERE by = ? AND reason = ?');
    const unsaid = this.#transfers.filter(({ reason }) => isSaid.get(by, reason) === undefined);
    const said = Promise.all(unsaid.map(({ asset, amount, reason }) => assembled.adjust(asset, amount, by, reason)));
    void said.then(() => this.lookAtHalts()).catch(fatal);
  }

  /**
   * A halt for what was paid out is lifted once that was said, and one for missing client ids on an account where he trades, too, as
   * somebody does who wants to go on; what is stopped or closed beside it is asked again.
   */
  lookAtHalts(): void {
    const { process, fatal, lookUp } = this.#options;
    const running = process();
    if (running?.life.alive !== true) return;
    const { inForce } = running.assembled.execution.halts;
    const liftable = new Set<string>();
    if (this.#transfers.length > 0) liftable.add('ledger');
    if (lookUp !== undefined) liftable.add('noEcho');
    if (inForce.length === 0 || inForce.some(({ cause }) => !liftable.has(cause))) return;
    void this.byHand.liftHalt().catch(fatal);
  }

  /** After a crash: what was not on disk is forgotten. */
  crashed(): void {
    this.#adoptions.clear();
    this.byHand.crashed();
  }

  /** After a start: what the journal does not hold is said again. */
  started(): void {
    this.byHand.started();
    this.#sayTransfers();
  }
}
