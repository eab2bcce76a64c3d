import { orRefusal, Refusal } from '../../src/domain/refusal.ts';

const there = (found: unknown): Refusal => {
  if (found instanceof Refusal) return found;
  throw new Error('nothing was refused', { cause: found });
};

/** What `work` refuses. */
export const refusal = (work: () => unknown): Refusal => there(orRefusal(work));

/** What asynchronous work refuses in the end. */
export const refusalLater = async (work: () => unknown): Promise<Refusal> => {
  try {
    return there(await work());
  } catch (error) {
    return there(error);
  }
};
