/** Which strategy file is being loaded. Apart from `load.ts`, so that a command's help does not load what strategies need. */

let isAnyLoaded = false;
let current: string | undefined;

/** Whether this program has loaded a user's file. */
export const hasLoadedFiles = (): boolean => isAnyLoaded;
/** The strategy file that is being loaded: if it never finishes, the program ends without a message of its own. */
export const loadingNow = (): string | undefined => current;

/** A file has begun to load, or, without one, is there. */
export function setLoading(file: string | undefined): void {
  if (file !== undefined) isAnyLoaded = true;
  current = file;
}
