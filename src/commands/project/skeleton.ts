/** What `sluice init` writes beside the first strategy. */
import { z } from 'zod';
import { backtestSchema, tradingSchema } from '../../config/schema.ts';

/** For editors: which keys a configuration has, and their values. */
const schemaText = (schema: z.ZodType, title: string): string =>
  `${JSON.stringify({ title, ...z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) }, undefined, 2)}\n`;

/** By this line the YAML extensions of editors find the schema. */
const schemaLine = (kind: string): string => `# yaml-language-server: $schema=./schema/${kind}.json\n`;

/** `sluice`: the clone, relative to the folder. */
const packageText = (name: string, sluice: string, strategy: string): string =>
  `${JSON.stringify(
    {
      name,
      version: '0.0.0',
      private: true,
      type: 'module',
      scripts: {
        test: 'sluice test',
        types: 'node node_modules/sluice/node_modules/typescript/bin/tsc',
        check: `sluice check strategies/${strategy}.ts`,
        dev: `sluice dev strategies/${strategy}.ts`,
        backtest: 'sluice backtest --config backtest.yaml',
        paper: 'sluice paper --config paper.yaml',
        live: 'sluice live --config live.yaml',
      },
      dependencies: { sluice: `file:${sluice}` },
    },
    undefined,
    2,
  )}\n`;

// The clone is read as TypeScript, so that editors need no build of it, and has the types of Node.
const compilerText = `{
  "compilerOptions": {
    "target": "es2024",
    "lib": ["es2024", "esnext"],
    "module": "nodenext",
    "customConditions": ["sluice-source"],
    "typeRoots": ["node_modules/sluice/node_modules/@types", "node_modules/@types"],
    "types": ["node"],
    "strict": true,
    "exactOptionalPropertyTypes": true,
    "noUncheckedIndexedAccess": true,
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true,
    "allowImportingTsExtensions": true,
    "resolveJsonModule": true,
    "skipLibCheck": true,
    "noEmit": true
  },
  "include": ["strategies"]
}
`;

const backtestText = (strategy: string): string => `${schemaLine('backtest')}# npm run backtest
# npm run backtest -- --set strategies.0.params.period=500 --report

data:
  XBTUSD: node_modules/sluice/backtests/data/XBTUSD-1m-2020-02_2020-04.csv.gz # or a file of yours

from: 2020-03-01
to: 2020-04-01
cash: "10000" # amounts are in quotes, so that no digit is lost

strategies:
  - id: ${strategy}
    use: ./strategies/${strategy}.ts
    symbol: XBTUSD
    interval: 1min
    params: { period: 2000, margin: 0.02, stop: 0.06 }

risk:
  maxOrderValue: "20000"
  maxPosition: "20000"
  maxDailyLoss: "0.2"

fees: { maker: "0.001", taker: "0.002" }
`;

const tradingText = (strategy: string, head: string): string => `${schemaLine('trading')}${head}
exchange:
  restUrl: http://127.0.0.1:8790
  wsUrl: ws://127.0.0.1:8790/kline-api/ws
  speed: 60 # of the built-in exchange; leave it out for a real one

strategies:
  - id: ${strategy}
    use: ./strategies/${strategy}.ts
    symbol: XBTUSD
    interval: 1min
    params: { period: 5 } # trades often, so that there is something to see
    allocation: "10000" # capital in quote

risk:
  maxOrderValue: "10000"
  maxPosition: "10000"
  maxDailyLoss: "0.2"

fees: { maker: "0.002", taker: "0.002" }
`;

const paperHead = `# Takes the market from the built-in exchange and simulates the fills; needs no key.
#
#   npx sluice simulator      (in a second terminal)
#   npm run paper
`;

const liveHead = `# Trades on the built-in exchange.
#
#   npx sluice simulator      (in a second terminal)
#   cp .env.example .env && chmod 600 .env
#   npm run live
#
# For a real exchange: its addresses and your keys, no speed, and a small allocation. npx sluice doctor --config live.yaml checks them.
`;

const keysText = `# Copy it to .env, which git ignores: cp .env.example .env && chmod 600 .env
# These are the keys of the built-in exchange.
SLUICE_API_KEY=demo-key
SLUICE_API_SECRET=demo-secret
`;

const readmeText = (name: string, strategy: string): string => `# ${name}

Strategies for [Sluice](node_modules/sluice/README.md).

\`\`\`sh
npm install
npm test             # the tests of the strategies
npm run backtest     # over recorded data
npm run dev          # all of it at each save, with a report in the browser
npm run types        # types
npm run check        # look-ahead and warm-up
\`\`\`

To trade on paper, start the built-in exchange with \`npx sluice simulator\`, then \`npm run paper\` in another terminal.

- \`strategies/${strategy}.ts\` is the first strategy. \`npx sluice new strategy NAME\` adds one, with \`--from sma-cross\` a copy of a shipped one.
- \`backtest.yaml\`, \`paper.yaml\` and \`live.yaml\` say what runs where.
- \`schema/\` tells editors the keys of these files.
- What a strategy may use: \`node_modules/sluice/docs/reference/strategies.md\`.
`;

/** Its files by their path, without those of the strategy. */
export const skeleton = (name: string, sluice: string, strategy: string): Readonly<Record<string, string>> => ({
  'README.md': readmeText(name, strategy),
  'package.json': packageText(name, sluice, strategy),
  'tsconfig.json': compilerText,
  '.gitignore': 'node_modules/\nvar/\n.env\n*.log\n',
  '.env.example': keysText,
  'backtest.yaml': backtestText(strategy),
  'paper.yaml': tradingText(strategy, paperHead),
  'live.yaml': tradingText(strategy, liveHead),
  'schema/backtest.json': schemaText(backtestSchema, 'A backtest of Sluice'),
  'schema/trading.json': schemaText(tradingSchema, 'Paper and live trading of Sluice'),
});
