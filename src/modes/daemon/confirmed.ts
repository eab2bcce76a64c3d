/**
 * What a person asks of a daemon is confirmed once it is on disk. While the disk is full a kill is kept as a file, which needs no room; the
 * rest says that it is not written down.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../../domain/refusal.ts';
import type { Journal } from '../../journal/journal.ts';
import type { DashboardSource } from '../../ops/dashboard.ts';
import { askByFile, forgetRequest, isKillAsked, killFile, killRequests } from './kill-file.ts';

/** Insufficient Storage: whoever asked is not told that it was not carried out. */
export const notWritten = 507;

/** It is in force, and a restart would not know of it. */
class NotWritten extends Refusal {
  readonly statusCode = notWritten;

  constructor(message: string, dir: string) {
    super(
      `${message} But the disk of ${dir} is full, and this is not written down: it is as soon as there is room. If the daemon ends before that it is lost, and has to be said again`,
      1,
    );
  }
}

/** The actions of a source, each answered once it is on disk. */
export function confirmed(
  source: DashboardSource,
  journal: Pick<Journal, 'durable'>,
  dir: string,
): Pick<DashboardSource, 'kill' | 'resume' | 'resolve' | 'adjust' | 'limits'> {
  const onDisk = async (message: string): Promise<string> => {
    if (await journal.durable()) return message;
    throw new NotWritten(message, dir);
  };
  return {
    async kill(reason, strategy) {
      const message = await source.kill(reason, strategy);
      if (await journal.durable()) return message;
      const path = keptAsFile(dir, reason, strategy);
      if (path === undefined) throw new NotWritten(message, dir);
      return `${message} The disk of ${dir} is full: until there is room the kill is kept as the file ${path}, by which the next start is killed, too.`;
    },
    async resume(reason, strategy) {
      const message = await source.resume(reason, strategy);
      takeAway(dir, strategy);
      const still = isKillAsked(dir) ? ` But the file ${join(dir, killFile())} goes on stopping everything.` : '';
      return await onDisk(`${message}${still}`);
    },
    resolve: async (order, as, reason) => onDisk(await source.resolve(order, as, reason)),
    adjust: async (asset, amount, reason) => onDisk(await source.adjust(asset, amount, reason)),
    limits: async (what, name, value, reason) => onDisk(await source.limits(what, name, value, reason)),
  };
}

/** An empty file is enough, which is what a full disk leaves of one with a reason. */
function keptAsFile(dir: string, reason: string, strategy: string | undefined): string | undefined {
  try {
    return askByFile(dir, reason, strategy);
  } catch {
    const path = join(dir, killFile(strategy));
    return existsSync(path) ? path : undefined;
  }
}

/** Files by which kills were asked for would go on holding up what is resumed. */
export function takeAway(dir: string, strategy: string | undefined): void {
  for (const request of killRequests(dir)) {
    if (strategy !== undefined && request.strategy !== strategy) continue;
    const against = forgetRequest(request);
    if (against !== undefined)
      throw new Refusal(
        `${request.path} cannot be taken away (${against}): remove it; until then it stops what it names, and the next start is killed by it`,
        1,
      );
  }
}
