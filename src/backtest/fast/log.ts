/**
 * What a fast run remembers: signals, orders and fills as columns of numbers. Objects of them are made when somebody
 * asks for fills or for the journal; statistics read the columns.
 */
import type { Instrument } from '../../domain/instrument.ts';
import type { Interval } from '../../domain/interval.ts';
import { lotsOfSafe, noUnits, plus, safeNumber, ticksOfSafe, type Units, unitsOfSafe } from '../../domain/money.ts';
import { type Evidence, type Fill, type Intent, mainRole, type Target } from '../../domain/order.ts';
import type { SafeScale } from '../../domain/safe-integers.ts';
import { arrivalEvidence, isLate } from '../../fill/order-arrival.ts';
import { sameSignal } from '../../portfolio/planner.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { intendedOrder } from '../../portfolio/working-order.ts';
import { type FillTable, purposes } from '../../research/fill-table.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import { KlineLog } from '../engine/klines/log.ts';
import { NumberColumn } from '../engine/klines/number-column.ts';
import { clientIdOf, lifeMs } from '../engine/klines/order-column.ts';
import type { Asked } from '../result/spent-weight.ts';
import type { RunResult } from '../run.ts';

/** Wants that are looked through for one that was said before. */
const fewSignals = 4;

/** Every order is a MARKET order that fills whole at the next open; nearly all at the moment in which they were ordered. */
const evidenceOf = (orderedAt: number, filledAt: number, interval: Interval): Evidence =>
  arrivalEvidence('open', filledAt !== orderedAt && isLate(orderedAt, filledAt, interval, 0));

export class FastLog {
  readonly #hosted: NamedHosted;
  readonly #at: Instrument;
  readonly #scale: SafeScale;
  readonly #signals: Target[] = [];
  /** Signals: time, index of the target, its size in lots. */
  readonly #saidAt = new NumberColumn();
  readonly #said = new NumberColumn();
  readonly #targetLots = new NumberColumn();
  /** Orders: time, signed lots, the signal that they serve. */
  readonly #orderedAt = new NumberColumn();
  readonly #lots = new NumberColumn();
  readonly #signal = new NumberColumn();
  /** Fills, one for each order: time, row, ticks, fee. */
  readonly #filledAt = new NumberColumn();
  readonly #row = new NumberColumn();
  readonly #price = new NumberColumn();
  readonly #fee = new NumberColumn();
  #fills: readonly Fill[] | undefined;

  constructor(hosted: NamedHosted, at: Instrument, scale: SafeScale) {
    this.#hosted = hosted;
    this.#at = at;
    this.#scale = scale;
  }

  /** A target that differs from the one before, and its size in lots. */
  signal(at: number, signal: Target, targetLots: number): void {
    this.#saidAt.push(at);
    this.#said.push(this.#indexOf(signal));
    this.#targetLots.push(targetLots);
  }

  /** The index of a want of the same words. */
  #indexOf(signal: Target): number {
    const signals = this.#signals;
    for (let index = signals.length - 1; index >= 0 && index >= signals.length - fewSignals; index--) {
      const known = signals[index] as Target;
      if (known.reason === signal.reason && sameSignal(known, signal)) return index;
    }
    return signals.push(signal) - 1;
  }

  /** An order for the last wish; signed lots. */
  order(at: number, lots: number): void {
    this.#orderedAt.push(at);
    this.#lots.push(lots);
    this.#signal.push(this.#said.length - 1);
  }

  /** The fill of the last order, at the open of a row; the fee in steps of the scale. */
  fill(at: number, row: number, price: number, fee: number): void {
    this.#filledAt.push(at);
    this.#row.push(row);
    this.#price.push(price);
    this.#fee.push(fee);
  }

  /** What it sent; each order works from the close it was decided on to the open at which it fills. */
  asked(): Asked {
    let workedMs = 0;
    const [filledAt, orderedAt] = [this.#filledAt.values, this.#orderedAt.values];
    for (let index = 0; index < filledAt.length; index++)
      workedMs += (filledAt[index] as number) - (orderedAt[index] as number);
    return { orders: this.#orderedAt.length, cancels: 0, workedMs };
  }

  /** One object for each fill, made when it is first asked for. */
  get fills(): readonly Fill[] {
    this.#fills ??= Array.from({ length: this.#filledAt.length }, (_, index) => this.fillAt(index));
    return this.#fills;
  }

  /** One of them, made anew. */
  fillAt(index: number): Fill {
    const { id, symbol } = this.#hosted;
    const lots = this.#lots.values[index] as number;
    const time = this.#filledAt.values[index] as number;
    return {
      tradeId: tradeIdOf(index),
      orderId: orderIdOf(index),
      clientOrderId: clientIdOf(index),
      strategy: id,
      account: 'spot',
      symbol,
      side: lots > 0 ? 'BUY' : 'SELL',
      price: ticksOfSafe(this.#price.values[index] as number),
      quantity: lotsOfSafe(Math.abs(lots)),
      fee: unitsOfSafe(this.#fee.values[index] as number, this.#scale.decimals),
      feeAsset: this.#at.quote,
      maker: false,
      time,
      purpose: lots > 0 ? 'enter' : 'exit',
      evidence: evidenceOf(this.#orderedAt.values[index] as number, time, this.#hosted.interval),
    };
  }

  #intentOf(index: number): Intent {
    const { id, symbol } = this.#hosted;
    const lots = this.#lots.values[index] as number;
    const createdAt = this.#orderedAt.values[index] as number;
    const expectedLots = lotsOfSafe(Math.abs(lots));
    const signal = this.#signal.values[index] as number;
    const said = this.#said.values[signal] as number;
    const decision = signal + 1;
    return {
      clientOrderId: clientIdOf(index),
      decision,
      strategy: id,
      role: mainRole,
      account: 'spot',
      symbol,
      side: lots > 0 ? 'BUY' : 'SELL',
      type: 'MARKET',
      volume: { lots: expectedLots },
      expectedLots,
      expiresAt: createdAt + lifeMs,
      purpose: lots > 0 ? 'enter' : 'exit',
      reason: (this.#signals[said] as Target).reason,
      createdAt,
    };
  }

  #orderOf(index: number): WorkingOrder {
    const intent = this.#intentOf(index);
    const isFilled = index < this.#filledAt.length;
    const order = { ...intendedOrder(intent), orderId: orderIdOf(index) };
    return isFilled
      ? { ...order, state: 'filled', filled: intent.expectedLots, executed: intent.expectedLots, venueStatus: 'FILLED' }
      : { ...order, state: 'open' };
  }

  /** The rows that the long way would have written; `now` is the run's last moment, UTC ms. */
  journal(now: number): ReturnType<RunResult['journal']> {
    const log = new KlineLog();
    const { id, symbol } = this.#hosted;
    for (let index = 0; index < this.#saidAt.length; index++) {
      const signal = this.#signals[this.#said.values[index] as number] as Target;
      const at = this.#saidAt.values[index] as number;
      const leg = { strategy: id, role: mainRole, symbol, at, signal };
      log.signal(leg, lotsOfSafe(this.#targetLots.values[index] as number), index + 1);
    }
    const filled = this.#filledAt.length;
    for (let index = 0; index < filled; index++)
      log.closed(this.#orderOf(index), this.#filledAt.values[index] as number);
    for (const fill of this.fills) log.fills.push(fill);
    const open = filled < this.#orderedAt.length ? [this.#orderOf(filled)] : [];
    return log.journal({ orders: () => open.values(), instrument: () => this.#at }, now);
  }

  /** The columns of `fillTable`, to the last bit. */
  table(): FillTable {
    const { pricePrecision, quantityPrecision } = this.#at;
    const [priceSteps, lotSteps] = [10 ** pricePrecision, 10 ** quantityPrecision];
    const length = this.#filledAt.length;
    const numbers = (): Float64Array => new Float64Array(length);
    const [price, quantity, quote, fee] = [numbers(), numbers(), numbers(), numbers()];
    const purpose = new Uint8Array(length);
    const rule = new Uint16Array(length);
    const rules: string[] = [];
    const orders = new Uint32Array(length);
    const [enter, exit] = [purposes.indexOf('enter'), purposes.indexOf('exit')];
    const { decimals, ofNotional } = this.#scale;
    const [orderedAt, filledAt] = [this.#orderedAt.values, this.#filledAt.values];
    const [allTicks, allLots, allFees] = [this.#price.values, this.#lots.values, this.#fee.values];
    const [fees, turnover] = [new ShortSum(decimals), new ShortSum(decimals)];
    for (let index = 0; index < length; index++) {
      const ticks = allTicks[index] as number;
      const lots = allLots[index] as number;
      const paid = allFees[index] as number;
      const each = ticks / priceSteps;
      const traded = lots / lotSteps;
      const charged = safeNumber(paid, decimals);
      price[index] = each;
      quantity[index] = traded;
      fee[index] = charged;
      quote[index] = -each * traded - charged;
      purpose[index] = lots > 0 ? enter : exit;
      orders[index] = index;
      const granted = evidenceOf(orderedAt[index] as number, filledAt[index] as number, this.#hosted.interval).rule;
      const known = rules.indexOf(granted);
      rule[index] = known < 0 ? rules.push(granted) - 1 : known;
      fees.add(paid);
      turnover.add(ticks * Math.abs(lots) * ofNotional);
    }
    return {
      ...{ length, price, quantity, base: quantity, quote, fee, purpose, orders },
      positions: length === 0 ? [] : [{ strategy: this.#hosted.id, symbol: this.#hosted.symbol }],
      ...{ rules, rule, isPlain: true },
      time: filledAt,
      openRow: this.#row.values,
      position: new Uint16Array(length),
      maker: new Uint8Array(length),
      ambiguous: new Uint8Array(length),
      fees: fees.total,
      turnover: turnover.total,
    };
  }
}

/** Order and trade ids count up together: each order has one fill before the next is sent. */
const orderIdOf = (index: number): string => String(2 * index + 1);
const tradeIdOf = (index: number): string => String(2 * index + 2);

/** A sum of safe amounts that need not be safe itself. */
class ShortSum {
  readonly #decimals: number;
  #whole: Units = noUnits;
  #supported = 0;

  constructor(decimals: number) {
    this.#decimals = decimals;
  }

  add(amount: number): void {
    const sum = this.#supported + amount;
    if (sum <= Number.MAX_SAFE_INTEGER) this.#supported = sum;
    else {
      this.#whole = this.total;
      this.#supported = amount;
    }
  }

  get total(): Units {
    return plus(this.#whole, unitsOfSafe(this.#supported, this.#decimals));
  }
}
