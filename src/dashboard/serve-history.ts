/** The page's questions: `GET /api/history/NAME?…`, each with the parameters of `questions`. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type History, type Question, questions } from './history.ts';

export function serveHistory(app: FastifyInstance, history: History): void {
  const serve = <Q extends Question>(question: Q): void => {
    app.get(`/api/history/${question}`, async ({ query }, reply) => {
      const asked = questions[question].safeParse(query);
      if (!asked.success) return reply.code(400).send({ ok: false, message: z.prettifyError(asked.error) });
      return history.ask(question, asked.data as Parameters<typeof history.ask<Q>>[1]);
    });
  };
  for (const question of Object.keys(questions) as Question[]) serve(question);
}
