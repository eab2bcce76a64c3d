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
export const csvText = <K extends string>(head: readonly K[], rows: Iterable<Readonly<Record<K, Cell>>>): string =>
  [head, ...Array.from(rows, (row) => head.map((name) => cellText(row[name])))]
    .map((cells) => `${cells.join(',')}\n`)
    .join('');

function cellsOf(line: string): string[] {
  if (!line.includes('"')) return line.split(',');
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, inQuotes, plain = '']) =>
    inQuotes === undefined ? plain : inQuotes.replaceAll('""', '"'),
  );
}

const unescapeFormula = (cell: string): string => cell.replace(/^'(?=[=+\-@\t\r])/, '');

/** Every row as an object of texts. No text here has line ends inside quotes. */
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
