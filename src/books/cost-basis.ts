/** Which purchase a sale closes: the oldest (FIFO), or a share of all (average cost). Both agree once a position is flat. */
import { absolute, minus, negate, noUnits, plus, shareOf, type Units } from '../domain/money.ts';
import { movementOf, noPosition } from '../domain/position.ts';
import { averageCost, type CostBasis } from '../journal/booked-fills.ts';
import type { Method } from './names.ts';

export const costBasis = (method: Method): CostBasis => (method === 'fifo' ? firstInFirstOut() : averageCost());

/** One opening fill, or what is left of it. */
interface Lot {
  readonly base: Units;
  readonly cost: Units;
}

function firstInFirstOut(): CostBasis {
  const lots: Lot[] = [];
  let [oldest, position] = [0, noPosition];

  /** Closes this much of the oldest lots and returns what it had cost. */
  function close(amount: Units): Units {
    let [rest, cost] = [amount, noUnits];
    while (rest !== 0n) {
      const lot = lots[oldest] as Lot;
      if (absolute(rest) < absolute(lot.base)) {
        const part = shareOf(lot.cost, rest, lot.base);
        lots[oldest] = { base: minus(lot.base, rest), cost: minus(lot.cost, part) };
        return plus(cost, part);
      }
      rest = minus(rest, lot.base);
      cost = plus(cost, lot.cost);
      oldest++;
    }
    return cost;
  }

  return {
    book(fill, instrument) {
      const moved = movementOf(fill, instrument);
      const { base: held, cost, realised } = position;
      // As in `afterFill`: a fee in base counts as a fee, so its value does not stay in the cost.
      const gross = fill.side === 'BUY' ? moved.gross : negate(moved.gross);
      const value = fill.feeAsset === instrument.base ? minus(gross, moved.feeValue) : gross;
      const [base, fees] = [plus(held, moved.base), plus(position.fees, moved.feeValue)];
      if (held === 0n || held > 0n === moved.base > 0n) {
        lots.push({ base: moved.base, cost: value });
        position = { base, cost: plus(cost, value), realised, fees };
        return position;
      }
      const crosses = base !== 0n && base > 0n !== held > 0n;
      const opened = crosses ? shareOf(value, base, moved.base) : noUnits;
      const closed = close(crosses ? held : negate(moved.base));
      if (crosses) lots.push({ base, cost: opened });
      position = {
        base,
        cost: plus(minus(cost, closed), opened),
        realised: minus(realised, plus(minus(value, opened), closed)),
        fees,
      };
      return position;
    },
  };
}
