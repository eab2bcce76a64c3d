/**
 * Lists saved backtests and opens their reports. A browser cannot send a token when it opens an address, so a report is made for whoever has
 * the token and then stands at an address that nobody can guess. It runs in a sandbox without our origin: it cannot ask us anything.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parsedRequest } from '../request-schema.ts';
import type { Library, Wanted } from './library.ts';

/** Reports that can be opened again; the oldest is forgotten beyond that. Each has 2 MB at most. */
const maxReports = 8;
/** As in `sluice compare`. */
const maxCompared = 8;

const id = z.string().regex(/^[\w-]{1,64}$/);
const wantedSchema = z.union([
  z.strictObject({ run: id }),
  z.strictObject({ grid: id }),
  z.strictObject({ compare: z.array(id).min(2).max(maxCompared) }),
]) satisfies z.ZodType<Wanted>;

const addressPattern = /^\/report\/[\w-]{22,}$/;
export const isReport = (url: string): boolean => addressPattern.test(url);

/** Its own policy names its scripts by hash; this one adds that it is nobody's page. A sandbox and `same-origin` exclude each other. */
const headers: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "sandbox allow-scripts allow-downloads; connect-src 'none'; frame-src 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'unsafe-none',
};

/** `secret`: a new text that nobody can guess. */
export function serveReports(app: FastifyInstance, library: Library, secret: () => string): void {
  const made = new Map<string, string>();
  app.get('/api/runs', () => library.list());
  app.post('/api/report', async ({ body }) => {
    const html = await library.report(parsedRequest(wantedSchema, body));
    const address = `/report/${secret()}`;
    made.set(address, html);
    const [oldest] = made.keys();
    if (made.size > maxReports && oldest !== undefined) made.delete(oldest);
    return { ok: true, address };
  });
  app.get('/report/:secret', ({ url }, reply) => {
    const html = made.get(url);
    if (html !== undefined) return reply.headers(headers).send(html);
    return reply
      .code(404)
      .send({ ok: false, message: 'This report is not kept any more: open it again from the list.' });
  });
}
