/** Keys of users: what each may do and from where (specification §5.1). */

/** Reading account information, placing orders, withdrawing. */
export type Permission = 'read' | 'trade' | 'withdraw';

/** A user's key and what belongs to it. */
export interface Credentials {
  readonly uid: string;
  readonly secret: string;
  readonly permissions: readonly Permission[];
  /** IP addresses that it may be used from; any when absent. */
  readonly addresses?: readonly string[];
}

export class Keys {
  readonly #known = new Map<string, Credentials>();
  /** Keys that were added (credentials) or revoked (undefined) while the exchange ran. */
  readonly #made = new Map<string, Credentials | undefined>();
  /** Those of them that are not saved yet. */
  readonly changed = new Set<string>();

  get(key: string): Credentials | undefined {
    return this.#known.get(key);
  }

  /** A key of the exchange's options; what was done to it while the exchange ran holds. */
  configure(key: string, credentials: Credentials): void {
    if (!this.#made.has(key)) this.#known.set(key, credentials);
  }

  add(key: string, credentials: Credentials): void {
    this.restore(key, credentials);
    this.changed.add(key);
  }

  /** False when there is no such key. */
  revoke(key: string): boolean {
    if (!this.#known.has(key)) return false;
    this.restore(key, undefined);
    this.changed.add(key);
    return true;
  }

  /** Puts back what was saved. */
  restore(key: string, credentials: Credentials | undefined): void {
    this.#made.set(key, credentials);
    if (credentials === undefined) this.#known.delete(key);
    else this.#known.set(key, credentials);
  }

  /** What changed since this was last called. */
  takeChanged(): [string, Credentials | undefined][] {
    const taken = [...this.changed].map((key): [string, Credentials | undefined] => [key, this.#made.get(key)]);
    this.changed.clear();
    return taken;
  }
}

/** A key as the header may carry it: anything else has no key's format (-2014). */
export const isKeyFormat = (key: string): boolean => /^[\w.-]{1,128}$/.test(key);
