/** Orders and positions in words. */

import type { Instrument } from '../domain/instrument.ts';
import { priceText, quantityText, unitsText } from '../domain/money.ts';
import type { Denial, FillJson, Leg, Signal } from '../domain/order.ts';
import { isBelowMinimum, type Position } from '../domain/position.ts';
import type { Distance, ExitLevel, TargetOptions } from '../domain/target-options.ts';
import { reductionPrefix } from '../domain/words.ts';
import type { DenialEntry, FillEntry } from '../journal/entries.ts';
import type { OrderDraft } from '../portfolio/plan.ts';

/** The name under which a journal keeps the speed of its last run, so that ages are shown as they are configured. */
export const speedName = 'speed';

/** Longest shown text of a strategy, characters: longer ones would hide the rest. */
const maxShown = 400;

/** A text on one line, cut where it is long. */
export function clipped(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length <= maxShown
    ? line
    : `${line.slice(0, maxShown)}… (${line.length.toLocaleString('en')} characters)`;
}

/** The end of a client order id, because all begin alike. `why` and `resolve` accept it. */
export const idEnd = (clientOrderId: string): string => clientOrderId.slice(-8);
export const shortId = (clientOrderId: string): string => `…${idEnd(clientOrderId)}`;

/** The row of an order that a rule refused at UTC ms. */
export const denialRow = (
  draft: OrderDraft,
  { code, facts }: Denial,
  instrument: Instrument,
  at: number,
): DenialEntry => ({
  kind: 'denied',
  at,
  strategy: draft.strategy,
  symbol: draft.symbol,
  code,
  facts,
  draft: draftText(draft, instrument),
  reason: draft.reason,
});

/** By which limit and its numbers an order was reduced, for its approval; none where it was not. */
export const reductionFacts = ({ reduced }: OrderDraft, at: Instrument): Denial['facts'] =>
  reduced === undefined
    ? {}
    : {
        reducedFrom: quantityText(reduced.from, at),
        reducedBy: reduced.by.code,
        ...Object.fromEntries(
          Object.entries(reduced.by.facts).map(([name, value]) => [`${reductionPrefix}${name}`, value]),
        ),
      };

/** The row of a changed signal that was denied at UTC ms. */
export const signalDenialRow = (
  { strategy, symbol, signal }: Leg,
  { code, facts }: Denial,
  at: number,
): DenialEntry => ({
  kind: 'denied',
  at,
  strategy,
  symbol,
  code,
  facts,
  draft: signal.kind === 'target' ? 'another target' : 'other quotes',
  reason: signal.reason,
});

/** `BUY 0.01 XBT at 5012.5`, `SELL 0.5 XBT at market`. */
export function draftText(
  { side, volume, price }: Pick<OrderDraft, 'side' | 'volume' | 'price'>,
  at: Instrument,
): string {
  const size =
    'lots' in volume ? `${quantityText(volume.lots, at)} ${at.base}` : `for ${unitsText(volume.amount)} ${at.quote}`;
  return `${side} ${size} at ${price === undefined ? 'market' : priceText(price, at)}`;
}

/** One fill as `fills --json` prints it (docs/reference/json.md). */
export const fillJson = (fill: Omit<FillEntry, 'kind' | 'account' | 'maker' | 'purpose' | 'evidence'>): FillJson => ({
  tradeId: fill.tradeId,
  orderId: fill.orderId,
  clientOrderId: fill.clientOrderId,
  strategy: fill.strategy,
  symbol: fill.symbol,
  side: fill.side,
  price: fill.price,
  quantity: fill.quantity,
  fee: fill.fee,
  feeAsset: fill.feeAsset,
  time: fill.time,
});

/** A rest of fees and purchases by amount, below the minimum order. */
export const isDust = (position: Position, at: Instrument): boolean =>
  position.base !== 0n && isBelowMinimum(position, at);

/** A signal in words: `hold 0.25 XBT, stop 4900`, `4 resting orders`. */
export function signalText(signal: Signal, at: Instrument): string {
  if (signal.kind === 'quotes')
    return signal.quotes.length === 1 ? '1 resting order' : `${signal.quotes.length} resting orders`;
  const { size } = signal;
  const sizeText =
    'quantity' in size
      ? size.quantity === 0
        ? 'nothing'
        : `${size.quantity} ${at.base}`
      : 'amount' in size
        ? `${size.amount} ${at.quote} worth of ${at.base}`
        : `${(size.share * 100).toFixed(1).replace(/\.0$/, '')} % of equity in ${at.base}`;
  return [`hold ${sizeText}`, ...exitTexts(signal)].join(', ');
}

const percent = (fraction: number): string => `${(fraction * 100).toFixed(2)} %`;
const seconds = (ms: number): string => `${ms / 1_000} s`;

/** The exits of a target in words. */
export function exitTexts(exits: TargetOptions): readonly string[] {
  const { limit, stop, takeProfit, trailing, breakEven, exitAfterMs, exitAt, reenterAfterMs } = exits;
  const { expiresAfterMs, postOnly, clip } = exits;
  return [
    limit === undefined ? undefined : `limit ${limit}${postOnly === true ? ' (post-only)' : ''}`,
    stop === undefined ? undefined : `stop ${levelText(stop)}`,
    takeProfit === undefined ? undefined : `take profit ${takeProfitText(takeProfit)}`,
    exitAfterMs === undefined ? undefined : `leave after ${seconds(exitAfterMs)}`,
    exitAt === undefined ? undefined : `leave at ${exitAt} UTC`,
    trailing === undefined
      ? undefined
      : `trailing stop ${typeof trailing === 'number' ? percent(trailing) : distanceText(trailing)}`,
    breakEven === undefined ? undefined : `break-even after ${afterText(breakEven.after)}`,
    reenterAfterMs === undefined ? undefined : `enter again after ${seconds(reenterAfterMs)}`,
    expiresAfterMs === undefined ? undefined : `expires after ${seconds(expiresAfterMs)}`,
    clip === true ? 'clipped to limits' : undefined,
  ].filter((text) => text !== undefined);
}

function levelText(level: ExitLevel): string {
  if (typeof level === 'number') return `${level}`;
  return 'fromEntry' in level ? `${percent(level.fromEntry)} from the entry` : `${distanceText(level)} from the entry`;
}

const distanceText = ({ distance, moving }: Distance): string => `${distance}${moving === true ? ' (moving)' : ''}`;
const afterText = (after: number | Distance): string =>
  typeof after === 'number' ? percent(after) : distanceText(after);
const takeProfitText = (takeProfit: NonNullable<TargetOptions['takeProfit']>): string =>
  typeof takeProfit === 'object' && 'length' in takeProfit
    ? takeProfit.map(({ at, share }) => `${percent(share)} at ${levelText(at)}`).join(', ')
    : levelText(takeProfit);
