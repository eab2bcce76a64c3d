/** Commands in alerts, on the console and on the dashboard name the state directory: whoever runs them may be in another folder, or have several daemons. */
import { basename, resolve } from 'node:path';
import { shellWord } from '../process/shell-word.ts';
import { defaultStateDir, usualStateDirs } from './state.ts';

/** A short name of the daemon on a directory: its last part. */
export const daemonName = (dir: string): string => basename(resolve(dir)).slice(0, 32);

/** The option that a command needs for this directory, after a space; empty where commands find it by themselves. */
export function stateOptionFor(mode: string, dir: string): string {
  const isFound = resolve(dir) === resolve(defaultStateDir(mode)) && usualStateDirs().length < 2;
  return isFound ? '' : ` --state ${shellWord(resolve(dir))}`;
}

/** Commands on a state directory. Not those about the exchange alone, such as `sluice order cancel`. */
const commands = [
  ...['status', 'orders', 'fills', 'positions', 'top', 'why', 'pnl', 'export', 'adjust', 'resolve-trade', 'resolve'],
  ...['kill', 'pause', 'resume', 'flatten', 'cancel', 'reload', 'limits(?: (?:raise|release))?'],
  ...['alerts (?:list|ack)', 'journal (?:check|backup|compact|size)'],
];
/** One that does not name it already. */
const command = new RegExp(`\\bsluice (?:${commands.join('|')})(?![\\w-])(?![^;\\n]*--state )`, 'g');

/** A text whose commands name the state directory. `typed`: the reason in it, which stays as a person typed it. */
export function withState(text: string, option: string, typed = ''): string {
  if (option === '') return text;
  const named = (part: string): string => part.replaceAll(command, (found) => `${found}${option}`);
  // A short reason may also be a part of a word.
  const from = Math.max(...[': ', '('].map((before) => text.indexOf(`${before}${typed}`) + before.length));
  if (typed === '' || !text.startsWith(typed, from)) return named(text);
  return `${named(text.slice(0, from))}${typed}${named(text.slice(from + typed.length))}`;
}
