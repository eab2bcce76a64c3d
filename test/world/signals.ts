/**
 * Three simple strategies, each a list of signals made before the run: a target that is sized up and down with stops and limits, a
 * maker's quotes, and flips at market. After a restart a strategy says its last signal again, as strategies do.
 */
import { Observable } from 'rxjs';
import { type Decision, decisionOf, mainRole, type Signal } from '../../src/domain/order.ts';
import type { PartialTakeProfit } from '../../src/domain/target-options.ts';
import { type Chance, chanceOf } from './chance.ts';
import type { Life } from './life.ts';
import { faultsMs } from './plan.ts';
import type { StrategyId } from './strategies.ts';

/** A signal, told once the price is known. */
export interface TimedSignal {
  /** ms after the start. */
  readonly at: number;
  readonly signal: (mid: number) => Signal;
}

const rounded = (price: number): number => Math.round(price * 100) / 100;
const reason = 'signalled by the seed';

function stepWish(chance: Chance): TimedSignal['signal'] {
  const quantity = chance.pick([0, 1, 2, 3]);
  const [limited, stopped, profit] = [chance.is(0.4), chance.is(0.3), chance.is(0.3)];
  const off = chance.between(-0.3, 0.2);
  return (mid) => ({
    kind: 'target',
    size: { quantity },
    reason,
    ...(limited && { limit: rounded(mid * (1 + off / 100)) }),
    ...(stopped && { stop: rounded(mid - 0.8) }),
    ...(profit && { takeProfit: quantity === 3 ? inParts(mid) : rounded(mid + 0.8) }),
  });
}

/** Half of the position, and at a better price two thirds of the rest. */
const inParts = (mid: number): readonly PartialTakeProfit[] => [
  { at: rounded(mid + 0.5), share: 0.5 },
  { at: rounded(mid + 0.8), share: 0.35 },
];

function quoteWish(chance: Chance): TimedSignal['signal'] {
  const [bids, asks] = [chance.whole(0, 2), chance.whole(0, 2)];
  const [width, size] = [chance.between(-0.05, 0.5), chance.between(0.3, 1.5)];
  return (mid) => ({
    kind: 'quotes',
    reason,
    quotes: [
      ...Array.from({ length: bids }, (_, step) => ({
        side: 'BUY' as const,
        price: rounded(mid - width - step * 0.1),
        quantity: rounded(size),
      })),
      ...Array.from({ length: asks }, (_, step) => ({
        side: 'SELL' as const,
        price: rounded(mid + width + step * 0.1),
        quantity: rounded(size),
      })),
    ],
  });
}

function flipWish(chance: Chance): TimedSignal['signal'] {
  const quantity = chance.pick([0, 0, 1, 2]);
  return () => ({ kind: 'target', size: { quantity }, reason });
}

const makers: Readonly<Record<StrategyId, readonly [(chance: Chance) => TimedSignal['signal'], number, number]>> = {
  steps: [stepWish, 1_700, 5_500],
  quotes: [quoteWish, 2_100, 6_800],
  flips: [flipWish, 1_700, 6_800],
};

/** The signals of a strategy on a symbol; they go on a little after the faults have ended. */
export function signalsOf(seed: number, strategy: StrategyId, symbol: string): readonly TimedSignal[] {
  const chance = chanceOf(seed, `${strategy} ${symbol}`);
  const [make, least, most] = makers[strategy];
  const signals: TimedSignal[] = [];
  for (let at = chance.whole(300, 3_000); at < faultsMs + 6_000; at += chance.whole(least, most))
    signals.push({ at, signal: make(chance) });
  return signals;
}

export interface Speaking {
  readonly life: Life;
  /** ms after the start. */
  readonly elapsed: () => number;
  readonly now: () => number;
  readonly mid: (symbol: string) => number;
}

/** A strategy's signals from now on, beginning with the last signal that is due. */
export function signalsFrom(
  signals: readonly TimedSignal[],
  strategy: string,
  symbol: string,
  by: Speaking,
): Observable<Decision> {
  return new Observable((out) => {
    const say = (signal: TimedSignal): void =>
      out.next(decisionOf({ strategy, role: mainRole, symbol, at: by.now(), signal: signal.signal(by.mid(symbol)) }));
    let index = signals.findLastIndex(({ at }) => at <= by.elapsed());
    const current = signals[index];
    const next = (): void => {
      const signal = signals[++index];
      if (signal === undefined) return;
      by.life.clock.at(by.now() + Math.max(0, signal.at - by.elapsed()), () => {
        say(signal);
        next();
      });
    };
    if (current !== undefined) say(current);
    next();
  });
}
