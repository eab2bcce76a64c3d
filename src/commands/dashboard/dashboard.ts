/** `sluice dashboard`: serves one page for the daemons of the named state directories until it is stopped. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { aborted, systemClock } from '../../clock/clock.ts';
import { loadAssetsInThread } from '../../dashboard/assets.ts';
import type { DaemonPlace, Places } from '../../dashboard/machine/daemons.ts';
import { startMachine } from '../../dashboard/machine/machine.ts';
import { Refusal } from '../../domain/refusal.ts';
import { journalFile } from '../../journal/open.ts';
import { ownDaemon, startText, stateAt, usualStateDirs } from '../../session/state.ts';
import type { Io } from '../../terminal/options.ts';
import { libraryOf } from './library.ts';

interface DashboardCommand extends Io {
  /** Every directory in `var/` where none is named: also of daemons that start later. */
  readonly state: readonly string[];
  /** The folder of saved backtests. */
  readonly runs: string;
  readonly port: number;
  readonly json: boolean;
}

/** Names for addresses: the last part of each directory, with a number where two are equal. */
export function placesOf(dirs: readonly string[]): readonly DaemonPlace[] {
  const taken = new Set<string>();
  return dirs.map((dir) => {
    const base = basename(resolve(dir)).replace(/[^\w.-]/g, '_');
    let name = base;
    for (let number = 2; taken.has(name); number++) name = `${base}-${number}`;
    taken.add(name);
    return { name, dir, find: () => ownDaemon(dir), starting: () => startText(stateAt(dir)) };
  });
}

function placesFor(named: readonly string[]): Places {
  if (named.length === 0) return () => placesOf(usualStateDirs());
  for (const dir of named)
    if (!existsSync(join(dir, journalFile)))
      throw new Refusal(`${dir} is not a state directory: there is no ${journalFile} in it`);
  const places = placesOf([...new Set(named)]);
  return () => places;
}

/** 192 bits. */
const secret = (): string => randomBytes(24).toString('base64url');

export async function showDashboard(given: DashboardCommand): Promise<void> {
  const { state, runs, port, json, out, say, signal } = given;
  const places = placesFor(state);
  const library = libraryOf(runs);
  const server = await startMachine({
    ...{ places, library, port, token: secret(), secret, assets: await loadAssetsInThread(), clock: systemClock },
  });
  out(json ? JSON.stringify({ version: 1, kind: 'dashboard', url: server.url }) : `dashboard  ${server.url}`);
  say(
    `daemons: ${
      places()
        .map(({ dir }) => dir)
        .join(', ') || 'none yet in var/'
    }`,
  );
  await aborted(signal);
  await server.close();
}
