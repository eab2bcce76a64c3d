/** A simulated venue on klines, for backtests. The backtest steps it through the phases of each kline (`fill/kline-fills.ts`). */
import type { Interval } from '../../domain/interval.ts';
import type { Intent } from '../../domain/order.ts';
import { maxRate } from '../../fill/fees.ts';
import type { UsualDay } from '../../fill/impact.ts';
import { type FillKline, KlineFills } from '../../fill/kline-fills.ts';
import type { Step, Stop, StopHit } from '../../fill/orders.ts';
import { PaperAccount, type PaperAccountOptions } from './account.ts';
import { PaperMarkets } from './order-entry.ts';

export interface PaperOnKlinesOptions extends PaperAccountOptions {
  /** The klines by which each symbol's orders fill. */
  readonly intervals: ReadonlyMap<string, Interval>;
  /** What usually trades of each symbol in the days before a time, for rules with impact. */
  readonly liquidity?: ReadonlyMap<string, UsualDay>;
  /** The finer klines within a kline of each symbol, by its open time. */
  readonly finer?: ReadonlyMap<string, (openTime: number) => readonly FillKline[]>;
}

/** Requests and answers take no time: between two klines none passes, and latency is counted in whole klines. */
export class PaperOnKlines extends PaperMarkets<PaperMarket> {
  constructor(options: PaperOnKlinesOptions) {
    const account = new PaperAccount(options);
    super(account, options.intervals.keys(), (symbol) => new PaperMarket(options, account, symbol));
  }
}

/** One symbol's kline, phase by phase. */
export class PaperMarket {
  /** What is at the venue, and which prices would reach it. */
  readonly fills: KlineFills;
  readonly #account: PaperAccount;
  readonly #changed: () => void;
  readonly #hits = new Map<string, { readonly kline: FillKline; readonly hit: StopHit }>();

  constructor(options: PaperOnKlinesOptions, account: PaperAccount, symbol: string, changed = (): void => {}) {
    const [instrument, interval] = [options.instruments.get(symbol), options.intervals.get(symbol)];
    if (instrument === undefined || interval === undefined) throw new Error(`no instrument ${symbol}`);
    this.#account = account;
    this.#changed = changed;
    const [liquidity, finer] = [options.liquidity?.get(symbol), options.finer?.get(symbol)];
    this.fills = new KlineFills({
      instrument,
      interval,
      ...(liquidity !== undefined && { liquidity }),
      ...(finer !== undefined && { finer }),
      rules: options.rules,
      ...(options.rules.sizing === 'fillWithFee' && { feeInAmount: maxRate(options.fees) }),
      canPay: (...asked) => account.canPay(...asked),
    });
  }

  open(kline: FillKline): void {
    this.#book(this.fills.open(kline));
  }

  /** What was decided after this kline arrives, by rules that fill at its close. */
  decided(kline: FillKline): void {
    this.#book(this.fills.decided(kline));
  }

  /** Which stops the kline sets off. Until `rest` or `close`, a MARKET order of their strategies with purpose `stop` fills at once. */
  triggers(kline: FillKline, stops: readonly Stop[]): readonly StopHit[] {
    const hits = this.fills.triggers(kline, stops);
    for (const hit of hits) this.#hits.set(hit.strategy, { kline, hit });
    return hits;
  }

  rest(kline: FillKline): void {
    this.#hits.clear();
    this.#book(this.fills.rest(kline));
  }

  /** Until `goOn`, and from `close` on: what comes then is an order like any other, and no stop that was triggered fills any more. */
  pause(): void {
    this.#hits.clear();
    this.fills.pause();
  }

  goOn(): void {
    this.fills.goOn();
  }

  /** Takes an accepted order. */
  submit(intent: Intent): void {
    const triggered =
      intent.purpose === 'stop' && intent.type === 'MARKET' ? this.#hits.get(intent.strategy) : undefined;
    if (triggered === undefined) this.fills.submit(intent);
    else {
      this.#hits.delete(intent.strategy);
      this.#book(this.fills.fillStop(triggered.kline, intent, triggered.hit));
    }
  }

  cancel(clientOrderId: string): void {
    this.#book(this.fills.cancel(clientOrderId));
  }

  #book(step: Step): void {
    if (this.#account.book(step)) this.#changed();
  }
}
