/** The page `docs/reference/order-states.md`, made of the table by which execution moves orders. */
import { isClosed, type OrderState } from '../../src/domain/order.ts';
import { haltCauses } from '../../src/execution/halt.ts';
import { type OrderEvent, orderActions, orderEvents, transitions } from '../../src/execution/states.ts';

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

/** Aligned, as the formatter of this tree has tables. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

const edges = Object.entries(transitions).flatMap(([from, cells]) =>
  Object.entries(cells).map(([event, { to, then }]) => ({ from, event: event as OrderEvent, to, then })),
);

/** One arrow between two states, however many events lead along it; what changes nothing is not drawn. */
function diagram(): string {
  const arrows = new Map<string, string[]>();
  for (const { from, event, to } of edges) {
    if (from === to) continue;
    const arrow = `${from} --> ${to}`;
    arrows.set(arrow, [...(arrows.get(arrow) ?? []), event]);
  }
  const lines = [...arrows].map(([arrow, events]) => `    ${arrow} : ${events.join(', ')}`);
  return ['stateDiagram-v2', '    [*] --> intended', ...lines].join('\n');
}

export function orderStatesPage(): string {
  const stateRows = Object.entries(states).map(([state, what]) => [
    `\`${state}\``,
    isClosed(state as OrderState) ? 'yes' : 'no',
    what,
  ]);
  const eventRows = Object.entries(orderEvents).map(([event, what]) => [`\`${event}\``, what]);
  const actionRows = Object.entries(orderActions).map(([action, what]) => [`\`${action}\``, what]);
  const edgeRows = edges.map(({ from, event, to, then }) => [
    `\`${from}\``,
    `\`${event}\``,
    `\`${to}\``,
    then === 'none' ? '' : `\`${then}\``,
  ]);
  const haltRows = Object.entries(haltCauses).map(([cause, what]) => [`\`${cause}\``, `${what}.`]);
  return `# The life of an order

Made by \`npm run docs\` of the table in [states.ts](../../src/execution/states.ts), by which the program itself moves orders; a test
fails when it is stale. A step that is not in the table cannot be taken: asking for it stops the program, and the next start recovers.

\`\`\`mermaid
${diagram()}
\`\`\`

## States

A closed order reserves nothing. One that is closed as \`rejected\`, \`notSent\` or \`absent\` without an id of the exchange is kept in
mind: should the exchange show it after all, it is open again.

${table(['state', 'closed', 'meaning'], stateRows)}

## Events

${table(['event', 'meaning'], eventRows)}

## What is done

${table(['action', 'meaning'], actionRows)}

## Every step

${table(['from', 'event', 'to', 'action'], edgeRows)}

A cancel is no state of its own: it may be repeated, and its answer is never the truth. \`cancelSent\` and \`cancelAnswer\` in
\`sluice why\` are its timeline; the order ends by \`final\` and a sum, or the cancel is sent again.

## HALT

Nothing is created, by any strategy, until \`sluice resume\` without \`--strategy\`; looking and cancelling go on. It is written down and
outlives a restart. What is still wrong halts again.

${table(['cause', 'what it means'], haltRows)}
`;
}
