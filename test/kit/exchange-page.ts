/** The page `docs/reference/exchange.md`, made of the tables from which the client works. */
import { socketOperations } from '../../src/venue/exchange/market/channels.ts';
import { codeMeaning, knownCodes } from '../../src/venue/exchange/rest/codes.ts';
import { type Endpoint, endpoints, type Found } from '../../src/venue/exchange/rest/endpoints.ts';
import { withdrawApply } from '../../src/withdraw/endpoint.ts';
import { markdownTable } from './markdown-table.ts';

/** Where the test of a row lies, from the root. */
export const testOf = ({ test }: Found): string =>
  test.startsWith('src/') ? `${test}.test.ts` : `src/venue/exchange/${test}.test.ts`;

/** The short name of its test: the addresses stand once, at the end of the page. */
const nameOf = (row: Found): string => testOf(row).replace(/^src\/(venue\/exchange\/)?/, '');

/** As the specification orders them. */
export const restRows: readonly Endpoint[] = [...Object.values<Endpoint>(endpoints), withdrawApply].sort((a, b) =>
  a.section === b.section ? 0 : a.section < b.section ? -1 : 1,
);

export const restCells = (row: Endpoint): string[] => [
  row.name,
  `\`${row.method} ${row.path}\``,
  row.section,
  row.security,
  `${row.weight}`,
  row.frequency === undefined ? '–' : `${row.frequency}`,
  `\`${row.call}\``,
  `\`${row.command}\``,
  `[${nameOf(row)}]`,
];

export const socketCells = (row: (typeof socketOperations)[number]): string[] => [
  row.name,
  `\`${row.channel}\``,
  row.section,
  `\`${row.call}\``,
  `\`${row.command}\``,
  `[${nameOf(row)}]`,
];

function addresses(): string {
  const paths = new Map([...restRows, ...socketOperations].map((row) => [nameOf(row), testOf(row)]));
  return [...paths].map(([name, path]) => `[${name}]: ../../${path}`).join('\n');
}

export const exchangePage = (): string => `# The exchange's interface

Every operation of the interface: which function of the client carries it out, by which command a user does, and which test shows
it. \`npm run docs\` makes this page of the tables \`src/venue/exchange/rest/endpoints.ts\` and \`channels.ts\`, from which the client itself
takes paths, signatures and weights; a test fails when it is stale. Every row is also carried out by
[operations.test.ts](../../src/venue/exchange/operations.test.ts), against the table.

Functions are members of what \`exchange()\` in [exchange.ts](../../src/venue/exchange/exchange.ts) gives. Orders on the margin account
go through the same ones, of a client opened with \`account: 'margin'\`.

## REST

_Section_ is that of the specification. _Weight_ counts against 12,000 a minute for the address and 60,000 for the user, _per 2 s_
is the operation's own limit. Where the specification gives no weight, or two, the dearer guess is counted.

${markdownTable(['operation', 'request', 'section', 'security', 'weight', 'per 2 s', 'function', 'command', 'test'], restRows.map(restCells))}

Applying for a withdrawal is in a program of its own, with its own key; no code that the daemon can reach is able to, and
\`test/tidy/reach.ts\` proves it. \`sluice call METHOD PATH\` sends any other request, signed, for support.

## Socket

One socket carries all channels. Nothing is acknowledged: data within 5 s confirms a subscription. The specification has no
\`unsub\` for klines; what still comes is dropped.

${markdownTable(['operation', 'channel', 'section', 'function', 'command', 'test'], socketOperations.map(socketCells))}

## Error codes

What a command says when the exchange refuses. Where a code leaves open whether an order was carried out, nothing is sent again:
the order is asked for. The specification shows one code; the others were described by, or seen at, deployments of the same stack.

${markdownTable(
  ['code', 'means', 'what to do'],
  knownCodes.map((code) => [code, codeMeaning(code)?.means ?? '', codeMeaning(code)?.advice ?? '']),
)}

${addresses()}
`;
