/** The limits of a run: configured values, standard values, and confirmed deviations. */

import { dirname } from 'node:path';
import type { Clock } from '../../clock/clock.ts';
import { configHash } from '../../config/hash.ts';
import { isLoopback, type RiskConfig, type StrategyConfig, type TradingConfig } from '../../config/schema.ts';
import { Decimal, noUnits, rateText, unitsText } from '../../domain/money.ts';
import type { OperatorActions } from '../../domain/operator-actions.ts';
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import type { LimitEntry } from '../../journal/entries.ts';
import type { Limits, NewVersion } from '../../risk/context.ts';
import { isAbove, type Standard, standardLimits, standards } from '../../risk/control-list.ts';
import { codeHash } from '../../strategy/code-version.ts';
import type { Assembled } from '../../trading/assemble.ts';
import type { Configured } from '../../trading/strategies.ts';
import { inJournal } from '../state.ts';

/**
 * Whether limits that a configuration leaves out hold by their standard value. They do where money is real; an exchange on this
 * machine and recorded klines lose none.
 */
export const isStrict = ({ exchange, risk }: Pick<TradingConfig, 'exchange' | 'risk'>): boolean =>
  (risk.controls ?? (isLoopback(exchange.restUrl) ? 'stated' : 'all')) === 'all';

/** Settings outside `risk` that say how careful a run is: the gap between two sweeps, the watchdog's patience, and D (docs/explanation/exactly-once.md#assumptions). */
const settings: readonly Standard[] = [
  { key: 'execution.sweepMs', value: 5_000, careful: 'lower' },
  { key: 'execution.absentAfterMs', value: 60_000, careful: 'higher' },
  { key: 'watchdog.afterMs', value: 30_000, careful: 'lower' },
];

/** Everything that may be less careful than its standard by a confirmed step alone. */
export const confirmed: readonly Standard[] = [...standards, ...settings];

/** What of a configuration says how careful it is. */
type Careful = Pick<TradingConfig, 'risk' | 'execution' | 'watchdog'>;

/** Where a limit stands in a configuration. */
const pathOf = (key: string): string => (key.includes('.') ? key : `risk.${key}`);

/** A limit as it would stand in a configuration; undefined where it does not. */
function configured({ risk, execution, watchdog }: Careful, { key }: Standard): string | number | boolean | undefined {
  const stands: Readonly<Partial<Record<string, unknown>>> = {
    ...risk,
    'execution.sweepMs': execution.sweepMs,
    'execution.absentAfterMs': execution.absentAfterMs,
    'watchdog.afterMs': watchdog.afterMs,
  };
  return asWritten(stands[key]);
}

function asWritten(value: unknown): string | number | boolean | undefined {
  if (typeof value === 'bigint') return rateText(value as Parameters<typeof rateText>[0]);
  return typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

/** What the rules judge by. */
export const limitsOf = (risk: RiskConfig, strategies: readonly StrategyConfig[], strict: boolean): Limits => ({
  ...(strict ? standardLimits : {}),
  ...risk,
  strategies: new Map(strategies.map(({ id, limits }) => [id, limits])),
});

/** The limits in force as a configuration states them, those that kill apart from those that deny, and the names of those that are not set. */
export function limitsInForce(config: TradingConfig) {
  const { maxOrderValue, maxPosition } = config.risk;
  const inForce = new Map<string, unknown>(Object.entries(limitsOf(config.risk, config.strategies, isStrict(config))));
  const [kills, denies, missing]: [string[], string[], string[]] = [[], [], []];
  for (const { key } of standards) {
    const value = asWritten(inForce.get(key));
    if (value === undefined) missing.push(key);
    else (killingKeys.has(key) ? kills : denies).push(`${key} ${value}`);
  }
  const values = [`maxOrderValue ${unitsText(maxOrderValue)}`, `maxPosition ${unitsText(maxPosition)}`];
  return { kills, denies: [...values, ...denies], missing };
}

/** Their numbers kill a strategy, or all. */
const killingKeys: ReadonlySet<string> = new Set([
  'maxDailyLoss',
  'maxDrawdown',
  'maxEntries',
  'maxConsecutiveLosses',
  'maxDenials',
  'maxDecideMs',
]);

/** A limit that stands less careful than its standard value. */
export interface Raised {
  readonly key: string;
  readonly value: string;
  readonly standard: string;
}

/** The limits of a configuration that are less careful than the standard. */
export function raisedIn(config: Careful): readonly Raised[] {
  const raised = confirmed.flatMap((standard): Raised[] => {
    const value = configured(config, standard);
    return value === undefined || !isAbove(standard, value)
      ? []
      : [{ key: standard.key, value: String(value), standard: String(standard.value) }];
  });
  return config.risk.controls === 'stated'
    ? [{ key: 'controls', value: 'stated', standard: 'all' }, ...raised]
    : raised;
}

/** True when the last step about a limit allows a value. */
function isAllowed({ key, value }: Raised, steps: readonly LimitEntry[]): boolean {
  const step = steps.findLast(({ what, name }) => what === 'raise' && name === key);
  if (step === undefined) return false;
  const standard = confirmed.find((one) => one.key === key);
  return standard === undefined || standard.careful === 'only'
    ? step.value === value
    : !isAbove({ ...standard, value: step.value }, value);
}

/** Refuses what no limit is, or no value above its standard; gives what its standard is, undefined for `controls`. */
export function knownLimit(name: string, value: string): Standard | undefined {
  if (name === 'controls' && value === 'stated') return undefined;
  if (name === 'controls')
    throw new Refusal(`controls can only be raised to stated, not to ${value}: all is the default`);
  const standard = confirmed.find(({ key }) => key === name);
  const names = ['controls', ...confirmed.map(({ key }) => key)];
  if (standard === undefined)
    throw new Refusal(`unknown limit ${name}${didYouMean(name, names)}; there are ${names.join(', ')}`);
  const like = typeof standard.value === 'boolean' ? /^(true|false)$/ : /^\d+(\.\d{1,8})?$/;
  if (!like.test(value)) throw new Refusal(`${value} is not a value of ${name}: its standard is ${standard.value}`);
  if (typeof standard.value === 'string' && new Decimal(standard.value).lt(1) && new Decimal(value).gt(1))
    throw new Refusal(`${name} is a fraction of at most 1: 5 % is 0.05, not 5`);
  const given = typeof standard.value === 'boolean' ? value === 'true' : value;
  if (!isAbove(standard, given))
    throw new Refusal(
      `${name} ${value} is not looser than the standard ${standard.value}: only write it into the configuration`,
    );
  return standard;
}

/** The version of its code that a strategy ran as last. */
export function lastVersion(strategy: string, steps: readonly LimitEntry[], stateDir: string): string {
  const code = steps.findLast(({ what, name }) => what === 'version' && name === strategy)?.value;
  if (code !== undefined) return code;
  const ids = [...new Set(steps.filter(({ what }) => what === 'version').map(({ name }) => name))];
  throw new Refusal(
    `strategy ${strategy} never ran on ${stateDir}${didYouMean(strategy, ids)}: start it first; it begins with a part of its allocation`,
  );
}

/** A start that waits for a human: what its state directory holds must stay, so that the step can be written into it. */
export class NotRaised extends Refusal {}

/** In words. */
interface Unraised {
  readonly what: string;
  readonly which: readonly string[];
  readonly advice: string;
  readonly raises: readonly string[];
}

/** Limits of a configuration above the standard that were not confirmed. */
export function unraised(
  config: Pick<TradingConfig, 'exchange'> & Careful,
  steps: readonly LimitEntry[],
  stateDir: string,
): Unraised | undefined {
  const isReal = !isLoopback(config.exchange.restUrl);
  if (!isReal && config.risk.controls !== 'all') return undefined;
  const open = raisedIn(config).filter((one) => !isAllowed(one, steps));
  if (open.length === 0) return undefined;
  return {
    what: `${open.length === 1 ? 'a limit is' : `${open.length} limits are`} looser than the standard and not confirmed:`,
    which: open.map(({ key, value, standard }) => `${pathOf(key)} is ${value}, the standard is ${standard}`),
    advice: 'lower it, or confirm it once:',
    raises: open.map(({ key, value }) => `sluice limits raise ${key} ${value} --state ${stateDir} --reason "…"`),
  };
}

/** Refuses such a configuration. */
export function refuseUnraised(...given: Parameters<typeof unraised>): void {
  const found = unraised(...given);
  if (found === undefined) return;
  const { what, which, advice, raises } = found;
  const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);
  throw new NotRaised([what, ...indented(which), advice, ...indented(raises)].join('\n'), 3);
}

/** Each strategy's version, by its id: the hash of its code. */
export const versionsOf = (strategies: readonly Configured[]): ReadonlyMap<string, string> =>
  new Map(strategies.map(({ config, configFile }) => [config.id, codeHash(config.use, dirname(configFile))]));

/** The configuration (SHA-256, hex) and versions of a start, those that were not released, and rows that the journal lacks. */
export function versionRows(
  config: TradingConfig,
  strategies: readonly Configured[],
  steps: readonly LimitEntry[],
  at: number,
) {
  const unreleased = new Map<string, NewVersion>();
  const rows: LimitEntry[] = [];
  const versions = versionsOf(strategies);
  const note = (what: 'version' | 'config', name: string, value: string): void => {
    const before = steps.findLast((step) => step.what === what && step.name === name)?.value;
    if (before !== value) rows.push({ kind: 'limit', at, what, name, value, by: 'sluice', reason: 'a start' });
  };
  const hash = configHash(config);
  note('config', strategies[0]?.configFile ?? '', hash);
  for (const { id, allocation = noUnits } of config.strategies) {
    const code = versions.get(id) ?? '';
    note('version', id, code);
    const isReleased = steps.some(({ what, name, value }) => what === 'release' && name === id && value === code);
    if (!isReleased) unreleased.set(id, { code, allocation });
  }
  return { config: hash, versions, unreleased, rows };
}

/** Steps above the standard limits in a running daemon, with the same checks as the command. */
export function limitSteps(
  { execution: { journal }, risk }: Pick<Assembled, 'execution' | 'risk'>,
  clock: Clock,
  stateDir: string,
) {
  return async ({ what, name, value, by, reason }: Parameters<OperatorActions['limits']>[0]): Promise<string> => {
    if (what === 'raise') knownLimit(name, value);
    else {
      const steps = inJournal(stateDir, (reader) => reader.limits());
      const code = lastVersion(name, steps, stateDir);
      if (value !== code) throw new Refusal(`${name} ran as version ${code} last, not as ${value}`);
    }
    journal.append({ kind: 'limit', at: clock.now(), what, name, value, by, reason });
    if (what === 'release' && risk.newVersions.get(name)?.code === value) risk.release(name);
    await journal.durable();
    return what === 'release'
      ? `Version ${value.slice(0, 12)} of ${name} may use its whole allocation from now on.`
      : `${name} may be set to ${value}: change the configuration and start again.`;
  };
}
