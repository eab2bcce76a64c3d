/** What an endpoint is, and what it gets to see of a request. */
import type { Instrument } from '../../domain/instrument.ts';
import { refusals } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Permission } from '../core/keys.ts';
import type { Quirks } from '../core/quirks.ts';
import type { Json } from './json.ts';
import { given, type Params, Refused, required } from './params.ts';

export interface Call {
  readonly params: Params;
  readonly exchange: Exchange;
  readonly quirks: Quirks;
  /** The signed user; empty for public endpoints. */
  readonly uid: string;
  /** How far the clock that answers is off, ms: a fault; zero otherwise. */
  readonly skewMs: number;
}

/** Withdrawals and public aggregated data have envelopes of their own (specification §2.7, §4.5). */
export type Family = 'withdraw' | 'open';

export interface Endpoint {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** What it costs against both windows (§4); zero where the specification gives none, by quirk where it gives two. */
  readonly weight: number | ((quirks: Quirks) => number);
  /** What the key must allow; absent where no key is needed. */
  readonly permission?: Permission;
  /** How replies and refusals are wrapped; absent for the plain ones. */
  readonly family?: Family;
  /** True where a lost answer leaves an order behind. */
  readonly creates?: true;
  /** Calls per 2 s and user, where §8 limits them. */
  readonly perTwoSeconds?: number;
  /** Answers, or throws `Refused`. */
  readonly run: (call: Call) => Json;
}

/** The instrument that the parameter `symbol` names, with or without a slash, in any case unless a quirk is strict. */
export const instrumentOf = (call: Call): Instrument => named(required(call.params, 'symbol'), call);

/** The same where only a symbol will do that is still traded. */
export function listedOf(call: Call): Instrument {
  const at = instrumentOf(call);
  if (call.exchange.delisted.has(at.symbol)) throw new Refused(refusals.symbol);
  return at;
}

/** The same where the symbol may be left out. */
export function instrumentIn(call: Call): Instrument | undefined {
  const symbol = given(call.params, 'symbol');
  return symbol === undefined ? undefined : named(symbol, call);
}

function named(symbol: string, { exchange, quirks }: Call): Instrument {
  const upper = quirks.symbolCase === 'any' ? symbol.toUpperCase() : symbol;
  const found = exchange.instruments.get(upper.replace('/', ''));
  if (found === undefined) throw new Refused(refusals.symbol);
  return found;
}
