/** Text of others on a terminal: what it holds is seen, and does nothing. */

const unseen = /[\p{C}\p{Zl}\p{Zp}]/gu;
const unseenInLines = /[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/gu;

/** As JSON writes it, so that a line of JSON stays one: `\u001b`, `\u202e`. */
const escaped = (one: string): string => {
  let text = '';
  for (let at = 0; at < one.length; at++) text += `\\u${one.charCodeAt(at).toString(16).padStart(4, '0')}`;
  return text;
};

/** For one line or a cell: control characters, marks of direction and the like are written out. */
export const shown = (text: string): string => text.replace(unseen, escaped);

/** For output of several lines: the same, but for line breaks and tabs. */
export const printable = (text: string): string => text.replace(unseenInLines, escaped);
