import type { View } from '../../src/dashboard/view.ts';
import { viewOfDaemon } from '../../src/session/control/daemon-client.ts';
import { runningDaemon } from '../../src/session/state.ts';

/** What the daemon of a state directory shows. */
export async function viewIn(dir: string): Promise<View> {
  const daemon = runningDaemon(dir);
  if (daemon === undefined) throw new Error(`no daemon runs on ${dir}`);
  return viewOfDaemon(daemon);
}
