/** The dashboard's questions, answered by a thread that lives while somebody asks. */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../clock/clock.ts';
import type { Answers, Asked, History, Question } from '../../dashboard/history.ts';
import { moduleUrl } from '../../domain/module-url.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { FromThread } from './thread.ts';

/** Questions that wait; one more is refused. Pages ask one after another, so this is more than they need. */
const maxWaiting = 16;
/** Real ms that an answer may take. Then the thread is ended, and the next question begins another. */
const patienceMs = 20_000;
/** Real ms without a question after which the thread ends, and gives its memory back. */
const idleMs = 60_000;
/** What the thread may use: more ends it, and not the daemon. */
const maxHeapMb = 512;

interface Waiting {
  readonly question: Question;
  readonly asked: unknown;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Reads the state directory `dir`. */
export function history(dir: string, clock: Clock): History & { close(): Promise<void> } {
  const waiting: Waiting[] = [];
  let worker: Worker | undefined;
  let cancelTimer = (): void => {};
  let isClosed = false;

  const after = (ms: number, work: () => void): void => {
    cancelTimer();
    cancelTimer = clock.at(clock.now() + clock.machine(ms), work);
  };
  async function end(): Promise<void> {
    cancelTimer();
    const ended = worker;
    worker = undefined;
    await ended?.terminate();
  }
  function fail(message: string): void {
    void end();
    waiting.shift()?.reject(new Refusal(message, 1));
    next();
  }
  function begin(): Worker {
    const made = new Worker(moduleUrl('./thread', import.meta.url), {
      workerData: dir,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    });
    made.unref();
    // A thread that was ended may still have sent an answer: it is not one to the next question.
    made.on('message', (said: FromThread) => worker === made && take(said));
    made.on('error', (error) => worker === made && fail(`the journal cannot be read: ${error.message}`));
    return made;
  }
  function next(): void {
    if (isClosed) return;
    const [first] = waiting;
    if (first === undefined) {
      after(idleMs, () => void end());
      return;
    }
    worker ??= begin();
    after(patienceMs, () => fail(`the journal was not read within ${patienceMs / 1_000} s: try again`));
    worker.postMessage({ question: first.question, asked: first.asked });
  }
  function take(said: FromThread): void {
    const first = waiting.shift();
    if ('answer' in said) first?.resolve(said.answer);
    else first?.reject('refusal' in said ? new Refusal(said.refusal) : new Error(said.fault));
    next();
  }
  return {
    ask: <Q extends Question>(question: Q, asked: Asked<Q>) =>
      new Promise<Answers[Q]>((resolve, reject) => {
        if (isClosed || waiting.length >= maxWaiting) {
          reject(new Refusal(isClosed ? 'the daemon stops' : 'too many questions at once: try again', 1));
          return;
        }
        waiting.push({ question, asked, resolve: (said) => resolve(said as Answers[Q]), reject });
        if (waiting.length === 1) next();
      }),
    async close() {
      isClosed = true;
      for (const { reject } of waiting.splice(0)) reject(new Refusal('the daemon stops', 1));
      await end();
    },
  };
}
