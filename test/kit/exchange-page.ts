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
const nameOf = (row: Found): string => testOf(row).replace(/^src\/(venue\/exchange\/)?|\.test\.ts$/g, '');

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

This page lists every operation of the interface, with the function of the client, the command, and the test that shows it. \`npm run docs\` makes it from the tables
\`src/venue/exchange/rest/endpoints.ts\` and \`channels.ts\`. The client takes paths, signatures and weights from the same tables. A test fails when the page is stale.
[operations.test.ts](../../src/venue/exchange/operations.test.ts) runs every row.

Functions are members of \`exchange()\` in [exchange.ts](../../src/venue/exchange/exchange.ts). Orders on the margin account use the same functions of a client with
\`account: 'margin'\`.

## REST

_Section_ is the section of the specification. _Weight_ counts against 12,000 a minute for the address and 60,000 for the user. _Per 2 s_ is the operation's own limit. If the specification
gives no weight or two, Sluice counts the higher one.

${markdownTable(['operation', 'request', 'section', 'security', 'weight', 'per 2 s', 'function', 'command', 'test'], restRows.map(restCells))}

A separate program with its own key applies for withdrawals. No code of the daemon can, and \`oxlint.config.ts\` proves it. \`sluice call METHOD PATH\` sends any other request, signed, for
support.

## Socket

One socket carries all channels. The exchange acknowledges nothing: data within 5 s confirms a subscription. The specification has no \`unsub\` for klines, so Sluice drops frames that still
arrive.

${markdownTable(['operation', 'channel', 'section', 'function', 'command', 'test'], socketOperations.map(socketCells))}

## Error codes

Commands print these meanings when the exchange refuses. If a code leaves the outcome of an order open, Sluice sends nothing again and queries the order. The specification shows one code. The
others are from descriptions and observations of deployments of the same software.

${markdownTable(
  ['code', 'means', 'what to do'],
  knownCodes.map((code) => [code, codeMeaning(code)?.means ?? '', codeMeaning(code)?.advice ?? '']),
)}

${addresses()}
`;
