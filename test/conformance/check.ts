/** What a check is: one sentence of the specification, and what shows that an exchange keeps it. */
import type { Session } from './session.ts';

/** What a check needs beyond an address to ask. */
export type Need =
  | 'feed' // the address of the socket
  | 'key' // a key that may read
  | 'write' // leave to place orders
  | 'quiet' // a quiet symbol and a second user, and leave to place orders
  | 'readOnly' // a key that may only read
  | 'elsewhere' // a key for other addresses
  | 'margin' // leave to place margin orders
  | 'withdrawals' // a key that may look at withdrawals
  | 'withdraw' // leave to apply for a withdrawal
  | 'limits'; // leave to break the limits, with the bans that follow

export interface Check {
  /** Of the specification. */
  readonly section: string;
  /** Set where the specification is silent and this section of `venue-observed.md` decides: failing it is only noted elsewhere. */
  readonly observed?: string;
  /** Completes "the exchange …". */
  readonly says: string;
  readonly needs?: readonly Need[];
  /** It waits for seconds, and minds nobody: it may run beside the others. */
  readonly slow?: true;
  readonly run: (at: Session) => Promise<void>;
}

/** The needs that a target has no answer to. */
export function lacks({ needs = [] }: Check, granted: ReadonlySet<Need>): readonly Need[] {
  return needs.filter((need) => !granted.has(need));
}
