/** How much better a run could have gone, whichever driver it has. */
import { noUnits, plus, type Units } from '../../domain/money.ts';
import { couldBeBetterBy, couldBeWorseBy } from '../../fill/band.ts';
import type { PaperListener } from '../../venue/paper/account.ts';
import type { RunInput, RunResult } from './run.ts';

export interface Band {
  readonly listener: PaperListener;
  /** In quote. */
  sums(): Pick<RunResult, 'couldBeBetterBy' | 'couldBeWorseBy'>;
}

/** Sums up how much better, and by a chosen path worse, ambiguous klines could have gone. */
export function bandOf(input: RunInput): Band {
  let better: Units = noUnits;
  let worse: Units = noUnits;
  return {
    listener: {
      fill(made, intent) {
        if (made.bestPrice === undefined && made.worstPrice === undefined) return;
        const at = input.instruments.get(made.symbol);
        if (at === undefined) return;
        const fill = { ...made, order: intent };
        better = plus(better, couldBeBetterBy(fill, input.fees, at));
        worse = plus(worse, couldBeWorseBy(fill, input.fees, at));
      },
      end: () => {},
    },
    sums: () => ({ couldBeBetterBy: better, couldBeWorseBy: worse }),
  };
}
