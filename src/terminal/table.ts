/** Tables as commands print them. Our own, because that of a library takes a quarter of an hour for 50,000 rows. */
import { escapeLine } from '../domain/printable.ts';
import { moment } from '../domain/words.ts';
import type { Output } from './output.ts';

/** Rows in a frame of lines; `empty` in place of a table without rows. */
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

/** Named values that JSON can hold. */
export type Row = Readonly<Record<string, string | number | boolean | null>>;

/** The values of a row as text; times as UTC. */
export const cellsOf = (row: Row, names: readonly string[] = Object.keys(row)): string[] =>
  names.map((name) => {
    const value = row[name];
    return name.toLowerCase().endsWith('time') && typeof value === 'number' ? moment(value) : `${value ?? ''}`;
  });

/** Prints rows as a table under the names of their columns, or as one JSON object a line. */
export function printRows(rows: readonly Row[], { json, out }: Pick<Output, 'json' | 'out'>, empty = ''): void {
  if (json) for (const row of rows) out(JSON.stringify(row));
  else {
    const names = Object.keys(rows[0] ?? {});
    const cells = rows.map((row) => cellsOf(row, names));
    out(textTable(names, cells, empty));
  }
}
