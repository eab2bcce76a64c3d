/**
 * The slow reference of a strategy of several markets, written from docs/reference/strategies.md and decisions 19, 26 and 27. Each market goes
 * through the steps of one market (`steps.ts`); here is what they do together: moments, what they are asked, legs, and their one pot of money.
 */
import { begun, equityAt, free, isFlat, type Order, openOrders, type PlannedOrder, type State } from './account.ts';
import { Alone, type AlonePolicy } from './alone.ts';
import { closeAtEnd, type Now, now } from './exchange.ts';
import { endPause, expires } from './exits.ts';
import { payInterest } from './margin.ts';
import {
  cancelOthers,
  create,
  isBeyondLeverage,
  type Moment,
  making,
  plannedOrders,
  shareWorth,
  unlocked,
} from './plan.ts';
import { payFlows } from './reference.ts';
import { cancelExpired, closes, enterAgain, fillAtClose, hear, leaveInTime, leaveRuined, opens } from './steps.ts';
import type { Answer, Instrument, Kline, Question, Signal, Target } from './types.ts';

/** A market of a strategy, by its role or, in a list, its symbol. */
export interface MarketGiven {
  readonly role: string;
  readonly klines: readonly Kline[];
  readonly intervalMs: number;
  readonly instrument: Instrument;
}

/** A market at a moment: its klines that have closed, oldest first, of which the last counts. */
export interface MarketSeen {
  readonly role: string;
  readonly klines: readonly Kline[];
  readonly held: number;
}

/** What is wanted from a moment on, by role; a role that is left out keeps its signal. */
export interface RolesStrategy {
  readonly kind: 'roles';
  /** Asked also while klines are missing, or too few of them are there. */
  readonly allowMissing: boolean;
  /** How many klines its indicators need. */
  readonly warmup: number;
  decide(time: number, markets: readonly MarketSeen[], equity: number): Readonly<Record<string, Signal>>;
}

/** Shares of the equity by symbol, and how far a position may be off its share. */
export interface ListStrategy {
  readonly kind: 'list';
  readonly warmup: number;
  /** Whether a time of its schedule lies after the moment before, if there was one, and not after this one. */
  isDue(before: number | undefined, time: number): boolean;
  choose(
    time: number,
    markets: readonly MarketSeen[],
  ): {
    readonly weights: Readonly<Record<string, number>>;
    readonly threshold: number;
    /** Beside the size, by symbol. */
    readonly exits?: Readonly<Record<string, Partial<Target>>>;
  };
}

export type SeveralQuestion = Pick<Question, 'rules' | 'fees' | 'cash' | 'cashFlows' | 'margin' | 'maxPosition'> & {
  readonly markets: readonly MarketGiven[];
  readonly strategy: RolesStrategy | ListStrategy;
  /** What is done about a leg that is open alone; nothing if left out. */
  readonly alone?: AlonePolicy;
};

/** Of each market by role. */
export type SeveralAnswer = Readonly<Record<string, Answer>>;

interface Market {
  readonly given: MarketGiven;
  readonly state: State;
  /** The row that opened last. */
  row: number;
  /** Its kline, from its open to its close. */
  at: Now | undefined;
  /** Its place among the legs: that of its first signal. */
  leg: number | undefined;
  /** What the strategy said last. */
  said: Signal | undefined;
}

interface Run {
  readonly question: SeveralQuestion;
  readonly markets: readonly Market[];
  time: number;
  /** The moment before. */
  before: number | undefined;
  /** A purchase waits for what a sale brings. */
  isWaiting: boolean;
  readonly alone: Alone | undefined;
  /** What is left to pay. */
  flows: NonNullable<SeveralQuestion['cashFlows']>;
}

const closeOf = ({ given: { klines, intervalMs } }: Market, row: number): number =>
  (klines[row]?.time ?? Number.NaN) + intervalMs;

export const several = (question: SeveralQuestion): Readonly<Record<string, State>> =>
  severalTogether([question])[0] as Readonly<Record<string, State>>;

/** Strategies of one account on the same markets, in their order; each has money of its own. */
export function severalTogether(questions: readonly SeveralQuestion[]): readonly Readonly<Record<string, State>>[] {
  const account: State[] = [];
  const runs = questions.map((question) => begunRun(question, account));
  const [first] = runs as [Run];
  // Of each market what every strategy has of it.
  const books = first.markets.map((_, index) => runs.map(({ markets }) => markets[index] as Market));
  for (const time of timesOf(first.question)) {
    for (const run of runs) run.time = time;
    const closing = books.filter(([market]) => market?.at !== undefined && closeOf(market, market.row) === time);
    if (closing.length > 0) closeAll(runs, closing, time);
    for (const market of closing.flat()) market.at = undefined;
    openAll(runs, books, time);
  }
  if (first.question.rules.closeAtEnd)
    for (const {
      state,
      given: { klines },
    } of books.flat()) {
      const last = klines.at(-1);
      if (last !== undefined) closeAtEnd(state, now(state, klines.length - 1, last));
    }
  return runs.map(({ markets }) => Object.fromEntries(markets.map(({ given, state }) => [given.role, state])));
}

function begunRun(question: SeveralQuestion, account: State[]): Run {
  const pool: State[] = [];
  const { rules, fees, margin, maxPosition } = question;
  const limits = { ...(margin && { margin }), ...(maxPosition !== undefined && { maxPosition }) };
  const markets = question.markets.map((given, index): Market => {
    const { klines, intervalMs, instrument } = given;
    const strategy = { kind: 'script', signal: () => undefined } as const;
    // The money is that of all, whichever of them has it.
    const cash = index === 0 ? question.cash : '0';
    const own: Question = { klines, intervalMs, instrument, strategy, rules, fees, cash, ...limits };
    return { given, state: begun(own, pool, account), row: -1, at: undefined, leg: undefined, said: undefined };
  });
  const states = markets.map(({ state }) => state);
  const alone = question.alone === undefined ? undefined : new Alone(question.alone, states);
  for (const state of states) state.filled = (time) => alone?.see(time);
  const flows = question.cashFlows ?? [];
  return { question, markets, time: Number.NaN, before: undefined, isWaiting: false, alone, flows };
}

/** A market, as each strategy has it; its kline is the same for all. */
type Book = readonly Market[];
const statesOf = (book: Book): readonly State[] => book.map(({ state }) => state);
const kline = ([market]: Book): Now => market?.at as Now;

/** All that happens at a moment at which klines close, before others open. */
function closeAll(runs: readonly Run[], closing: readonly Book[], time: number): void {
  for (const book of closing) {
    closes(statesOf(book), kline(book));
    leaveAllRuined(runs);
  }
  for (const { state, at } of closing.flat()) state.last = (at as Now).close;
  for (const { state, given, row } of closing.flat()) payInterest(state, time, given.klines[row] as Kline);
  for (const run of runs) run.flows = payFlows((run.markets[0] as Market).state, run.flows, time);
  for (const book of closing)
    for (const [index, market] of book.entries()) {
      leaveInTime(market.state, momentOf(runs[index] as Run, market));
      endPause(market.state, time);
    }
  const expire = (run: Run): void => {
    for (const market of run.markets)
      if (closing.some((book) => book.includes(market))) cancelExpired(market.state, momentOf(run, market));
  };
  for (const run of runs) {
    ask(run);
    if (runs.length > 1) expire(run);
  }
  for (const run of runs) lookAtAlone(run);
  for (const run of runs) expire(run);
  fillAtCloses(runs, closing);
  for (const run of runs) run.before = time;
}

/** All times at which a kline opens or closes. */
const timesOf = ({ markets }: SeveralQuestion): readonly number[] =>
  [
    ...new Set(markets.flatMap(({ klines, intervalMs }) => klines.flatMap(({ time }) => [time, time + intervalMs]))),
  ].sort((a, b) => a - b);

/** What is ordered now arrives with the next kline that opens, also with one that opens at this very time. */
function momentOf({ time }: Run, { given, state, row }: Market): Moment {
  const opensNow = given.klines[row]?.time === time;
  return { row: opensNow ? row - 1 : row, time, close: state.last };
}

/** All klines that open now; then purchases that waited for sales at these opens. */
function openAll(runs: readonly Run[], books: readonly Book[], time: number): void {
  const opening = books.filter(([market]) => market?.given.klines[market.row + 1]?.time === time);
  for (const book of opening) {
    const [first] = book as [Market];
    const row = first.row + 1;
    // What is left of its volume goes through all that happens in it.
    const at = now(first.state, row, first.given.klines[row] as Kline);
    for (const market of book) Object.assign(market, { row, at });
    opens(statesOf(book), at);
    leaveAllRuined(runs);
  }
  // What has to be left, too, is left at the same open.
  for (const { state, at } of opening.flat()) if (state.liquidating) opens([state], at as Now);
  for (const run of runs)
    if (run.question.rules.marketAt === 'open' && run.isWaiting) {
      carryOut(run, true);
      for (const book of opening) opens(statesOf(book), kline(book));
    }
  // A kline that is still open counts with its open.
  for (const { state, at } of opening.flat()) state.last = (at as Now).open;
}

/** The positions of strategies of which the exchange left one. */
function leaveAllRuined(runs: readonly Run[]): void {
  for (const run of runs)
    for (const market of run.markets) {
      const { state } = market;
      if (state.ruinedAt !== undefined) leaveRuined(state, { ...momentOf(run, market), time: state.ruinedAt });
    }
}

/** By rules that fill at closes the same happens there. */
function fillAtCloses(runs: readonly Run[], closing: readonly Book[]): void {
  const [first] = runs as [Run];
  if (first.question.rules.marketAt === 'open') return;
  const fillEach = (): void => {
    for (const book of closing) fillAtClose(statesOf(book), kline(book), momentOf(first, book[0] as Market));
  };
  fillEach();
  for (const run of runs) {
    if (!run.isWaiting) continue;
    carryOut(run, true);
    fillEach();
  }
}

/** A kline counts until the next one is due. */
function seen({ time }: Run, { given, state }: Market, warmup: number): MarketSeen | undefined {
  const { role, klines, intervalMs } = given;
  const closed = klines.filter((kline) => kline.time + intervalMs <= time);
  const last = closed.at(-1);
  if (last === undefined || time >= last.time + 2 * intervalMs || closed.length < warmup) return undefined;
  // What is too small to be ordered away counts as nothing.
  return { role, klines: closed, held: isFlat(state) ? 0 : state.base.toNumber() };
}

/** The strategy is asked, if it may be, and what its signals lack is carried out. */
function ask(run: Run): void {
  const { question, markets, time, before } = run;
  const { strategy } = question;
  const there = markets.flatMap((market) => seen(run, market, strategy.warmup) ?? []);
  const [first] = markets;
  const equity = first === undefined ? 0 : equityAt(first.state).toNumber();
  if (strategy.kind === 'list') {
    if (strategy.isDue(before, time) && there.length > 0) hearWeights(run, there, strategy.choose(time, there), equity);
  } else if (strategy.allowMissing || there.length === markets.length) {
    const signals = strategy.decide(time, there, equity);
    for (const [role, signal] of Object.entries(signals)) hearLeg(run, role, signal);
  }
  hearAll(run);
  run.alone?.see(time);
  for (const market of markets) {
    enterAgain(market.state, momentOf(run, market));
    expires(market.state, time);
  }
  carryOut(run, false);
}

function hearLeg(run: Run, role: string, signal: Signal): void {
  const market = run.markets.find(({ given }) => given.role === role) as Market;
  market.leg ??= 1 + Math.max(0, ...run.markets.map(({ leg }) => leg ?? 0));
  market.said = signal;
}

/** What was said last counts: a leg that was completed gets its limit back. */
function hearAll(run: Run): void {
  for (const market of legsOf(run)) {
    const said = market.said as Signal;
    hear(market.state, run.alone?.asked(market.state, said) ?? said, momentOf(run, market));
  }
}

/** Those that have a signal, in the order in which they got their first. */
const legsOf = ({ markets }: Run): Market[] =>
  markets.filter(({ leg }) => leg !== undefined).sort((a, b) => (a.leg ?? 0) - (b.leg ?? 0));

/** What is done about legs that are open alone, after everything else of a moment. */
function lookAtAlone(run: Run): void {
  const concerned = run.alone?.look(run.time) ?? [];
  if (concerned.length === 0) return;
  for (const market of run.markets) {
    const { state } = market;
    if (!concerned.includes(state) || state.standing === undefined) continue;
    hear(state, run.alone?.asked(state, state.standing) ?? state.standing, momentOf(run, market));
  }
  run.alone?.see(run.time);
  carryOut(run, false, concerned);
}

/** A weight is an amount of quote; what is near enough to its weight is held as it is. */
function hearWeights(
  run: Run,
  there: readonly MarketSeen[],
  { weights, threshold, exits }: ReturnType<ListStrategy['choose']>,
  equity: number,
): void {
  for (const { role, klines, held } of there) {
    const weight = weights[role] ?? 0;
    const close = (klines.at(-1) as Kline).close;
    if (weight === 0) hearLeg(run, role, { quantity: '0' });
    else if (held === 0 || Math.abs(weight - (held * close) / equity) >= threshold)
      hearLeg(run, role, { ...exits?.[role], amount: String(weight * equity) });
    else hearLeg(run, role, { ...exits?.[role], quantity: String(held) });
  }
}

/**
 * What the signals lack: what leaves a position first, then what enters one, as long as the free money is enough or nothing is being left X
 */
function carryOut(run: Run, again: boolean, only?: readonly State[]): void {
  // A single leg does not ask what waits for others.
  if (only?.length !== 1) run.isWaiting = false;
  const legs = only === undefined ? legsOf(run) : run.markets.filter(({ state }) => only.includes(state));
  const entries: { readonly market: Market; readonly planned: PlannedOrder }[] = [];
  for (const market of legs) {
    const { state } = market;
    const signal = state.standing as Signal;
    const moment = momentOf(run, market);
    if (again && !plannedOrders(state, signal, moment.close).some(({ purpose }) => isOf(purpose))) continue;
    for (const planned of cancelOthers(state, signal, moment, false).flatMap((one) =>
      making(state, signal, one, moment.close),
    )) {
      if (planned.purpose === 'enter') entries.push({ market, planned });
      else create(state, signal, planned, moment);
    }
  }
  const isLeaving = legs.some(({ state }) => openOrders(state).some(isLeavingBy));
  for (const { market, planned } of entries) {
    if (isLeaving && !canPay(market.state, market.state.standing as Signal, planned)) run.isWaiting = true;
    else create(market.state, market.state.standing as Signal, planned, momentOf(run, market));
  }
}

/** It enters or leaves. */
const isOf = (purpose: PlannedOrder['purpose']): boolean => ['enter', 'exit', 'stop'].includes(purpose);

const isLeavingBy = ({ row: { purpose }, cancelsAt }: Order): boolean =>
  purpose === 'exit' || purpose === 'stop' || cancelsAt !== undefined;

/** Whether an entry is within what is free at the last prices. */
function canPay(state: State, signal: Signal, planned: PlannedOrder): boolean {
  const { quantity, price } = planned;
  if (state.question.margin !== undefined) return !isBeyondLeverage(state, planned, state.last);
  const worth = shareWorth(state, signal, planned, state.last) ?? (price ?? state.last).times(quantity);
  return worth.lte(free(state, 'BUY').minus(unlocked(state)));
}
