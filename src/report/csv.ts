/** Rows as CSV and back: one header line, texts in quotes only where they must be. */

type Cell = string | number | boolean | null | undefined;

const quoted = /[",\n\r]/;
const formula = /^[=+\-@\t\r]/;
const decimal = /^[+-]?\d+(\.\d+)?$/;

/** A spreadsheet runs text that begins like a formula. A leading apostrophe prevents that. Numbers stay numbers. */
const escapeFormula = (text: string): string => (formula.test(text) && !decimal.test(text) ? `'${text}` : text);

export const cellText = (cell: Cell): string => {
  if (cell === null || cell === undefined) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = escapeFormula(cell);
  return quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** `rows` have the keys of `head`. */
export function csvText<K extends string>(head: readonly K[], rows: Iterable<Readonly<Record<K, Cell>>>): string {
  const lines = [head.join(',')];
  for (const row of rows) {
    let line = cellText(row[head[0] as K]);
    for (let index = 1; index < head.length; index++) line += `,${cellText(row[head[index] as K])}`;
    lines.push(line);
  }
  lines.push('');
  return lines.join('\n');
}

function cellsOf(line: string): string[] {
  if (!line.includes('"')) return line.split(',');
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, inQuotes, plain = '']) =>
    inQuotes === undefined ? plain : inQuotes.replaceAll('""', '"'),
  );
}

const unescapeFormula = (cell: string): string => cell.replace(/^'(?=[=+\-@\t\r])/, '');

/** Every row as an object of texts. Line ends inside quotes are not read: what is written here has none. */
export function csvRows(text: string): Record<string, string>[] {
  const [head = '', ...lines] = text.split('\n');
  const names = head.split(',');
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const cells = cellsOf(line);
      return Object.fromEntries(names.map((name, index) => [name, unescapeFormula(cells[index] ?? '')]));
    });
}
