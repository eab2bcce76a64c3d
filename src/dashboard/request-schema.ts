/** Reads what a request asks. */
import type { z } from 'zod';
import { issuesText, Refusal } from '../domain/refusal.ts';

/** What a request asks, checked. Throws a `Refusal`, which the server answers with 400. */
export function parsedRequest<T>(schema: z.ZodType<T>, given: unknown): T {
  const { success, data, error } = schema.safeParse(given ?? {});
  if (success) return data;
  throw new Refusal(issuesText(error.issues));
}
