/** Escapes control characters in text from exchanges and strategies. */

const controlCharacters = /[\p{C}\p{Zl}\p{Zp}]/gu;
const controlCharactersInLines = /[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/gu;

/** As in JSON: `\u001b`, `\u202e`. */
const escaped = (one: string): string => {
  let text = '';
  for (let index = 0; index < one.length; index++) text += `\\u${one.charCodeAt(index).toString(16).padStart(4, '0')}`;
  return text;
};

/** Escapes control characters and direction marks, for one line or a table cell. */
export const escapeLine = (text: string): string => text.replace(controlCharacters, escaped);

/** The same without line breaks and tabs, for output of several lines. */
export const escapeText = (text: string): string => text.replace(controlCharactersInLines, escaped);

/** Whose message it is, for its beginning. */
export const signed = (name: string): string => `[${escapeLine(name)}] `;
