/** What a venue was found to do, remembered in the state directory of the daemon that trades on it. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { RestCapabilities } from '../venue/exchange/capabilities.ts';
import type { SocketCapabilities } from '../venue/exchange/probe-socket.ts';

const schema = z.object({ version: z.literal(1), venue: z.string(), rest: z.record(z.string(), z.string()) });

export interface Found {
  readonly rest: RestCapabilities;
  readonly socket: SocketCapabilities;
}

const fileIn = (stateDir: string): string => join(stateDir, 'capabilities.json');

/** What is in the file about this venue. A file that cannot be read, or of another venue, proves nothing. */
function remembered(stateDir: string, venue: string): Readonly<Record<string, string>> {
  if (!existsSync(fileIn(stateDir))) return {};
  try {
    const { success, data } = schema.safeParse(JSON.parse(readFileSync(fileIn(stateDir), 'utf8')));
    return success && data.venue === venue ? data.rest : {};
  } catch {
    return {};
  }
}

/** Written whole or not at all; what could not be told this time stays as it was. `at` is UTC ms of the machine. */
export function rememberCapabilities(stateDir: string, venue: string, at: number, { rest, socket }: Found): void {
  const told = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== 'unknown'));
  const all = { ...rest, ...remembered(stateDir, venue), ...told };
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const text = JSON.stringify({ version: 1, venue, at, rest: all, socket }, undefined, 2);
  writeFileSync(`${fileIn(stateDir)}.new`, `${text}\n`, { mode: 0o600 });
  renameSync(`${fileIn(stateDir)}.new`, fileIn(stateDir));
}

/** True when this venue was proven to find an order by its client id alone. */
export const isQueriedByClientId = (stateDir: string, venue: string): boolean =>
  remembered(stateDir, venue)['queryByClientId'] === 'yes';
