/** Text of a file in a message: what it holds is seen, and does nothing to the terminal. */

const unseen = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** As it is, with control characters, marks of direction and the like written out: `\x1b`, `\u202e`. */
export const shown = (text: string): string =>
  text.replace(unseen, (one) => {
    const code = one.codePointAt(0) ?? 0;
    if (code > 0xffff) return `\\u{${code.toString(16)}}`;
    return code > 0xff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\x${code.toString(16).padStart(2, '0')}`;
  });
