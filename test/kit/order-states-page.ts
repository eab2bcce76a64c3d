/** The page `docs/reference/order-states.md`, made of the table by which execution moves orders. */
import { isClosed, type OrderState } from '../../src/domain/order.ts';
import {
  type CancelEvent,
  cancelActions,
  cancelEvents,
  cancelStates,
  cancelTransitions,
} from '../../src/execution/cancel-states.ts';
import { haltCauses } from '../../src/execution/halt.ts';
import { proofs } from '../../src/execution/reconcile/evidence.ts';
import { type OrderEvent, orderActions, orderEvents, transitions } from '../../src/execution/states.ts';
import { markdownTable } from './markdown-table.ts';

const states: Readonly<Record<OrderState, string>> = {
  intended: 'Decided and reserved; nothing has left.',
  sending: 'Its intent is on its way to disk, and then its one request to the exchange.',
  unknown: 'It may or may not have taken effect. Reserved in full; blocks its symbol, three of them block the account.',
  quarantined: 'Nobody can prove what became of it. Reserved in full; blocks its symbol; shown until it is decided.',
  open: 'At the exchange, by its id. Partly filled is the same state with fills.',
  closing: 'Final at the exchange, but not all its fills are rows yet.',
  filled: 'Filled, and its fills add up.',
  canceled: 'Cancelled, with what it had filled before.',
  rejected: 'Refused by the exchange.',
  notSent: 'Not one byte of it left this machine.',
  absent: 'Proven not to have taken effect: two complete sweeps after its horizon, and balances explained without it.',
};

interface Edge {
  readonly from: string;
  readonly event: OrderEvent | CancelEvent;
  readonly to: string;
  readonly action: string;
}

const edgesOf = (
  table: Readonly<Record<string, Readonly<Record<string, { readonly to: string; readonly then: string }>>>>,
): readonly Edge[] =>
  Object.entries(table).flatMap(([from, cells]) =>
    Object.entries(cells).map(([event, { to, then }]) => ({ from, event: event as Edge['event'], to, action: then })),
  );

/** One arrow between two states, however many events lead along it; what changes nothing is not drawn. */
function diagram(edges: readonly Edge[], first: string): string {
  const arrows = new Map<string, string[]>();
  for (const { from, event, to } of edges) {
    if (from === to) continue;
    const arrow = `${from} --> ${to}`;
    arrows.set(arrow, [...(arrows.get(arrow) ?? []), event]);
  }
  const lines = [...arrows].map(([arrow, events]) => `    ${arrow} : ${events.join(', ')}`);
  return ['stateDiagram-v2', `    [*] --> ${first}`, ...lines].join('\n');
}

const words = (meanings: Readonly<Record<string, string>>): readonly (readonly string[])[] =>
  Object.entries(meanings).map(([name, what]) => [`\`${name}\``, what]);

const steps = (edges: readonly Edge[]): string =>
  markdownTable(
    ['from', 'event', 'to', 'action'],
    edges.map(({ from, event, to, action }) => [
      `\`${from}\``,
      `\`${event}\``,
      `\`${to}\``,
      action === 'none' ? '' : `\`${action}\``,
    ]),
  );

function proofTable(): string {
  const rows = Object.entries(proofs).map(([kind, { means, verdict, after }]) => {
    const unknown = `${{ absence: '`absence`', doubt: '`doubt`', again: 'asked again' }[verdict]}${after === undefined ? '' : `, at the ${after}${after === 3 ? 'rd' : 'th'}`}`;
    return [`\`${kind}\``, means, unknown, verdict === 'absence' ? '`absence`' : 'asked again'];
  });
  return markdownTable(['the proof is', 'because', 'an unknown order', 'a quarantined one'], rows);
}

const cancelSection = (edges: readonly Edge[]): string => `## A cancel

A cancel is no state of its order: it has a machine of its own beside it ([cancel-states.ts](../../src/execution/cancel-states.ts)).
It may be repeated, and its answer is never the truth, in a batch neither. \`cancelSent\` and \`cancelAnswer\` in \`sluice why\` are its timeline.

\`\`\`mermaid
${diagram(edges, 'none')}
\`\`\`

${markdownTable(['state', 'meaning'], words(cancelStates))}

${markdownTable(['event', 'meaning'], words(cancelEvents))}

${markdownTable(['action', 'meaning'], words(cancelActions))}

${steps(edges)}
`;

export function orderStatesPage(): string {
  const edges = edgesOf(transitions);
  const stateRows = Object.entries(states).map(([state, what]) => [
    `\`${state}\``,
    isClosed(state as OrderState) ? 'yes' : 'no',
    what,
  ]);
  const haltRows = Object.entries(haltCauses).map(([cause, what]) => [`\`${cause}\``, `${what}.`]);
  return `# The life of an order

Made by \`npm run docs\` of the table in [states.ts](../../src/execution/states.ts), by which the program itself moves orders; a test
fails when it is stale. A step that is not in the table cannot be taken: asking for it stops the program, and the next start recovers.

\`\`\`mermaid
${diagram(edges, 'intended')}
\`\`\`

## States

A closed order reserves nothing. One that is closed without an id of the exchange, as \`rejected\`, \`notSent\`, \`absent\` or by a human,
is kept in mind: should the exchange show it after all, it is open again.

${markdownTable(['state', 'closed', 'meaning'], stateRows)}

## Events

${markdownTable(['event', 'meaning'], words(orderEvents))}

## What is done

${markdownTable(['action', 'meaning'], words(orderActions))}

## Every step

${steps(edges)}

## What proves an absence

Two complete looks that missed the order, both after its horizon and the gap between sweeps apart, then the balances. An order that is
quarantined goes on being looked for and proven, every 30 s: what comes to be explained, or shown, ends its quarantine. One that had an id of
the exchange, whose id somebody copied, or a fill of which was shown with other numbers is never absent; only the exchange or a human ends it.

${proofTable()}

${cancelSection(edgesOf(cancelTransitions))}
## HALT

Nothing is created, by any strategy, until \`sluice resume\` without \`--strategy\`; looking and cancelling go on. It is written down and
outlives a restart. What is still wrong halts again.

${markdownTable(['cause', 'what it means'], haltRows)}
`;
}
