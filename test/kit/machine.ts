/** Daemons that do nothing, in state directories of their own, and the page of all of them. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, ScaledClock } from '../../src/clock/clock.ts';
import { placesOf } from '../../src/commands/dashboard/dashboard.ts';
import { libraryOf } from '../../src/commands/dashboard/library.ts';
import { loadAssets } from '../../src/dashboard/assets.ts';
import type { Dashboard } from '../../src/dashboard/dashboard.ts';
import { startMachine } from '../../src/dashboard/machine/machine.ts';
import type { LocalServer } from '../../src/dashboard/server.ts';
import { takeLock } from '../../src/journal/lock.ts';
import { removeDaemonInfo, writeDaemonInfo } from '../../src/session/state.ts';
import { FakeDaemon, serve } from './dashboard.ts';

export const machineToken = 'token-of-the-page-of-all-daemons';

export interface RunningDaemon {
  readonly source: FakeDaemon;
  readonly dir: string;
  readonly token: string;
  readonly dashboard: Dashboard;
  /** As after a clean end: the file that tells how to reach it is gone. */
  stop(): Promise<void>;
}

/** A state directory with a daemon in it. */
async function startDaemon(dir: string, mode: string): Promise<RunningDaemon> {
  mkdirSync(dir, { recursive: true });
  const lock = takeLock(dir);
  const source = new FakeDaemon();
  const token = `token-of-the-daemon-${mode}`;
  const dashboard = await serve(source, 0, token);
  const control = `http://127.0.0.1:${dashboard.port}`;
  writeDaemonInfo(dir, { pid: process.pid, mode, startedAt: 1, exchange: 'x', control, token });
  return {
    ...{ source, dir, token, dashboard },
    async stop() {
      removeDaemonInfo(dir);
      await dashboard.close();
      lock?.release();
    },
  };
}

export interface Machine {
  readonly folder: string;
  /** `live` and `paper`. */
  readonly daemons: readonly [RunningDaemon, RunningDaemon];
  readonly server: LocalServer;
  close(): Promise<void>;
}

/** `prepare`: writes into the folder before daemons hold their directories. */
export async function startOnMachine(
  prepare?: (folder: string) => Promise<void>,
  clock: Clock = new ScaledClock(1),
): Promise<Machine> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-machine-'));
  await prepare?.(folder);
  const daemons = [
    await startDaemon(join(folder, 'live'), 'live'),
    await startDaemon(join(folder, 'paper'), 'paper'),
  ] as const;
  const places = placesOf(daemons.map(({ dir }) => dir));
  let secrets = 0;
  const server = await startMachine({
    ...{ places: () => places, library: libraryOf(join(folder, 'runs')), port: 0, token: machineToken },
    ...{ secret: () => `${++secrets}`.padStart(32, 's'), assets: loadAssets(), clock },
  });
  return {
    ...{ folder, daemons, server },
    async close() {
      await server.close();
      for (const daemon of daemons) await daemon.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
