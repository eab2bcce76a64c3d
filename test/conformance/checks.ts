/** Every check, in the order of the specification; then those that break limits, and those of the shapes that all of them met. */
import type { Check } from './check.ts';
import { feedChecks } from './sections/feed.ts';
import { fillChecks } from './sections/fills.ts';
import { limitChecks } from './sections/limits.ts';
import { marginChecks } from './sections/margin.ts';
import { openDataChecks } from './sections/open-data.ts';
import { publicChecks } from './sections/public.ts';
import { shapeChecks } from './sections/shapes.ts';
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
  ...shapeChecks,
];
