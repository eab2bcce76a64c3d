/** `sluice kill`, `resume` and `cancel`. */
import { Refusal } from '../../domain/refusal.ts';
import { type Control, control } from '../../session/control/control.ts';
import { chooseState } from '../../session/state.ts';
import type { Output } from '../../terminal/output.ts';

export interface ControlOptions extends Output {
  readonly state?: string;
  readonly strategy?: string;
  readonly all?: boolean;
  readonly reason?: string;
}

async function run(action: Control['action'], options: ControlOptions): Promise<void> {
  const { state, strategy, reason = '', json, out, say } = options;
  const chosen = chooseState(state, say, true);
  const message = await control(chosen, { action, strategy, reason }, say);
  const { dir } = chosen;
  out(json ? JSON.stringify({ version: 2, action, state: dir, strategy: strategy ?? null, message }) : message);
}

export const kill = (options: ControlOptions): Promise<void> => run('kill', options);
export const resume = (options: ControlOptions): Promise<void> => run('resume', options);
export async function cancel(options: ControlOptions): Promise<void> {
  if (options.strategy === undefined && options.all !== true)
    throw new Refusal('say which orders: sluice cancel --all, or sluice cancel --strategy ID');
  await run('cancel', options);
}
