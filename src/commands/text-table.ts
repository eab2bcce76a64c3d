/** A table in a frame of lines, as commands print it. By itself: that of a library takes a quarter of an hour for 50,000 rows. */
import { escapeLine } from '../domain/printable.ts';

/** Rows under the names of their columns; where there are none `empty`, if it is given. */
export function textTable(head: readonly string[], given: readonly (readonly string[])[], empty?: string): string {
  if (given.length === 0 && empty !== undefined) return empty;
  const rows = given.map((cells) => cells.map(escapeLine));
  const widths = head.map((name, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), name.length),
  );
  const line = (cells: readonly string[]): string =>
    `│ ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' │ ')} │`;
  const rule = (left: string, between: string, right: string): string =>
    `${left}${widths.map((width) => '─'.repeat(width + 2)).join(between)}${right}`;
  return [rule('┌', '┬', '┐'), line(head), rule('├', '┼', '┤'), ...rows.map(line), rule('└', '┴', '┘')].join('\n');
}
