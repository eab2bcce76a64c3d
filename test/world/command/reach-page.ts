/** `--reach` and `--page`: what was met, as tables on the screen or as `docs/reference/reachability.md`. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cancelEvents, cancelTransitions, orderEvents, transitions } from '../../../src/execution/states.ts';
import { textTable } from '../../../src/terminal/table.ts';
import { markdownTable } from '../../kit/markdown-table.ts';
import { frameFaults } from '../cable.ts';
import { whyNever } from '../never.ts';
import { crashPoints, stopKinds, wireFaults } from '../plan.ts';
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

Made by \`npm run simulate -- --page\` (${about}). A number is a count. **–** is a possible cell that was not met; the list below gives the reason, or says "open". An empty cell is
impossible: it would stop the program, and every seed would report a failure.

## State × event

Rows are events, columns are the states of [an order](order-states.md).

${cells(transitions, Object.keys(orderEvents), events)}

${open(transitions, 'order', events)}

## Cancel × event

${cells(cancelTransitions, Object.keys(cancelEvents), cancels)}

${open(cancelTransitions, 'cancel', cancels)}

## Fault × state

Rows are faults. Columns are the states of our orders at that time (\`none\`: no open order); closed orders do not count. \`intended\` takes no time: an order is sent in the step that
decides it, unless it waits for the disk or for weight.

${faultTable(faults)}

${openFaults(faults)}
`;
}

function cells(table: Tables, events: readonly string[], counts: ReadonlyMap<string, number>): string {
  const states = Object.keys(table);
  const rows = events.map((event) => [
    `\`${event}\``,
    ...states.map((state) =>
      table[state]?.[event] === undefined ? '' : String(counts.get(`${state} ${event}`) ?? '–'),
    ),
  ]);
  return markdownTable(['', ...states.map((state) => `\`${state}\``)], rows);
}

/** Why cells were not met, one line for each reason. */
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
  ...stopKinds,
  'flatten',
  'cancelOne',
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
  markdownTable(
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
  if (never.length === 0) return 'All were met.';
  const byReason = Map.groupBy(never, (name) => {
    const [one = '', other = ''] = name.split(' ');
    return whyNever[`${what} ${name}`] ?? whyNever[`${what} * ${other}`] ?? whyNever[`${what} ${one} *`] ?? 'Open';
  });
  const lines = [...byReason].map(([why, names]) => {
    const cells = names.map((name) => `\`${name.replace(' ', ' × ')}\``);
    return `- ${why}. ${cells.join(', ')}.`;
  });
  return ['Not met:', '', ...lines].join('\n');
}
