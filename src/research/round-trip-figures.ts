/** Statistics of round trips, in money after fees. */
import type { RoundTripTable } from './round-trip-table.ts';
import { standardDeviation } from './sample-moments.ts';

/** With fewer round trips, a result is neither ranked nor judged. */
export const fewestRoundTrips = 30;

export function roundTripFigures({ length, profit: profits, ...trips }: RoundTripTable) {
  let [won, lost, wins, losses, heldMs, worst, best] = [0, 0, 0, 0, 0, 0, 0];
  let [high, low] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  let [winRun, lossRun, maxConsecutiveWins, maxConsecutiveLosses] = [0, 0, 0, 0];
  for (let index = 0; index < length; index++) {
    const profit = profits[index] as number;
    if (profit > 0) {
      won += profit;
      wins++;
      maxConsecutiveWins = Math.max(maxConsecutiveWins, ++winRun);
      lossRun = 0;
    } else if (profit < 0) {
      lost -= profit;
      losses++;
      maxConsecutiveLosses = Math.max(maxConsecutiveLosses, ++lossRun);
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
  const spread = standardDeviation(profits);
  const averageWin = wins === 0 ? null : won / wins;
  const averageLoss = losses === 0 ? null : -lost / losses;
  const winRate = wins / length;
  return {
    roundTrips: length,
    winRate: of(winRate),
    profitFactor: losses === 0 ? null : won / lost,
    expectancy: of(expectancy),
    expectancyInR: averageLoss === null ? null : expectancy / -averageLoss,
    sqn: length < fewestRoundTrips || !spread ? null : (Math.sqrt(length) * expectancy) / spread,
    kelly: averageWin === null || averageLoss === null ? null : winRate - (1 - winRate) / (averageWin / -averageLoss),
    averageWin,
    averageLoss,
    bestRoundTrip: of(high),
    worstRoundTrip: of(low),
    maxConsecutiveWins,
    maxConsecutiveLosses,
    averageDurationMs: of(heldMs / length),
    averageAdverseExcursion: of(worst / length),
    averageFavourableExcursion: of(best / length),
  };
}
