/** Options that several commands take, and how a command runs what carries it out. */
import { join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { momentOf, momentWanted } from '../config/times.ts';
import { Refusal } from '../domain/refusal.ts';

/** What every command gets besides its options. */
export interface Io {
  readonly out: (line: string, isStyled?: boolean) => void;
  readonly say: (line: string) => void;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Lets a command call what `load` loads, with its arguments and then its options. Nothing else is loaded before. */
export const run = (command: Command, io: Io, load: () => Promise<(...args: never[]) => unknown>): Command =>
  command.action(async (...given: readonly unknown[]) => {
    const self = given.at(-1) as Command;
    const options = { ...self.optsWithGlobals<object>(), ...io, environment: process.env };
    await ((await load()) as (...args: readonly unknown[]) => unknown)(...given.slice(0, -2), options);
  });

export const stateOption = (): Option => new Option('--state <DIR>', 'the state directory');
export const jsonOption = (): Option =>
  new Option('--json', 'machine output on stdout; everything else goes to stderr').default(false);
export const configOption = (): Option => new Option('--config <FILE>', 'the configuration');
export const setOption = (): Option =>
  new Option('--set <PATH=VALUE>', 'change a value of the configuration').argParser(collect).default([]);
export const logOption = (): Option =>
  new Option('--log-level <LEVEL>', 'level of the log in the state directory').choices([
    ...['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
  ]);
export const runsOption = (): Option =>
  new Option('--runs <DIR>', 'folder of saved runs and counted trials').default(join('var', 'runs'));
export const dataOption = (): Option => new Option('--data <DIR>', 'the folder of the catalogue').default('var/data');

/** Refuses a missing `--config`. Commander would do so before it reports a misspelled option. */
export function requireConfig(command: string, config: string | undefined): string {
  if (config !== undefined) return config;
  const example = ['backtest', 'check', 'paper'].includes(command) ? command : 'live';
  throw new Refusal(`${command} needs a configuration: --config FILE, such as --config config/${example}.yaml`);
}

/** Adds `--config`, without which the command is refused. */
export const configured = (command: Command): Command =>
  command
    .addOption(configOption())
    .hook('preAction', (_, self) => void requireConfig(self.name(), self.opts<{ config?: string }>().config));

/** Options that name an exchange by its REST address. */
export const restOptions = (command: Command): Command =>
  command
    .option('--config <FILE>', 'the configuration of a daemon: its address, account and limits')
    .option('--url <URL>', 'the REST address, instead of --config')
    .option('--strip-prefix <PATH>', 'path prefix that a gateway removes before it verifies signatures')
    .option('--speed <N>', 'speed of a built-in exchange, which it prints at its start (1)', speed)
    .addOption(jsonOption());

/** The same with the socket. */
export const exchangeOptions = (command: Command): Command =>
  restOptions(command).option('--ws-url <URL>', "the socket's address (/kline-api/ws at the same host)");

/** Parses an option that may be given several times. */
export const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < min || value > max)
      throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}`);
    return value;
  };

/** Exchange seconds per real second. */
export function speed(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1_000)) throw new InvalidArgumentError('must be a number above 0, at most 1000');
  return value;
}

/** A date as UTC ms. */
export function dateOption(text: string): number {
  const time = momentOf(text);
  if (Number.isNaN(time)) throw new InvalidArgumentError(`must be ${momentWanted}`);
  return time;
}

/** Refuses an option as the value of another: Commander would take `--state` in `--strategy --state DIR` as the strategy. */
export function requireValues(command: Command): void {
  for (const option of command.options) {
    if (!option.required || option.variadic) continue;
    const parse = option.parseArg;
    option.argParser((value: string, before: unknown) => {
      if (value.startsWith('--')) throw new InvalidArgumentError('The value is missing.');
      return parse === undefined ? value : parse(value, before);
    });
  }
  for (const one of command.commands) requireValues(one);
}
