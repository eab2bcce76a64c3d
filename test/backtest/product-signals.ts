/** The signals of the slow reference in the product's words. */

import type { Signal as ProductSignal, Target as ProductTarget } from '../../src/domain/order.ts';
import type {
  Distance as ProductDistance,
  ExitLevel as ProductLevel,
  TargetOptions,
} from '../../src/domain/target-options.ts';
import type { Distance, Level, Signal, Target } from '../reference/types.ts';

/** A want of the reference, whose numbers are text, as the product's. */
export function asProduct(signal: Signal): ProductSignal {
  if ('quotes' in signal) {
    const quotes = signal.quotes.map(({ side, price, quantity }) => ({
      side,
      price: Number(price),
      quantity: Number(quantity),
    }));
    return { kind: 'quotes', quotes, reason: '' };
  }
  const { limit, stop, takeProfit, trailing, breakEven, ...rest } = signal;
  const { exitAfterMs, exitAfterKlines, exitAt, reenterAfterMs, reenterAfterKlines } = rest;
  const { expiresAfterMs, expiresAfterKlines, postOnly, clip } = rest;
  return {
    kind: 'target',
    size: sizeOf(signal),
    ...(limit === undefined ? {} : { limit: Number(limit) }),
    ...(stop === undefined ? {} : { stop: levelOf(stop) }),
    ...(takeProfit === undefined ? {} : { takeProfit: takeProfitOf(takeProfit) }),
    ...(trailing === undefined ? {} : { trailing: farOf(trailing) }),
    ...(breakEven === undefined
      ? {}
      : {
          breakEven: {
            after: farOf(breakEven.after),
            ...(breakEven.plus === undefined ? {} : { plus: Number(breakEven.plus) }),
          },
        }),
    ...(exitAfterMs === undefined ? {} : { exitAfterMs }),
    ...(exitAfterKlines === undefined ? {} : { exitAfterKlines }),
    ...(exitAt === undefined ? {} : { exitAt }),
    ...(reenterAfterMs === undefined ? {} : { reenterAfterMs }),
    ...(reenterAfterKlines === undefined ? {} : { reenterAfterKlines }),
    ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
    ...(expiresAfterKlines === undefined ? {} : { expiresAfterKlines }),
    ...(postOnly === undefined ? {} : { postOnly }),
    ...(clip === undefined ? {} : { clip }),
    reason: '',
  };
}

const sizeOf = (signal: Target): ProductTarget['size'] => {
  if ('share' in signal) return { share: Number(signal.share) };
  return 'amount' in signal ? { amount: Number(signal.amount) } : { quantity: Number(signal.quantity) };
};

const farOf = (far: string | Distance): number | ProductDistance =>
  typeof far === 'string' ? Number(far) : { ...far, distance: Number(far.distance) };

const levelOf = (level: Level): ProductLevel =>
  typeof level === 'object' && 'fromEntry' in level ? { fromEntry: Number(level.fromEntry) } : farOf(level);

const takeProfitOf = (given: NonNullable<Target['takeProfit']>): NonNullable<TargetOptions['takeProfit']> =>
  isLevel(given) ? levelOf(given) : given.map(({ at, share }) => ({ at: levelOf(at), share: Number(share) }));

const isLevel = (given: NonNullable<Target['takeProfit']>): given is Level => !Array.isArray(given);

/** The signal as it is journalled: klines as ms, too. */
export function inMs(signal: ProductSignal, klineMs: number): ProductSignal {
  if (signal.kind === 'quotes') return signal;
  const { exitAfterKlines, reenterAfterKlines, expiresAfterKlines } = signal;
  return {
    ...signal,
    ...(exitAfterKlines !== undefined && { exitAfterMs: exitAfterKlines * klineMs }),
    ...(reenterAfterKlines !== undefined && { reenterAfterMs: reenterAfterKlines * klineMs }),
    ...(expiresAfterKlines !== undefined && { expiresAfterMs: expiresAfterKlines * klineMs }),
  };
}
