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
 * on one channel only the first is asked, the next when it is settled.
 */
export class Questions {
  readonly #clock: Clock;
  readonly #say: (text: string) => void;
  readonly #waiting = new Map<string, Question[]>();
  #count = 0;

  /** `say` sends a text if the socket is open and drops it otherwise. */
  constructor(clock: Clock, say: (text: string) => void) {
    this.#clock = clock;
    this.#say = say;
  }

  get size(): number {
    return this.#count;
  }

  ask(channel: string, text: string): Promise<Rows> {
    if (this.#count >= maxWaiting)
      return Promise.resolve(failed(`more than ${maxWaiting} questions wait for an answer`));
    this.#count++;
    return new Promise((resolve) => {
      let settled = false;
      const settle = (answer: Rows): void => {
        if (settled) return;
        settled = true;
        stop();
        this.#remove(channel, question);
        resolve(answer);
      };
      const question: Question = { text, settle };
      const late = `no answer to a question about ${channel} within ${deadlineMs / 1_000} s; an unknown symbol gets none`;
      const stop = this.#clock.at(this.#clock.now() + this.#clock.machine(deadlineMs), () => settle(failed(late)));
      if (getOrMake(this.#waiting, channel, () => []).push(question) === 1) this.#say(text);
    });
  }

  /** The socket is open: says what waited for it. */
  opened(): void {
    for (const [first] of this.#waiting.values()) if (first !== undefined) this.#say(first.text);
  }

  /** False when there was no such question. */
  answered(channel: string, answer: Rows): boolean {
    const first = this.#waiting.get(channel)?.[0];
    first?.settle(answer);
    return first !== undefined;
  }

  /** Everything that waits fails: the socket is gone, and with it the answers. */
  lost(cause: string): void {
    for (const queue of [...this.#waiting.values()])
      for (const { settle } of [...queue].reverse())
        settle(failed(`the socket closed before the answer came: ${cause}`));
  }

  #remove(channel: string, question: Question): void {
    const queue = this.#waiting.get(channel) ?? [];
    const wasFirst = queue[0] === question;
    const left = queue.filter((one) => one !== question);
    this.#count--;
    if (left.length === 0) this.#waiting.delete(channel);
    else this.#waiting.set(channel, left);
    if (wasFirst && left[0] !== undefined) this.#say(left[0].text);
  }
}
