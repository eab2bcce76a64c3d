/** Orders that a signal needs but that are not sent: those below the exchange's minimum, and those of strategies that are stopped. They are reported. */
import { type Instrument, orderLots } from '../domain/instrument.ts';
import {
  absolute,
  type Lots,
  lotsIn,
  notional,
  quantityText,
  type Ticks,
  ticksOf,
  unitsText,
} from '../domain/money.ts';
import type { Denial } from '../domain/order.ts';
import { type Quotes, sizeValue, type Target } from '../domain/order.ts';
import { ByPosition } from './by-position.ts';
import {
  isUndecided,
  lessTaken,
  limitDraft,
  marketDraft,
  maxTooSmallLots,
  type OrderDraft,
  type ProtectionOverride,
  quotesAsOrders,
  type Situation,
  type Step,
  tooSmall,
} from './plan.ts';
import type { Restriction } from './planner-options.ts';

/** An order that is not sent, and why. */
export interface Unsent {
  readonly draft: OrderDraft;
  readonly denial: Denial;
}

const none: readonly Unsent[] = [];

/**
 * The order that a target needs but that is below the minimum, if so: an entry from flat, or an exit to flat. It is reported, because
 * otherwise the strategy would seem to do nothing. A smaller change of a position is within the dead band, and added to the next change.
 */
export function targetTooSmall(
  target: Target,
  targetLots: Lots,
  override: ProtectionOverride,
  situation: Situation,
): readonly Unsent[] {
  const { instrument: at, held } = situation;
  if (situation.orders.length > 0) return none;
  const aim = override.exit === undefined ? lessTaken(targetLots, override.taken) : targetLots;
  const heldLots = orderLots(lotsIn(absolute(held), at), at);
  const leaves = override.exit !== undefined || (targetLots === 0n && !isEntry(target, situation));
  if (leaves !== heldLots > 0n) return none;
  // What a take-profit has sold is no entry any more.
  if (!leaves && aim === 0n && targetLots !== 0n) return none;
  const lots = leaves ? heldLots : absolute(aim);
  if (lots > maxTooSmallLots(situation)) return none;
  const purpose = override.exit !== undefined ? 'stop' : leaves ? 'exit' : 'enter';
  const side = (leaves ? held < 0n : aim >= 0n) ? 'BUY' : 'SELL';
  const draft = marketDraft(side, lots, { lots }, purpose, override.exit ?? target.reason, situation);
  return [belowMinimum(draft, ticksOf(situation.price, at, 'down'), at)];
}

/** The target is not zero, though it may come to less than a lot; spot cannot be short. */
function isEntry({ size }: Target, { account }: Situation): boolean {
  const value = sizeValue(size);
  return account === 'spot' ? value > 0 : value !== 0;
}

/** The quotes that are too small. */
export function quotesTooSmall(quotes: Quotes, situation: Situation): readonly Unsent[] {
  const { instrument: at } = situation;
  if (isUndecided(situation.orders)) return none;
  return quotesAsOrders(quotes, at)
    .filter(({ lots, price }) => lots === 0n || tooSmall(lots, price, at))
    .map((one) => belowMinimum(limitDraft(one, situation), one.price, at));
}

function belowMinimum(draft: OrderDraft, price: Ticks, at: Instrument): Unsent {
  const facts = {
    quantity: quantityText(draft.expectedLots, at),
    minQuantity: quantityText(at.minQuantity, at),
    value: unitsText(notional(price, draft.expectedLots, at)),
    minNotional: unitsText(at.minNotional),
  };
  return { draft, denial: { code: 'belowMinimum', facts } };
}

/** What a strategy that is stopped would order (`free`), and may not: what it may order is `allowed`. */
export const withheld = (
  free: Step | undefined,
  allowed: Step | undefined,
  { denial }: Restriction,
): readonly Unsent[] => {
  if (free?.do !== 'create' || free.draft.purpose === 'takeProfit' || free.draft.purpose === 'stop') return none;
  const isAllowed = allowed?.do === 'create' && allowed.draft.expectedLots === free.draft.expectedLots;
  return isAllowed ? none : [{ draft: free.draft, denial }];
};

/** Reports orders that are not sent, each once: a target that moves with every kline would fill the journal with them. */
export class UnsentReports {
  readonly #report: (draft: OrderDraft, denial: Denial) => void;
  readonly #reported = new ByPosition<ReadonlySet<string>>();

  constructor(report: (draft: OrderDraft, denial: Denial) => void) {
    this.#report = report;
  }

  /** One that could be sent in between is reported again. */
  see(unsent: readonly Unsent[], strategy: string, symbol: string): void {
    const before = this.#reported.get(strategy, symbol);
    if (unsent.length === 0) {
      if (before !== undefined) this.#reported.delete(strategy, symbol);
      return;
    }
    const reported = new Set<string>();
    for (const { draft, denial } of unsent) {
      const what = `${draft.purpose} ${draft.side}`;
      if (before?.has(what) !== true && !reported.has(what)) this.#report(draft, denial);
      reported.add(what);
    }
    this.#reported.set(strategy, symbol, reported);
  }
}
