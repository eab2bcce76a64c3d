/** A backtest through the live graph itself: `trade()` with a simulated clock, a recorded feed and the fill engine as the venue. */
import { EMPTY } from 'rxjs';
import { SimClock } from '../../clock/sim-clock.ts';
import type { Interval } from '../../domain/interval.ts';
import { type Kline, mapColumns } from '../../domain/market.ts';
import { plus } from '../../domain/money.ts';
import type { Fill, Signal } from '../../domain/order.ts';
import { memoryJournal } from '../../journal/memory.ts';
import { saidBy } from '../../strategy/fault.ts';
import { type Inputs, signalsOf } from '../../strategy/host.ts';
import { trade } from '../../trader.ts';
import { source } from '../../trading/hot-streams.ts';
import { PendingTakeProfits } from '../../trading/pending-take-profits.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import { type PaperMarket, PaperOnKlines } from '../../venue/paper/on-klines.ts';
import { RecordedFeed, type RecordedSeries } from '../../venue/recorded/recorded.ts';
import { paced } from '../pace.ts';
import { bandOf } from '../result/band.ts';
import { killsOf, openingBalances, type RunInput, type RunResult, type RunSeries } from '../run.ts';
import { type CashFlows, flowsOn } from './cash-flows.ts';
import { closedAtEnd } from './end-close.ts';
import { close, decidedPhase, isActive, leaveOverdue, openPhase, restPhases, watchLoss } from './kline-phases.ts';
import { heardKlines } from './larger-klines.ts';
import { marginOn } from './margin.ts';
import { marketsOf } from './markets.ts';
import { absent } from './missing-data.ts';
import { deskOf, isResult, looksOnNews } from './recorded-trader.ts';
import { withRequests } from './requests.ts';
import { type LateStage, placeLate } from './take-profit-check.ts';

interface Walk {
  readonly market: PaperMarket;
  readonly recorded: RecordedSeries;
  readonly symbol: string;
  readonly interval: Interval;
  /** When the kline that closes next opened, UTC ms, once it has; only where there are several series. */
  openedAt: number | undefined;
  /** Its strategies of a larger interval. */
  readonly larger: readonly NamedHosted[];
}

interface Graph extends LateStage {
  readonly walks: readonly Walk[];
  readonly flows: CashFlows;
  /** What strategies threw. */
  readonly faults: unknown[];
  /** Streams that are not there and that strategies listen to. */
  readonly missed: unknown[];
}

/** With `misses` a strategy may listen to what is not recorded, and hears nothing. */
export async function runStream(input: RunInput, misses = false): Promise<RunResult> {
  const clock = new SimClock(Math.min(...input.series.map((one) => one.columns.openTime[one.first] ?? 0)));
  const book = memoryJournal(isResult);
  const fills: Fill[] = [];
  const band = bandOf(input);
  const looks = looksOnNews(clock, () => assembled);
  const venue = new PaperOnKlines({
    // There is nothing to poll: the venue says itself when something happened.
    changed: looks.heard,
    clock,
    instruments: input.instruments,
    rules: input.rules,
    fees: input.fees,
    balances: openingBalances(input),
    ...marketsOf(input),
    mayOwe: input.margin !== undefined,
    listener: band.listener,
  });
  const assembled = deskOf(input, clock, book, venue.orders, 1);
  const feed = new RecordedFeed(input.series.map(upToEnd));
  const flows = flowsOn(input, assembled, venue, (entry) => book.append(entry));
  const margin = marginOn(input, clock, assembled, book, venue);
  const walks = input.series.map(({ symbol, interval }) => ({
    symbol,
    interval,
    market: venue.market(symbol),
    recorded: feed.series(symbol, interval),
    openedAt: undefined,
    larger: input.hosted.filter((one) => one.symbol === symbol && one.interval !== interval),
  }));
  const again = source<Signal>();
  const faults: unknown[] = [];
  const graph: Graph = {
    clock,
    assembled,
    rules: input.rules,
    again: (signal) => again.emit(signal),
    walks,
    flows,
    margin,
    faults,
    targets: new PendingTakeProfits(assembled),
    missed: misses ? [] : faults,
  };
  const signals = input.hosted.map((hosted) => signalsOf(hosted, inputsOf(hosted, feed, graph)));
  const desk = { ...assembled.desk, execute: looks.execute, cancel: looks.cancel };
  const trading = trade({ ...desk, signals: [...signals, again.stream] }).subscribe((fill) => fills.push(fill));
  const endedAt = await walkAll(graph, stepped(input));
  // What promises still have to say is heard, and told.
  if (input.hosted.some(({ strategy }) => 'signals' in strategy)) await clock.loop();
  trading.unsubscribe();
  if (graph.faults.length > 0) throw graph.faults[0];
  const result = withRequests(book, input, {
    fills,
    ...killsOf(assembled.risk),
    finalEquity: plus(assembled.portfolio.totalEquity(), flows.idle),
    ...(flows.done.length > 0 && { cashFlows: flows.done }),
    ...(margin !== undefined && { margin: margin.result() }),
    ...band.sums(),
    ambiguousKlines: walks.reduce((sum, { market }) => sum + market.ambiguousKlines, 0),
    journal: () => book.db,
    ...(endedAt === undefined ? {} : { endedAt }),
  });
  return closedAtEnd(input, result);
}

export const upToEnd = (series: RunSeries): RunSeries => ({
  ...series,
  columns: mapColumns(series.columns, (column) => column.subarray(0, series.end)),
});

function inputsOf(hosted: NamedHosted, feed: RecordedFeed, { assembled, clock, faults, missed, walks }: Graph): Inputs {
  const { symbol, interval, id } = hosted;
  const own = walks.find((walk) => walk.symbol === symbol)?.interval ?? interval;
  const recorded = feed.series(symbol, own);
  return {
    ...heardKlines(recorded.before(recorded.row), feed.klines(symbol, own), own, interval),
    trades: absent('trades', hosted, missed),
    depth: absent('depth', hosted, missed),
    ticker: absent('ticker', hosted, missed),
    gaps: feed.gaps,
    fills: hosted.strategy && 'signals' in hosted.strategy ? assembled.booked : EMPTY,
    atOnce: true,
    holding: assembled.portfolio.holding(id, symbol),
    now: () => clock.now(),
    failed: (error) => void faults.push(saidBy(error, { id, now: clock.now() })),
  };
}

/** A kline that closes, and the series it is of. */
interface Closing {
  readonly walk: Walk;
  readonly kline: Kline;
}

/** Tells of each kline; a promise now and then, of whether to end. */
const stepped = ({ pace, series }: RunInput): (() => Promise<boolean> | undefined) =>
  paced(
    pace,
    series.reduce((sum, { first, end }) => sum + end - first, 0),
  );

/** Moment after moment at which klines close; returns when the last one closed, where it was told to end before the last of all. */
async function walkAll(graph: Graph, tell: () => Promise<boolean> | undefined): Promise<number | undefined> {
  const { clock, walks } = graph;
  // Recovery has nothing to do, but strategies only listen once it is through.
  await clock.turn();
  const [only] = walks;
  if (walks.length === 1 && only !== undefined) {
    for (let kline = only.recorded.next(); kline !== undefined; kline = only.recorded.next()) {
      const work = step(graph, only, kline);
      if (work !== undefined) await work;
      const asked = tell();
      if (asked !== undefined && (await asked)) return kline.seenAt;
    }
    return undefined;
  }
  for (;;) {
    const next = walks.flatMap((walk): Closing[] => {
      const kline = walk.recorded.next();
      return kline === undefined ? [] : [{ walk, kline }];
    });
    if (next.length === 0) return undefined;
    const at = Math.min(...next.map(({ kline }) => kline.seenAt));
    await openAll(graph, next, at);
    const closing = next.filter(({ kline }) => kline.seenAt === at);
    await stepAll(graph, closing);
    for (const _ of closing) {
      const asked = tell();
      if (asked !== undefined && (await asked)) return at;
    }
  }
}

/** Those that open before the next close, UTC ms: a long kline beside short ones does so long before it is over. */
async function openAll(graph: Graph, next: readonly Closing[], closesAt: number): Promise<void> {
  const opening = next.filter(({ walk, kline }) => walk.openedAt !== kline.openTime && kline.openTime < closesAt);
  for (const { walk, kline } of opening.toSorted((a, b) => a.kline.openTime - b.kline.openTime)) {
    walk.openedAt = kline.openTime;
    // Limits on the equity must not go by a close that this open has overtaken.
    if (kline.seenAt > closesAt) graph.assembled.portfolio.mark(walk.symbol, kline.open, kline.openTime);
    if (isActive(graph, walk)) await openPhase(graph, walk, kline);
  }
}

/** All klines that close at one moment, phase by phase: what happened in any of them comes before anybody decides. */
async function stepAll(graph: Graph, closing: readonly Closing[]): Promise<void> {
  for (const { walk, kline } of closing) await restPhases(graph, walk, kline);
  for (const { walk, kline } of closing) close(graph, walk, kline);
  await wakened(graph, closing[0]?.kline.seenAt ?? 0);
  for (const { kline } of closing) graph.flows.carryOut(kline.seenAt);
  await watchLoss(graph);
  for (const { walk, kline } of closing) await leaveOverdue(graph, walk, kline);
  for (const { walk, kline } of closing) await push(graph, walk, kline);
  for (const { walk, kline } of closing) await decidedPhase(graph, walk, kline);
}

/** One kline; undefined when nothing asynchronous came of it. */
const step = (graph: Graph, walk: Walk, kline: Kline): Promise<void> | undefined =>
  isActive(graph, walk) ? fillAndShow(graph, walk, kline) : show(graph, walk, kline);

/** To wait for nothing costs as much as a phase. */
async function fillAndShow(graph: Graph, walk: Walk, kline: Kline): Promise<void> {
  const opening = openPhase(graph, walk, kline);
  if (opening !== undefined) await opening;
  const resting = restPhases(graph, walk, kline);
  if (resting !== undefined) await resting;
  const showing = show(graph, walk, kline);
  if (showing !== undefined) await showing;
}

/** The kline has closed: its price counts, the loss limit looks, strategies see it. */
function show(graph: Graph, walk: Walk, kline: Kline): Promise<void> | undefined {
  close(graph, walk, kline);
  const waking = wakened(graph, kline.seenAt);
  return waking === undefined ? seen(graph, walk, kline) : waking.then(() => seen(graph, walk, kline));
}

/** Whoever waits for a time within the kline looks at its close: a cancel that takes a kline to arrive, whether the order is over. */
const wakened = ({ clock }: Graph, at: number): Promise<void> | undefined =>
  clock.dueBy(at) ? clock.advanceTo(at) : undefined;

function seen(graph: Graph, walk: Walk, kline: Kline): Promise<void> | undefined {
  if (kline.seenAt >= graph.flows.nextAt) graph.flows.carryOut(kline.seenAt);
  const killing = watchLoss(graph);
  const leaving =
    killing === undefined ? leaveOverdue(graph, walk, kline) : killing.then(() => leaveOverdue(graph, walk, kline));
  const pushing = leaving === undefined ? push(graph, walk, kline) : leaving.then(() => push(graph, walk, kline));
  if (graph.rules.marketAt === 'open') return pushing;
  return pushing === undefined
    ? decidedPhase(graph, walk, kline)
    : pushing.then(() => decidedPhase(graph, walk, kline));
}

function push(graph: Graph, { recorded, larger }: Walk, kline: Kline): Promise<void> | undefined {
  recorded.push(kline);
  const hearing = graph.clock.busy ? graph.clock.settleSoon() : undefined;
  if (larger.length === 0) return hearing;
  return hearing === undefined ? placeLate(graph, larger) : hearing.then(() => placeLate(graph, larger));
}
