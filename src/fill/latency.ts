/** How long a request travels to the exchange, and its answer back. */
import { draw } from './fill-chance.ts';

export interface Travel {
  readonly entryMs: number;
  readonly responseMs: number;
}

export type LatencyModel =
  /** As measured: the row that lies last before the request counts. Times ascend, UTC ms. */
  | { readonly kind: 'recorded'; readonly rows: readonly (Travel & { readonly time: number })[] }
  /** One of the measured travels, drawn anew for each request. */
  | { readonly kind: 'distribution'; readonly travels: readonly Travel[] };

export interface Latencies {
  readonly entryLatencyMs: number;
  readonly responseLatencyMs: number;
  readonly latency: LatencyModel | undefined;
  readonly seed: number;
}

/** The travel of the request with this id and number, sent at UTC ms `at`; the constants where no model says otherwise. */
export function travelOf(
  { entryLatencyMs, responseLatencyMs, latency, seed }: Latencies,
  at: number,
  id: string,
  seq: number,
): Travel {
  const constant = { entryMs: entryLatencyMs, responseMs: responseLatencyMs };
  if (latency === undefined) return constant;
  if (latency.kind === 'distribution')
    return latency.travels[Math.floor(draw(seed, id, seq) * latency.travels.length)] ?? constant;
  const { rows } = latency;
  let [from, to] = [0, rows.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((rows[middle]?.time ?? 0) <= at) from = middle + 1;
    else to = middle;
  }
  return rows[Math.max(0, from - 1)] ?? constant;
}
