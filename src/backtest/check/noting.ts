/** A strategy that notes what it sees and what it returns each time it is asked. */
import { type Observable, tap } from 'rxjs';
import type { Interval } from '../../domain/interval.ts';
import type { Kline } from '../../domain/market.ts';
import {
  type Context,
  isOfMarkets,
  isStreaming,
  isUniverse,
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
  /** Indicator values and the position, as text that keeps every bit; empty for streaming strategies. */
  readonly seen: Readonly<Record<string, string>>;
  /** What it returned, as JSON; `null` without a signal. */
  readonly signal: string;
}

/** `time`, UTC ms: when the kline opened; for several markets, when their klines closed. */
type Note = (time: number, line: Line) => void;

/** How `seen` names positions. */
export const isPosition = (name: string): boolean => name === 'position' || name.startsWith('position of ');

export function noting(strategy: Strategy, note: Note): Strategy {
  if (isStreaming(strategy)) return notingStreams(strategy, note);
  const asked = askedTwice(note);
  if (isUniverse(strategy))
    return over(strategy, {
      choose: (markets, moment) =>
        asked(
          moment.time,
          () =>
            markets.flatMap(({ symbol, values, holding }) => [
              [`position of ${symbol}`, holding.quantity] as const,
              ...flatValues(values as Values).map(([name, value]) => [`${name} of ${symbol}`, value] as const),
            ]),
          () => strategy.choose(markets, moment),
        ),
    });
  if (isOfMarkets(strategy))
    return over(strategy, {
      decide: (values, moment) =>
        asked(
          moment.time,
          () => [
            ...Object.entries(moment.holdings as Readonly<Record<string, Moment<Params>['holding']>>).map(
              ([role, { quantity }]) => [`position of ${role}`, quantity] as const,
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
    const text = JSON.stringify(answer ?? null);
    note(time, { seen, signal: text });
    if (answer !== undefined && text !== last) note(time, { seen, signal: JSON.stringify(ask() ?? null) });
    last = text;
    return answer;
  };
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
