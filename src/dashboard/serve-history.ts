/** The page's questions: `GET /api/history/NAME?…`, each with the parameters of `questions`. */
import type { FastifyInstance } from 'fastify';
import { type Asked, type History, type Question, questions } from './history.ts';
import { parsedRequest } from './request-schema.ts';

export function serveHistory(app: FastifyInstance, history: History): void {
  const serve = <Q extends Question>(question: Q): void => {
    app.get(`/api/history/${question}`, async ({ query }) =>
      history.ask(question, parsedRequest<unknown>(questions[question], query) as Asked<Q>),
    );
  };
  for (const question of Object.keys(questions) as Question[]) serve(question);
}
