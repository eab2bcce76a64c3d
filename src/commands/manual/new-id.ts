/** Ids for what is sent by hand. */
import type { Rng } from '../../clock/clock.ts';

const length = 24;
const letters = 'abcdefghijklmnopqrstuvwxyz234567';

/** A new id of 25 characters. No daemon takes it for one of its own as long as `prefix` is not s: those carry a seal. */
export const newId = (prefix: 'm' | 'w', rng: Rng): string =>
  `${prefix}${Array.from({ length }, () => letters.charAt(Math.floor(rng() * letters.length))).join('')}`;
