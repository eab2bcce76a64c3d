/** JSON that may be none: reading a text and writing a value never throw. */

/** The value of a text in JSON; undefined when it is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A value as JSON, for a message or a row of evidence; `nothing` for undefined. Never throws. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'nothing';
  } catch {
    // A few kilobytes of text can be nested too deeply for the stack.
    return 'nested too deeply to be shown';
  }
}
