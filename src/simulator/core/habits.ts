/**
 * What deployments of the interface do differently. `documented` is the specification to the letter where it speaks,
 * `observed` what live venues were seen to do; each habit is a switch of its own, so that one can be tried alone.
 * Sections (§) are the specification's.
 */
import { Refusal } from '../../domain/refusal.ts';

/** Every switch, with all of its positions. */
export interface Habits extends ErrorHabits, OrderHabits, MarketHabits, SocketHabits {}

interface ErrorHabits {
  /** HTTP status of a refused request: 4XX as §7 says, or 200 as every recorded venue does [4]. */
  readonly errorStatus: 'http4xx' | 'http200';
  /** Error codes as integers (§7) or as strings [4]. */
  readonly errorCode: 'number' | 'text';
  /** Precision, minima and funds under their documented codes, or as the codes of the engine that leak [4]. */
  readonly errorCodes: 'documented' | 'engine';
  /** Language of `msg` [4]. */
  readonly messages: 'english' | 'chinese';
  /** Replies as the specification shows them, or inside `{code: "0", msg, data}` [4, 15]. */
  readonly replies: 'bare' | 'enveloped';
  /** What a refusal has beside code and text: nothing more, or `succ: false` and `msgData` [4]. */
  readonly refusalExtras: 'none' | 'succ';
  /** A list without rows: empty, `data: null` inside `{code: "0", msg, data}`, or null as the whole body [5]. */
  readonly emptyLists: 'empty' | 'null' | 'bare null';
  /** Symbols in a request: in any case, or upper case alone [2]. */
  readonly symbolCase: 'any' | 'upper';
  /** What a signature is over: the whole path (§5.2), or the path without its `/sapi`, which a gateway took away [6]. */
  readonly signedPath: 'whole' | 'stripped';
  /** Every so many-th accepted create answers 504 although the order is there (§7); 0 means never. */
  readonly lostCreateEvery: number;
  /** How far ahead of the exchange a timestamp may be, real ms (§5.3: 1000) [7]. */
  readonly aheadMs: number;
  /**
   * Under which name the time window is read, of which §5.3 shows three: each of them, or `recvwindow` alone while the others are passed
   * over, or refused as unknown parameters [7].
   */
  readonly windowName: 'any' | 'recvwindow' | 'recvwindow or refused';
}

interface OrderHabits {
  /** `status` of a create reply: the word, or the number 0 of §3.1 [5]. */
  readonly createStatus: 'NEW' | 0;
  /** A cancel ends the order before it answers, or answers PENDING_CANCEL and ends it later, with fills in between [10]. */
  readonly cancel: 'at once' | 'later';
  /** Order states in a query: the five of §3.1, the many spellings of live venues, or the older integers [5]. */
  readonly states: 'five' | 'many' | 'numbers';
  /** Lists of orders and own trades as bare arrays or as `{list: […]}` [5, 11]. */
  readonly lists: 'bare' | 'wrapped';
  /** `orderId` where §2.2 says long: a number, text, or a list with one number [5]. */
  readonly orderId: 'number' | 'text' | 'list';
  /** Whether `orderIdString` is there [5]. */
  readonly orderIdString: boolean;
  /** `clientOrderId` of an order that has one: as sent, or null [5]. */
  readonly clientId: 'echoed' | 'null';
  /** Whether lists of open orders show the client id; §4.2 and §4.4 name the fields without it. */
  readonly openOrdersClientId: boolean;
  /** Whether the order query needs `orderId` (§4.2), or finds the newest order of a client id too [5]. */
  readonly queryNeedsOrderId: boolean;
  /** Whether `fromId` of myTrades names the first trade of the page or the one before it [11]. */
  readonly fromIdInclusive: boolean;
  /**
   * A batch with an order that cannot be placed (not shown [10]): its id is left out; or the whole batch is refused and nothing
   * placed; or it is refused although the orders before that one are placed.
   */
  readonly batchFailure: 'skip' | 'refuse' | 'stop';
  /** Ids in the reply to a batch cancel [10]. */
  readonly batchCancelIds: 'number' | 'text';
  /** The reply to a margin cancel, of which §4.4 shows two. */
  readonly marginCancel: 'short' | 'order';
  /** Weight of margin open orders, for which §4.4 states two. */
  readonly marginOpenOrdersWeight: 1 | 5;
}

interface MarketHabits {
  /**
   * Amounts in balances, orders, own trades and depth: text, numbers, numbers with exponents where they are small [15], or
   * within one object numbers where they are whole and text where they are not [3].
   */
  readonly amounts: 'text' | 'number' | 'scientific' | 'mixed';
  /** Name of the exchange's time in the reply of `/time` [3]. */
  readonly timeField: 'serverTime' | 'server_time';
  /** Levels of a REST book: price and quantity, or a third element, the quantity up to there [3]. */
  readonly depthLevels: 'pairs' | 'triples';
  /** The day's change in a ticker: a fraction, or percent [3]. */
  readonly rose: 'ratio' | 'percent';
  /** `time` of a depth reply [3]. */
  readonly depthTime: 'ms' | 'null';
  /** Public trades as `{list: […]}` (§4.1) or bare [3]. */
  readonly publicTrades: 'wrapped' | 'bare';
  /** Minima of a symbol: beside the documented fields, as zeros, or absent [3]. */
  readonly minima: 'shown' | 'zero' | 'absent';
  readonly klineOrder: 'newest first' | 'oldest first';
  /** `idx` of a kline [1]. */
  readonly klineIndex: 'ms' | 'seconds';
  /** Whether the account shows a `uid` [15]. */
  readonly accountUid: boolean;
}

interface SocketHabits {
  /** Side words. */
  readonly socketSide: 'lower' | 'upper';
  /** What a print has beside the fields of §6.3: nothing, its time, or its time and a number [8]. */
  readonly printFields: 'documented' | 'ts' | 'id and ts';
  /** A `sub` of what is subscribed already: nothing, or the state of now once more [8]. */
  readonly repeatedSub: 'ignored' | 'answered';
  /** Whether history replies echo `cb_id` (§6.3). */
  readonly echoCallbackId: boolean;
  /** Keys of a pushed frame: those of §6.3, or the live envelope with `event_rep`, `data`, `status` and whole seconds in `ts`. */
  readonly envelope: 'plain' | 'full';
  /** Most levels a side in a pushed book; §6.2 says 30. */
  readonly socketLevels: number;
  readonly bidsKey: 'buys' | 'bids';
  /** Whether `sub` is answered; current venues stay silent. */
  readonly acknowledge: boolean;
  /** A channel that there is not: passed over, or answered with `status: "error"` and `err_msg`. */
  readonly socketErrors: 'silent' | 'answered';
  /** Whether the socket opens with a frame that says it is ready. */
  readonly greeting: boolean;
  /** Frames as gzip in binary (§6.1) or as plain text. */
  readonly frames: 'gzip' | 'text';
  readonly ping: 'seconds' | 'ms' | 'never';
  /** Pings from the start (§6.1), or once something is subscribed. */
  readonly pingFrom: 'opening' | 'subscription';
  /** What is no message, and a client's own ping: passed over, or the end of the socket. */
  readonly strangeMessage: 'ignored' | 'closes';
  /** The first book after a subscription: that of now, or one that is seconds old. */
  readonly firstDepth: 'fresh' | 'stale';
  /** After so many real ms a socket stays open and sends nothing more; 0 means never. */
  readonly stallAfterMs: number;
}

export type Profile = 'documented' | 'observed';

const documented: Habits = {
  errorStatus: 'http4xx',
  errorCode: 'number',
  errorCodes: 'documented',
  messages: 'english',
  replies: 'bare',
  refusalExtras: 'none',
  emptyLists: 'empty',
  symbolCase: 'any',
  signedPath: 'whole',
  lostCreateEvery: 0,
  aheadMs: 1_000,
  windowName: 'any',
  createStatus: 'NEW',
  cancel: 'at once',
  states: 'five',
  lists: 'bare',
  orderId: 'number',
  orderIdString: true,
  clientId: 'echoed',
  openOrdersClientId: false,
  queryNeedsOrderId: true,
  fromIdInclusive: true,
  batchFailure: 'skip',
  batchCancelIds: 'number',
  marginCancel: 'short',
  marginOpenOrdersWeight: 1,
  amounts: 'text',
  timeField: 'serverTime',
  depthLevels: 'pairs',
  rose: 'ratio',
  depthTime: 'ms',
  publicTrades: 'wrapped',
  minima: 'shown',
  klineOrder: 'newest first',
  klineIndex: 'ms',
  accountUid: false,
  socketSide: 'lower',
  printFields: 'documented',
  repeatedSub: 'ignored',
  echoCallbackId: true,
  envelope: 'plain',
  socketLevels: 30,
  bidsKey: 'buys',
  acknowledge: false,
  socketErrors: 'silent',
  greeting: false,
  frames: 'gzip',
  ping: 'seconds',
  pingFrom: 'opening',
  strangeMessage: 'ignored',
  firstDepth: 'fresh',
  stallAfterMs: 0,
};

const observed: Habits = {
  ...documented,
  errorStatus: 'http200',
  errorCode: 'text',
  cancel: 'later',
  states: 'many',
  lists: 'wrapped',
  openOrdersClientId: true,
  accountUid: true,
  socketSide: 'upper',
  printFields: 'ts',
  echoCallbackId: false,
  envelope: 'full',
  socketLevels: 50,
  pingFrom: 'subscription',
};

/** The positions of every switch that are worth trying alone; of those with numbers, a few. */
export const habitPositions: { readonly [K in keyof Habits]: readonly Habits[K][] } = {
  errorStatus: ['http4xx', 'http200'],
  errorCode: ['number', 'text'],
  errorCodes: ['documented', 'engine'],
  messages: ['english', 'chinese'],
  replies: ['bare', 'enveloped'],
  refusalExtras: ['none', 'succ'],
  emptyLists: ['empty', 'null', 'bare null'],
  symbolCase: ['any', 'upper'],
  signedPath: ['whole', 'stripped'],
  lostCreateEvery: [0, 3],
  aheadMs: [1_000, 3_000],
  windowName: ['any', 'recvwindow', 'recvwindow or refused'],
  createStatus: ['NEW', 0],
  cancel: ['at once', 'later'],
  states: ['five', 'many', 'numbers'],
  lists: ['bare', 'wrapped'],
  orderId: ['number', 'text', 'list'],
  orderIdString: [true, false],
  clientId: ['echoed', 'null'],
  openOrdersClientId: [false, true],
  queryNeedsOrderId: [true, false],
  fromIdInclusive: [true, false],
  batchFailure: ['skip', 'refuse', 'stop'],
  batchCancelIds: ['number', 'text'],
  marginCancel: ['short', 'order'],
  marginOpenOrdersWeight: [1, 5],
  amounts: ['text', 'number', 'scientific', 'mixed'],
  timeField: ['serverTime', 'server_time'],
  depthLevels: ['pairs', 'triples'],
  rose: ['ratio', 'percent'],
  depthTime: ['ms', 'null'],
  publicTrades: ['wrapped', 'bare'],
  minima: ['shown', 'zero', 'absent'],
  klineOrder: ['newest first', 'oldest first'],
  klineIndex: ['ms', 'seconds'],
  accountUid: [false, true],
  socketSide: ['lower', 'upper'],
  printFields: ['documented', 'ts', 'id and ts'],
  repeatedSub: ['ignored', 'answered'],
  echoCallbackId: [true, false],
  envelope: ['plain', 'full'],
  socketLevels: [30, 50],
  bidsKey: ['buys', 'bids'],
  acknowledge: [false, true],
  socketErrors: ['silent', 'answered'],
  greeting: [false, true],
  frames: ['gzip', 'text'],
  ping: ['seconds', 'ms', 'never'],
  pingFrom: ['opening', 'subscription'],
  strangeMessage: ['ignored', 'closes'],
  firstDepth: ['fresh', 'stale'],
  stallAfterMs: [0, 60_000],
};

const profiles: ReadonlyMap<string, Habits> = new Map([
  ['documented', documented],
  ['observed', observed],
] satisfies [Profile, Habits][]);

/** The habits of a profile, with single switches turned by hand; refuses names and positions that there are not. */
export function habitsOf(profile: string, switches: Partial<Habits> = {}): Habits {
  const habits = profiles.get(profile);
  if (habits === undefined)
    throw new Refusal(`there is no profile ${profile}; there are ${[...profiles.keys()].join(', ')}`);
  for (const [name, position] of Object.entries(switches)) checkPosition(name, position);
  return { ...habits, ...switches };
}

function checkPosition(name: string, position: unknown): void {
  const known = new Map<string, readonly unknown[]>(Object.entries(habitPositions)).get(name);
  if (known === undefined)
    throw new Refusal(`there is no habit ${name}; there are ${Object.keys(habitPositions).join(', ')}`);
  const open = known.every((one) => typeof one === 'number') && !(name === 'marginOpenOrdersWeight');
  if (open ? Number.isSafeInteger(position) && Number(position) >= 0 : known.includes(position)) return;
  const may = open ? 'a whole number' : known.map((one) => JSON.stringify(one)).join(' or ');
  throw new Refusal(`the habit ${name} must be ${may}, not ${JSON.stringify(position)}`);
}
