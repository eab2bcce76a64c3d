/** Escapes control characters in text from exchanges and strategies. */

const controlCharacters = /[\p{C}\p{Zl}\p{Zp}]/gu;
const controlCharactersInLines = /[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/gu;

/** As JSON writes it, so that a line of JSON stays one: `\u001b`, `\u202e`. */
const escaped = (one: string): string => {
  let text = '';
  for (let at = 0; at < one.length; at++) text += `\\u${one.charCodeAt(at).toString(16).padStart(4, '0')}`;
  return text;
};

/** For one line or a cell: control characters, marks of direction and the like are written out. */
export const escapeLine = (text: string): string => text.replace(controlCharacters, escaped);

/** For output of several lines: the same, but for line breaks and tabs. */
export const escapeText = (text: string): string => text.replace(controlCharactersInLines, escaped);
