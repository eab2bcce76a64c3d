/** The doctor's checks for a terminal. */
import { styleText } from 'node:util';
import { escapeText } from '../../domain/printable.ts';
import type { Check, Level } from './check.ts';

const styles: Readonly<Record<Level, Parameters<typeof styleText>[0]>> = {
  ok: 'green',
  warn: 'yellow',
  fail: ['red', 'bold'],
};
const nameWidth = 16;
const textWidth = 96;
const indent = ' '.repeat(8 + nameWidth);

/** One check a line, long ones wrapped, each with its advice; the last line is a summary. */
export function doctorLines(checks: readonly Check[], url: string, colours: boolean): readonly string[] {
  const styled = (style: Parameters<typeof styleText>[0], text: string): string =>
    colours ? styleText(style, text, { validateStream: false }) : text;
  const lines = checks.flatMap(({ name, level, text, advice }) => {
    const [first = '', ...more] = escapeText(text)
      .split('\n')
      .flatMap((line) => wrapped(line));
    const head = `  ${styled(styles[level], level.padEnd(4))}  ${styled('bold', escapeText(name).padEnd(nameWidth))}${first}`;
    const todo =
      advice === '' ? [] : wrapped(escapeText(advice)).map((line, at) => `${indent}${at === 0 ? '→ ' : '  '}${line}`);
    return [head, ...more.map((line) => indent + line), ...todo.map((line) => styled('cyan', line))];
  });
  const [fails = 0, warns = 0] = (['fail', 'warn'] as const).map(
    (level) => checks.filter((one) => one.level === level).length,
  );
  const sum =
    fails > 0
      ? styled(styles.fail, `${fails} ${fails === 1 ? 'problem prevents' : 'problems prevent'} trading`)
      : warns > 0
        ? styled(styles.warn, `trading is possible; ${warns} ${warns === 1 ? 'warning' : 'warnings'}`)
        : styled(styles.ok, 'everything is fine');
  return [`${styled('bold', 'sluice doctor')}  ${escapeText(url)}`, '', ...lines, '', `  ${sum}`];
}

/** Lines that begin with spaces are a table and stay as they are. */
function wrapped(text: string): string[] {
  if (text.startsWith(' ')) return [text];
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length >= textWidth) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
