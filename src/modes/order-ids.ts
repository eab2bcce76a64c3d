/** Client order ids: proven ones where there is a journal, counted ones in memory, where nobody else trades. */
import { makeClientOrderId, readClientOrderId } from '../domain/ids.ts';
import type { ReadId } from '../execution/desk.ts';
import type { Identity } from '../journal/open.ts';

export interface OrderIds {
  readonly next: (strategy: string) => string;
  readonly read: ReadId;
}

export function countedIds(): OrderIds {
  let sequence = 0;
  return { next: () => `b${String(sequence++).padStart(9, '0')}`, read: () => undefined };
}

/** Ids of this journal's instance and epoch; the sequence may begin anew with each epoch. */
export function provenIds({ instance, epoch, idKey, strategies }: Identity): OrderIds {
  let sequence = 0;
  const names = new Map([...strategies].map(([id, number]) => [number, id]));
  return {
    next: (strategy) =>
      makeClientOrderId({ instance, epoch, strategy: strategies.get(strategy) ?? 0, sequence: sequence++ }, idKey),
    read(id) {
      const parts = readClientOrderId(id, idKey);
      return parts === undefined ? undefined : { strategy: names.get(parts.strategy) ?? `strategy ${parts.strategy}` };
    },
  };
}
