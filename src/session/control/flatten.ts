/** `sluice flatten` in a daemon: pauses strategies, then closes their positions. */
import type { Clock } from '../../clock/clock.ts';
import { min, type Rate, rate, rateText } from '../../domain/money.ts';
import type { OperatorActions } from '../../domain/operator-actions.ts';
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import type { Limits } from '../../risk/context.ts';
import type { Kill } from '../../risk/kill.ts';
import type { Assembled } from '../../trading/assemble.ts';
import { longestFlattenMs } from '../../trading/flatten.ts';
import { awayWhile, type Waits } from './exchange-unreachable.ts';
import { stoppedText } from './kill-texts.ts';

export interface FlattenParts extends Waits {
  readonly assembled: Assembled;
  readonly clock: Clock;
  /** Throws for a strategy that is not there. */
  readonly refuseNobody: (strategy: string | undefined) => void;
}

/** Real ms after which the answer says that it goes on. */
const answerMs = 30_000;
/** The slippage that is allowed where neither the command nor the limits say it: that of the standard limits. */
const standardSlippage = rate('0.01');

export async function flatten(
  { strategy, symbol, maxSlippage, by, reason }: Parameters<OperatorActions['flatten']>[0],
  { assembled, clock, away, refuseNobody }: FlattenParts,
): Promise<string> {
  const { portfolio, risk, execution } = assembled;
  refuseNobody(strategy);
  const symbols = [...portfolio.instruments.keys()];
  if (symbol !== undefined && !symbols.includes(symbol))
    throw new Refusal(`${symbol} is not traded here${didYouMean(symbol, symbols)}; there is ${symbols.join(', ')}`);
  const slippage = slippageOf(maxSlippage, risk.limits);
  const [halt] = execution.halts.inForce;
  if (halt !== undefined)
    throw new Refusal(
      `nothing was done: under HALT positions may be wrong, so none is closed (${halt.text}). Check the cause, then sluice resume; or sell at the exchange with sluice order`,
      1,
    );
  const pauses = pausesFor({ strategy, symbol, by, reason }, assembled, clock);
  const asked = { strategy, symbol, maxSlippage: slippage, by, reason };
  const ended = assembled.flatten(asked, pauses);
  const nothing = ended.length === 0 ? ['No order is left, and no position that is large enough to sell.'] : [];
  const said = (...texts: readonly string[]): string =>
    [...pauses.map((pause) => stoppedText(pause)), ...nothing, ...texts].join(' ');
  const done = Promise.all(ended);
  const late = clock.sleep(clock.machine(answerMs)).then(() => undefined);
  const { blocked } = assembled;
  /** Why none of them can be sent. */
  const block = (): string | undefined => {
    const blocks = assembled.flattening.active.map((one) => blocked({ symbol: one.symbol, purpose: 'flatten' }));
    return away() ?? (blocks.includes(undefined) ? undefined : blocks[0]);
  };
  const why = ended.length === 0 ? undefined : await awayWhile({ clock, away: block }, Promise.race([done, late]));
  if (why !== undefined)
    return said(
      `Nothing can be sent now: ${why}. The positions are closed once that has ended, with at most ${rateText(slippage)} slippage from the prices of this moment. After ${longestFlattenMs / 3_600_000} h it ends, and what is left stays open. A notice says how it went; sluice resume calls it off.`,
    );
  const texts = await Promise.race([done, late]);
  if (texts !== undefined) return said(...texts);
  return said(
    `Positions are being closed with at most ${rateText(slippage)} slippage. This goes on; sluice positions shows what is left, and a notice says how it ended.`,
  );
}

/** The price collar denies what is worse than it. */
function slippageOf(asked: string | undefined, { maxSlippage, priceCollar }: Limits): Rate {
  if (asked === undefined) return min(maxSlippage ?? standardSlippage, priceCollar);
  const slippage = fractionOf(asked);
  if (slippage <= priceCollar) return slippage;
  throw new Refusal(
    `nothing was done: --max-slippage ${asked} is more than risk.priceCollar, which denies orders beyond ${rateText(priceCollar)}; write at most that, or raise risk.priceCollar in the configuration`,
  );
}

/** A fraction above zero and below one. */
function fractionOf(text: string): Rate {
  if (/^0?\.\d{1,6}$/.test(text) && Number(text) > 0) return rate(text);
  throw new Refusal(`${text} is not a fraction: write the most that may be lost to slippage, such as 0.01 for 1 %`);
}

type Scope = Pick<Parameters<OperatorActions['flatten']>[0], 'strategy' | 'symbol' | 'by' | 'reason'>;

/** Whoever is not stopped already is paused: what is sold must not be bought again. Its resting entries are cancelled meanwhile. */
function pausesFor({ strategy, symbol, by, reason }: Scope, { portfolio, risk }: Assembled, clock: Clock): Kill[] {
  const whom =
    strategy !== undefined
      ? [strategy]
      : symbol === undefined
        ? [undefined]
        : portfolio.subAccountsOn(symbol).map((subAccount) => subAccount.strategy);
  const isStopped = (one: string | undefined): boolean =>
    (one === undefined ? risk.switch.ofAll : risk.switch.of(one)) !== undefined;
  return [...new Set(whom)]
    .filter((one) => !isStopped(one))
    .map((one) => ({ kind: 'pause', everything: false, at: clock.now(), strategy: one, by, reason }));
}
