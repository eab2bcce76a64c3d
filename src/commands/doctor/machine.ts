/** What the doctor can tell without the exchange: Node, the state directory and its disk, the weight plan. */
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { TradingConfig } from '../../config/schema.ts';
import { makeDirs } from '../../journal/open.ts';
import { planLines, weightPlanOf } from '../../session/preflight/weight-plan.ts';
import { runningDaemon } from '../../session/state.ts';
import type { Configured } from '../../trading/strategies.ts';
import { type Check, check } from './check.ts';

const leastNode = 20;
/** Free space, bytes: below the first nothing is worth starting, below the second it will not last for months. */
const leastBytes = 50e6;
const fewBytes = 1e9;

export const machineChecks = (stateDir: string): readonly Check[] => [
  nodeCheck(),
  stateCheck(stateDir),
  diskCheck(stateDir),
];

function nodeCheck(): Check {
  const version = process.versions.node;
  const isNew = Number(version.split('.')[0]) >= leastNode;
  return isNew
    ? check('Node', 'ok', version)
    : check('Node', 'fail', `${version} is too old`, `install Node ${leastNode} or newer`);
}

function stateCheck(dir: string): Check {
  const running = existsSync(dir) ? runningDaemon(dir) : undefined;
  if (running !== undefined)
    return check('state', 'ok', `${dir}: a daemon trades on it (${running.mode}, process ${running.pid})`);
  try {
    makeDirs(dir);
    accessSync(dir, constants.W_OK);
    return check('state', 'ok', `${dir} can be written; no daemon runs on it`);
  } catch (error) {
    const cause = error instanceof Error ? error.message : '';
    return check('state', 'fail', `${dir} cannot be written: ${cause}`, 'give another directory with --state DIR');
  }
}

function diskCheck(dir: string): Check {
  let near = resolve(dir);
  while (!existsSync(near)) near = dirname(near);
  const { bavail, bsize } = statfsSync(near);
  const bytes = bavail * bsize;
  const text = `${(bytes / 1e9).toFixed(1)} GB free`;
  if (bytes < leastBytes)
    return check('disk', 'fail', text, 'make room: an order that cannot be written down is not sent');
  return bytes < fewBytes
    ? check('disk', 'warn', text, 'make room before the journal has grown over months')
    : check('disk', 'ok', text);
}

export function planChecks(config: TradingConfig, configured: readonly Configured[]): readonly Check[] {
  const plan = weightPlanOf(config, configured);
  const [fault] = plan.faults;
  const sum = `${Math.round(plan.weightPerMinute)} a minute of ${Math.floor(plan.room)}, ${Math.ceil(plan.weightAtStart)} to begin`;
  const text = [sum, ...planLines(plan)].join('\n');
  if (fault === undefined) return [check('weight', 'ok', text)];
  return [check('weight', 'fail', text, plan.faults.join('; '))];
}
