/** What the size of an order does to its price: the square root of its part of a usual day. */
import { Decimal, roundTo } from './account.ts';
import type { Kline, Question, Side } from './types.ts';

const dayMs = 86_400_000;

/** The price with the impact of a taking order of this quantity, in the kline that opens at `time`. */
export function moved(question: Question, side: Side, quantity: Decimal, price: Decimal, time: number): Decimal {
  const { rules, klines, instrument } = question;
  if (rules.impactFrom === null) return price;
  const usual = usualOn(klines, Math.floor(time / dayMs));
  if (usual === undefined) return price;
  const share = quantity.div(usual.volume);
  if (share.lt(rules.impactFrom)) return price;
  // A fraction has eight decimals.
  const impact = usual.deviation.times(share.sqrt()).toDecimalPlaces(8, Decimal.ROUND_HALF_UP);
  return side === 'BUY'
    ? roundTo(price.times(impact.plus(1)), instrument.pricePrecision, 'up')
    : roundTo(price.times(new Decimal(1).minus(impact)), instrument.pricePrecision, 'down');
}

interface Usual {
  readonly volume: Decimal;
  readonly deviation: Decimal;
}

/** By klines and day: the one thing that the reference remembers, since each order would add up a month of klines. */
const known = new WeakMap<readonly Kline[], Map<number, Usual | undefined>>();

function usualOn(klines: readonly Kline[], today: number): Usual | undefined {
  const days = known.get(klines) ?? new Map<number, Usual | undefined>();
  known.set(klines, days);
  if (!days.has(today)) days.set(today, usualDay(klines, today));
  return days.get(today);
}

/** Mean volume and deviation of the returns of up to 30 days before, the first recorded one left out; at least 5. */
function usualDay(klines: readonly Kline[], today: number): Usual | undefined {
  const days = new Map<number, { volume: Decimal; close: Decimal }>();
  for (const kline of klines) {
    const day = Math.floor(kline.time / dayMs);
    if (day >= today) break;
    const volume = (days.get(day)?.volume ?? new Decimal(0)).plus(kline.volume);
    days.set(day, { volume, close: new Decimal(kline.close) });
  }
  const last = [...days]
    .map(([day, one]) => ({ day, ...one }))
    .slice(1)
    .slice(-30);
  if (last.length < 5) return undefined;
  const mean = (values: readonly Decimal[]): Decimal => Decimal.sum(...values).div(values.length);
  // Over days without klines it is the return of so many.
  const returns = last.slice(1).map(({ day, close }, index) => {
    const before = last[index] ?? { day: day - 1, close };
    return close
      .div(before.close)
      .minus(1)
      .div(new Decimal(day - before.day).sqrt());
  });
  const usual = mean(returns);
  const squares = Decimal.sum(...returns.map((one) => one.minus(usual).pow(2)));
  return { volume: mean(last.map(({ volume }) => volume)), deviation: squares.div(returns.length - 1).sqrt() };
}
