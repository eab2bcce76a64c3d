/**
 * The quirks in which deployments of the interface differ. `documented` follows the specification exactly, `observed` follows live venues.
 * Sections (§) are those of the specification.
 */
import { Refusal } from '../../domain/refusal.ts';

/**
 * The positions of every quirk that are worth testing, the documented one first. Where all are numbers, any whole number is allowed
 * (except `marginOpenOrdersWeight`).
 */
export const quirkPositions = {
  /** HTTP status of a refused request: 4XX as §7 says, or 200 as every recorded venue does [4]. */
  errorStatus: ['http4xx', 'http200'],
  /** Error codes as integers (§7) or as strings [4]. */
  errorCode: ['number', 'text'],
  /** Codes for precision, minimums and funds: documented, or internal ones of the matching engine [4]. */
  errorCodes: ['documented', 'engine'],
  /** Language of `msg` [4]. */
  messages: ['english', 'chinese'],
  /** Replies as the specification shows them, or inside `{code: "0", msg, data}` [4, 15]. */
  replies: ['bare', 'enveloped'],
  /** Further fields of a refusal: none, or `succ: false` and `msgData` [4]. */
  refusalExtras: ['none', 'succ'],
  /** A list without rows: empty, `data: null` inside `{code: "0", msg, data}`, or null as the whole body [5]. */
  emptyLists: ['empty', 'null', 'bare null'],
  /** Symbols in a request: any case, or only upper case [2]. */
  symbolCase: ['any', 'upper'],
  /** What is signed: the whole path (§5.2), or the path without `/sapi`, which a gateway strips [6]. */
  signedPath: ['whole', 'stripped'],
  /** One in this many accepted creates answers 504 although the order exists (§7); 0 means never. */
  lostCreateEvery: [0, 3],
  /** How far ahead of the exchange a timestamp may be, real ms (§5.3: 1000) [7]. */
  aheadMs: [1_000, 3_000],
  /** Accepted names of the time window, of which §5.3 shows three: all, or only `recvwindow`; others are ignored or refused [7]. */
  windowName: ['any', 'recvwindow', 'recvwindow or refused'],
  /** `status` of a create reply: the word, or the number 0 of §3.1 [5]. */
  createStatus: ['NEW', 0],
  /** A cancel ends the order before the answer, or answers PENDING_CANCEL and ends it later, with fills in between [10]. */
  cancel: ['at once', 'later'],
  /** Order states in a query: the five of §3.1, the many spellings of live venues, or the older integers [5]. */
  states: ['five', 'many', 'numbers'],
  /** Lists of orders and own trades as bare arrays or as `{list: […]}` [5, 11]. */
  lists: ['bare', 'wrapped'],
  /** `orderId` where §2.2 says long: a number, text, or a list with one number [5]. */
  orderId: ['number', 'text', 'list'],
  /** Whether `orderIdString` is there [5]. */
  orderIdString: [true, false],
  /** `clientOrderId` of an order that has one: as sent, or null [5]. */
  clientId: ['echoed', 'null'],
  /** Whether lists of open orders show the client id; §4.2 and §4.4 name the fields without it. */
  openOrdersClientId: [false, true],
  /** Whether the order query needs `orderId` (§4.2), or finds the newest order of a client id too [5]. */
  queryNeedsOrderId: [true, false],
  /** Whether `fromId` of myTrades names the first trade of the page or the one before it [11]. */
  fromIdInclusive: [true, false],
  /** A batch with an invalid order (not specified [10]): omit its id, refuse the whole batch, or stop there with an error. */
  batchFailure: ['skip', 'refuse', 'stop'],
  /** Ids in the reply to a batch cancel [10]. */
  batchCancelIds: ['number', 'text'],
  /** The reply to a margin cancel, of which §4.4 shows two. */
  marginCancel: ['short', 'order'],
  /** Weight of margin open orders, for which §4.4 states two. */
  marginOpenOrdersWeight: [1, 5],
  /**
   * Amounts in balances, orders, own trades and depth: text, numbers, numbers with exponents where they are small [15], or
   * within one object numbers where they are whole and text where they are not [3].
   */
  amounts: ['text', 'number', 'scientific', 'mixed'],
  /** Name of the exchange's time in the reply of `/time` [3]. */
  timeField: ['serverTime', 'server_time'],
  /** Levels of depth over REST: price and quantity, or also the cumulative quantity [3]. */
  depthLevels: ['pairs', 'triples'],
  /** The day's change in a ticker: a fraction, or percent [3]. */
  rose: ['ratio', 'percent'],
  /** `time` of a depth reply [3]. */
  depthTime: ['ms', 'null'],
  /** Public trades as `{list: […]}` (§4.1) or bare [3]. */
  publicTrades: ['wrapped', 'bare'],
  /** Minima of a symbol: beside the documented fields, as zeros, or absent [3]. */
  minima: ['shown', 'zero', 'absent'],
  klineOrder: ['newest first', 'oldest first'],
  /** `idx` of a kline [1]. */
  klineIndex: ['ms', 'seconds'],
  /** Whether the account shows a `uid` [15]. */
  accountUid: [false, true],
  /** Side words. */
  socketSide: ['lower', 'upper'],
  /** Further fields of a pushed trade beside §6.3: none, its time, or its time and an id [8]. */
  printFields: ['documented', 'ts', 'id and ts'],
  /** A repeated `sub`: ignored, or answered with the current state [8]. */
  repeatedSub: ['ignored', 'answered'],
  /** Whether history replies echo `cb_id` (§6.3). */
  echoCallbackId: [true, false],
  /** Keys of a pushed frame: those of §6.3, or the live envelope with `event_rep`, `data`, `status` and whole seconds in `ts`. */
  envelope: ['plain', 'full'],
  /** Maximum levels a side in pushed depth; §6.2 says 30. */
  socketLevels: [30, 50],
  bidsKey: ['buys', 'bids'],
  /** Whether `sub` is answered; current venues do not. */
  acknowledge: [false, true],
  /** An unknown channel: ignored, or answered with `status: "error"` and `err_msg`. */
  socketErrors: ['silent', 'answered'],
  /** Whether the socket opens with a frame that says it is ready. */
  greeting: [false, true],
  /** Frames as gzip in binary (§6.1) or as plain text. */
  frames: ['gzip', 'text'],
  ping: ['seconds', 'ms', 'never'],
  /** Pings begin when the socket opens (§6.1), or with the first subscription. */
  pingFrom: ['opening', 'subscription'],
  /** Malformed messages and a client's own ping: ignored, or the socket is closed. */
  strangeMessage: ['ignored', 'closes'],
  /** The first depth after a subscription: current, or seconds old. */
  firstDepth: ['fresh', 'stale'],
  /** Real ms after which a socket stays open but sends nothing more; 0 means never. */
  stallAfterMs: [0, 60_000],
} as const;

type Positions = typeof quirkPositions;
export type Quirks = {
  readonly [K in keyof Positions]: Positions[K][number] extends number ? number : Positions[K][number];
};
export type Profile = 'documented' | 'observed';

const observed: Partial<Quirks> = {
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

/** The quirks of a profile, with single switches set by hand; refuses unknown names and positions. */
export function quirksOf(profile: string, switches: Partial<Quirks> = {}): Quirks {
  if (profile !== 'documented' && profile !== 'observed')
    throw new Refusal(`there is no profile ${profile}; there are documented, observed`);
  for (const [name, position] of Object.entries(switches)) checkPosition(name, position);
  const documented = Object.entries(quirkPositions).map(([name, [first]]) => [name, first]);
  return { ...(Object.fromEntries(documented) as Quirks), ...(profile === 'observed' && observed), ...switches };
}

function checkPosition(name: string, position: unknown): void {
  const known = new Map<string, readonly unknown[]>(Object.entries(quirkPositions)).get(name);
  if (known === undefined)
    throw new Refusal(`there is no quirk ${name}; there are ${Object.keys(quirkPositions).join(', ')}`);
  const open = known.every((one) => typeof one === 'number') && !(name === 'marginOpenOrdersWeight');
  if (open ? Number.isSafeInteger(position) && Number(position) >= 0 : known.includes(position)) return;
  const may = open ? 'a whole number' : known.map((one) => JSON.stringify(one)).join(' or ');
  throw new Refusal(`the quirk ${name} must be ${may}, not ${JSON.stringify(position)}`);
}
