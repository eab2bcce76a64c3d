/**
 * What no seed is expected to meet, and why, for `docs/reference/reachability.md`: by table, row and column; `*` stands for every row
 * or column. A cell that is not met and not here is shown as open. What could be met and is rare says so, with the test that meets it.
 */
const contradicts =
  'The exchange would have to show an order that it rejected or never received, which this one does not. Misread answers do (mutants `gatewayErrorIsRejected` and `resetIsNotSent`, and tests in `src/execution/`)';
const answered =
  'The client stops waiting for an answer before the horizon of the order, and an order is quarantined after it';
const changes =
  'The exchange would have to show other numbers than were sent, which this one does not. A test does (`src/execution/`)';
const byHuman =
  'The human of the simulation only resolves orders as `absent` or `quarantined`. Tests of `resolveByHand` cover the rest';
const lateOnly =
  'Only an exchange that executes a create later than D after its window causes this: `--late-queue --horizon 2000` does';

const outrun =
  'Rare: a later poll has to overtake the answer to the create. The transition is the same in each of these states, and some are met';

export const whyNever: Readonly<Record<string, string>> = {
  'order sending doubt': changes,
  'order open doubt': changes,
  'order closing doubt': changes,
  'order absent doubt': lateOnly,
  'order quarantined accept': answered,
  'order quarantined reject': answered,
  'order quarantined notSent': answered,
  'order quarantined lose': answered,
  'order open reject': contradicts,
  'order open notSent': contradicts,
  'order closing reject': contradicts,
  'order closing notSent': contradicts,
  'order filled reject': contradicts,
  'order filled notSent': contradicts,
  'order canceled reject': contradicts,
  'order canceled notSent': contradicts,
  'order rejected find': contradicts,
  'order notSent find': contradicts,
  'order rejected *':
    'The exchange of the simulation rejects in its answer or not at all, so no order is rejected before its answer',
  'order closing sumRejected':
    'The exchange of the simulation rejects in its answer or not at all. Tests reject an accepted order',
  'order filled find': byHuman,
  'order canceled find': byHuman,
  'order * humanFilled': byHuman,
  'order * humanCanceled': byHuman,
  'order absent find': lateOnly,
  'order quarantined absence':
    'Rare: the obstacle to the proof has to disappear, such as a payment that is explained later. A test does this (`src/execution/reconcile/unproven-owners.test.ts`)',
  'order open accept': outrun,
  'order open lose': outrun,
  'order closing accept': outrun,
  'order closing lose': outrun,
  'order filled accept': outrun,
  'order filled lose': outrun,
  'order canceled accept': outrun,
  'order canceled lose': outrun,
  'cancel refused overdue':
    'An order that cannot be cancelled is final, and the next polls show it long before the cancel is overdue',
  'fault frame:broken sending':
    'Rare: one seed in eight has prices over a socket, few connections break there, and `sending` is short. `frame:silence` and others met it',
  'fault * quarantined':
    'Rare: few orders are quarantined, and faults are random. Tests of quarantined orders are in `src/execution/`',
  'fault * intended':
    'An order is sent in the step that decides it. It stays `intended` only while it waits for the disk or for weight',
};
