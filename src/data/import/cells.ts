/** Lines of text as cells. */

/** The character that cuts the most lines into the same number of cells. */
export function separatorOf(lines: readonly string[]): string {
  const counted = [',', ';', '\t', '|'].map((separator) => {
    const widths = lines.filter((line) => line.trim() !== '').map((line) => cellsOf(line, separator).length);
    const width = widths.at(-1) ?? 0;
    return { separator, agree: width < 2 ? 0 : widths.filter((one) => one === width).length, width };
  });
  counted.sort((a, b) => b.agree - a.agree || b.width - a.width);
  return counted[0]?.separator ?? ',';
}

/** A cell that begins with a quote goes on to its closing one, whatever lies between. */
export function cellsOf(line: string, separator: string): string[] {
  const text = line.replace(/\r$/, '');
  const cells: string[] = [];
  let from = 0;
  let quoted = false;
  for (let at = 0; at <= text.length; at++) {
    // A doubled quote inside ends the cell and begins it again.
    const isMark = text[at] === '"' && text[from] === '"';
    if (isMark && (quoted || at === from || text[at - 1] === '"')) quoted = !quoted;
    if (at === text.length || (text[at] === separator && !quoted)) {
      cells.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return cells.map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'));
}
