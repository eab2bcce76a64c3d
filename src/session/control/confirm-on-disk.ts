/**
 * A command to a daemon is confirmed once it is on disk. While the disk is full, a kill is kept as a file, which needs no space; other
 * commands warn that they are not journalled.
 */
import { join } from 'node:path';
import type { DashboardSource } from '../../dashboard/dashboard.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Entry } from '../../journal/entries.ts';
import type { Journal } from '../../journal/journal.ts';
import type { KillingLimit } from '../../risk/kill.ts';
import {
  isKillRequested,
  isLimit,
  type KillRequest,
  killFile,
  killRequests,
  removeRequest,
  requestKill,
} from './kill-file.ts';

/** HTTP 507: it was done, but is not on disk. */
export const notOnDisk = 507;

/** It is in force, and a restart would not know of it. */
class NotWritten extends Refusal {
  readonly statusCode = notOnDisk;

  constructor(message: string, dir: string) {
    super(
      `${message} But the disk of ${dir} is full, and this is not journalled until there is space. If the daemon ends before, repeat the command`,
      1,
    );
  }
}

/** The actions of a source, each answered once it is on disk. */
export function confirmed(
  source: DashboardSource,
  journal: Pick<Journal, 'durable'>,
  dir: string,
): Pick<DashboardSource, 'kill' | 'resume' | 'resolve' | 'adopt' | 'resolveTrade' | 'adjust' | 'reload' | 'limits'> {
  const onDisk = async (message: string): Promise<string> => {
    if (await journal.durable()) return message;
    throw new NotWritten(message, dir);
  };
  return {
    async kill(reason, strategy) {
      const killing = source.kill(reason, strategy);
      let isRefused = false;
      killing.catch(() => {
        isRefused = true;
      });
      // Before the cancels are through, which may take long: a crash meanwhile must not lose it.
      const path = (await journal.durable()) || isRefused ? undefined : keptAsFile(dir, reason, strategy);
      const message = await killing;
      if (path === undefined) {
        if (await journal.durable()) return message;
        throw new NotWritten(message, dir);
      }
      return `${message} The disk of ${dir} is full: until there is space the kill is stored as the file ${path}, which also kills the next start.`;
    },
    async resume(reason, strategy) {
      // One that comes meanwhile is a kill of its own.
      const requests = killRequests(dir);
      const message = await source.resume(reason, strategy);
      removeRequests(requests, strategy);
      const still = isKillRequested(dir) ? ` But the file ${join(dir, killFile())} still stops everything.` : '';
      return await onDisk(`${message}${still}`);
    },
    resolve: async (order, as, reason) => onDisk(await source.resolve(order, as, reason)),
    adopt: async (order, orderId, reason) => onDisk(await source.adopt(order, orderId, reason)),
    resolveTrade: async (trade, as, reason) => onDisk(await source.resolveTrade(trade, as, reason)),
    adjust: async (asset, amount, reason) => onDisk(await source.adjust(asset, amount, reason)),
    reload: async (strategy, reason) => onDisk(await source.reload(strategy, reason)),
    limits: async (what, name, value, reason) => onDisk(await source.limits(what, name, value, reason)),
  };
}

function keptAsFile(
  dir: string,
  ...asked: [reason: string, strategy?: string, limit?: KillingLimit]
): string | undefined {
  try {
    return requestKill(dir, ...asked);
  } catch {
    return undefined;
  }
}

/** What a limit kills by itself holds at the next start, too: while the disk is full it is kept as a file that says so. */
export async function storeKill(entry: Entry, journal: Pick<Journal, 'durable'>, dir: string): Promise<void> {
  if (entry.kind !== 'kill' || !isLimit(entry.by) || (await journal.durable())) return;
  keptAsFile(dir, entry.reason, entry.strategy ?? undefined, entry.by);
}

/** Removes kill files, which would stop again what was resumed. */
export function removeRequests(requests: readonly KillRequest[], strategy: string | undefined): void {
  for (const request of requests) {
    if (strategy !== undefined && request.strategy !== strategy) continue;
    const against = removeRequest(request);
    if (against === undefined) continue;
    const meanwhile =
      request.strategy === undefined ? 'until then it stops everything, and' : 'it stops nothing now, but';
    throw new Refusal(
      `resumed; but ${request.path} cannot be removed (${against}): remove it yourself; ${meanwhile} it kills the next start`,
      1,
    );
  }
}
