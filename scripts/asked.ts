/** What the command line of a script asks for; where that cannot be, one line of it and the usage, and the exit code 2. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** Ends the script; at `--help` with the usage alone, and 0. */
export function ended(text: string, usage: string): never {
  if (process.argv.includes('--help')) process.stdout.write(`${usage}\n`);
  else process.stderr.write(`${text}\n${usage}\n`);
  process.exit(process.argv.includes('--help') ? 0 : 2);
}

export function askedFor<const T extends ParseArgsOptionsConfig>(options: T, usage: string) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return ended(error instanceof Error ? error.message : String(error), usage);
  }
}

/** A whole number from `least` on; undefined where none was given. */
export function wholeFrom(min: number, name: string, text: string | undefined, usage: string): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(value) && value >= min
    ? value
    : ended(`--${name} must be a whole number from ${min} on, not ${text}`, usage);
}
