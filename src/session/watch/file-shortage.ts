/** Handles a shortage of file descriptors, which other programs and every connection use, too. */
import type { Notice } from '../../journal/entries.ts';

const whose: Readonly<Record<string, string>> = { EMFILE: 'this process', ENFILE: 'the machine' };

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

/** Does what opens a file; undefined where none is left, which passes. */
export function unlessOutOfFiles<T>(work: () => T, onShortage: (code: string) => void = () => {}): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!Object.hasOwn(whose, codeOf(error))) throw error;
    onShortage(codeOf(error));
    return undefined;
  }
}

/** The same, reported once until it has passed. */
export function outOfFilesReporter(notice: (notice: Notice) => void): <T>(work: () => T) => T | undefined {
  let reported = '';
  function report(code: string): void {
    if (code !== '' && reported === '')
      notice({
        level: 'error',
        text: `${whose[code]} has too many files open (${code}): no new connection can be made until some are closed. Kill files are still obeyed. Close files or raise the limit (ulimit -n)`,
      });
    if (code === '' && reported !== '') notice({ level: 'info', text: 'files can be opened again' });
    reported = code;
  }
  return (work) => {
    let code = '';
    const done = unlessOutOfFiles(work, (found) => {
      code = found;
    });
    report(code);
    return done;
  };
}
