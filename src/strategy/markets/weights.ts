/** The weights that `choose` returns, and the check that somebody can hold them. Strategy files are not type-checked. */
import { inspect } from 'node:util';
import { entryOptions, optionNames } from '../../domain/target-options.ts';
import type { WeightExits, Weights } from '../contract.ts';
import { SignalError } from '../fault.ts';
import { hold } from '../signals.ts';
import { checkedLeg } from './market-signals.ts';

/** Sums of weights are binary numbers: ten times 0.1 is slightly less than 1, and may be slightly more. */
export const roundingOfSums = 1e-9;

/** What `weights` takes beside the weights and their reason. */
export interface WeightsOptions {
  readonly threshold?: number;
  readonly exits?: Readonly<Record<string, WeightExits>>;
}

/**
 * Shares of the strategy's equity to hold, by symbol; other markets that it was given are left. A position whose share differs from its
 * weight by less than `threshold` is not rebalanced. `exits`, by symbol, are those of `hold`. Throws a `SignalError` for what cannot be held.
 */
export function weights(
  weights: Readonly<Record<string, number>>,
  reason: string,
  options: WeightsOptions = {},
): Weights {
  if (typeof options !== 'object' || options === null)
    throw new SignalError(`weights() whose options are ${shown(options)}: say { threshold: 0.05 }, or leave them out`);
  for (const option of Object.keys(options))
    if (option !== 'threshold' && option !== 'exits')
      throw new SignalError(
        `weights() with the unknown option ${option}; there are threshold and exits: { BTCUSDT: { stop: { fromEntry: 0.1 } } }`,
      );
  const { threshold = 0, exits } = options;
  const chosen: Weights = { kind: 'weights', weights, reason, threshold, ...(exits !== undefined && { exits }) };
  eachWeight(chosen, (symbol, weight) => {
    const own = exits?.[symbol];
    if (own !== undefined && weight !== 0) checkedLeg(symbol, hold({ amount: weight }, reason, own), '1min');
  });
  return chosen;
}

const exitNames: readonly string[] = optionNames.filter((name) => !(entryOptions as readonly string[]).includes(name));

const example = 'say exits: { BTCUSDT: { stop: { fromEntry: 0.1 } } }';

/** A market with a weight needs its own: a misspelt symbol would have none. */
function refuseExits(exits: NonNullable<Weights['exits']>, symbol: string): void {
  const own = exits[symbol];
  if (own === undefined)
    throw new SignalError(`exits without ${symbol}, which has a weight: say ${symbol}: {} where it shall have none`);
  if (typeof own !== 'object' || own === null || isCollection(own))
    throw new SignalError(`exits of ${symbol} that are ${shown(own)}: ${example}`);
  const unknown = Object.keys(own).find((name) => !exitNames.includes(name));
  if (unknown !== undefined)
    throw new SignalError(
      `exits of ${symbol} with ${unknown}, which is not an exit; there are ${exitNames.join(', ')}`,
    );
  if (Array.isArray(own.takeProfit))
    throw new SignalError(`exits of ${symbol} with a list of take-profits: what one sells, its weight would buy back`);
}

/** A map or an array has no weights by symbol. */
const isCollection = (value: object): boolean => Symbol.iterator in value;

/**
 * Calls `take` with each weight. Throws a `SignalError` unless each number is one and they can be held together; whether the strategy has these
 * markets, only who holds them knows.
 */
export function eachWeight(chosen: Weights, take: (symbol: string, weight: number) => void): void {
  const { weights, reason, threshold, exits } = chosen ?? {};
  if (chosen?.kind !== 'weights' || typeof weights !== 'object' || weights === null || isCollection(weights))
    throw new SignalError(`choose() returns weights({ BTCUSDT: 0.5 }, 'why'), not ${shown(chosen)}`);
  if (typeof reason !== 'string')
    throw new SignalError(`weights whose reason is ${shown(reason)}: say why, as in weights({ BTCUSDT: 0.5 }, 'why')`);
  if (!(typeof threshold === 'number' && threshold >= 0 && threshold <= 1))
    throw new SignalError(`a threshold of ${shown(threshold)}: it is a share of the equity, from 0 to 1`);
  if (exits !== undefined && (typeof exits !== 'object' || exits === null || isCollection(exits)))
    throw new SignalError(`exits that are ${shown(exits)}: ${example}`);
  let sum = 0;
  for (const symbol of Object.keys(weights)) {
    const weight = weights[symbol] as number;
    if (!Number.isFinite(weight))
      throw new SignalError(`the weight of ${symbol} is ${shown(weight)}: it must be a number`);
    if (exits !== undefined && weight !== 0) refuseExits(exits, symbol);
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
