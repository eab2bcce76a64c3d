/** Klines made of others with gaps, which their rows do not show. */
import { counted, lengthText } from '../check/finding.ts';
import { Tally } from '../check/tally.ts';
import { type Frame, frameClose } from '../resample.ts';
import { ledgerOf } from './gap-ledger.ts';
import { seriesName } from './kinds.ts';
import type { Imported, Manifest } from './manifest.ts';

/** The klines, of those that open at `opens` (UTC ms), that a gap of their source cuts into. */
export function partialFindings(from: Manifest, opens: Float64Array, frame: Frame): Imported['findings'] {
  const cut = new Tally();
  // An order for the open of a kline that begins inside a gap gets the first price after it.
  let [begun, latestMs, row] = [0, 0, 0];
  for (const gap of ledgerOf(from)) {
    while (row < opens.length && frameClose(frame, opens[row] as number) <= gap.from) row++;
    for (; row < opens.length && (opens[row] as number) < gap.to; row++) {
      const open = opens[row] as number;
      cut.add(0, open);
      if (open < gap.from) continue;
      begun++;
      latestMs = Math.max(latestMs, gap.to - open);
    }
  }
  const { count } = cut;
  const one = count === 1;
  const what = `${counted(count, `kline of ${frame.interval} is`, `klines of ${frame.interval} are`)} made of fewer rows than ${one ? 'it' : 'they'} should be`;
  const which = begun < count ? `${begun} of them begin${begun === 1 ? 's' : ''}` : one ? 'it begins' : 'they begin';
  const late = `; ${which} inside one, and orders at the open get the first price after it, up to ${lengthText(latestMs)} later`;
  const effect = `${seriesName(from)} has gaps there: volumes are too small, highs and lows may be missing${begun === 0 ? '' : late}`;
  return [...cut.warning('partial', what, effect)].map((found) => ({ ...found, places: [...found.places] }));
}
