/** Client order ids: proven ones where there is a journal, counted ones in memory, where nobody else trades. */
import { makeClientOrderId, readClientOrderId } from '../domain/ids.ts';
import type { ReadId } from '../execution/context.ts';
import type { Identity } from '../journal/open.ts';

export interface OrderIds {
  readonly next: (strategy: string) => string;
  readonly read: ReadId;
}

export function countedIds(): OrderIds {
  let sequence = 0;
  return { next: () => `b${String(sequence++).padStart(9, '0')}`, read: () => undefined };
}

/** Ids made ahead: an order that has just been decided waits for nothing, and a hash that the processor has forgotten takes 0.2 ms. */
const idsAhead = 16;

/** Ids of this journal's instance and epoch; the sequence may begin anew with each epoch. */
export function provenIds({ instance, epoch, idKey, strategies }: Identity): OrderIds {
  let sequence = 0;
  const names = new Map([...strategies].map(([id, number]) => [number, id]));
  const ahead = new Map<string, string[]>();
  const made = (strategy: string): string =>
    makeClientOrderId({ instance, epoch, strategy: strategies.get(strategy) ?? 0, sequence: sequence++ }, idKey);
  const someOf = (strategy: string): string[] => Array.from({ length: idsAhead }, () => made(strategy)).reverse();
  for (const strategy of strategies.keys()) ahead.set(strategy, someOf(strategy));
  return {
    next(strategy) {
      const ready = ahead.get(strategy) ?? [];
      if (ready.length === 0) ready.push(...someOf(strategy));
      ahead.set(strategy, ready);
      return ready.pop() as string;
    },
    read(id) {
      const parts = readClientOrderId(id, idKey);
      return parts === undefined ? undefined : { strategy: names.get(parts.strategy) ?? `strategy ${parts.strategy}` };
    },
  };
}
