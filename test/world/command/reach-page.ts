/** `--reach` and `--page`: what was met, as tables on the screen or as `docs/reference/reachability.md`. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { textTable } from '../../../src/commands/text-table.ts';
import { cancelEvents, cancelTransitions } from '../../../src/execution/cancel-states.ts';
import { orderEvents, transitions } from '../../../src/execution/states.ts';
import { frameFaults } from '../cable.ts';
import { whyNever } from '../never.ts';
import { crashPoints, wireFaults } from '../plan.ts';
import { type Counted, tableOf } from '../reach.ts';
import { out } from './threads.ts';

export function reachTables({ events, cancels, faults }: Counted): void {
  for (const [title, counts] of [
    ['state × event', events],
    ['cancel × event', cancels],
    ['fault × state', faults],
  ] as const) {
    const { head, rows } = tableOf(counts);
    out(`\n${title}\n${textTable(head, rows)}`);
  }
}

const pageFile = fileURLToPath(new URL('../../../docs/reference/reachability.md', import.meta.url));

/** Writes the page of what these seeds have met. */
export function writeReachPage(counted: Counted, about: string): void {
  writeFileSync(pageFile, reachPage(counted, about));
  out(`written to ${pageFile}`);
}

type Tables = Readonly<Record<string, Readonly<Partial<Record<string, unknown>>>>>;

export function reachPage({ events, cancels, faults }: Counted, about: string): string {
  return `# What the simulated world has met

Made by \`npm run simulate -- --page\` (${about}). A number is how often; **–** is a cell of the table that was not met, and
below it is said why it cannot be, or that it is open. An empty cell is none of the table: whoever asks for it stops the program, which
every seed would report as a failure.

## State × event

Rows are the states of [an order](order-states.md), columns what was learned of it.

${cells(transitions, Object.keys(orderEvents), events)}

${open(transitions, 'order', events)}

## Cancel × event

${cells(cancelTransitions, Object.keys(cancelEvents), cancels)}

${open(cancelTransitions, 'cancel', cancels)}

## Fault × state

Rows are the states that orders of ours were in when the fault struck (\`none\`: no order was open), columns the faults. A closed order is
none of the program's any more. \`intended\` lasts for no time at all: an order is sent in the step that decides it, unless the disk or the
budget holds it.

${faultTable(faults)}

${openFaults(faults)}
`;
}

function cells(table: Tables, columns: readonly string[], counts: ReadonlyMap<string, number>): string {
  const rows = Object.entries(table).map(([state, row]) => [
    `\`${state}\``,
    ...columns.map((event) => (row[event] === undefined ? '' : String(counts.get(`${state} ${event}`) ?? '–'))),
  ]);
  return markdown(['', ...columns.map((event) => `\`${event}\``)], rows);
}

/** Why what was not met cannot be, one line for each cell. */
function open(table: Tables, what: string, counts: ReadonlyMap<string, number>): string {
  const never = Object.entries(table).flatMap(([state, row]) =>
    Object.keys(row)
      .map((event) => `${state} ${event}`)
      .filter((name) => !counts.has(name)),
  );
  return argued(never, what);
}

const faultNames = [
  ...Object.keys(wireFaults),
  'outage',
  'fullDisk',
  'skew',
  'quiet',
  'kill',
  'resolve',
  'transfer',
  'ioError',
  'noPages',
  'wall',
  'step',
  ...Object.keys(frameFaults).map((fault) => `frame:${fault}`),
  ...crashPoints.flatMap((point) => [`crash:${point}`, `crash:${point}:power`]),
];
const openStates = ['none', 'intended', 'sending', 'unknown', 'quarantined', 'open', 'closing'];

const faultTable = (counts: ReadonlyMap<string, number>): string =>
  markdown(
    ['', ...openStates.map((state) => `\`${state}\``)],
    faultNames.map((fault) => [
      `\`${fault}\``,
      ...openStates.map((state) => String(counts.get(`${fault} ${state}`) ?? '–')),
    ]),
  );

const openFaults = (counts: ReadonlyMap<string, number>): string =>
  argued(
    faultNames.flatMap((fault) => openStates.map((state) => `${fault} ${state}`).filter((name) => !counts.has(name))),
    'fault',
  );

function argued(never: readonly string[], what: string): string {
  if (never.length === 0) return 'All of them were met.';
  const lines = never.map((name) => {
    const [one = '', other = ''] = name.split(' ');
    const why = whyNever[`${what} ${name}`] ?? whyNever[`${what} * ${other}`] ?? whyNever[`${what} ${one} *`];
    return `- \`${one}\` × \`${other}\`: ${why ?? 'open'}`;
  });
  return ['Not met:', '', ...lines].join('\n');
}

const markdown = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
