/**
 * The address of a module of ours, for a thread or a process that begins with it: sources end in `.ts`, the package in `.js`. `path` is relative to
 * the module at `from` (its `import.meta.url`), without an ending.
 */
export const moduleUrl = (path: string, from: string): URL => new URL(path + from.slice(from.lastIndexOf('.')), from);
