/** Targets of shares that are more than a strategy has: what is over is denied at each kline. */
import { rateNumber } from '../../domain/money.ts';
import type { Leg, Signal } from '../../domain/order.ts';
import { roundingOfSums } from '../../strategy/markets/weights.ts';
import type { RunInput } from '../run.ts';

type Margin = Pick<RunInput, 'margin'>;

const maxShare = ({ margin }: Margin): number => (margin === undefined ? 1 : rateNumber(margin.maxLeverage));
const maxText = (run: Margin): string =>
  `${maxShare(run)} is ${run.margin === undefined ? 'all its equity' : 'the maximum by margin.maxLeverage'}`;

/** `targets a share of 1.5; 1 is all its equity`; undefined for one that it can hold. */
export function shareFault(run: Margin, signal: Signal): string | undefined {
  if (signal.kind !== 'target' || !('share' in signal.size)) return undefined;
  const { share } = signal.size;
  return Math.abs(share) > maxShare(run) ? `targets a share of ${share}; ${maxText(run)}` : undefined;
}

/** The shares that a strategy of several markets targets. */
export class SharesTogether {
  readonly #shares = new Map<string, number>();
  readonly #run: Margin;

  constructor(run: Margin) {
    this.#run = run;
  }

  get roles(): Iterable<string> {
    return this.#shares.keys();
  }

  /** What is reduced to what is left asks for no more than that. A short target is none on spot. */
  follow(role: string, signal: Signal | undefined): void {
    const size = signal?.kind === 'target' && signal.clip !== true ? signal.size : {};
    const share = 'share' in size ? (size.share as number) : 0;
    this.#shares.set(role, this.#run.margin === undefined ? Math.max(0, share) : Math.abs(share));
  }

  /** `targets shares of 0.6 of near and 0.6 of far, 1.2 together; …`; undefined where they are not too much. */
  get fault(): string | undefined {
    const some = [...this.#shares].filter(([, share]) => share > 0);
    const sum = some.reduce((total, [, share]) => total + share, 0);
    if (!(sum > maxShare(this.#run) + roundingOfSums)) return undefined;
    const parts = some.map(([role, share]) => `${shareText(share)} of ${role}`);
    const all =
      parts.length === 1
        ? `a share of ${parts.join()}`
        : `shares of ${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}, ${shareText(sum)} together`;
    return `targets ${all}; ${maxText(this.#run)}: make them smaller, or say clip: true to buy what is left`;
  }
}

const shareText = (share: number): string => String(Number(share.toPrecision(4)));

/** Which strategies of several markets targeted too much, one sentence each, of the first time. `signals` in their order. */
export function sharesTogether(
  run: Pick<RunInput, 'hosted' | 'margin'>,
  signals: Iterable<Pick<Leg, 'strategy' | 'role' | 'at' | 'signal'>>,
): readonly string[] {
  const several = run.hosted.filter(({ markets }) => markets !== undefined).map(({ id }) => id);
  const known = new Map(several.map((id) => [id, { at: Number.NaN, shares: new SharesTogether(run) }]));
  const found = new Map<string, string>();
  const look = (strategy: string): void => {
    const fault = known.get(strategy)?.shares.fault;
    if (fault !== undefined && !found.has(strategy)) found.set(strategy, `${strategy} ${fault}`);
  };
  for (const { strategy, role, at, signal } of signals) {
    const own = known.get(strategy);
    if (own === undefined) continue;
    // The legs of a decision count at once: one is left while another is entered.
    if (at !== own.at) look(strategy);
    own.at = at;
    own.shares.follow(role, signal);
  }
  for (const strategy of several) look(strategy);
  return [...found.values()];
}
