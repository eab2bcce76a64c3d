/** A strategy that notes what it sees and what it returns each time it is asked. */
import { type Observable, tap } from 'rxjs';
import type { Interval } from '../../domain/interval.ts';
import type { Kline } from '../../domain/market.ts';
import {
  type Context,
  hasList,
  hasRoles,
  isStreaming,
  type Moment,
  type Strategy,
  type StreamingStrategy,
} from '../../strategy/contract.ts';
import { aggregatedKlines } from '../../strategy/larger-kline-stream.ts';
import { over } from '../../strategy/override.ts';
import type { Params } from '../../strategy/params.ts';
import { flatValues, type Values } from '../../strategy/values.ts';

/** What was decided after one kline, or at one moment of several markets. */
export interface Line {
  /** Indicator values, the position and the next memory, as text that keeps every bit; empty for streaming strategies. */
  readonly seen: Readonly<Record<string, string>>;
  /** What it returned, as JSON; `null` without a signal. */
  readonly signal: string;
}

/** `time`, UTC ms: when the kline opened; for several markets, when their klines closed. */
type Note = (time: number, line: Line) => void;

const nextMemory = 'next memory';

/** What `seen` calls the position of a market. */
export const positionOf = (market: string): string => `position of ${market}`;

/** Whether `seen` names so what is no indicator: a position, or the memory that was returned. */
export const isOwn = (name: string): boolean =>
  name === nextMemory || name === 'position' || name.startsWith(positionOf(''));

export function recordedStrategy(strategy: Strategy, note: Note): Strategy {
  if (isStreaming(strategy)) return notingStreams(strategy, note);
  const asked = askedTwice(note);
  if (hasList(strategy))
    return over(strategy, {
      choose: (markets, moment) =>
        asked(
          moment.time,
          () =>
            markets.flatMap(({ symbol, values, holding }) => [
              [positionOf(symbol), holding.quantity] as const,
              ...flatValues(values as Values).map(([name, value]) => [`${name} of ${symbol}`, value] as const),
            ]),
          () => strategy.choose(markets, moment),
        ),
    });
  if (hasRoles(strategy))
    return over(strategy, {
      decide: (values, moment) =>
        asked(
          moment.time,
          () => [
            ...Object.entries(moment.holdings as Readonly<Record<string, Moment<Params>['holding']>>).map(
              ([role, { quantity }]) => [positionOf(role), quantity] as const,
            ),
            ...flatValues(values as Values),
          ],
          () => strategy.decide(values, moment),
        ),
    });
  return over(strategy, {
    decide: (values: Values, moment: Moment<Params>) =>
      asked(
        moment.kline.openTime,
        () => [['position', moment.holding.quantity], ...flatValues(values)],
        () => strategy.decide(values, moment),
      ),
  });
}

/** Asks a second time where the answer changes: a strategy that keeps state may answer differently only there. */
function askedTwice(note: Note) {
  let last: string | undefined;
  return <T>(time: number, values: () => readonly (readonly [string, number])[], ask: () => T): T => {
    const answer = ask();
    const seen = Object.fromEntries(values().map(([name, value]) => [name, String(value)]));
    const line = lineOf(seen, answer);
    note(time, line);
    if (answer !== undefined && line.signal !== last) note(time, lineOf(seen, ask()));
    last = line.signal;
    return answer;
  };
}

/** A memory is no part of the signal that it stands beside. */
function lineOf(seen: Line['seen'], answer: unknown): Line {
  if (typeof answer !== 'object' || answer === null || !('memory' in answer))
    return { seen, signal: JSON.stringify(answer ?? null) };
  const { memory, ...beside } = answer;
  const [signal = null] = Object.values(beside);
  return { seen: { ...seen, [nextMemory]: JSON.stringify(memory) }, signal: JSON.stringify(signal) };
}

function notingStreams(strategy: StreamingStrategy<Params>, note: Note): Strategy {
  return over(strategy, {
    signals(context: Context<Params>) {
      let at = Number.NaN;
      let signals: string[] = [];
      const klines = context.klines.pipe(
        tap(({ openTime }) => {
          if (openTime !== at) signals = [];
          at = openTime;
          note(at, { seen: {}, signal: JSON.stringify(signals) });
        }),
      );
      const klinesOf = (larger: Interval): Observable<Kline> => aggregatedKlines(klines, context.interval, larger);
      return strategy.signals({ ...context, klines, klinesOf }).pipe(
        tap((signal) => {
          signals.push(JSON.stringify(signal));
          note(at, { seen: {}, signal: JSON.stringify(signals) });
        }),
      );
    },
  });
}
