/** The exchange of a torture, in a process of its own: nothing but the wire joins it to the daemon, and its ledger is the truth. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FaultEventInput, FaultRuleInput } from '../../src/simulator/simulator.ts';
import type { Arrival, Ask, Counts, Opened, Question, Reply, Terms, Truth } from './exchange-words.ts';

const program = fileURLToPath(new URL('./exchange-child.ts', import.meta.url));

export interface Exchange extends Opened {
  /** The whole truth of the account. */
  truth(): Promise<Truth>;
  counts(): Promise<Counts>;
  /** Creates and cancels as they came, from the `after`th on. */
  arrivals(after?: number): Promise<readonly Arrival[]>;
  /** These rules in place of all before. */
  faults(rules: readonly FaultRuleInput[]): Promise<void>;
  happen(event: FaultEventInput): Promise<void>;
  /** Lets so many ms of exchange time pass at once. */
  advance(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Resolves when it listens; rejects with what it said when it cannot. */
export async function openExchange(terms: Terms = {}): Promise<Exchange> {
  const child = fork(program, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], execArgv: [] });
  let said = '';
  child.stderr?.on('data', (data: Buffer) => {
    said += data.toString();
  });
  const waiting = new Map<
    number,
    { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }
  >();
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      for (const { reject } of waiting.values()) reject(new Error(`the exchange ended: ${said}`));
      resolve();
    });
  });
  child.on('message', ({ id, value, error }: Reply) => {
    const asker = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asker?.resolve(value);
    else asker?.reject(new Error(`the exchange: ${error}`));
  });
  let nextId = 0;
  const tell = <T>(ask: Ask): Promise<T> =>
    new Promise((resolve, reject) => {
      const id = nextId++;
      waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      child.send({ id, ask } satisfies Question);
    });
  return {
    ...(await tell<Opened>({ ask: 'open', terms })),
    truth: () => tell({ ask: 'truth' }),
    counts: () => tell({ ask: 'counts' }),
    arrivals: (after = 0) => tell({ ask: 'arrivals', after }),
    faults: (rules) => tell({ ask: 'faults', rules }),
    happen: (event) => tell({ ask: 'happen', event }),
    advance: (ms) => tell({ ask: 'advance', ms }),
    close() {
      child.kill();
      return ended;
    },
  };
}
