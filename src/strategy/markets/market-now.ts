/** What a strategy of several markets is asked with. */
import type { Kline } from '../../domain/market.ts';
import type { Holding } from '../contract.ts';

/** A market at one moment. */
export interface MarketNow {
  /** The kline that counts; undefined where it is missing. */
  readonly kline: Kline | undefined;
  /** Whether there is one, and its close; left out, it has to be looked at. */
  readonly isThere?: boolean;
  readonly close?: number;
  readonly holding: Holding;
}
