/** Every check, in the order of the specification; those that break limits come last. */
import type { Check } from './check.ts';
import { feedChecks } from './sections/feed.ts';
import { fillChecks } from './sections/fills.ts';
import { limitChecks } from './sections/limits.ts';
import { marginChecks } from './sections/margin.ts';
import { openDataChecks } from './sections/open-data.ts';
import { publicChecks } from './sections/public.ts';
import { signatureChecks } from './sections/signature.ts';
import { spotChecks } from './sections/spot.ts';
import { withdrawalChecks } from './sections/withdrawals.ts';

export const checks: readonly Check[] = [
  ...publicChecks,
  ...openDataChecks,
  ...signatureChecks,
  ...spotChecks,
  ...fillChecks,
  ...marginChecks,
  ...withdrawalChecks,
  ...feedChecks,
  ...limitChecks,
];
