/** Asking on the terminal before something is done that cannot be undone. */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export interface Asking {
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  /** Where answers come from; the terminal unless told otherwise. */
  readonly input?: Readable;
}

/** One line for each question, trimmed; undefined once there are no more: the end of the input is never a yes. */
export interface Questioner {
  ask(question: string): Promise<string | undefined>;
  close(): void;
}

export function questioner({ say, signal, input = process.stdin }: Asking): Questioner {
  const lines = createInterface({ input, terminal: false, signal });
  const next = lines[Symbol.asyncIterator]();
  return {
    async ask(question) {
      say(question);
      const line = await next.next();
      return line.done === true ? undefined : line.value.trim();
    },
    close: () => lines.close(),
  };
}

/** True when the user typed yes. */
export async function isConfirmed(question: string, asking: Asking): Promise<boolean> {
  const asker = questioner(asking);
  try {
    return (await asker.ask(`${question}\nType yes to send it:`))?.toLowerCase() === 'yes';
  } finally {
    asker.close();
  }
}
