/** What a page asks for its chart: `GET /api/indicators?symbol=…&interval=…`, the values of the indicators of strategies. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parsedRequest } from './request-schema.ts';

const asked = z.strictObject({
  symbol: z.string().min(1).max(64),
  interval: z.string().min(1).max(16),
  /** The last answer's; together with `from` only what is new is answered. */
  run: z.coerce.number().int().optional(),
  /** Open time of the first kline that is asked for, UTC ms. */
  from: z.coerce.number().int().optional(),
});
export type IndicatorsAsked = z.output<typeof asked>;

export interface IndicatorValues {
  readonly strategy: string;
  /** The market among several of the strategy. */
  readonly role?: string;
  /** `average`; a line of an indicator as `macd.signal`. */
  readonly names: readonly string[];
  /** By kline, oldest first: its open time, and a value for each name. Null while an indicator is not warm. */
  readonly rows: readonly (readonly [openTime: number, ...values: (number | null)[]])[];
}

export interface IndicatorsView {
  /** Another number than before: a strategy warmed up again, so all values are answered. */
  readonly run: number;
  readonly values: readonly IndicatorValues[];
  /** Indicators that are too many for one chart. */
  readonly leftOut: number;
}

/** What decisions saw, as it was: nothing is calculated for the page. */
export interface Indicators {
  indicators(asked: IndicatorsAsked): IndicatorsView;
}

export function serveIndicators(app: FastifyInstance, source: Indicators): void {
  app.get('/api/indicators', async ({ query }) => source.indicators(parsedRequest(asked, query)));
}
