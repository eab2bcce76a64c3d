/** Deposits and withdrawals of a backtest: neither profit nor loss. */
import type { BacktestConfig } from '../../config/schema.ts';
import { minus, negate, noUnits, plus, splitBy, type Units, unitsText } from '../../domain/money.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Entry } from '../../journal/entries.ts';
import type { Portfolio } from '../../portfolio/portfolio.ts';
import type { Risk } from '../../risk/risk.ts';
import { tradedIn } from '../../trading/lanes.ts';
import type { Configured } from '../../trading/strategies.ts';
import type { CashFlow, FlowDone } from '../prepare/run-money.ts';
import { idleCash, type RunInput } from '../run.ts';
import type { Cursor } from './ticks/events.ts';

/**
 * The cash flows of a configuration, oldest first. A flow without a strategy is shared evenly by the strategies without an allocation. If
 * each strategy has an allocation, the flow belongs to none and only counts in the equity.
 */
export function cashFlowsOf(
  file: string,
  { cashFlows }: Pick<BacktestConfig, 'cashFlows'>,
  byCurrency: ReadonlyMap<string, readonly Configured[]>,
): readonly CashFlow[] {
  return cashFlows
    .map(({ time, currency, amount, kind, strategy, reason }, index): CashFlow => {
      const refuse = (key: string, what: string): never => {
        throw new Refusal(`${file}: cashFlows.${index}.${key}: ${what}`);
      };
      const configured = byCurrency.get(currency);
      if (configured === undefined)
        return refuse(
          'currency',
          `the currencies of the account are ${[...byCurrency.keys()].join(' and ')}; ${currency} cannot be deposited or withdrawn`,
        );
      const named = configured.filter(({ config }) => config.id === strategy);
      if (strategy !== undefined && named.length === 0)
        refuse(
          'strategy',
          `no strategy ${strategy} trades against ${currency}; there is ${configured.map((one) => one.config.id).join(', ')}`,
        );
      const silent = configured.filter(({ config }) => config.allocation === undefined);
      const signed = kind === 'deposit' ? amount : negate(amount);
      return {
        time,
        asset: currency,
        amount: signed,
        reason,
        shares: shared(signed, named.length > 0 ? named : silent),
      };
    })
    .toSorted((a, b) => a.time - b.time);
}

function shared(amount: Units, among: readonly Configured[]): CashFlow['shares'] {
  if (among.length === 0) return [];
  const each = splitBy(amount, among.length);
  let left = amount;
  return among.map(({ config, markets }, index) => {
    const share = index === among.length - 1 ? left : each;
    left = minus(left, share);
    // The markets of one strategy are a pool, whichever of them has the amount.
    const [symbol = config.symbol] = markets === undefined ? [] : tradedIn(markets);
    return { strategy: config.id, symbol, amount: share };
  });
}

/** Refuses flows before the first kline or after the last: they would change nothing. */
export function refuseOutside(
  file: string,
  flows: readonly CashFlow[],
  { start, end }: { readonly start: number; readonly end: number },
): void {
  const outside = flows.find(({ time }) => time < start || time > end);
  if (outside === undefined) return;
  const day = (time: number): string => new Date(time).toISOString();
  throw new Refusal(
    `${file}: cashFlows: ${day(outside.time)} lies outside the run, ${day(start)} to ${day(end)}: put earlier deposits into cash`,
  );
}

export interface FlowParts {
  readonly portfolio: Portfolio;
  readonly risk: Pick<Risk, 'moved'>;
  /** Moves money of the account; false when less is free. */
  transfer(asset: string, amount: Units): boolean;
  write(entry: Entry): void;
}

/** The flows of a run while it goes on. */
export class CashFlows {
  /** When the next one is due, UTC ms; infinity after the last. */
  nextAt: number;
  /** What belongs to no strategy. */
  idle: Units;
  readonly done: FlowDone[] = [];
  readonly #flows: readonly CashFlow[];
  readonly #parts: FlowParts;

  constructor(input: RunInput, parts: FlowParts) {
    this.#flows = input.cashFlows ?? [];
    this.#parts = parts;
    this.idle = idleCash(input);
    this.nextAt = this.#flows[0]?.time ?? Number.POSITIVE_INFINITY;
  }

  /** Carries out what is due by `at`, UTC ms; true when money moved. */
  apply(at: number): boolean {
    let moved = false;
    for (let flow = this.#next(); flow !== undefined && flow.time <= at; flow = this.#next()) {
      const { shares: _, ...rest } = flow;
      const refused = this.#refusal(flow);
      this.done.push({ ...rest, at, refused });
      this.nextAt = this.#next()?.time ?? Number.POSITIVE_INFINITY;
      if (refused !== undefined) continue;
      this.#move(flow, at);
      moved = true;
    }
    return moved;
  }

  #next(): CashFlow | undefined {
    return this.#flows[this.done.length];
  }

  /** A withdrawal takes what is free: nothing is sold for it, and no order is cancelled. */
  #refusal({ asset, amount, shares }: CashFlow): string | undefined {
    const { portfolio } = this.#parts;
    const short = (wanted: Units, free: Units, whose: string): string =>
      `${unitsText(negate(wanted))} ${asset} is more than ${whose} has free, ${unitsText(free)}`;
    if (amount < 0n) {
      if (shares.length === 0 && plus(this.idle, amount) < 0n) return short(amount, this.idle, 'the unallocated cash');
      for (const share of shares) {
        const free = portfolio.freeQuote(share.strategy, share.symbol);
        if (plus(free, share.amount) < 0n) return short(share.amount, free, share.strategy);
      }
    }
    return this.#parts.transfer(asset, amount)
      ? undefined
      : `${unitsText(negate(amount))} ${asset} is more than the account has free`;
  }

  #move({ asset, amount, shares, reason }: CashFlow, at: number): void {
    const { portfolio, risk } = this.#parts;
    if (shares.length === 0) this.idle = plus(this.idle, amount);
    let allotted = noUnits;
    for (const share of shares) {
      portfolio.allot(share.strategy, share.symbol, share.amount);
      allotted = plus(allotted, share.amount);
    }
    risk.moved(allotted);
    this.#parts.write({
      kind: 'adjustment',
      at,
      what: 'adjust',
      asset,
      amount: unitsText(amount),
      by: 'configuration',
      reason,
    });
  }
}

/** The flows of a run. */
export const flowsOn = (
  input: RunInput,
  { portfolio, risk }: Pick<FlowParts, 'portfolio' | 'risk'>,
  venue: Pick<FlowParts, 'transfer'>,
  write: FlowParts['write'],
): CashFlows =>
  new CashFlows(input, { portfolio, risk, transfer: (asset, amount) => venue.transfer(asset, amount), write });

/** The flows as events among others; they happen before anything of that moment is seen. */
export function flowCursor(flows: CashFlows, rank: number): Cursor {
  return {
    rank,
    get time() {
      return flows.nextAt;
    },
    fire() {
      flows.apply(flows.nextAt);
      return undefined;
    },
  };
}
