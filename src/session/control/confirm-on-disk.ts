/**
 * A command to a daemon is confirmed once it is on disk. While the disk is full, a kill is kept as a file, which needs no space; other
 * commands warn that they are not journalled.
 */
import { join } from 'node:path';
import type { OperatorActions } from '../../domain/operator-actions.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { KillEntry } from '../../journal/entries.ts';
import type { Journal } from '../../journal/journal.ts';
import type { Kill } from '../../risk/kill.ts';
import {
  type AskedByFile,
  type ControlFile,
  controlFiles,
  forbiddingFile,
  isLimit,
  removeControlFile,
  requestKill,
} from './control-files.ts';

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

/** The actions, each answered once it is on disk. `inForce`: the kills. */
export function confirmed(
  actions: OperatorActions,
  journal: Pick<Journal, 'durable'>,
  dir: string,
  inForce: () => readonly Kill[],
): OperatorActions {
  const onDisk = async (message: string): Promise<string> => {
    if (await journal.durable()) return message;
    throw new NotWritten(message, dir);
  };
  return {
    async kill(asked) {
      const killing = actions.kill(asked);
      let isRefused = false;
      killing.catch(() => {
        isRefused = true;
      });
      // Before the cancels are through, which may take long: a crash meanwhile must not lose it.
      const path = (await journal.durable()) || isRefused ? undefined : keptAsFile(dir, asked);
      const message = await killing;
      if (path === undefined) {
        if (await journal.durable()) return message;
        throw new NotWritten(message, dir);
      }
      return `${message} The disk of ${dir} is full: until there is space the kill is stored as the file ${path}, which also kills the next start.`;
    },
    pause: async (asked) => onDisk(await actions.pause(asked)),
    async resume(asked) {
      // One that comes meanwhile is a kill of its own.
      const kills = inForce();
      const requests = controlFiles(dir).filter((request) => asked.seen === undefined || isIn(kills, request));
      const message = await actions.resume(asked);
      removeControlFiles(requests, asked.strategy);
      const file = forbiddingFile(dir, 'enter');
      const still = file === undefined ? '' : ` But the file ${join(dir, file)} still stops all strategies.`;
      return await onDisk(`${message}${still}`);
    },
    cancel: (asked) => actions.cancel(asked),
    flatten: async (asked) => onDisk(await actions.flatten(asked)),
    resolve: async (asked) => onDisk(await actions.resolve(asked)),
    adopt: async (asked) => onDisk(await actions.adopt(asked)),
    resolveTrade: async (asked) => onDisk(await actions.resolveTrade(asked)),
    adjust: async (asked) => onDisk(await actions.adjust(asked)),
    reloadConfig: async (asked) => onDisk(await actions.reloadConfig(asked)),
    reload: async (asked) => onDisk(await actions.reload(asked)),
    acknowledge: (asked) => actions.acknowledge(asked),
    limits: async (asked) => onDisk(await actions.limits(asked)),
  };
}

/** A file that is not carried out yet is none of what somebody was asked about. */
const isIn = (kills: readonly Kill[], { strategy, by, reason }: ControlFile): boolean =>
  kills.some((kill) => kill.strategy === strategy && kill.by === by && kill.reason === reason);

function keptAsFile(dir: string, asked: AskedByFile): string | undefined {
  try {
    return requestKill(dir, asked);
  } catch {
    return undefined;
  }
}

/** What a limit kills by itself holds at the next start, too: while the disk is full it is kept as a file that says so. */
export async function storeKill(kill: KillEntry, journal: Pick<Journal, 'durable'>, dir: string): Promise<void> {
  const { reason, strategy, by } = kill;
  if (!isLimit(by) || (await journal.durable())) return;
  keptAsFile(dir, { reason, strategy: strategy ?? undefined, limit: by });
}

/** Removes the files of a strategy, or of all: they would stop again what was resumed. */
export function removeControlFiles(requests: readonly ControlFile[], strategy: string | undefined): void {
  for (const request of requests) {
    if (strategy !== undefined && request.strategy !== strategy) continue;
    const against = removeControlFile(request);
    if (against === undefined) continue;
    const meanwhile =
      request.strategy === undefined ? 'until then it stops all strategies, and' : 'it stops nothing now, but';
    throw new Refusal(
      `resumed; but ${request.path} cannot be removed (${against}): remove it yourself; ${meanwhile} it ${request.kind}s the next start`,
      1,
    );
  }
}
