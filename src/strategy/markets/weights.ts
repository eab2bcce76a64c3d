/** The weights that `choose` returns, and the check that somebody can hold them. Strategy files are not type-checked. */
import { inspect } from 'node:util';
import type { Weights } from '../contract.ts';
import { SignalError } from '../fault.ts';

/** Sums of weights are binary numbers: ten times 0.1 is slightly less than 1, and may be slightly more. */
export const roundingOfSums = 1e-9;

/**
 * Shares of the strategy's equity to hold, by symbol; other markets that it was given are left. A position whose share differs from its
 * weight by less than `threshold` is not rebalanced. Throws a `SignalError` for what cannot be held.
 */
export function weights(
  weights: Readonly<Record<string, number>>,
  reason: string,
  options: { readonly threshold?: number } = {},
): Weights {
  if (typeof options !== 'object' || options === null)
    throw new SignalError(`weights() whose options are ${shown(options)}: say { threshold: 0.05 }, or leave them out`);
  for (const option of Object.keys(options))
    if (option !== 'threshold')
      throw new SignalError(
        `weights() with the unknown option ${option}; there is threshold. Markets of a list have no exits of their own`,
      );
  const chosen: Weights = { kind: 'weights', weights, reason, threshold: options.threshold ?? 0 };
  eachWeight(chosen, () => {});
  return chosen;
}

/** A map or an array has no weights by symbol. */
const isCollection = (value: object): boolean => Symbol.iterator in value;

/**
 * Calls `take` with each weight. Throws a `SignalError` unless each number is one and they can be held together; whether the strategy has these
 * markets, only who holds them knows.
 */
export function eachWeight(chosen: Weights, take: (symbol: string, weight: number) => void): void {
  const { weights, reason, threshold } = chosen ?? {};
  if (chosen?.kind !== 'weights' || typeof weights !== 'object' || weights === null || isCollection(weights))
    throw new SignalError(`choose() returns weights({ BTCUSDT: 0.5 }, 'why'), not ${shown(chosen)}`);
  if (typeof reason !== 'string')
    throw new SignalError(`weights whose reason is ${shown(reason)}: say why, as in weights({ BTCUSDT: 0.5 }, 'why')`);
  if (!(typeof threshold === 'number' && threshold >= 0 && threshold <= 1))
    throw new SignalError(`a threshold of ${shown(threshold)}: it is a share of the equity, from 0 to 1`);
  let sum = 0;
  for (const symbol of Object.keys(weights)) {
    const weight = weights[symbol] as number;
    if (!Number.isFinite(weight))
      throw new SignalError(`the weight of ${symbol} is ${shown(weight)}: it must be a number`);
    sum += Math.abs(weight);
    take(symbol, weight);
  }
  if (sum > 1 + roundingOfSums)
    throw new SignalError(
      `weights that add up to ${Number(sum.toPrecision(6))}, more than 1, the whole equity of the strategy: divide each by the sum`,
    );
}

const shown = (value: unknown): string =>
  inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 50 });
