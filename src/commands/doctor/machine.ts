/** The doctor's checks without the exchange: Node, state directory, disk, weight plan. */
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { TradingConfig } from '../../config/schema.ts';
import { makeDirs } from '../../journal/open.ts';
import { planLines, weightPlanOf } from '../../session/preflight/weight-plan.ts';
import { runningDaemon } from '../../session/state.ts';
import type { Configured } from '../../trading/strategies.ts';
import { type Check, fail, ok, warn } from './check.ts';

const leastNode = 20;
/** Free space, bytes: too little to start, and too little for months. */
const leastBytes = 50e6;
const fewBytes = 1e9;

export const machineChecks = (stateDir: string): readonly Check[] => [
  nodeCheck(),
  stateCheck(stateDir),
  diskCheck(stateDir),
];

function nodeCheck(): Check {
  const version = process.versions.node;
  return Number(version.split('.')[0]) >= leastNode
    ? ok('Node', version)
    : fail('Node', `${version} is too old`, `install Node ${leastNode} or newer`);
}

function stateCheck(dir: string): Check {
  const running = existsSync(dir) ? runningDaemon(dir) : undefined;
  if (running !== undefined)
    return ok('state', `${dir}: a daemon trades on it (${running.mode}, process ${running.pid})`);
  try {
    makeDirs(dir);
    accessSync(dir, constants.W_OK);
    return ok('state', `${dir} can be written; no daemon runs on it`);
  } catch (error) {
    const cause = error instanceof Error ? error.message : '';
    return fail('state', `${dir} cannot be written: ${cause}`, 'give another directory with --state DIR');
  }
}

function diskCheck(dir: string): Check {
  let near = resolve(dir);
  while (!existsSync(near)) near = dirname(near);
  const { bavail, bsize } = statfsSync(near);
  const bytes = bavail * bsize;
  const text = `${(bytes / 1e9).toFixed(1)} GB free`;
  if (bytes < leastBytes) return fail('disk', text, 'make room: an order that cannot be journalled is not sent');
  return bytes < fewBytes ? warn('disk', text, 'make room: the journal grows for months') : ok('disk', text);
}

export function planCheck(config: TradingConfig, configured: readonly Configured[]): Check {
  const plan = weightPlanOf(config, configured);
  const sum = `${Math.round(plan.weightPerMinute)} a minute of ${Math.floor(plan.room)}, ${Math.ceil(plan.weightAtStart)} to begin`;
  const text = [sum, ...planLines(plan)].join('\n');
  return plan.faults.length === 0 ? ok('weight', text) : fail('weight', text, plan.faults.join('; '));
}
