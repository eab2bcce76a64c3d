/** Questions on the terminal before something that cannot be undone. */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Output } from './output.ts';

export interface Asking extends Pick<Output, 'say'> {
  readonly signal: AbortSignal;
  /** Source of the answers; the terminal by default. */
  readonly input?: Readable;
}

/** Asks questions in turn. An answer is undefined at the end of the input, which is never a yes. */
export async function withQuestions<T>(
  { say, signal, input = process.stdin }: Asking,
  act: (ask: (question: string) => Promise<string | undefined>) => Promise<T>,
): Promise<T> {
  const reader = createInterface({ input, terminal: false, signal });
  const lines = reader[Symbol.asyncIterator]();
  try {
    return await act(async (question) => {
      say(question);
      const line = await lines.next();
      return line.done === true ? undefined : line.value.trim();
    });
  } finally {
    reader.close();
  }
}

/** True when the user typed yes. */
export const isConfirmed = (question: string, asking: Asking): Promise<boolean> =>
  withQuestions(asking, async (ask) => (await ask(`${question}\nType yes to send it:`))?.toLowerCase() === 'yes');
