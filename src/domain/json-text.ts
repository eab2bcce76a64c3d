/** A value as JSON, for a message or a row of evidence; `nothing` where it is none. Never throws. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'nothing';
  } catch {
    // A text of a few kilobytes can be nested deeper than there is stack to walk it.
    return 'nested too deeply to be shown';
  }
}
