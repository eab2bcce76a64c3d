/** One word per thing, everywhere: the table "Words" of `architecture.md`. */
import { find } from './code.ts';
import { type Breach, breach, nameOf, type Rule, type Source } from './source.ts';

/** Words that name a thing wrongly inside an identifier (`klineBars`, `BarSeries`), and the right ones. */
const segments: Readonly<Record<string, string>> = {
  candle: 'kline',
  candles: 'klines',
  candlestick: 'kline',
  candlesticks: 'klines',
  bar: 'kline',
  bars: 'klines',
  ohlc: 'kline',
  ohlcv: 'kline',
  orderbook: 'depth',
  orderbooks: 'depth',
  credits: 'weight',
  manager: 'a noun for what it does',
  managers: 'a noun for what they do',
  helper: 'a verb for what it does',
  helpers: 'verbs for what they do',
  util: 'a verb for what it does',
  utils: 'verbs for what they do',
};
const pairs: Readonly<Record<string, string>> = {
  'order book': 'depth',
  'level two': 'depth',
  'trading pair': 'symbol',
  'currency pair': 'symbol',
  'market pair': 'symbol',
  'tick price': 'trade price',
  'tick data': 'trades',
  'tick stream': 'trades',
  'on tick': 'onTrade',
  'on bar': 'onKline',
};

/** Names of others, spelt as they spell them, and the one thing of ours that the table does not mean. */
const allowed: readonly { readonly names: RegExp; readonly in: RegExp; readonly because: string }[] = [
  {
    names: /^(Candlestick(Series|Data)?|barSpacing|minBarSpacing|(above|below)Bar)$/,
    in: /^src\/(dashboard|report)\/page\//,
    because: 'lightweight-charts calls them so',
  },
  {
    names: /^(OrderBook|orderBooks?)$/,
    in: /^src\/simulator\//,
    because: 'the single orders that an exchange matches; depth is what it shows of them',
  },
];
const isAllowed = (path: string, name: string): boolean =>
  allowed.some((one) => one.names.test(name) && one.in.test(path));

/** `klineBars` → `kline bars`. */
const spelt = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s_$#-]+/);

function wordFault(name: string): string | undefined {
  const words = spelt(name);
  for (const [index, word] of words.entries()) {
    if (Object.hasOwn(segments, word)) return `'${word}' in ${name}: the word here is ${segments[word]}`;
    const two = `${word} ${words[index + 1] ?? ''}`;
    if (Object.hasOwn(pairs, two)) return `'${two}' in ${name}: the word here is ${pairs[two]}`;
  }
  return undefined;
}

function checkNames(source: Source): Breach[] {
  const file = source.path.replace(/^.*\//, '').replace(/(\.test)?\.\w+$/, '');
  const path = wordFault(file);
  const named = path === undefined || /^src\/simulator\/core\/order-book\./.test(source.path) ? [] : [path];
  return [
    ...named.map((fault) => `${source.path}:1 ${fault}`),
    ...find(source, ({ node }) => {
      const name = nameOf(node);
      return name === undefined || isAllowed(source.path, name) ? undefined : wordFault(name);
    }),
  ];
}

export const nameRule: Rule = {
  name: 'names use the words of the table',
  check: checkNames,
  planted: [
    ['src/fill/rules.ts', 'const candles = [];'],
    ['src/fill/rules.ts', 'export interface BarSeries {\n  readonly a: 1;\n}'],
    ['src/fill/rules.ts', 'const run = (bar: Kline) => bar;'],
    ['src/venue/venue.ts', 'class A {\n  #orderBook = 1;\n}'],
    ['src/venue/venue.ts', 'const row = { tradingPair: 1 };'],
    ['src/venue/venue.ts', 'feed.onTick(run);'],
    ['src/budget/budget.ts', 'let credits_left = 1;'],
    ['src/execution/context.ts', 'class OrderManager {}'],
    ['src/execution/utils.ts', 'export const a = 1;'],
    ['src/execution/string-helpers.ts', 'export const a = 1;'],
  ],
  fine: [
    ['src/dashboard/page/charts/price-chart.ts', "import { CandlestickSeries } from 'lightweight-charts';"],
    ['src/simulator/core/order-book.ts', 'export class OrderBook {}'],
    ['src/venue/exchange/market/frames.ts', 'const { tick } = frame;\nconst embargo = barely;'],
  ],
};

const prose: readonly (readonly [RegExp, string])[] = [
  [/\bcandle(stick)?s?\b/gi, 'kline'],
  [/\border ?books?\b/gi, 'depth'],
  [/\b(ohlcv?|[45]-minute|minute|price|daily|hourly|closed|next|previous|last) bars?\b/gi, 'kline'],
  [/\b(trading|currency) pairs?\b/gi, 'symbol'],
];
/** Where other people's words are quoted. */
const quoted = (path: string): boolean => /^backtests\/data\//.test(path);

/** Comments, messages and documents; what stands in backquotes is a name of somebody's and left alone. */
function checkProse(source: Source): Breach[] {
  if (quoted(source.path)) return [];
  const text = source.text.replace(/`[^`\n]*`/g, (name) => ' '.repeat(name.length));
  return prose.flatMap(([pattern, right]) =>
    [...text.matchAll(pattern)]
      .filter(([word]) => /\s/.test(word) || !/^(OrderBook|orderBook|Candlestick)/.test(word))
      .filter((found) => !(source.path.startsWith('src/simulator/') && /order ?book/i.test(found[0])))
      .map((found) => breach(source, found.index, `'${found[0]}': the word here is ${right}`)),
  );
}

export const proseRule: Rule = {
  name: 'comments, messages and documents use them too',
  check: checkProse,
  planted: [
    ['src/fill/rules.ts', '// the close of the last candle'],
    ['src/fill/rules.ts', "throw new Error('no order book yet');"],
    ['README.md', 'Decides at the close of each minute bar.'],
    ['docs/tutorial.md', 'Choose a trading pair.'],
  ],
  fine: [
    ['README.md', 'The series is a `candlestick` of lightweight-charts, under the status bar.'],
    ['backtests/data/NOTICE.md', 'candles'],
  ],
};
