/** The daemon's log: JSON lines by pino into the state directory; the terminal stays for the status. */
import { join } from 'node:path';
import { type Logger, pino } from 'pino';

export type Log = Logger;
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Lines go to `sluice.log` of a state directory, readable by its owner alone. */
export const fileLog = (dir: string, level: LogLevel): Log =>
  pino({ level }, pino.destination({ dest: join(dir, 'sluice.log'), mkdir: true, mode: 0o600, sync: false }));

/** Logs nothing: for tests and commands. */
export const noLog = (): Log => pino({ level: 'silent' });
