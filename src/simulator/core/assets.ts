/** What can be withdrawn, under which name and on which terms (specification §2.7, §4.5). */
import type { Instrument } from '../../domain/instrument.ts';
import { noUnits, type Units } from '../../domain/money.ts';

export interface Asset {
  /** How a withdrawal names it: of a coin with several chains, one name for each. */
  readonly code: string;
  /** The balance that it is taken from. */
  readonly asset: string;
  readonly name: string;
  /** `unified_cryptoasset_id`. */
  readonly unifiedId: string;
  /** Part of the amount. */
  readonly fee: Units;
  readonly minWithdraw: Units;
  /** Undefined when there is no maximum. */
  readonly maxWithdraw: Units | undefined;
  readonly canWithdraw: boolean;
  readonly canDeposit: boolean;
}

export type Assets = ReadonlyMap<string, Asset>;

/** Every asset that is traded, on the plainest terms unless `given` says otherwise, and whatever else is given. */
export function assetsOf(instruments: Iterable<Instrument>, given: readonly Asset[] = []): Assets {
  const traded = [...instruments].flatMap(({ base, quote }) => [base, quote]);
  return new Map([...traded.map(plainAsset), ...given].map((asset) => [asset.code, asset]));
}

const plainTerms = { fee: noUnits, minWithdraw: noUnits, maxWithdraw: undefined, canWithdraw: true, canDeposit: true };

export const plainAsset = (code: string): Asset => ({ code, asset: code, name: code, unifiedId: '0', ...plainTerms });
