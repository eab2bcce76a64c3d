/** The daemon's log: JSON lines by pino into the state directory; the terminal stays for the status. */
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';
import { escapeText } from '../domain/printable.ts';

export type Log = Logger;
export type LogLevel = LevelWithSilent;

/** Lines go to `sluice.log` of a state directory, readable by its owner alone. */
export const fileLog = (dir: string, level: LogLevel): Log => logTo(join(dir, 'sluice.log'), level);

/** Logs into a file whose directory is there. Lines for which the disk has no space are lost. */
export const logTo = (file: string, level: LogLevel): Log => pino({ level }, destination(openSync(file, 'a', 0o600)));

/**
 * Line by line and at once: lines are few, and the last ones before an end are the ones that matter. Pino's own destination
 * ends the process when a disk is full, or waits for space without end as the process exits.
 */
function destination(fd: number): DestinationStream {
  let torn = false;
  return {
    write(line) {
      // It is read on terminals; a line of JSON stays one.
      const text = `${torn ? '\n' : ''}${escapeText(line)}`;
      try {
        torn = writeSync(fd, text) < Buffer.byteLength(text);
      } catch {
        // The journal is on the same disk and reports it.
      }
    },
  };
}

/** Logs nothing: for tests and commands. */
export const noLog = (): Log => pino({ level: 'silent' });
