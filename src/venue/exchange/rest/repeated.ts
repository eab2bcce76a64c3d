/** Answers that say what the last one to the same question said: they are read once. */
import type { HttpReply } from './http.ts';
import { type Reply, readReply } from './reply.ts';

/** Questions whose last answer is kept; past it the oldest is forgotten, and its next answer is read anew. */
const mostKept = 16;
/** Answers below this length are read as fast as they are compared. */
const leastLength = 256;

/**
 * Reads answers as `readReply` does. A look at the own trades mostly lists those of the look before, and reading them is what a look
 * costs: the same text to the same target gives the same object again, which nobody may change.
 */
export function replyReader(): (target: string, answer: HttpReply) => Reply {
  const kept = new Map<string, { readonly status: number; readonly body: string; readonly reply: Reply }>();
  return (target, answer) => {
    if (answer.kind === 'failed' || answer.body.length < leastLength) return readReply(answer);
    const { status, body } = answer;
    const last = kept.get(target);
    if (last !== undefined && last.status === status && last.body === body) return last.reply;
    const reply = readReply(answer);
    kept.delete(target);
    kept.set(target, { status, body, reply });
    const [oldest] = kept.keys();
    if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
    return reply;
  };
}
