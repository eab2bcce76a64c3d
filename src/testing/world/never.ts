/** What no seed can meet, and why: for `docs/reference/reachability.md`. */
export const whyNever: Readonly<Record<string, string>> = {};
