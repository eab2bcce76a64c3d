/** The page `docs/reference/exchange.md`, made of the tables from which the client works. */
import { type SocketOperation, socketOperations } from '../../src/venue/exchange/market/channels.ts';
import { codeMeaning, knownCodes } from '../../src/venue/exchange/rest/codes.ts';
import { type Endpoint, endpoints } from '../../src/venue/exchange/rest/endpoints.ts';
import { withdrawApply } from '../../src/withdraw/application.ts';
import { markdownTable } from './markdown-table.ts';

/** Where to find an operation. */
export interface Place {
  /** Of the specification. */
  readonly section: string;
  /** The member of `Exchange` that carries it out. */
  readonly call: string;
  /** The command for users. */
  readonly command: string;
  /** The test file without `.test.ts`, from the root or in `src/venue/exchange/`. */
  readonly test: string;
}

const places: Readonly<Record<string, readonly [section: string, call: string, command: string, test: string]>> = {
  ping: ['4.1', 'market.ping', 'sluice market ping', 'market/queries'],
  time: ['4.1', 'market.time', 'sluice market time', 'market/queries'],
  symbols: ['4.1', 'instruments', 'sluice market symbols', 'exchange'],
  depth: ['4.1', 'market.depth', 'sluice market depth', 'market/queries'],
  ticker: ['4.1', 'market.ticker', 'sluice market ticker', 'market/queries'],
  trades: ['4.1', 'market.trades', 'sluice market trades', 'market/queries'],
  klines: ['4.1', 'market.klines', 'sluice market klines', 'market/queries'],
  'order create': ['4.2', 'orders.prepare', 'sluice order create', 'orders/orders'],
  'order test': ['4.2', 'bulk.test', 'sluice order test', 'orders/bulk'],
  'batch create': ['4.2', 'bulk.createMany', 'sluice order batch', 'orders/bulk'],
  'order query': ['4.2', 'orders.query', 'sluice order query', 'orders/queries'],
  'order cancel': ['4.2', 'orders.cancel', 'sluice order cancel', 'orders/orders'],
  'batch cancel': ['4.2', 'bulk.cancelMany', 'sluice order cancel', 'orders/bulk'],
  'open orders': ['4.2', 'orders.openOrders', 'sluice order open', 'orders/queries'],
  'own trades': ['4.2', 'orders.tradesSince', 'sluice order trades', 'orders/queries'],
  account: ['4.3', 'account.balances', 'sluice account', 'exchange'],
  'margin order create': ['4.4', 'orders.prepare', 'sluice order create --account margin', 'orders/orders'],
  'margin order query': ['4.4', 'orders.query', 'sluice order query --account margin', 'orders/queries'],
  'margin order cancel': ['4.4', 'orders.cancel', 'sluice order cancel --account margin', 'orders/orders'],
  'margin open orders': ['4.4', 'orders.openOrders', 'sluice order open --account margin', 'orders/queries'],
  'margin own trades': ['4.4', 'orders.tradesSince', 'sluice order trades --account margin', 'orders/queries'],
  'withdrawal query': ['4.5', 'withdrawals.query', 'sluice-withdraw list', 'orders/withdrawals'],
  'open trades': ['4.6', 'openData.trades', 'sluice market open trades', 'market/open-data'],
  'open ticker': ['4.6', 'openData.ticker', 'sluice market open ticker', 'market/open-data'],
  'open asset': ['4.6', 'openData.asset', 'sluice market open asset', 'market/open-data'],
  'open depth': ['4.6', 'openData.depth', 'sluice market open depth', 'market/open-data'],
  'open all tickers': ['4.6', 'openData.allTickers', 'sluice market open tickers', 'market/open-data'],
  'withdrawal apply': ['4.5', 'applyFor', 'sluice-withdraw apply', 'src/withdraw/withdraw'],
  'sub depth': ['6.2', 'feed.depth', 'sluice market depth --follow', 'market/feed'],
  'unsub depth': ['6.2', 'feed.depth', 'sluice market depth --follow', 'market/feed'],
  'sub trades': ['6.2', 'feed.trades', 'sluice market trades --follow', 'market/trade-stream'],
  'unsub trades': ['6.2', 'feed.trades', 'sluice market trades --follow', 'market/trade-stream'],
  'sub ticker': ['6.2', 'feed.ticker', 'sluice market ticker --follow', 'market/feed'],
  'unsub ticker': ['6.2', 'feed.ticker', 'sluice market ticker --follow', 'market/feed'],
  'sub klines': ['6.2', 'feed.klines', 'sluice market klines --follow', 'market/kline-stream'],
  'req klines': ['6.2', 'past.klines', 'sluice market klines --socket', 'market/socket-history'],
  'req trades': ['6.2', 'past.trades', 'sluice market trades --socket', 'market/socket-history'],
};

function placed<T extends Endpoint | SocketOperation>(row: T): T & Place {
  const [section = '', call = '', command = '', test = ''] = places[row.name] ?? [];
  return { ...row, section, call, command, test };
}

/** Where the test of a row lies, from the root. */
export const testOf = ({ test }: Place): string =>
  test.startsWith('src/') ? `${test}.test.ts` : `src/venue/exchange/${test}.test.ts`;

/** The short name of its test: the addresses stand once, at the end of the page. */
const nameOf = (row: Place): string => testOf(row).replace(/^src\/(venue\/exchange\/)?|\.test\.ts$/g, '');

export const socketRows: readonly (SocketOperation & Place)[] = socketOperations.map(placed);

/** As the specification orders them. */
export const restRows: readonly (Endpoint & Place)[] = [...Object.values<Endpoint>(endpoints), withdrawApply]
  .map(placed)
  .sort((a, b) => (a.section === b.section ? 0 : a.section < b.section ? -1 : 1));

export const restCells = (row: Endpoint & Place): string[] => [
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

export const socketCells = (row: SocketOperation & Place): string[] => [
  row.name,
  `\`${row.channel}\``,
  row.section,
  `\`${row.call}\``,
  `\`${row.command}\``,
  `[${nameOf(row)}]`,
];

function addresses(): string {
  const paths = new Map([...restRows, ...socketRows].map((row) => [nameOf(row), testOf(row)]));
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

${markdownTable(['operation', 'channel', 'section', 'function', 'command', 'test'], socketRows.map(socketCells))}

## Error codes

Commands print these meanings when the exchange refuses. If a code leaves the outcome of an order open, Sluice sends nothing again and queries the order. The specification shows one code. The
others are from descriptions and observations of deployments of the same software.

${markdownTable(
  ['code', 'means', 'what to do'],
  knownCodes.map((code) => [code, codeMeaning(code)?.means ?? '', codeMeaning(code)?.advice ?? '']),
)}

${addresses()}
`;
