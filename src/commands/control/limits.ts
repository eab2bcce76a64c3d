/** `sluice limits`: the standard limits, those that were raised, and the confirmed steps that raise them. */
import { systemClock } from '../../clock/clock.ts';
import { Refusal } from '../../domain/refusal.ts';
import { statedReason } from '../../domain/stated-reason.ts';
import { moment } from '../../domain/words.ts';
import type { LimitEntry } from '../../journal/entries.ts';
import { callDaemon } from '../../session/control/daemon-client.ts';
import { writeOffline } from '../../session/control/offline-journal.ts';
import { confirmed, knownLimit, lastVersion } from '../../session/preflight/limits.ts';
import { chooseState, inJournal } from '../../session/state.ts';
import { type Asking, withQuestions } from '../../terminal/questions.ts';
import { textTable } from '../../terminal/table.ts';
import { type ShowOptions, withState } from '../show/read-state.ts';
import { printDone } from './actions.ts';

export interface StepOptions extends ShowOptions, Asking {
  readonly reason: string;
  readonly yes: boolean;
}

export const showLimits = (options: ShowOptions): void =>
  withState(options, (reader, { dir }) => {
    const { json, out } = options;
    const steps = reader.limits();
    const limits = [{ key: 'controls', value: 'all' }, ...confirmed].map(({ key, value }) => ({
      name: key,
      standard: String(value),
      raisedTo: steps.findLast(({ what, name }) => what === 'raise' && name === key)?.value ?? null,
    }));
    if (json) {
      const changes = steps.map(({ what, ...step }) => ({ action: what, ...step, kind: undefined }));
      out(JSON.stringify({ version: 2, state: dir, limits, changes }));
      return;
    }
    const rows = limits.map(({ name, standard, raisedTo }) => [name, standard, raisedTo ?? '']);
    out(textTable(['limit', 'standard', 'raised to'], rows, ''));
    for (const [index, step] of steps.entries()) out(stepText(step, steps.slice(0, index)));
  });

const shortHash = (value: string): string => (value.length === 64 ? value.slice(0, 12) : value);

function stepText({ at, what, name, value, by, reason }: LimitEntry, before: readonly LimitEntry[]): string {
  const ranBefore = before.some((step) => step.what === what && step.name === name && step.value === value);
  const text = shortHash(value);
  const texts = {
    raise: `${name} was raised to ${text} by ${by}: ${reason}`,
    release: `version ${text} of ${name} was released by ${by}: ${reason}`,
    version:
      by === 'sluice'
        ? `${name} ran as version ${text} ${ranBefore ? 'again' : 'for the first time'}`
        : `${name} was reloaded by ${by} as version ${text}: ${reason}`,
    config: by === 'sluice' ? `${name} was ${text} (${reason})` : `${name} was reloaded by ${by} as ${text}: ${reason}`,
  };
  return `${moment(at)}  ${texts[what]}`;
}

/** `sluice limits raise LIMIT VALUE`: a configuration may set the limit as high from now on. */
export async function raiseLimit(name: string, value: string, options: StepOptions): Promise<void> {
  const standard = knownLimit(name, value)?.value ?? 'all';
  await step(options, 'raise', name, value, {
    question: `The standard ${name} is ${standard}. If you confirm, a configuration may set it to ${value}.`,
    done: `${name} may be set to ${value}.`,
  });
}

/** `sluice limits release STRATEGY`: the last version of its code may use the whole allocation. */
export async function releaseVersion(strategy: string, options: StepOptions): Promise<void> {
  const { dir } = chooseState(options.state, () => {}, true);
  const code = lastVersion(
    strategy,
    inJournal(dir, (reader) => reader.limits()),
    dir,
  );
  const done = `Version ${shortHash(code)} of ${strategy} may use its whole allocation`;
  await step({ ...options, state: dir }, 'release', strategy, code, {
    question: `${done} from now on.`,
    done: `${done}.`,
  });
}

async function step(
  options: StepOptions,
  what: 'raise' | 'release',
  name: string,
  value: string,
  { question, done }: { readonly question: string; readonly done: string },
): Promise<void> {
  const { say, yes } = options;
  const reason = statedReason(options.reason);
  const { dir, running } = chooseState(options.state, say, true);
  // Only the name itself, typed, is a yes.
  if (!yes && (await withQuestions(options, (ask) => ask(`${question}\nType ${name} to confirm:`))) !== name)
    throw new Refusal(`nothing was changed: ${name} was not typed (--yes skips the question)`, 1);
  if (running === undefined)
    writeOffline(dir, [{ kind: 'limit', at: systemClock.now(), what, name, value, by: 'operator', reason }]);
  const message =
    running === undefined ? done : await callDaemon(running, 'limits', { by: 'operator', what, name, value, reason });
  printDone(options, message, { action: what, state: dir, name, value });
}
