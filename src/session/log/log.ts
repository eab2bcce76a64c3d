/** The daemon's log: lines by pino into the state directory; the terminal stays for the status. */
import { join } from 'node:path';
import { type LevelWithSilent, type Logger, pino } from 'pino';
import type { LogConfig } from '../../config/log.ts';
import { escapeLine, escapeText } from '../../domain/printable.ts';
import { redact } from '../../domain/redaction.ts';
import { LogFile, type Rotation } from './log-file.ts';

export type Log = Logger;
export type LogLevel = LevelWithSilent;

export interface OpenLog {
  readonly log: Log;
  readonly file: Pick<LogFile, 'reopen' | 'lost'>;
  /** Changes its level and its rotation, after a reload. */
  readonly change: (config: LogConfig) => void;
}

const rotationOf = ({ maxMb, maxFiles, maxDays }: LogConfig): Rotation => ({
  ...{ maxBytes: maxMb * 1024 ** 2, maxFiles, maxDays },
});

/** Lines go to `sluice.log` of a state directory, readable by its owner alone. `level` overrides the configuration. */
export const fileLog = (dir: string, config: LogConfig, level?: LogLevel): Promise<OpenLog> =>
  logTo(join(dir, 'sluice.log'), config, level);

/** Logs into a file whose directory is there. Lines for which the disk has no space are lost, and counted. */
export async function logTo(path: string, config: LogConfig, level?: LogLevel): Promise<OpenLog> {
  const { format } = config;
  const file = new LogFile(path, rotationOf(config));
  // Lines are read on terminals, and texts of others must not begin a line of their own.
  const shown = format === 'pretty' ? await prettily() : escapeText;
  let missing = 0;
  const log: Log = pino(
    { level: level ?? config.level },
    {
      write(line: string) {
        if (!file.write(shown(redact(line)))) missing++;
        else if (missing > 0) {
          const lost = missing;
          missing = 0;
          log.warn({ lost }, `${lost} ${lost === 1 ? 'line' : 'lines'} before the last one could not be written`);
        }
      },
    },
  );
  return {
    log,
    file,
    change(next) {
      file.rotation = rotationOf(next);
      log.level = level ?? next.level;
    },
  };
}

/** One line for people, with its facts behind the text. */
async function prettily(): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({
    colorize: false,
    singleLine: true,
    ignore: 'pid,hostname',
    translateTime: "UTC:yyyy-mm-dd'T'HH:MM:ss.l'Z'",
  });
  return (line) => `${escapeLine(pretty(line).trimEnd())}\n`;
}

/** Logs nothing: for tests and commands. */
export const noLog = (): Log => pino({ level: 'silent' });
