/** What a page asks for its chart: `GET /api/klines?symbol=…&interval=…`, and after that only what is new. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Columns } from '../domain/market.ts';
import { parsedRequest } from './request-schema.ts';
import { type KlineView, maxKlines } from './view.ts';

const asked = z.strictObject({
  symbol: z.string().min(1).max(64),
  interval: z.string().min(1).max(16),
  /** The last answer's; together with `after` only what is new is answered. */
  run: z.coerce.number().int().optional(),
  /** Open time of a closed kline that the page has, UTC ms. */
  after: z.coerce.number().int().optional(),
});
export type KlinesAsked = z.output<typeof asked>;

export interface KlinesView {
  /** Another number than before: closed klines changed, as where a gap was filled, so all are answered. */
  readonly run: number;
  /** True where all klines are answered, false where those after the asked one are. */
  readonly whole: boolean;
  /** Oldest first; the last one may be open. */
  readonly columns: Readonly<Record<keyof Columns, readonly number[]>>;
}

export interface Klines {
  klines(asked: KlinesAsked): KlinesView;
}

/** The answer from all klines of a chart. A page that has a kline that is not among them, as after a restart, gets all. */
export function klinesView(all: readonly KlineView[], current: number, { run, after }: KlinesAsked): KlinesView {
  const known = run === current ? all.findLastIndex(({ openTime }) => openTime === after) : -1;
  const shown = known < 0 ? all.slice(-maxKlines) : all.slice(known + 1);
  const column = (name: keyof Columns): readonly number[] => shown.map((kline) => kline[name]);
  return {
    ...{ run: current, whole: known < 0 },
    columns: {
      ...{ openTime: column('openTime'), open: column('open'), high: column('high') },
      ...{ low: column('low'), close: column('close'), volume: column('volume') },
    },
  };
}

export function serveKlines(app: FastifyInstance, source: Klines): void {
  app.get('/api/klines', async ({ query }) => source.klines(parsedRequest(asked, query)));
}
