/** What a check is: one sentence of the specification, and what shows that an exchange keeps it. */
import type { Need } from './needs.ts';
import type { Session } from './session.ts';

export interface Check {
  /** Of the specification. */
  readonly section: string;
  /** Set where the specification is silent and observed deployments decide: a failure is only noted elsewhere. */
  readonly observed?: string;
  /** Completes "the exchange …". */
  readonly says: string;
  readonly needs?: readonly Need[];
  /** Without passing it, no check that needs this could pass: they are skipped. */
  readonly gives?: Need;
  /** It waits for seconds, and minds nobody: it may run beside the others. */
  readonly slow?: true;
  /** It sends nothing. */
  readonly silent?: true;
  readonly run: (at: Session) => Promise<void>;
}

/** Ends a check for which the account or the target lacks something; the message says what. */
export class Skip extends Error {}

/** The needs that a target has no answer to. */
export function lacks({ needs = [] }: Check, granted: ReadonlySet<Need>): readonly Need[] {
  return needs.filter((need) => !granted.has(need));
}
