/** Lines of text as they come, block by block. */
import type { UnreadableLines } from './batch.ts';

/** Those of each block together; the last one may have no end. A `Refusal` at one that is too long. */
export async function* linesIn(
  blocks: AsyncIterable<Uint8Array>,
  unreadable: UnreadableLines,
): AsyncGenerator<{ readonly texts: readonly string[]; readonly ended: boolean }> {
  const decoder = new TextDecoder();
  let [rest, line] = ['', 1];
  for await (const block of blocks) {
    const texts = (rest + decoder.decode(block, { stream: true })).split('\n');
    rest = texts.pop() ?? '';
    for (const [at, text] of texts.entries()) unreadable.refuseLong(line + at, text.length);
    line += texts.length;
    yield { texts, ended: true };
    unreadable.refuseLong(line, rest.length);
  }
  if (rest !== '') yield { texts: [rest], ended: false };
}
