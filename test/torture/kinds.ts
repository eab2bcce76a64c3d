/** Every kind of torture, in the order in which they are run. */
import { clock } from './clock.ts';
import { cut } from './cut.ts';
import { disk } from './disk.ts';
import { fsync } from './fsync.ts';
import { kill } from './kill.ts';
import { killByHand } from './kill-by-hand.ts';
import { killLegs } from './kill-legs.ts';
import type { Kind } from './kind.ts';
import { load } from './load.ts';
import { newer } from './newer.ts';
import { killNoIds, killShared } from './no-ids.ts';
import { restored } from './restored.ts';
import { stop } from './stop.ts';
import { two } from './two.ts';

export const kinds: readonly Kind[] = [
  kill,
  killNoIds,
  killShared,
  killLegs,
  killByHand,
  stop,
  disk,
  fsync,
  cut,
  clock,
  two,
  restored,
  newer,
  load,
];
