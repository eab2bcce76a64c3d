/** Counts what the exchange should not have sent, and says so in the log at most once a minute for each kind, with a sample. */
import type { Clock } from '../../clock/clock.ts';
import { jsonText } from '../../domain/json.ts';

/** What we need of pino. */
export interface Log {
  warn(facts: object, message: string): void;
  info(facts: object, message: string): void;
  debug(facts: object, message: string): void;
}

/** `kind` is one of the fixed words of this folder, so that the map stays small; `sample` is shown cut to 200 characters. */
export type Count = (kind: string, sample?: unknown) => void;

const quietMs = 60_000;
const sampleLength = 200;

/** `clean` strikes out of a sample what must not be logged. */
export function counters(clock: Clock, log: Log, clean: (text: string) => string = (text) => text) {
  const counts = new Map<string, number>();
  const saidAt = new Map<string, number>();
  return {
    count: (kind: string, sample?: unknown): void => {
      const seen = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, seen);
      const last = saidAt.get(kind);
      const now = clock.monotonic();
      if (last !== undefined && now - last < clock.machine(quietMs)) return;
      saidAt.set(kind, now);
      log.warn({ kind, seen, sample: show(sample, clean) }, `unexpected from the exchange: ${kind}`);
    },
    /** How often each kind was seen since the start. */
    seen: (): Readonly<Record<string, number>> => Object.fromEntries(counts),
  };
}

function show(sample: unknown, clean: (text: string) => string): string | undefined {
  if (sample === undefined) return undefined;
  return clean(typeof sample === 'string' ? sample : jsonText(sample)).slice(0, sampleLength);
}
