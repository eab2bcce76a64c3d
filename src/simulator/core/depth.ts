/** The public depth: what is left of the displayed market, and the users' resting orders, added up by price. */
import type { Side } from '../../domain/market.ts';
import { plus } from '../../domain/money.ts';
import type { DisplayedLevel } from './displayed-depth.ts';
import type { Matching } from './matching.ts';
import { quantityAt } from './order-book.ts';

/** The best `count` levels of a side, best first. */
export function depthOf(matching: Matching, side: Side, count: number): DisplayedLevel[] {
  const merged: DisplayedLevel[] = [];
  const users = userLevels(matching, side);
  let user = users.next();
  const isBetter = (a: DisplayedLevel, b: DisplayedLevel): boolean =>
    side === 'BUY' ? a.price > b.price : a.price < b.price;
  for (const { price } of matching.displayed.levels(side)) {
    const shown = { price, quantity: matching.displayed.available(side, price) };
    for (; user.done !== true && isBetter(user.value, shown); user = users.next()) merged.push(user.value);
    if (user.done !== true && user.value.price === price) {
      merged.push({ price, quantity: plus(shown.quantity, user.value.quantity) });
      user = users.next();
    } else if (shown.quantity > 0n) merged.push(shown);
    if (merged.length >= count) return merged.slice(0, count);
  }
  for (; user.done !== true && merged.length < count; user = users.next()) merged.push(user.value);
  return merged.slice(0, count);
}

function* userLevels(matching: Matching, side: Side): Generator<DisplayedLevel> {
  for (const level of matching.book.side(side).levels()) yield { price: level.price, quantity: quantityAt(level) };
}
