/** What an endpoint is, and what it gets to see of a request. */
import type { Instrument } from '../../domain/instrument.ts';
import { refusals } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Habits } from '../core/habits.ts';
import type { Json } from './json.ts';
import { type Params, Refused, required } from './params.ts';

export interface Call {
  readonly params: Params;
  readonly exchange: Exchange;
  readonly habits: Habits;
  /** The signed user; empty for public endpoints. */
  readonly uid: string;
}

export interface Endpoint {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** What it costs against both windows (§4); zero where the specification gives none. */
  readonly weight: number;
  readonly signed: boolean;
  /** Calls per 2 s and user, where §8 limits them. */
  readonly perTwoSeconds?: number;
  /** Answers, or throws `Refused`. */
  readonly run: (call: Call) => Json;
}

/** The instrument that the parameter `symbol` names, in any case, with or without a slash (venue-observed §2). */
export function instrumentOf({ params, exchange }: Call): Instrument {
  const symbol = required(params, 'symbol').toUpperCase().replace('/', '');
  const found = exchange.instruments.get(symbol);
  if (found === undefined) throw new Refused(refusals.symbol);
  return found;
}
