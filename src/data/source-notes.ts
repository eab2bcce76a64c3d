/** Habits of sources that are no faults and may matter to a result: klines are used as they were recorded. */
import type { Columns } from '../domain/market.ts';
import { counted } from './check/finding.ts';

export interface AsRecorded {
  readonly rows: number;
  readonly zeroVolume: number;
  /** Klines that open outside their own [low, high], as feeds do that open at the previous close. */
  readonly opensOutside: number;
}

export function asRecorded({ open, high, low, volume }: Columns): AsRecorded {
  let zeroVolume = 0;
  let opensOutside = 0;
  for (let row = 0; row < open.length; row++) {
    const at = open[row] as number;
    if (volume[row] === 0) zeroVolume++;
    if (at < (low[row] as number) || at > (high[row] as number)) opensOutside++;
  }
  return { rows: open.length, zeroVolume, opensOutside };
}

/** In words; empty when there are none. */
export function asRecordedText({ rows, zeroVolume, opensOutside }: AsRecorded): string {
  const found = [
    ...(opensOutside > 0 ? [`${counted(opensOutside, 'opens', 'open')} outside [low, high]`] : []),
    ...(zeroVolume > 0 ? [`${counted(zeroVolume, 'has', 'have')} no volume`] : []),
  ];
  return found.length === 0 ? '' : `${counted(rows, 'kline')}, used as recorded: ${found.join(', ')}`;
}
