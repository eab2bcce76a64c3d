/** The output of a program. It handles a reader that has gone: a closed pipe or terminal. */

import { escapeText } from '../domain/printable.ts';
import { redact, registerSecrets } from '../domain/redaction.ts';

/** Where a command prints. */
export interface Output {
  /** As JSON, for programs. */
  readonly json: boolean;
  /** stdout. */
  readonly out: (line: string) => void;
  /** stderr. */
  readonly say: (line: string) => void;
}

const ofSecret = /^SLUICE_(ALERT_.+|PING_URL|.+_(KEY|SECRET|TOKEN|PASSPHRASE))$/;

/** Redacts every secret of the environment, also one that this command does not read: an error of a strategy may have it. */
export const registerSecretsOf = (environment: Readonly<Record<string, string | undefined>>): void =>
  registerSecrets(
    Object.keys(environment)
      .filter((name) => ofSecret.test(name))
      .map((name) => environment[name]),
  );

/** A text as a terminal may have it. Secrets first: escaped, one would not be found. */
const shown = (line: string): string => escapeText(redact(line));

/** Prints to stdout. `isStyled`: the text is printable already and contains our own colours. */
export const out = (line: string, isStyled = false): void => {
  process.stdout.write(`${isStyled ? redact(line) : shown(line)}\n`);
};

/** Prints to stderr. */
export const say = (line: string): void => {
  process.stderr.write(`${shown(line)}\n`);
};

/** Prints to stderr a line that the next output overwrites. */
export const progress = (line: string): void => {
  process.stderr.write(`\u001B[2K${shown(line)}\r`);
};

/** Their orders and stops need them, whether or not anybody reads the output. */
const daemons: ReadonlySet<string | undefined> = new Set(['live', 'paper', 'demo', 'watchdog', 'record']);

/** `sluice fills | head` ends with success when `head` does. A daemon goes on: its log has the same messages. */
export function toleratesClosedOutput(command: string | undefined): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (daemons.has(command)) return;
      if (error.code !== 'EPIPE') throw error;
      if (stream === process.stdout) process.exit(0);
    });
}
