/** Klines that are made of others with holes: nothing in them tells it afterwards. */
import { counted, type Finding, lengthText } from '../check/finding.ts';
import { Tally } from '../check/tally.ts';
import { type Frame, frameClose } from '../resample.ts';
import { ledgerOf } from './gap-ledger.ts';
import { seriesName } from './kinds.ts';
import type { Imported, Manifest } from './manifest.ts';

/** Those of the klines, which open at `opens` (UTC ms), that a hole of their source cuts into. */
export function partial(from: Manifest, opens: Float64Array, frame: Frame): Imported['findings'] {
  const cut = new Tally();
  // What waits for the open of a kline that begins inside a hole gets the first price after it, as if it were that of the open.
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
  const { count, places } = cut;
  if (count === 0) return [];
  const check: Finding['check'] = 'partial';
  const what = `${counted(count, `kline of ${frame.interval} is`, `klines of ${frame.interval} are`)} made of fewer rows than ${count === 1 ? 'it' : 'they'} should be`;
  const who =
    begun < count ? `${begun} of them begin${begun === 1 ? 's' : ''}` : count === 1 ? 'it begins' : 'they begin';
  const late = `${who} inside one, and orders at the open get the first price after it, up to ${lengthText(latestMs)} later`;
  const effect = `${seriesName(from)} has holes there: volumes are too small, highs and lows may be missing${begun === 0 ? '' : `; ${late}`}`;
  return [{ check, count, refused: false, what, effect, places }];
}
