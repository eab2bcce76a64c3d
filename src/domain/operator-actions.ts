/** What an operator may do to a running daemon, whether from the command line, the dashboard or Telegram. */
import type { TradeDecision } from './order.ts';

/** Who asks. `operator`: the command line. `dashboard`. Or `telegram NAME`. */
export interface By {
  readonly by: string;
}

/** Who asks, and why. Both are journalled. */
export interface Asked extends By {
  readonly reason: string;
}

/** Of one strategy; of all if left out. */
export interface OfStrategy {
  readonly strategy?: string | undefined;
}

/** Each answers with a sentence that says what was done. A `Refusal` says why it was not, and nothing was done then. */
export interface OperatorActions {
  /** Strategies create no orders any more, and what they have resting is cancelled; `everything`: exits stop, too. */
  kill(asked: Asked & OfStrategy & { readonly everything?: boolean | undefined }): Promise<string>;
  /** Nothing is entered any more, and resting entries are cancelled; strategies may leave positions, and exits go on. */
  pause(asked: Asked & OfStrategy): Promise<string>;
  /**
   * Lifts kills and pauses of the same scope; without a strategy all of them, and a HALT. `seen`: the mark of what was in force when somebody was
   * asked whether to lift it; nothing is lifted once that has changed.
   */
  resume(asked: Asked & OfStrategy & { readonly seen?: string | undefined }): Promise<string>;
  /** One resting order, by our client id, or those of a strategy, or all. */
  cancel(
    asked: By & OfStrategy & { readonly order?: string | undefined; readonly reason?: string | undefined },
  ): Promise<string>;
  /**
   * Pauses strategies, cancels their orders and closes their positions, of a symbol or of all: by LIMIT near the best price, then by MARKET.
   * `maxSlippage`: most that it may pay beyond the price of now, as a fraction, such as `0.01`.
   */
  flatten(
    asked: Asked & OfStrategy & { readonly symbol?: string | undefined; readonly maxSlippage?: string | undefined },
  ): Promise<string>;
  /** Closes an order that only a human may close. */
  resolve(asked: Asked & { readonly order: string; readonly as: string }): Promise<string>;
  /** Binds an order of unknown outcome to an order at the exchange, by the exchange's id. */
  adopt(asked: Asked & { readonly order: string; readonly orderId: string }): Promise<string>;
  /** Books a quarantined trade as it is shown, or never. */
  resolveTrade(asked: Asked & { readonly trade: string; readonly as: TradeDecision }): Promise<string>;
  /** Counts an amount that was paid in or, negative, out: a decimal such as `-12.5`. */
  adjust(asked: Asked & { readonly asset: string; readonly amount: string }): Promise<string>;
  /** Loads the code of a strategy anew. */
  reload(asked: Asked & { readonly strategy: string }): Promise<string>;
  /** Reads the configuration again: tighter limits are in force at once, looser ones where somebody confirms them (`loosen`). */
  reloadConfig(asked: Asked & { readonly loosen: boolean }): Promise<string>;
  /** Acknowledges an alarm, or all: they are not sent again. */
  acknowledge(asked: By & { readonly alarm?: number | undefined }): Promise<string>;
  /** Raises a limit, or releases a version of a strategy's code. */
  limits(
    asked: Asked & { readonly what: 'raise' | 'release'; readonly name: string; readonly value: string },
  ): Promise<string>;
}
