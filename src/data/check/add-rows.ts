/** Hands rows to checks with the line of the file that each stands in. */

/** Rows that are numbered at once. */
const numbered = 65_536;

/** Adds rows that stand in one line each, the first of them in line `first`; 0 where nobody knows the lines. */
export function addRows(
  checks: { add(columns: readonly Float64Array[], rows: number, lines?: Uint32Array): void },
  columns: readonly Float64Array[],
  first: number,
): void {
  const rows = columns[0]?.length ?? 0;
  if (first === 0) {
    checks.add(columns, rows);
    return;
  }
  const lines = new Uint32Array(Math.min(rows, numbered));
  for (let from = 0; from < rows; from += numbered) {
    const count = Math.min(numbered, rows - from);
    for (let at = 0; at < count; at++) lines[at] = first + from + at;
    checks.add(
      columns.map((column) => column.subarray(from, from + count)),
      count,
      lines,
    );
  }
}
