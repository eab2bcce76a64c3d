/** `sluice limits`: what the standard limits are, what was raised above them, and the steps that raise them. */

import { systemClock } from '../../clock/clock.ts';
import { Refusal } from '../../domain/refusal.ts';
import { statedReason } from '../../domain/stated-reason.ts';
import { moment } from '../../domain/words.ts';
import type { LimitEntry } from '../../journal/entries.ts';
import { confirmed, knownLimit, lastVersion } from '../../session/preflight/limits.ts';
import { chooseState, inJournal } from '../../session/state.ts';
import { type Asking, questioner } from '../manual/ask.ts';
import { withState } from '../show/show.ts';
import { textTable } from '../text-table.ts';
import { ask, writeAtRest } from './kill-resume-cancel.ts';

export interface LimitsOptions {
  readonly state?: string;
  readonly json: boolean;
  readonly out: (line: string) => void;
  readonly say: (line: string) => void;
}

export interface StepOptions extends LimitsOptions {
  readonly reason: string;
  readonly yes: boolean;
  readonly signal: AbortSignal;
  readonly input?: Asking['input'];
}

/** Every limit with its standard value, and what was raised. */
export function showLimits(options: LimitsOptions): void {
  withState(options, (reader, { dir }) => showSteps(dir, reader.limits(), options));
}

function showSteps(dir: string, steps: readonly LimitEntry[], options: LimitsOptions): void {
  const limits = [{ key: 'controls', value: 'all' }, ...confirmed].map(({ key, value }) => ({
    name: key,
    standard: String(value),
    raisedTo: steps.findLast(({ what, name }) => what === 'raise' && name === key)?.value ?? null,
  }));
  if (options.json) {
    options.out(
      JSON.stringify({
        version: 2,
        state: dir,
        limits,
        changes: steps.map(({ what, ...step }) => ({ action: what, ...step, kind: undefined })),
      }),
    );
    return;
  }
  const rows = limits.map(({ name, standard, raisedTo }) => [name, standard, raisedTo ?? '']);
  options.out(textTable(['limit', 'standard', 'raised to'], rows, ''));
  for (const [index, step] of steps.entries()) options.out(stepText(step, steps.slice(0, index)));
}

function stepText({ at, what, name, value, by, reason }: LimitEntry, before: readonly LimitEntry[]): string {
  const ranBefore = before.some((step) => step.what === what && step.name === name && step.value === value);
  const when = moment(at);
  const short = value.length === 64 ? value.slice(0, 12) : value;
  const words = {
    raise: `${name} was raised to ${short} by ${by}: ${reason}`,
    release: `version ${short} of ${name} was released by ${by}: ${reason}`,
    version: `${name} ran as version ${short} ${ranBefore ? 'again' : 'for the first time'}`,
    config: `${name} was ${short} (${reason})`,
  };
  return `${when}  ${words[what]}`;
}

/** `sluice limits raise LIMIT VALUE`: from now on a configuration may stand as high. */
export async function raiseLimit(name: string, value: string, options: StepOptions): Promise<void> {
  const standard = knownLimit(name, value);
  const was = standard === undefined ? 'all' : String(standard.value);
  await step(options, 'raise', name, value, {
    question: `The standard ${name} is ${was}. Raised to ${value}, a configuration may stand as high; its orders are not refused for it any more.`,
    done: `${name} may stand at ${value}.`,
  });
}

/** `sluice limits release STRATEGY`: the version of its code that ran last may hold all that it was allotted. */
export async function releaseVersion(strategy: string, options: StepOptions): Promise<void> {
  const { dir } = chooseState(options.state, () => {}, true);
  const steps = inJournal(dir, (reader) => reader.limits());
  const code = lastVersion(strategy, steps, dir);
  const short = code.slice(0, 12);
  await step({ ...options, state: dir }, 'release', strategy, code, {
    question: `Version ${short} of ${strategy} may use its whole allocation from now on.`,
    done: `Version ${short} of ${strategy} may use its whole allocation.`,
  });
}

async function step(
  options: StepOptions,
  what: 'raise' | 'release',
  name: string,
  value: string,
  { question, done }: { readonly question: string; readonly done: string },
): Promise<void> {
  const { json, out, say } = options;
  const reason = statedReason(options.reason);
  const { dir, running } = chooseState(options.state, say, true);
  if (!options.yes) await confirm(question, name, options);
  if (running === undefined)
    writeAtRest(dir, [{ kind: 'limit', at: systemClock.now(), what, name, value, by: 'operator', reason }]);
  const said = running === undefined ? done : await ask(running, 'limits', { what, name, value, reason });
  out(json ? JSON.stringify({ version: 2, action: what, state: dir, name, value, message: said }) : said);
}

/** Only the name itself, typed, is a yes. */
async function confirm(question: string, name: string, { say, signal, input }: StepOptions): Promise<void> {
  const asker = questioner(input === undefined ? { say, signal } : { say, signal, input });
  try {
    if ((await asker.ask(`${question}\nType ${name} to do it:`)) === name) return;
  } finally {
    asker.close();
  }
  throw new Refusal(`nothing was changed: ${name} was not typed (with --yes nobody is asked)`, 1);
}
