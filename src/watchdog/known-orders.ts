/**
 * What the watchdog knows of the daemon's orders: read from the journal while that can be read, and kept. The disk that a journal dies with may
 * be why the daemon is silent.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readClientOrderId } from '../domain/ids.ts';
import type { OrderReport } from '../domain/order.ts';
import { causeOf } from '../domain/refusal.ts';
import { journalFile } from '../journal/open.ts';
import { openReader } from '../journal/reader.ts';

interface Read {
  readonly idKey: Uint8Array;
  readonly numbers: ReadonlyMap<number, string>;
  readonly symbols: ReadonlySet<string>;
  /** Strategies by the exchange's ids of their orders. */
  readonly owners: ReadonlyMap<string, string>;
}

const nothing: Read = { idKey: new Uint8Array(), numbers: new Map(), symbols: new Set(), owners: new Map() };

export type KnownOrders = ReturnType<typeof knownOrders>;

export function knownOrders(dir: string, say: (line: string) => void) {
  let read = nothing;
  let reported = '';
  return {
    /** Reads the journal anew; where it cannot be read, what was known stays, which is said once. */
    refresh(): void {
      if (!existsSync(join(dir, journalFile))) return;
      try {
        read = readJournal(dir);
        reported = '';
      } catch (error) {
        const text = causeOf(error);
        if (text === reported) return;
        reported = text;
        say(
          read === nothing
            ? `the journal cannot be read, so no order is known to be ours, and none is cancelled: ${text}`
            : `the journal cannot be read; our orders are known from an earlier read: ${text}`,
        );
      }
    },
    symbols: (): ReadonlySet<string> => read.symbols,
    /** Every strategy that an order of ours may be of. */
    strategies: (): readonly string[] => [...read.numbers.values()],
    /** Whose order it is: by its id, or by the mark in ours; undefined where nothing proves that it is ours. */
    ownerOf({ orderId, clientOrderId }: Pick<OrderReport, 'orderId' | 'clientOrderId'>): string | undefined {
      const { owners, idKey, numbers } = read;
      const owner = owners.get(orderId);
      if (owner !== undefined || clientOrderId === undefined || idKey.length === 0) return owner;
      const parts = readClientOrderId(clientOrderId, idKey);
      return parts === undefined ? undefined : (numbers.get(parts.strategy) ?? '');
    },
  };
}

function readJournal(dir: string): Read {
  const reader = openReader(dir);
  try {
    const open = reader.orders('closed_at IS NULL');
    return {
      idKey: Buffer.from(reader.meta.get('idKey') ?? '', 'hex'),
      numbers: reader.strategyNumbers(),
      symbols: new Set(open.map(({ symbol }) => symbol)),
      owners: new Map(
        open.flatMap(({ orderId, strategy }) => (orderId === null ? [] : [[orderId, strategy] as const])),
      ),
    };
  } finally {
    reader.close();
  }
}
