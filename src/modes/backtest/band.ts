/** How much better a run could have gone, whichever driver it has. */
import { noUnits, plus, type Units } from '../../domain/money.ts';
import { couldBeBetterBy } from '../../fill/band.ts';
import type { PaperListener } from '../../venue/paper/account.ts';
import type { RunInput } from './run.ts';

export interface Band {
  readonly listener: PaperListener;
  /** In quote. */
  better(): Units;
}

/** Sums up how much better ambiguous klines could have gone. */
export function bandOf(input: RunInput): Band {
  let better: Units = noUnits;
  return {
    listener: {
      fill(made, intent) {
        const at = input.instruments.get(made.symbol);
        if (made.bestPrice === undefined || at === undefined) return;
        better = plus(better, couldBeBetterBy({ ...made, order: intent }, input.fees, at));
      },
      end: () => {},
    },
    better: () => better,
  };
}
