/** The newest lines of a daemon's log that fit a filter. Only the end of the log is read. */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type Asked, type LogLevel, type LogLine, type LogView, logLevels } from '../../dashboard/history.ts';

/** What is read of the log, from its end. */
const maxBytes = 4 * 1024 * 1024;
const maxLines = 300;
/** Longer lines are cut: a reply of an exchange may be a whole page. */
const longestLine = 1_000;

/** The text of the last bytes of a file, from the first whole line on. */
function endOf(path: string, bytes: number): { readonly text: string; readonly isCut: boolean } {
  if (!existsSync(path)) return { text: '', isCut: false };
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const buffer = Buffer.alloc(Math.min(size, bytes));
    const length = readSync(fd, buffer, 0, buffer.length, size - buffer.length);
    const text = buffer.toString('utf8', 0, length);
    const isCut = size > bytes;
    return { text: isCut ? text.slice(text.indexOf('\n') + 1) : text, isCut };
  } finally {
    closeSync(fd);
  }
}

const levelOf = (number: number): LogLevel =>
  number >= 50 ? 'error' : number >= 40 ? 'warn' : number >= 30 ? 'info' : 'debug';

/** A line as pino writes it, or as `log.format: pretty` does. */
function lineOf(text: string): LogLine & { readonly strategy?: string | undefined } {
  try {
    const { level, time, msg, strategy, fill, kind } = JSON.parse(text) as {
      readonly [name: string]: unknown;
      readonly fill?: { readonly strategy?: unknown };
    };
    const said = typeof kind === 'string' && kind !== 'notice' && kind !== 'state' ? `${kind}: ` : '';
    const message = typeof msg === 'string' ? msg : text;
    const named = strategy ?? fill?.strategy;
    return {
      at: typeof time === 'number' ? time : undefined,
      level: levelOf(Number(level)),
      text: `${said}${message}`.slice(0, longestLine),
      strategy: typeof named === 'string' ? named : undefined,
    };
  } catch {
    const [, time = '', level = 'info'] = /^\[?(\S+Z)\]?\s+(\w+):?\s/.exec(text) ?? [];
    const at = Date.parse(time);
    const known = logLevels.find((one) => one === level.toLowerCase()) ?? (level === 'FATAL' ? 'error' : 'info');
    return { at: Number.isNaN(at) ? undefined : at, level: known, text: text.slice(0, longestLine) };
  }
}

/** Of the log in a state directory, and of the file before it where that was rotated lately. */
export function logLines(dir: string, { level, strategy, text }: Asked<'log'>): LogView {
  const newest = endOf(join(dir, 'sluice.log'), maxBytes);
  const left = maxBytes - Buffer.byteLength(newest.text);
  const before = left > 0 ? endOf(join(dir, 'sluice.log.1'), left) : { text: '', isCut: true };
  const wanted = text?.toLowerCase();
  const lines = `${before.text}${newest.text}`
    .split('\n')
    .filter((line) => line !== '' && (wanted === undefined || line.toLowerCase().includes(wanted)))
    .map(lineOf)
    .filter((line) => logLevels.indexOf(line.level) >= logLevels.indexOf(level))
    .filter((line) => strategy === undefined || line.strategy === strategy || isNamed(line.text, strategy));
  const shown = lines.slice(-maxLines).reverse();
  return {
    lines: shown.map(({ at, level: of, text: said }) => ({ at, level: of, text: said })),
    isCut: newest.isCut || before.isCut || lines.length > maxLines,
  };
}

/** A notice names its strategy in its text alone. */
const isNamed = (text: string, strategy: string): boolean => text.split(/[^\w.-]+/).includes(strategy);
