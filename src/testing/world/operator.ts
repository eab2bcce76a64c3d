/** The human at the commands: kills, and resumes. What was ordered is said again after a restart until it is on disk. */
import type { Database } from 'better-sqlite3';
import type { KillEntry } from '../../journal/entries.ts';
import { inForce } from '../../journal/load.ts';
import type { Process } from './process.ts';
import type { Killed } from './step-checks.ts';

export interface OperatorOptions {
  readonly now: () => number;
  readonly process: () => Process | undefined;
  readonly db: () => Database;
  /** Told what must not be created from now on. */
  readonly killed: (killed: Killed | undefined) => void;
  readonly fatal: (error: unknown) => void;
}

const by = 'operator';

export class Operator {
  readonly #options: OperatorOptions;
  #wanted: { readonly strategy: string | undefined } | undefined;

  constructor(options: OperatorOptions) {
    this.#options = options;
  }

  kill(strategy: string | undefined): void {
    this.#wanted = { strategy };
    this.#say();
  }

  resume(): void {
    if (this.#wanted === undefined) return;
    this.#wanted = undefined;
    this.#say();
  }

  /**
   * Says of each order in this state how it ended: absent where the exchange does not have it and `gone` says that nothing of it is
   * on its way; where it is unknown and may yet come, that it is to be left to him.
   */
  resolve(state: 'unknown' | 'quarantined', gone: (clientOrderId: string) => boolean): void {
    const { process, fatal } = this.#options;
    const running = process();
    if (running?.life.alive !== true) return;
    const { assembled } = running;
    for (const order of [...assembled.portfolio.orders()]) {
      const { clientOrderId } = order.intent;
      const as = gone(clientOrderId) ? 'absent' : 'quarantined';
      if (order.state !== state || state === as) continue;
      void assembled.resolveByHand(clientOrderId, as, by, 'looked it up').catch(fatal);
    }
  }

  /** After a crash: what was not on disk is forgotten. */
  crashed(): void {
    if (!this.#onDisk) this.#options.killed(undefined);
  }

  /** After a start: what the journal does not hold is said again. */
  started(): void {
    if (this.#onDisk !== (this.#wanted !== undefined)) this.#say();
  }

  get #onDisk(): boolean {
    const rows = this.#options.db().prepare('SELECT kind, at, strategy, by, reason FROM kills ORDER BY seq').all();
    return inForce(rows as KillEntry[]).some((kill) => kill.by === by);
  }

  #say(): void {
    const { process, now, killed, fatal } = this.#options;
    const running = process();
    if (running?.life.alive !== true) return;
    const { assembled } = running;
    const wanted = this.#wanted;
    if (wanted === undefined) {
      killed(undefined);
      void assembled.resume(undefined, by, 'looked at').catch(fatal);
      return;
    }
    const { strategy } = wanted;
    killed({ since: now(), strategy });
    void assembled.kill({ at: running.life.clock.now(), strategy, by, reason: 'looks wrong' }).catch(fatal);
  }
}
