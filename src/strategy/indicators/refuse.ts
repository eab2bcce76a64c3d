/** Refuses wrong arguments of indicators. Strategy files are not type-checked, so each wrong call gets one message. */
import { inspect } from 'node:util';
import { SignalError } from '../fault.ts';
import { priceNames } from '../indicator.ts';
import { isIndicator } from '../named-indicators.ts';

/** The arguments of a call, by what they are. Names are those of messages: `fast period`. */
export interface Arguments {
  readonly sources?: readonly unknown[];
  /** Whole numbers of klines. */
  readonly periods?: Readonly<Record<string, number>>;
  /** The smallest period, where it is not 1. */
  readonly minPeriod?: number;
  /** Numbers above 0. */
  readonly factors?: Readonly<Record<string, number>>;
}

/** Longer windows are mistakes: their memory alone would be hundreds of megabytes. */
const maxKlines = 1_000_000;

/** Throws for an unknown source, a period that is no whole number of klines, or a factor that is not above 0. */
export function refuseInvalid(
  name: string,
  { sources = [], periods = {}, minPeriod = 1, factors = {} }: Arguments,
): void {
  const given = argumentsText([...sources, ...Object.values(periods), ...Object.values(factors)]);
  const refuse = (what: string): never => {
    throw new SignalError(`${name}(${given}): ${what}`);
  };
  for (const source of sources)
    if (!isIndicator(source) && !(priceNames as readonly unknown[]).includes(source))
      refuse(
        `a kline has no ${typeof source === 'string' ? source : inspect(source, { depth: 0 })}; there are ${priceNames.join(', ')}, and other indicators`,
      );
  for (const [which, period] of Object.entries(periods))
    if (!Number.isInteger(period) || period < minPeriod || period > maxKlines)
      refuse(`the ${which} must be a whole number of klines, ${minPeriod} or more`);
  for (const [which, factor] of Object.entries(factors))
    if (!(Number.isFinite(factor) && factor > 0)) refuse(`the ${which} must be a number above 0`);
}

/** The arguments of a call, as a message says them. */
export const argumentsText = (given: readonly unknown[]): string => given.map(text).join(', ');

const text = (given: unknown): string =>
  typeof given === 'string' ? `'${given}'` : isIndicator(given) ? '…' : String(given);
