/**
 * Simple strategies, each a list of signals made before the run: a target that is sized up and down with stops and limits, a maker's quotes, and
 * flips at market with every kind of exit. In some seeds also a pair of targets on two symbols, and a rotation that buys one with what the other was sold for. After a restart a strategy says its last signal again, as strategies do.
 */
import { Observable } from 'rxjs';
import { type Decision, type Leg, mainRole, type Signal } from '../../src/domain/order.ts';
import type { PartialTakeProfit, TargetOptions } from '../../src/domain/target-options.ts';
import { type Chance, chanceOf } from './chance.ts';
import type { Life } from './life.ts';
import { faultsMs } from './plan.ts';
import { type StrategyId, severalMarkets, symbolsOf } from './strategies.ts';

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
  // By digits of what was drawn: the courses of the seeds stay what they were.
  const digits = Math.floor(Math.abs(off) * 1e6);
  const [expires, postOnly, expiresAfterMs] = [digits % 10 < 3, digits % 7 < 2, 1_000 + (digits % 14_000)];
  // Said again after a restart, such an entry is the same one only at the same price.
  let limit: number | undefined;
  const limitAt = (mid: number): number => {
    const now = rounded(mid * (1 + off / 100));
    if (!expires && !postOnly) return now;
    limit ??= now;
    return limit;
  };
  return (mid) => ({
    kind: 'target',
    size: { quantity },
    reason,
    ...(limited && { limit: limitAt(mid), ...(expires && { expiresAfterMs }), ...(postOnly && { postOnly }) }),
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
  // By digits of the price, once: said again after a restart it has the same exits.
  let exits: TargetOptions | undefined;
  return (mid) => {
    exits ??= quantity === 0 ? {} : measuredExits[Math.round(mid * 100) % measuredExits.length];
    return { kind: 'target', size: { quantity }, reason, ...exits };
  };
}

/** Exits that are measured from the entry, in quote or in time. */
const measuredExits: readonly TargetOptions[] = [
  {},
  { stop: { fromEntry: 0.008 } },
  { stop: { distance: 0.8 } },
  { stop: { distance: 0.8, moving: true } },
  { trailing: { distance: 0.6 } },
  { trailing: 0.008, breakEven: { after: 0.003, plus: 0.001 } },
  { stop: { fromEntry: 0.01 }, breakEven: { after: { distance: 0.3 } } },
  { takeProfit: { fromEntry: 0.004 }, stop: { distance: 0.7 } },
  { exitAfterMs: 2_500, reenterAfterMs: 1_500 },
  { stop: { fromEntry: 0.005 }, reenterAfterMs: 3_000 },
  { clip: true, stop: { fromEntry: 0.01 } },
];

/** Both legs, none, or one whose partner has another limit or another size; at times more than there is money for. */
function pairWish(chance: Chance, isFirst: boolean): TimedSignal['signal'] {
  const sizes = chance.pick([
    [0, 0],
    [0, 0],
    [1, 1],
    [1, 1],
    [1.2, 0.8],
    [1.2, 1.2],
    [1, 0],
  ] as const);
  const [limited, stopped] = [chance.is(0.3), chance.is(0.4)];
  const off = chance.between(-0.5, 0.2);
  const quantity = sizes[isFirst ? 0 : 1];
  return (mid) => ({
    kind: 'target',
    size: { quantity },
    reason,
    ...(limited && !isFirst && { limit: rounded(mid * (1 + off / 100)) }),
    ...(stopped && { stop: rounded(mid - 0.8) }),
  });
}

/** All of its money in one symbol, or in none. */
function rotationWish(chance: Chance, isFirst: boolean): TimedSignal['signal'] {
  const held = chance.pick(['first', 'second', 'first', 'second', 'none'] as const);
  const stopped = chance.is(0.3);
  const quantity = (held === 'first') === isFirst && held !== 'none' ? 1.7 : 0;
  return (mid) => ({
    kind: 'target',
    size: { quantity },
    reason,
    ...(stopped && quantity > 0 && { stop: rounded(mid - 0.8) }),
  });
}

const makers: Readonly<
  Record<StrategyId, readonly [(chance: Chance, isFirst: boolean) => TimedSignal['signal'], number, number]>
> = {
  steps: [stepWish, 1_700, 5_500],
  quotes: [quoteWish, 2_100, 6_800],
  flips: [flipWish, 1_700, 6_800],
  pair: [pairWish, 3_000, 15_000],
  rotation: [rotationWish, 2_500, 9_000],
};

/** The signals of a strategy on a symbol; they go on a little after the faults have ended. */
export function signalsOf(seed: number, strategy: StrategyId, symbol: string): readonly TimedSignal[] {
  const isSeveral = severalMarkets.some((one) => one === strategy);
  // What is decided at once is drawn alike for each symbol.
  const chance = chanceOf(seed, isSeveral ? strategy : `${strategy} ${symbol}`);
  const isFirst = symbolsOf[strategy][0] === symbol;
  const [make, least, most] = makers[strategy];
  const signals: TimedSignal[] = [];
  for (let at = chance.whole(300, 3_000); at < faultsMs + 6_000; at += chance.whole(least, most))
    signals.push({ at, signal: make(chance, isFirst) });
  return signals;
}

export interface Speaking {
  readonly life: Life;
  /** ms after the start. */
  readonly elapsed: () => number;
  readonly now: () => number;
  readonly mid: (symbol: string) => number;
}

/** The signals of a strategy on each of the symbols that it decides on at once. */
export type SignalsBySymbol = readonly [Signals, ...Signals[]];
type Signals = readonly [symbol: string, signals: readonly TimedSignal[]];

/** A strategy's decisions from now on, beginning with the last one that is due. */
export function decisionsFrom(each: SignalsBySymbol, strategy: string, by: Speaking): Observable<Decision> {
  return new Observable((out) => {
    const [[, times]] = each;
    const say = (index: number): void => {
      const [first, ...others] = each.flatMap(([symbol, signals]): Leg[] => {
        const signal = signals[index]?.signal(by.mid(symbol));
        const role = each.length === 1 ? mainRole : symbol;
        return signal === undefined ? [] : [{ strategy, role, symbol, at: by.now(), signal }];
      });
      if (first !== undefined) out.next({ strategy, at: by.now(), legs: [first, ...others] });
    };
    let index = times.findLastIndex(({ at }) => at <= by.elapsed());
    const next = (): void => {
      const timed = times[++index];
      if (timed === undefined) return;
      const due = index;
      by.life.clock.at(by.now() + Math.max(0, timed.at - by.elapsed()), () => {
        say(due);
        next();
      });
    };
    if (index >= 0) say(index);
    next();
  });
}
