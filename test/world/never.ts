/**
 * What no seed is expected to meet, and why, for `docs/reference/reachability.md`: by table, row and column; `*` stands for every row
 * or column. A cell that is not met and not here is shown as open. What could be met and is rare says so, with the test that meets it.
 */
const contradicts =
  'the exchange would have to show an order that it refused, or of which no byte left: this one does not; wrong readings of answers do (mutants `gatewayErrorIsRejected`, `resetIsNotSent`, and a test each in `src/execution/`)';
const answered =
  'before an order is quarantined its horizon has passed, and the client gives an answer up before that; only an order in doubt while it is being sent could meet it';
const changes =
  'the exchange would have to show other numbers for an order than were sent: this one does not; a test does (`src/execution/`)';
const byHuman =
  'the human of these worlds only says what he has looked up, `absent` or `quarantined`; tests of `resolveByHand` say the rest';
const lateOnly =
  'only an exchange that carries a create out later than D after its window: `--late-queue --horizon 2000` meets it';

const outrun =
  'rare: a look that was asked for later has to outrun the answer to the create; the table takes it the same way in each of these states, and others of them are met';

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
    'the exchange of these worlds rejects in its answer or not at all: no order is rejected before it was answered',
  'order closing sumRejected':
    'the exchange of these worlds rejects in its answer or not at all; tests reject an order that was accepted',
  'order filled find': byHuman,
  'order canceled find': byHuman,
  'order * humanFilled': byHuman,
  'order * humanCanceled': byHuman,
  'order absent find': lateOnly,
  'order quarantined absence':
    'rare: what stood in the way of its proof has to go by itself, as a payment does that is said later; a test heals one (`src/execution/reconcile/unproven-owners.test.ts`)',
  'order open accept': outrun,
  'order open lose': outrun,
  'order closing accept': outrun,
  'order closing lose': outrun,
  'order filled accept': outrun,
  'order filled lose': outrun,
  'order canceled accept': outrun,
  'order canceled lose': outrun,
  'cancel refused overdue':
    'an order that cannot be cancelled is over: the next looks find it so, long before the cancel is overdue',
  'fault frame:broken sending':
    'rare: only one seed of eight hears prices over a socket, few connections break there, and `sending` lasts for a commit and an answer; `frame:silence` and the others met it',
  'fault * quarantined':
    'rare: few orders are quarantined, and faults are drawn without regard to the states of orders; what a quarantined order lives through is tested by itself (`src/execution/`)',
  'fault * intended':
    'an order is sent in the step that decides it; it waits as `intended` only while the disk or the budget holds it',
};
