/** The page `docs/reference/order-states.md`, made of the table by which execution moves orders. */
import { isClosed, type OrderState } from '../../src/domain/order.ts';
import { haltCauses } from '../../src/execution/halt.ts';
import { proofs } from '../../src/execution/reconcile/evidence.ts';
import {
  type CancelEvent,
  cancelActions,
  cancelEvents,
  cancelStates,
  cancelTransitions,
  type OrderEvent,
  orderActions,
  orderEvents,
  transitions,
} from '../../src/execution/states.ts';
import { markdownTable } from './markdown-table.ts';

const states: Readonly<Record<OrderState, string>> = {
  intended: 'Decided and reserved; not sent.',
  sending: 'Its intent is being committed, then its one request is sent.',
  unknown: 'May have taken effect. Reserved; blocks its symbol; three block the account.',
  quarantined: 'Its outcome cannot be proven. Reserved; blocks its symbol until it is decided.',
  open: 'At the exchange, by its id. Partly filled is the same state with fills.',
  closing: 'Final at the exchange; fills are still missing here.',
  filled: 'Filled; its fills add up.',
  canceled: 'Cancelled; earlier fills count.',
  rejected: 'Rejected by the exchange.',
  notSent: 'No byte left this machine.',
  absent: 'Proven absent by two complete sweeps and the balances.',
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
    const unknown = `${{ absence: '`absence`', doubt: '`doubt`', again: 'try again' }[verdict]}${after === undefined ? '' : `, at the ${after}${after === 3 ? 'rd' : 'th'}`}`;
    return [`\`${kind}\``, means, unknown, verdict === 'absence' ? '`absence`' : 'try again'];
  });
  return markdownTable(['proof', 'meaning', 'unknown order', 'quarantined order'], rows);
}

const cancelSection = (edges: readonly Edge[]): string => `## A cancel

A cancel is not a state of its order. It has its own state machine ([states.ts](../../src/execution/states.ts)). It may be repeated, and its answer is never
proof, in a batch neither. A refused cancel leads to an order query. \`cancelSent\` and \`cancelAnswer\` in \`sluice why\` show it.

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
  const haltLines = Object.entries(haltCauses).map(([cause, what]) => `- \`${cause}\`: ${what}.`);
  return `# The life of an order

\`npm run docs\` makes this page from the tables in [states.ts](../../src/execution/states.ts), which the program itself uses. A test fails when the page is stale. A step that is
not in the table is impossible: it would stop the program, and the next start would recover.

\`\`\`mermaid
${diagram(edges, 'intended')}
\`\`\`

## States

A closed order reserves nothing. Sluice remembers an order that was closed without an exchange id: \`rejected\`, \`notSent\`, \`absent\`, or closed by a human. If the exchange shows it
later, it is open again.

${markdownTable(['state', 'closed', 'meaning'], stateRows)}

## Events

${markdownTable(['event', 'meaning'], words(orderEvents))}

## Actions

${markdownTable(['action', 'meaning'], words(orderActions))}

## Transitions

${steps(edges)}

## Proof of absence

Absence needs two complete sweeps that miss the order, then matching balances. Both sweeps come after its horizon, with the sweep interval between them. Sluice repeats the proof for
a quarantined order every 30 s. A result, or the order itself, ends the quarantine. Some orders are never absent: those that had an exchange id, those whose id somebody copied, and
those with a changed fill. Only the exchange or a human ends them.

${proofTable()}

${cancelSection(edgesOf(cancelTransitions))}
## HALT

During a HALT, no strategy creates orders. Sweeps and cancels go on. \`sluice resume\` without \`--strategy\` lifts it. A HALT is durable. If the cause remains, trading halts again.

${haltLines.join('\n')}
`;
}
