/** Statistics of round trips, in money after fees. */
import { deviation } from './sample-moments.ts';
import type { TripTable } from './trip-table.ts';

/** With fewer round trips a result says too little to be ranked or judged. */
export const fewestTrips = 30;

export interface TripNumbers {
  readonly roundTrips: number;
  readonly winRate: number | null;
  readonly profitFactor: number | null;
  readonly expectancy: number | null;
  readonly expectancyInR: number | null;
  readonly sqn: number | null;
  readonly kelly: number | null;
  readonly averageWin: number | null;
  readonly averageLoss: number | null;
  readonly bestRoundTrip: number | null;
  readonly worstRoundTrip: number | null;
  readonly maxConsecutiveWins: number;
  readonly maxConsecutiveLosses: number;
  readonly averageDurationMs: number | null;
  readonly averageAdverseExcursion: number | null;
  readonly averageFavourableExcursion: number | null;
}

export function tripNumbers({ length, profit: profits, ...trips }: TripTable): TripNumbers {
  let [won, lost, wins, losses, heldMs, worst, best] = [0, 0, 0, 0, 0, 0, 0];
  let [high, low] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  let [winRun, lossRun, winsInARow, lossesInARow] = [0, 0, 0, 0];
  for (let index = 0; index < length; index++) {
    const profit = profits[index] as number;
    if (profit > 0) {
      won += profit;
      wins++;
      winsInARow = Math.max(winsInARow, ++winRun);
      lossRun = 0;
    } else if (profit < 0) {
      lost -= profit;
      losses++;
      lossesInARow = Math.max(lossesInARow, ++lossRun);
      winRun = 0;
    }
    high = Math.max(high, profit);
    low = Math.min(low, profit);
    heldMs += (trips.exitTime[index] as number) - (trips.entryTime[index] as number);
    worst += trips.worst[index] as number;
    best += trips.best[index] as number;
  }
  const of = (value: number): number | null => (length === 0 ? null : value);
  const expectancy = (won - lost) / length;
  const spread = deviation(profits);
  const averageWin = wins === 0 ? null : won / wins;
  const averageLoss = losses === 0 ? null : -lost / losses;
  const winRate = wins / length;
  return {
    roundTrips: length,
    winRate: of(winRate),
    profitFactor: losses === 0 ? null : won / lost,
    expectancy: of(expectancy),
    expectancyInR: averageLoss === null ? null : expectancy / -averageLoss,
    sqn: length < fewestTrips || !spread ? null : (Math.sqrt(length) * expectancy) / spread,
    kelly: averageWin === null || averageLoss === null ? null : winRate - (1 - winRate) / (averageWin / -averageLoss),
    averageWin,
    averageLoss,
    bestRoundTrip: of(high),
    worstRoundTrip: of(low),
    maxConsecutiveWins: winsInARow,
    maxConsecutiveLosses: lossesInARow,
    averageDurationMs: of(heldMs / length),
    averageAdverseExcursion: of(worst / length),
    averageFavourableExcursion: of(best / length),
  };
}
