/** Rules about what code may say: time and chance, modes, money, order creation. */
import {
  type Breach,
  breach,
  child,
  children,
  isTest,
  literalOf,
  type Node,
  nameOf,
  type Rule,
  type Seen,
  type Source,
} from './source.ts';

/** A breach at every node of which `what` says one. */
export const find = (source: Source, what: (seen: Seen) => string | undefined): Breach[] =>
  source.nodes.flatMap((seen) => {
    const fault = what(seen);
    return fault === undefined ? [] : [breach(source, seen.node.start, fault)];
  });

/** `Date.now` of `Date.now()`; undefined for anything but a name, a dot and a name. */
function dotted(node: Node): string | undefined {
  if (node.type !== 'MemberExpression' || node['computed'] === true) return undefined;
  const object = nameOf(child(node, 'object'));
  const property = nameOf(child(node, 'property'));
  return object === undefined || property === undefined ? undefined : `${object}.${property}`;
}

const importFaults = (source: Source, from: RegExp, banned: (name: string) => boolean, advice: string): Breach[] =>
  source.imports
    .filter((one) => from.test(one.from))
    .flatMap((one) =>
      one.names
        .filter((name) => banned(name))
        .map((name) => breach(source, one.node.start, `${name} from ${one.from}: ${advice}`)),
    );

const inProduct = (path: string): boolean => /^(src|strategies)\//.test(path);

/** The only places outside `src/clock/` that touch time or chance, and why they may. */
const doors: Readonly<Record<string, { readonly may: readonly string[]; readonly because: string }>> = {
  'src/journal/open.ts': { may: ['randomBytes'], because: 'a journal is given its own secret key, once' },
  'src/archive/compact.ts': {
    may: ['randomBytes'],
    because: 'a state directory is given the key of its checkpoints, once',
  },
  'src/commands/journal/encryption.ts': { may: ['randomBytes'], because: 'each encrypted file has a salt of its own' },
  'src/session/session.ts': { may: ['randomBytes'], because: "the dashboard's token must not be guessable" },
  'src/commands/dashboard/dashboard.ts': { may: ['randomBytes'], because: 'nor that of the page of all daemons' },
  'src/session/telegram/commands.ts': { may: ['randomInt'], because: 'nor the code that confirms a command' },
  'src/dashboard/document.ts': { may: ['randomBytes'], because: 'so must not the nonce of its scripts' },
  'test/conformance/time.ts': {
    may: ['Date.now', 'setTimeout'],
    because: 'the suite goes to exchanges that are anywhere, and knows nothing of ours',
  },
  'test/third-party/client.ts': {
    may: ['Date.now', 'setTimeout'],
    because: 'it is a stranger, who signs with the time of the machine',
  },
  'test/security/services.test.ts': {
    may: ['setInterval'],
    because: 'a service answers a byte at a time, on time that the test moves',
  },
  'src/dashboard/page/timer.ts': {
    may: ['setTimeout'],
    because: 'a browser has no Clock; nothing there decides about money',
  },
};

const timeNames = new Set(['setTimeout', 'setInterval', 'setImmediate', 'requestIdleCallback']);
const timeMembers =
  /^(Date\.now|performance\.\w+|Math\.random|process\.(hrtime|uptime)|AbortSignal\.timeout|Atomics\.wait\w*|crypto\.(random\w+|getRandomValues)|systemClock\.(sleep|at))$/;
const timeModules = /^(node:)?(timers|timers\/promises|perf_hooks)$/;
const chance = /^(random(UUID|Bytes|Int|Fill|FillSync)|getRandomValues|webcrypto)$/;
const timeOperators = new Set([
  ...[
    'delay',
    'debounceTime',
    'throttleTime',
    'auditTime',
    'sampleTime',
    'bufferTime',
    'windowTime',
    'interval',
    'timer',
  ],
  ...[
    'timeout',
    'timeoutWith',
    'timeInterval',
    'timestamp',
    'retry',
    'retryWhen',
    'repeat',
    'observeOn',
    'subscribeOn',
  ],
  ...['asyncScheduler', 'asapScheduler', 'animationFrameScheduler', 'animationFrames', 'VirtualTimeScheduler', '*'],
]);

function timeFault(path: string, node: Node): string | undefined {
  const may = doors[path]?.may ?? [];
  const name = nameOf(node);
  if (name !== undefined) return timeNames.has(name) && !may.includes(name) ? name : undefined;
  const member = dotted(node);
  // The machine's own clock is for commands and the session to pass in; a test that sleeps by it really waits.
  const passedIn = member?.startsWith('systemClock.') === true && !path.endsWith('.test.ts');
  if (member !== undefined) return timeMembers.test(member) && !passedIn && !may.includes(member) ? member : undefined;
  const reads =
    node.type === 'CallExpression' || (node.type === 'NewExpression' && children(node, 'arguments').length === 0);
  return reads && nameOf(child(node, 'callee')) === 'Date' ? "the machine's date" : undefined;
}

function checkTime(source: Source): Breach[] {
  const { path } = source;
  if (path.startsWith('src/clock/') || !/^(src|strategies|test)\//.test(path)) return [];
  const may = doors[path]?.may ?? [];
  const advice = 'time and chance come from a Clock or an Rng that is passed in (src/clock/clock.ts)';
  return [
    ...find(source, ({ node }) => {
      const fault = timeFault(path, node);
      return fault === undefined ? undefined : `${fault}: ${advice}`;
    }),
    ...importFaults(source, timeModules, () => true, advice),
    ...importFaults(source, /^(node:)?crypto$/, (name) => chance.test(name) && !may.includes(name), advice),
    ...importFaults(source, /^rxjs(\/operators|\/testing)?$/, (name) => timeOperators.has(name), advice),
  ];
}

export const timeRule: Rule = {
  name: 'time and chance enter by one door',
  check: checkTime,
  planted: [
    ['src/risk/risk.ts', 'const now = Date.now();'],
    ['src/risk/risk.ts', 'const now = new Date();'],
    ['src/risk/risk.ts', 'const now = Date();'],
    ['src/dashboard/push.ts', 'setTimeout(() => {}, 5);'],
    ['src/dashboard/push.ts', 'globalThis.setInterval(() => {}, 5);'],
    ['src/dashboard/page/store.ts', 'setTimeout(() => {}, 5);'],
    ['src/execution/sweep.ts', 'const started = performance.now();'],
    ['src/fill/rules.ts', 'const luck = Math.random();'],
    ['src/domain/ids.ts', "import { createHash, randomUUID } from 'node:crypto';"],
    ['src/venue/exchange/orders/orders.ts', 'const id = crypto.randomUUID();'],
    ['src/venue/exchange/rest/http-client.ts', "import { setTimeout as sleep } from 'node:timers/promises';"],
    ['src/session/live.ts', "import { debounceTime, map } from 'rxjs';"],
    ['src/session/live.ts', "import * as rx from 'rxjs';"],
    ['src/session/session.ts', 'const now = Date.now();'],
    ['test/demo.test.ts', 'await systemClock.sleep(1_000);'],
    ['test/demo.test.ts', 'await new Promise((go) => setTimeout(go, 100));'],
  ],
  fine: [
    ['src/risk/risk.ts', 'const day = new Date(ms); const start = Date.UTC(2020, 2, 12); clock.sleep(5);'],
    ['src/clock/clock.ts', 'const now = Date.now();'],
    ['src/journal/open.ts', "import { randomBytes } from 'node:crypto';"],
    ['src/strategy/host.ts', "import { map, type Observable } from 'rxjs';"],
    ['src/risk/risk.ts', "// never Date.now() or setTimeout here\nconst text = 'Math.random()';"],
  ],
};

const modeNames = /^(is|in|as|when|if)?(Live|Paper|Backtest|Backtesting|Demo|Replay|Simulated)(Mode|Run)?$/i;
const modeWords = new Set(['live', 'paper', 'backtest', 'demo', 'replay', 'record']);
const comparisons = new Set(['===', '!==', '==', '!=']);
/** Names that only look like a question about the mode. */
const notModes = new Set(['live', 'paper', 'demo', 'backtest', 'replay', 'simulated']);

function modeFault({ node, parent }: Seen): string | undefined {
  const name = nameOf(node);
  if (name !== undefined) return modeNames.test(name) && !notModes.has(name) ? name : undefined;
  const word = literalOf(node);
  if (typeof word !== 'string' || !modeWords.has(word)) return undefined;
  const compared = parent?.type === 'BinaryExpression' && comparisons.has(String(parent['operator']));
  const cased = parent?.type === 'SwitchCase' && child(parent, 'test') === node;
  return compared || cased ? `a comparison with '${word}'` : undefined;
}

export const modeRule: Rule = {
  name: 'no mode word outside the composition roots',
  check(source) {
    if (!inProduct(source.path) || /^src\/((session|backtest|commands)\/|main\.ts$)/.test(source.path)) return [];
    return find(source, (seen) => {
      const fault = modeFault(seen);
      return fault === undefined
        ? undefined
        : `${fault}: only session/, backtest/, commands/ and main.ts know the mode; what differs is the venue and the clock, so pass in what decides`;
    });
  },
  planted: [
    ['src/execution/executor.ts', 'if (options.isLive) send();'],
    ['src/portfolio/plan.ts', "const now = mode === 'backtest' ? 0 : 1;"],
    ['src/risk/rules.ts', "switch (mode) {\n  case 'live':\n    break;\n}"],
    ['src/trader.ts', 'const isBacktest = true;'],
    ['src/venue/venue.ts', 'export interface Feed {\n  readonly paperMode: boolean;\n}'],
  ],
  fine: [
    ['src/session/live.ts', "if (mode === 'live') start();"],
    ['src/venue/paper/order-entry.ts', "import { paper } from './account.ts';\nconst live = paper;"],
    ['src/dashboard/view.ts', "const shown: { mode: string } = { mode: 'live' };"],
  ],
};

const crossing = 'src/domain/money.ts';
const moneyName = /(price|quantity|qty|amount|fee|balance|cash|equity|notional|cost|lots|ticks|units)$/i;
const moneyTypes = new Set(['Ticks', 'Lots', 'Units', 'Rate']);
/** Other places that may make a branded integer from a plain one, and why. */
const unitMakers: Readonly<Record<string, string>> = {
  'src/simulator/persist/store.ts': 'reads back the integers that it wrote itself',
};

/** The name of a value: `price` of `order.price` and of `price ?? 0`. */
function lastName(node: Node | undefined): string | undefined {
  if (node?.type === 'MemberExpression') return nameOf(child(node, 'property'));
  if (node?.type === 'LogicalExpression') return lastName(child(node, 'left'));
  if (node?.type === 'ChainExpression') return lastName(child(node, 'expression'));
  return nameOf(node);
}
const isMoney = (node: Node | undefined): boolean => moneyName.test(lastName(node) ?? '');

/** `1n as Lots`, `(2n ** 62n) as Lots`: a count of steps that is written down crosses nothing. */
const isStep = (node: Node | undefined): boolean =>
  node?.type === 'BinaryExpression'
    ? isStep(child(node, 'left')) && isStep(child(node, 'right'))
    : typeof node?.['bigint'] === 'string';

function moneyFault(path: string, { node }: Seen): string | undefined {
  const name = nameOf(node);
  if (name === 'parseFloat')
    return 'parseFloat loses digits: read money with ticks, lots, units or rate of domain/money.ts';
  const callee = child(node, 'callee');
  const isNumber =
    node.type === 'CallExpression' && (nameOf(callee) === 'Number' || dotted(callee ?? node) === 'Number.parseInt');
  const drawn = path.startsWith('src/dashboard/page/');
  if (isNumber && !drawn && isMoney(children(node, 'arguments')[0]))
    return 'Number() on money: cross with priceNumber, quantityNumber or unitsNumber of domain/money.ts';
  if (node.type === 'UnaryExpression' && node['operator'] === '+' && isMoney(child(node, 'argument')))
    return 'unary + on money: cross with priceNumber, quantityNumber or unitsNumber of domain/money.ts';
  if (node.type !== 'TSAsExpression' || isStep(child(node, 'expression'))) return undefined;
  const type = nameOf(child(child(node, 'typeAnnotation'), 'typeName'));
  return type !== undefined && moneyTypes.has(type) && !Object.hasOwn(unitMakers, path)
    ? `'as ${type}' crosses into money: use or add a function of domain/money.ts, the only crossing`
    : undefined;
}

export const moneyRule: Rule = {
  name: 'money stays in its types and crosses in one file',
  check(source) {
    if (!inProduct(source.path) || source.path === crossing || isTest(source.path)) return [];
    return [
      ...find(source, (seen) => moneyFault(source.path, seen)),
      ...source.imports
        .filter(({ from }) => from === 'decimal.js')
        .map((one) =>
          breach(source, one.node.start, 'decimal.js: import Decimal from domain/money.ts, where its precision is set'),
        ),
    ];
  },
  planted: [
    ['src/venue/exchange/orders/read-order.ts', 'const price = parseFloat(text);'],
    ['src/venue/exchange/orders/read-order.ts', 'const price = Number.parseFloat(text);'],
    ['src/fill/fees.ts', 'const fee = Number(fill.fee);'],
    ['src/fill/fees.ts', 'const fee = Number(fill?.fee ?? 0);'],
    ['src/fill/fees.ts', 'const fee = +order.avgPrice;'],
    ['src/config/schema.ts', "import { Decimal } from 'decimal.js';"],
    ['src/portfolio/plan.ts', 'const share = BigInt(Math.round(x * 1e8)) as Rate;'],
    ['strategies/grid/index.ts', 'const quantity = (a * b) as Lots;'],
  ],
  fine: [
    ['src/domain/money.ts', "import { Decimal } from 'decimal.js';\nconst a = Number(price) as Ticks;"],
    ['src/dashboard/page/charts/price-chart.ts', 'const y = Number(fill.price);'],
    [
      'src/data/klines.ts',
      'const openTime = Number(text);\nconst one = 1n as Lots;\nconst many = (2n ** 62n) as Lots;',
    ],
  ],
};

const giveUps =
  /^(retry|retryWhen|repeat|repeatWhen|timeout|timeoutWith|switchMap|switchMapTo|switchScan|switchAll|takeUntil|exhaustMap|race|raceWith|firstValueFrom|lastValueFrom)$/;
const createsOrders = (path: string): boolean =>
  /^src\/(execution\/|trader\.ts$|trading\/orders\.ts$|venue\/(exchange\/orders\/|[^/]+\/order-entry\.ts$))/.test(
    path,
  ) && !path.endsWith('.test.ts');

export const creationRule: Rule = {
  name: 'nothing retries, times out or abandons the creation of an order',
  check(source) {
    const advice =
      'an order is sent once and its outcome is found out by asking (src/execution/reconcile/resolve.ts), never sent again or dropped';
    const guarded = !createsOrders(source.path)
      ? []
      : [
          ...importFaults(source, /^rxjs/, (name) => giveUps.test(name), advice),
          ...find(source, ({ node }) => {
            const member = dotted(node);
            const gives =
              member === 'Promise.race' || member === 'Promise.any' || member?.endsWith('.unsubscribe') === true;
            return gives ? `${member}: ${advice}` : undefined;
          }),
        ];
    const usesGot = inProduct(source.path) && source.imports.some((one) => one.from === 'got' && !one.typeOnly);
    const says = usesGot && /retry: \{ limit: 0 \}/.test(source.text);
    return usesGot && !says
      ? [...guarded, breach(source, 0, 'got repeats requests by itself: say retry: { limit: 0 }')]
      : guarded;
  },
  planted: [
    ['src/execution/executor.ts', "import { retry } from 'rxjs';"],
    ['src/trading/orders.ts', "import { switchMap } from 'rxjs';"],
    ['src/trader.ts', "import { takeUntil } from 'rxjs';"],
    ['src/venue/exchange/orders/orders.ts', "import { timeout } from 'rxjs';"],
    ['src/venue/paper/order-entry.ts', 'const first = await Promise.race([send(), patience()]);'],
    ['src/execution/executor.ts', 'sending.unsubscribe();'],
    [
      'src/venue/exchange/rest/http-client.ts',
      "import got from 'got';\nconst client = got.extend({ retry: { limit: 2 } });",
    ],
  ],
  fine: [
    ['src/venue/exchange/market/feed.ts', "import { switchMap } from 'rxjs';"],
    [
      'src/venue/exchange/rest/http-client.ts',
      "import got from 'got';\nconst client = got.extend({ retry: { limit: 0 } });",
    ],
  ],
};

const shared = new Set(['Subject', 'BehaviorSubject', 'ReplaySubject', 'AsyncSubject']);

export const streamRule: Rule = {
  name: 'streams stay plain',
  check(source) {
    if (!inProduct(source.path) || isTest(source.path)) return [];
    const pushed = source.path.startsWith('src/venue/')
      ? []
      : importFaults(
          source,
          /^rxjs/,
          (name) => shared.has(name),
          'only a venue pushes into a stream from outside: compose one instead',
        );
    const dollars = find(source, ({ node }) => {
      const name = nameOf(node);
      return name?.endsWith('$') === true ? `${name}: streams are plural nouns without $` : undefined;
    });
    return [...pushed, ...dollars];
  },
  planted: [
    ['src/execution/context.ts', "import { Subject } from 'rxjs';"],
    ['src/strategy/host.ts', 'const klines$ = feed.klines();'],
  ],
  fine: [['src/venue/paper/order-entry.ts', "import { Subject } from 'rxjs';"]],
};

/** That nothing imports `src/withdraw/` is an arrow (oxlint.config.ts). */
export const withdrawalRule: Rule = {
  name: 'only src/withdraw/ names the operation that applies for withdrawals',
  check(source) {
    // The simulator is the other side of the wire: it serves the operation.
    const mayName = /^src\/(withdraw|simulator)\//.test(source.path) || isTest(source.path);
    if (!inProduct(source.path) || mayName) return [];
    return [...source.text.matchAll(/withdraw\/apply(?!\.ts)/gi)].map(({ index }) =>
      breach(source, index, 'names the operation that applies for withdrawals: only src/withdraw/ may'),
    );
  },
  planted: [['src/venue/exchange/rest/endpoints.ts', "const path = '/sapi/v1/withdraw/apply';"]],
  fine: [
    ['src/withdraw/apply.ts', "export const path = '/sapi/v1/withdraw/apply';"],
    ['src/simulator/http/withdraw.ts', "const path = '/sapi/v1/withdraw/apply';"],
  ],
};
