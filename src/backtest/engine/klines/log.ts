/**
 * The events of a run over klines. Rows of a journal are made from them afterwards, and only on request: making them takes longer than the
 * run, and every object kept costs as much again in garbage collection.
 */
import type { Instrument } from '../../../domain/instrument.ts';
import { type Lots, quantityText } from '../../../domain/money.ts';
import type { Denial, Leg } from '../../../domain/order.ts';
import { orderRow } from '../../../execution/records.ts';
import type { DenialEntry, Entry } from '../../../journal/entries.ts';
import { fillRow } from '../../../journal/fill-entries.ts';
import type { OrderDraft } from '../../../portfolio/plan.ts';
import type { Portfolio, WorkingOrder } from '../../../portfolio/portfolio.ts';
import { denialRow } from '../../../trading/format.ts';
import { Refusals, refusalOf } from '../../result/refusals.ts';
import { type Asked, SentOrders } from '../../result/spent-weight.ts';
import { memoryHost, type RunInput, type RunResult, spanOf } from '../../run.ts';
import { FillColumn } from './fill-column.ts';
import { OrderColumn } from './order-column.ts';
import { SignalColumn } from './signal-column.ts';

type Remembered = Pick<RunResult, 'fills' | 'fillAt' | 'table' | 'refused' | 'signals' | 'asked'>;

/** A denial whose repetitions are counted. */
type Counted = { -readonly [key in keyof DenialEntry]: DenialEntry[key] };

/** Orders that a denial is compared with. */
const fewDenials = 8;

const isSameOrder = (a: OrderDraft, b: OrderDraft): boolean =>
  a.strategy === b.strategy &&
  a.symbol === b.symbol &&
  a.side === b.side &&
  a.price === b.price &&
  ('lots' in a.volume
    ? 'lots' in b.volume && a.volume.lots === b.volume.lots
    : 'amount' in b.volume && a.volume.amount === b.volume.amount);

export class KlineLog {
  readonly signals = new SignalColumn();
  /** Orders that are over. */
  readonly orders = new OrderColumn();
  readonly fills = new FillColumn();
  /** Denials and kills. */
  readonly entries: Entry[] = [];
  /** The last ones. */
  readonly #denials: { readonly draft: OrderDraft; readonly entry: Counted }[] = [];

  signal(leg: Leg, lots: Lots | undefined, decision: number): void {
    this.signals.push(leg, lots, decision);
  }

  /** A strategy that repeats a denied signal does so with each kline: repetitions are counted in one entry. */
  denied(draft: OrderDraft, denial: Denial, portfolio: Pick<Portfolio, 'instrument'>, at: number): void {
    const denials = this.#denials;
    const before = denials.findLast((one) => isSameOrder(one.draft, draft))?.entry;
    if (before?.code === denial.code) {
      before.repeated = { times: 1 + (before.repeated?.times ?? 0), at, facts: denial.facts };
      return;
    }
    const entry = denialRow(draft, denial, portfolio.instrument(draft.symbol), at);
    this.entries.push(entry);
    denials.push({ draft, entry });
    if (denials.length > fewDenials) denials.shift();
  }

  closed(order: WorkingOrder, at: number): void {
    this.orders.push(order, at);
  }

  /** The result of a run with what this remembers; orders of the portfolio worked until the end, if the run did not end before. */
  result(
    portfolio: Pick<Portfolio, 'orders'>,
    { account, series, rules, instruments }: Pick<RunInput, 'account' | 'series' | 'rules' | 'instruments'>,
    rest: Omit<RunResult, keyof Remembered>,
  ): RunResult {
    const { end } = spanOf(series);
    const refusals = new Refusals();
    for (const entry of this.entries) if (entry.kind === 'denied') refusals.denied(entry);
    const { signals } = this;
    const isShortOnSpot = account === 'spot' && signals.hasShort;
    // A size that is repeated counts where spot cannot have it.
    if (isShortOnSpot || signals.hasStop)
      for (const leg of isShortOnSpot ? signals.all() : signals.changes()) refusals.signal(account, leg, { series });
    const closed = this.orders;
    const mayBeRefused = closed.kinds.map((kind) => refusalOf({ ...kind, isUnfilled: true }) !== undefined);
    for (let row = 0; row < closed.length; row++) {
      if (mayBeRefused[closed.kindAt(row)] !== true) continue;
      const { strategy, symbol, state, type } = closed.kind(row);
      const code = refusalOf({ state, type, isUnfilled: closed.isUnfilled(row) });
      if (code !== undefined) refusals.add(code, { strategy, symbol, at: closed.createdAt(row) });
    }
    for (const { intent } of portfolio.orders()) refusals.open(intent, rest.endedAt ?? end, rules);
    const asked = (): Asked => {
      const sent = new SentOrders();
      for (let row = 0; row < closed.length; row++) {
        const { symbol, cancelRequested } = closed.kind(row);
        sent.add(symbol, closed.createdAt(row), closed.closedAt(row), cancelRequested);
      }
      for (const { intent, cancelRequested } of portfolio.orders())
        sent.add(intent.symbol, intent.createdAt, end, cancelRequested);
      return sent.asked;
    };
    const { fills } = this;
    return {
      ...rest,
      get fills() {
        return fills.fills;
      },
      fillAt: (index) => fills.fill(index),
      table: () => fills.table(instruments),
      refused: refusals.list(),
      signals: () => signals.changes(),
      asked,
    };
  }

  /** Everything as rows; orders of the portfolio work still, as of `now`. */
  journal(portfolio: Pick<Portfolio, 'orders' | 'instrument'>, now: number): ReturnType<RunResult['journal']> {
    const host = memoryHost();
    const write = (entries: readonly Entry[]): void => host.write(entries);
    const rowOf = (order: WorkingOrder, at: number): Entry =>
      orderRow(order, portfolio.instrument(order.intent.symbol), at);
    write(
      Array.from({ length: this.signals.length }, (_, row) => {
        const leg = this.signals.leg(row);
        const instrument = portfolio.instrument(leg.symbol);
        return signalEntry(leg, this.signals.lots(row), this.signals.decision(row), instrument);
      }),
    );
    write(this.entries);
    write([
      ...Array.from({ length: this.orders.length }, (_, row) =>
        rowOf(this.orders.order(row), this.orders.closedAt(row)),
      ),
      ...[...portfolio.orders()].map((order) => rowOf(order, now)),
    ]);
    write(this.fills.fills.map((fill) => fillRow(fill, portfolio.instrument(fill.symbol))));
    return host.db;
  }
}

const signalEntry = (
  { at, strategy, role, symbol, signal, memory }: Leg,
  lots: Lots | undefined,
  decision: number,
  instrument: Instrument,
): Entry => ({
  kind: 'signal',
  at,
  decision,
  strategy,
  role,
  symbol,
  signal,
  quantity: lots === undefined ? null : quantityText(lots, instrument),
  memory: memory === undefined ? null : JSON.stringify(memory),
});
