/** The detected capabilities of a venue, saved in the state directory. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { makeDirs } from '../../journal/open.ts';
import type { CancelQuirk, RestCapabilities } from '../../venue/exchange/capabilities.ts';
import type { SocketCapabilities } from '../../venue/exchange/probe-socket.ts';
import { type KnownWindow, type WindowQuirk, windowNames } from '../../venue/exchange/rest/recv-window.ts';
import { replaceFile } from '../state.ts';

const schema = z.object({
  version: z.literal(1),
  venue: z.string(),
  rest: z.record(z.string(), z.string()),
  socket: z.unknown().optional(),
});

export interface Found {
  readonly rest: RestCapabilities;
  /** Left out if the socket was not probed: the stored values stay. */
  readonly socket?: SocketCapabilities;
}

interface Remembered {
  readonly rest: Readonly<Record<string, string>>;
  readonly socket: unknown;
}

const fileIn = (stateDir: string): string => join(stateDir, 'capabilities.json');

/** What is in the file about this venue. A file that cannot be read, or of another venue, proves nothing. */
function remembered(stateDir: string, venue: string): Remembered {
  const nothing = { rest: {}, socket: undefined };
  if (!existsSync(fileIn(stateDir))) return nothing;
  try {
    const { success, data } = schema.safeParse(JSON.parse(readFileSync(fileIn(stateDir), 'utf8')));
    return success && data.venue === venue ? { rest: data.rest, socket: data.socket } : nothing;
  } catch {
    return nothing;
  }
}

function write(stateDir: string, venue: string, at: number, known: Remembered): void {
  makeDirs(stateDir);
  const path = fileIn(stateDir);
  const text = JSON.stringify({ version: 1, venue, at, ...known }, undefined, 2);
  // A daemon and a doctor may write at the same time: each its own file, the last one stays.
  replaceFile(path, `${text}\n`, `${path}.${process.pid}.new`);
}

/** Stores the findings; an unknown one keeps its stored value. `at` is UTC ms of the machine. */
export function rememberCapabilities(stateDir: string, venue: string, at: number, { rest, socket }: Found): void {
  const found = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== 'unknown'));
  const before = remembered(stateDir, venue);
  write(stateDir, venue, at, { rest: { ...rest, ...before.rest, ...found }, socket: socket ?? before.socket });
}

/** What trading itself showed: how a cancel ends, which name of the time window is taken. `at` as above. A disk that takes nothing must not fail that order. */
export function rememberFact(
  stateDir: string,
  venue: string,
  at: number,
  fact: { readonly cancel: CancelQuirk } | { readonly windowTaken: WindowQuirk },
): void {
  const { rest, socket } = remembered(stateDir, venue);
  if (Object.entries(fact).every(([name, value]) => rest[name] === value)) return;
  try {
    write(stateDir, venue, at, { rest: { ...rest, ...fact }, socket });
  } catch {
    // The next start's first order shows it again.
  }
}

/** What a cancel was last seen to do there. */
export function cancelAt(stateDir: string, venue: string): RestCapabilities['cancel'] {
  const { cancel } = remembered(stateDir, venue).rest;
  return cancel === 'at once' || cancel === 'asynchronous' ? cancel : 'unknown';
}

/** True when this venue was proven to find an order by its client id alone. */
export const isQueriedByClientId = (stateDir: string, venue: string): boolean =>
  remembered(stateDir, venue).rest['queryByClientId'] === 'yes';

/** Under which name this venue takes the time window of a create: by tests, or else by what trading showed. */
export function windowAt(stateDir: string, venue: string): KnownWindow | undefined {
  const { recvWindow, windowTaken } = remembered(stateDir, venue).rest;
  const quirk = (said: string | undefined): WindowQuirk | undefined =>
    [...windowNames, 'none' as const].find((one) => one === said);
  const [tested, taken] = [quirk(recvWindow), quirk(windowTaken)];
  if (tested !== undefined) return { name: tested, isHeeded: true };
  return taken === undefined ? undefined : { name: taken, isHeeded: false };
}

/** True until an order has shown its client id: that none did so far may be a wrong guess of an earlier start. */
export const isProbeDue = (stateDir: string, venue: string): boolean =>
  remembered(stateDir, venue).rest['clientIdEchoed'] !== 'yes';
