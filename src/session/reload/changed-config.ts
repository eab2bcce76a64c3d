/** What differs between two configurations: limits that would be tighter or looser, what else a reload changes, and what only a restart can change. */
import { isDeepStrictEqual } from 'node:util';
import type { TradingConfig } from '../../config/schema.ts';
import { rateText, unitsText } from '../../domain/money.ts';
import type { Limits, StrategyLimits } from '../../risk/context.ts';
import { standards } from '../../risk/control-list.ts';
import { isStrict, limitsOf } from '../preflight/limits.ts';

export interface LimitChange {
  /** Its place in the configuration. */
  readonly path: string;
  /** `500 → 1000`. */
  readonly text: string;
  readonly isLooser: boolean;
}

export interface ConfigChange {
  readonly limits: readonly LimitChange[];
  /** Places of what else changes while it runs: alerts and the log. */
  readonly others: readonly string[];
  /** Places of what only a restart changes. */
  readonly fixed: readonly string[];
}

type Fraction = Parameters<typeof rateText>[0];
type Amount = Parameters<typeof unitsText>[0];
type Value = string | number | boolean | bigint | readonly string[] | undefined;

/** Limits by which less is allowed the higher they are, or by one value alone. All others allow more the higher they are. */
const careful: ReadonlyMap<string, string> = new Map(standards.map(({ key, careful: way }) => [key, way]));
const fractions: ReadonlySet<string> = new Set(
  standards.filter(({ value }) => typeof value === 'string').map(({ key }) => key),
);
/** What `Risk.changeLimits` does not change. */
const notWhileRunning: ReadonlySet<string> = new Set(['moveWindowMs']);

const inForce = (config: TradingConfig): Limits => limitsOf(config.risk, config.strategies, isStrict(config));

/** Compares the configuration that a daemon runs with another one. */
export function changedConfig(before: TradingConfig, after: TradingConfig): ConfigChange {
  const [old, next] = [inForce(before), inForce(after)];
  const limits = [
    ...changes('risk', valuesOf(old), valuesOf(next)),
    ...before.strategies.flatMap(({ id }) =>
      changes(`strategies.${id}.limits`, valuesOf(old.strategies?.get(id)), valuesOf(next.strategies?.get(id))),
    ),
  ];
  const isFixed = ({ path }: LimitChange): boolean => notWhileRunning.has(path.slice('risk.'.length));
  const others = differences('', withoutLimits(before), withoutLimits(after));
  const commanded = commandPlaces(before, after);
  const isOther = (path: string): boolean =>
    reloaded.test(path) && !commanded.some((place) => path === place || path.startsWith(`${place}.`));
  return {
    limits: limits.filter((one) => !isFixed(one)),
    others: others.filter(isOther),
    fixed: [...limits.filter(isFixed).map(({ path }) => path), ...others.filter((path) => !isOther(path))],
  };
}

/** Alerts as a whole are begun and ended with the daemon. How lines of the log look, too. */
const reloaded = /^(alerts\.|log\.(?!format$))/;

/** Channels whose chats give commands: a slip in an editor must not say who may. */
const commandPlaces = (...configs: readonly TradingConfig[]): readonly string[] =>
  configs.flatMap((config) => commandChannels(config).map((name) => `alerts.channels.${name}`));

export const commandChannels = ({ alerts }: TradingConfig): readonly string[] =>
  Object.entries(alerts?.channels ?? {}).flatMap(([name, channel]) =>
    channel.type === 'telegram' && channel.commandsFrom !== undefined ? [name] : [],
  );

const valuesOf = (limits: Partial<Limits> | StrategyLimits | undefined): Readonly<Record<string, Value>> =>
  Object.fromEntries(
    Object.entries({ ...limits }).filter(([key]) => key !== 'strategies' && key !== 'controls'),
  ) as Record<string, Value>;

function changes(
  at: string,
  before: Readonly<Record<string, Value>>,
  after: Readonly<Record<string, Value>>,
): readonly LimitChange[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys
    .filter((key) => !isDeepStrictEqual(before[key], after[key]))
    .map((key) => ({
      path: `${at}.${key}`,
      text: `${valueText(key, before[key])} → ${valueText(key, after[key])}`,
      isLooser: isLooser(key, before[key], after[key]),
    }));
}

/** Whether a limit allows anything that it denied before. One that is left out allows everything. */
export function isLooser(key: string, before: Value, after: Value): boolean {
  if (after === undefined || before === undefined) return after === undefined;
  if (Array.isArray(before) && Array.isArray(after)) return after.some((one) => !before.includes(one));
  const way = careful.get(key) ?? 'lower';
  if (way === 'only') return after !== standards.find((one) => one.key === key)?.value;
  return way === 'higher' ? after < before : after > before;
}

function valueText(key: string, value: Value): string {
  if (value === undefined) return 'none';
  if (typeof value === 'bigint') return fractions.has(key) ? rateText(value as Fraction) : unitsText(value as Amount);
  return Array.isArray(value) ? value.join(', ') : String(value);
}

/** Strategies by their id, so that a difference names one. */
const withoutLimits = ({ strategies, risk: _risk, ...others }: TradingConfig): object => ({
  ...others,
  strategies: Object.fromEntries(strategies.map(({ id, limits: _limits, ...one }) => [id, one])),
});

/** Places of two objects whose values differ, as deep as both are objects. */
function differences(at: string, before: unknown, after: unknown): readonly string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [at];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => differences(at === '' ? key : `${at}.${key}`, before[key], after[key]));
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
