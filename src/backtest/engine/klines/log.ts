/**
 * What a run over klines remembers of itself. The rows of a journal are made from it afterwards and only when asked for: making
 * them takes longer than the run, and every object kept costs as much again when memory is cleared.
 */
import type { Instrument } from '../../../domain/instrument.ts';
import { type Lots, noUnits, quantityText } from '../../../domain/money.ts';
import type { Denial, Fill, Leg } from '../../../domain/order.ts';
import { fillRow, orderRow } from '../../../execution/records.ts';
import type { Entry } from '../../../journal/entries.ts';
import type { OrderDraft } from '../../../portfolio/plan.ts';
import type { Portfolio, WorkingOrder } from '../../../portfolio/portfolio.ts';
import { denialRow } from '../../../trading/format.ts';
import { newTargets, Refusals, refusalOf } from '../../result/refusals.ts';
import { type Asked, askedOf, type Sent } from '../../result/spent-weight.ts';
import { memoryHost, type RunInput, type RunResult, spanOf } from '../../run.ts';
import { SignalColumn } from './signal-column.ts';

/** What a closed order's row is made of. */
type Closed = Omit<WorkingOrder, keyof typeof neverSigned> & { readonly at: number };
/** What only orders that were sent to an exchange know, and what no row shows. */
const neverSigned = {
  spent: noUnits,
  signedAt: undefined,
  recvWindowMs: undefined,
  bodyHash: undefined,
  tradeFloor: undefined,
  quarantineReason: undefined,
  batch: undefined,
};

/** Our id of the order that is so many orders after the first. */
export const clientIdOf = (sequence: number): string => `b${String(sequence).padStart(9, '0')}`;
/** Nothing waits in a run over klines, so nothing expires. */
export const lifeMs = 1;

export class KlineLog {
  readonly fills: Fill[] = [];
  /** Denials and kills. */
  readonly entries: Entry[] = [];
  readonly #signals = new SignalColumn();
  readonly #closed: Closed[] = [];

  signal(leg: Leg, lots: Lots | undefined, decision: number): void {
    this.#signals.push(leg, lots, decision);
  }

  denied(draft: OrderDraft, denial: Denial, portfolio: Pick<Portfolio, 'instrument'>, at: number): void {
    this.entries.push(denialRow(draft, denial, portfolio.instrument(draft.symbol), at));
  }

  closed({ intent, orderId, state, filled, executed, venueStatus, cancelRequested }: WorkingOrder, at: number): void {
    this.#closed.push({ intent, orderId, state, filled, executed, venueStatus, cancelRequested, at });
  }

  /** What of it is part of a result; orders of the portfolio worked until the end, UTC ms, if it was not told to end before. */
  results(
    portfolio: Pick<Portfolio, 'orders'>,
    { account, series, rules }: Pick<RunInput, 'account' | 'series' | 'rules'>,
    endedAt: number | undefined,
  ): Pick<RunResult, 'fills' | 'refused' | 'newTargets' | 'asked'> {
    const { end } = spanOf(series);
    const refusals = new Refusals();
    for (const entry of this.entries) if (entry.kind === 'denied') refusals.denied(entry);
    const signals = this.#signals;
    // A size that is repeated counts where spot cannot have it.
    for (const leg of account === 'spot' && signals.hasShort ? signals.all() : signals.changes())
      refusals.signal(account, leg, { series });
    for (const order of this.#closed) {
      const code = refusalOf(order);
      const { strategy, symbol, createdAt: at } = order.intent;
      if (code !== undefined) refusals.add(code, { strategy, symbol, at });
    }
    for (const { intent } of portfolio.orders()) refusals.open(intent, endedAt ?? end, rules);
    const asked = (): Asked =>
      askedOf([
        ...this.#closed.map((order) => sentOf(order, order.at)),
        ...[...portfolio.orders()].map((order) => sentOf(order, end)),
      ]);
    return { fills: this.fills, refused: refusals.list(), newTargets: () => newTargets(signals.changes()), asked };
  }

  /** Everything as rows; orders of the portfolio work still, as of `now`. */
  journal(portfolio: Pick<Portfolio, 'orders' | 'instrument'>, now: number): ReturnType<RunResult['journal']> {
    const host = memoryHost();
    const write = (entries: readonly Entry[]): void => host.write(entries);
    const rowOf = (order: WorkingOrder, at: number): Entry =>
      orderRow(order, portfolio.instrument(order.intent.symbol), at);
    write(
      Array.from({ length: this.#signals.length }, (_, row) => {
        const leg = this.#signals.leg(row);
        const instrument = portfolio.instrument(leg.symbol);
        return signalEntry(leg, this.#signals.lots(row), this.#signals.decision(row), instrument);
      }),
    );
    write(this.entries);
    write([
      ...this.#closed.map(({ at, ...order }) => rowOf({ ...neverSigned, ...order }, at)),
      ...[...portfolio.orders()].map((order) => rowOf(order, now)),
    ]);
    write(this.fills.map((fill) => fillRow(fill, portfolio.instrument(fill.symbol))));
    return host.db;
  }
}

const sentOf = ({ intent, cancelRequested }: Pick<WorkingOrder, 'intent' | 'cancelRequested'>, to: number): Sent => ({
  symbol: intent.symbol,
  from: intent.createdAt,
  to,
  isCanceled: cancelRequested,
});

const signalEntry = (
  { at, strategy, role, symbol, signal }: Leg,
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
});
