/** Questions asked over the socket (`req`): each waits for the rows that come back under its channel, or for its deadline. */
import type { Clock } from '../../../clock/clock.ts';
import { getOrMake } from '../../../domain/get-or-make.ts';
import { type Answer, failed } from '../../venue.ts';

/** Rows as they came, and the time of the frame. */
export type Rows = Answer<{ readonly rows: readonly unknown[]; readonly ts: unknown }>;

interface Question {
  /** What to say once the socket is open. */
  readonly text: string;
  readonly settle: (answer: Rows) => void;
}

/** Real ms until the answer must be there, the connection included. */
const deadlineMs = 15_000;
/** Questions that may wait at once; one more fails. */
const maxWaiting = 100;

/**
 * Answers echo no id on most deployments, so only the channel identifies them: of several questions
 * on one channel only the first is asked, the next when it is settled. `say` sends a text if the socket is open and drops it otherwise.
 */
export function openQuestions(clock: Clock, say: (text: string) => void) {
  const waiting = new Map<string, Question[]>();
  let count = 0;

  function remove(channel: string, question: Question): void {
    const queue = waiting.get(channel) ?? [];
    const wasFirst = queue[0] === question;
    const left = queue.filter((one) => one !== question);
    count--;
    if (left.length === 0) waiting.delete(channel);
    else waiting.set(channel, left);
    if (wasFirst && left[0] !== undefined) say(left[0].text);
  }

  return {
    size: (): number => count,
    ask(channel: string, text: string): Promise<Rows> {
      if (count >= maxWaiting) return Promise.resolve(failed(`more than ${maxWaiting} questions wait for an answer`));
      count++;
      return new Promise((resolve) => {
        let settled = false;
        const settle = (answer: Rows): void => {
          if (settled) return;
          settled = true;
          stop();
          remove(channel, question);
          resolve(answer);
        };
        const question: Question = { text, settle };
        const late = `no answer to a question about ${channel} within ${deadlineMs / 1_000} s; an unknown symbol gets none`;
        const stop = clock.at(clock.now() + clock.machine(deadlineMs), () => settle(failed(late)));
        if (getOrMake(waiting, channel, () => []).push(question) === 1) say(text);
      });
    },
    /** The socket is open: says what waited for it. */
    opened(): void {
      for (const [first] of waiting.values()) if (first !== undefined) say(first.text);
    },
    /** False when there was no such question. */
    answered(channel: string, answer: Rows): boolean {
      const first = waiting.get(channel)?.[0];
      first?.settle(answer);
      return first !== undefined;
    },
    /** Everything that waits fails: the socket is gone, and with it the answers. */
    lost(cause: string): void {
      for (const queue of [...waiting.values()])
        for (const { settle } of queue.toReversed())
          settle(failed(`the socket closed before the answer came: ${cause}`));
    },
  };
}
