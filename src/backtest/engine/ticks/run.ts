/**
 * The backtest over recorded trades and depth, and klines where neither is stored, through the same streams as a live session:
 * events reach the exchange at their time and strategies `feedLatencyMs` later; requests travel; fills are found by asking every
 * `pollMs` while an order works.
 */
import { EMPTY, merge } from 'rxjs';
import { SimClock } from '../../../clock/sim-clock.ts';
import type { BookColumns, TradeColumns } from '../../../data/tape.ts';
import { closeTime } from '../../../domain/interval.ts';
import { type FeedGap, rowAt } from '../../../domain/market.ts';
import { plus } from '../../../domain/money.ts';
import { type Decision, decisionOf, type Fill } from '../../../domain/order.ts';
import { memoryJournal } from '../../../journal/memory.ts';
import { withStrategy } from '../../../strategy/fault.ts';
import { decisionsOf, type Inputs } from '../../../strategy/host.ts';
import { trade } from '../../../trader.ts';
import type { Assembled } from '../../../trading/assemble.ts';
import { depthPairs } from '../../../trading/depth-pairs.ts';
import { source } from '../../../trading/hot-streams.ts';
import { PendingTakeProfits } from '../../../trading/pending-take-profits.ts';
import { hitByBooks, hitByTrade } from '../../../trading/price-updates.ts';
import { withHolding } from '../../../trading/seen-holding.ts';
import type { NamedHosted } from '../../../trading/strategies.ts';
import { PaperOnTape } from '../../../venue/paper/on-tape.ts';
import { RecordedSeries } from '../../../venue/recorded/recorded.ts';
import { pacedByTime } from '../../progress.ts';
import { bandOf } from '../../result/ambiguity-band.ts';
import { EntryCounts } from '../../result/entries.ts';
import { killsOf, openingBalances, type RunInput, type RunResult, type RunSeries, spanOf, upToEnd } from '../../run.ts';
import { flowCursor, flowsOn } from '../cash-flows.ts';
import { closedAtEnd } from '../end-close.ts';
import { MarketsCursor } from '../klines/markets-cursor.ts';
import { strategyKlines } from '../larger-klines.ts';
import { type MarginAccounts, marginOn } from '../margin.ts';
import { marketsOf } from '../markets.ts';
import { strategyTape } from '../missing-data.ts';
import { deskOf, isResult, sweepsOnChange } from '../recorded-trader.ts';
import { withRequests } from '../requests.ts';
import { lookAfterFills } from '../take-profit-check.ts';
import { type Cursor, cursorOver, earliest, ranks } from './events.ts';
import { expiresInTime } from './expiry.ts';
import { closingKlines, openingKlines, type TapeLane, type TapeStage, watchLoss } from './klines.ts';
import { Poller } from './poll.ts';
import { PriceLines } from './price-lines.ts';
import { coverage, depthAt, sideOf, tradeAt, write } from './rows.ts';
import { aloneCursor, momentCursor, reopening } from './several-markets.ts';
import { type Passing, passingPrices, passingPrints } from './skip-trades.ts';
import { aMoment, lastLooks, maxSendDelayMs, restlessMs, retryMs } from './times.ts';

/** With `everyEvent` each is handed over by itself, also those that change nothing: slower, and the same rows. */
export const runTape = (input: RunInput, everyEvent = false): Promise<RunResult> =>
  new TapeRun(input, everyEvent).run().then((result) => closedAtEnd(input, result));

class TapeRun {
  readonly #input: RunInput;
  readonly #clock: SimClock;
  readonly #venue: PaperOnTape;
  readonly #assembled: Assembled;
  readonly #margin: MarginAccounts | undefined;
  readonly #stage: TapeStage;
  readonly #lanes: readonly TapeLane[];
  readonly #poller: Poller;
  readonly #faults: unknown[] = [];
  readonly #band: ReturnType<typeof bandOf>;
  readonly #book = memoryJournal(isResult);
  readonly #sweeping: ReturnType<typeof sweepsOnChange>;
  readonly #again = source<Decision>();
  readonly #several: readonly MarketsCursor[];
  readonly #reopening: ReturnType<typeof reopening>;
  readonly #lines: PriceLines;
  readonly #everyEvent: boolean;
  readonly #passing: Passing[] = [];
  readonly #others: Cursor[] = [];
  #retriedAt = Number.NEGATIVE_INFINITY;
  readonly #entries = new EntryCounts();
  /** Until then what was refused may be asked for again. */
  #restlessUntil = Number.NEGATIVE_INFINITY;
  /** Asynchronous work may have begun since it was last let settle. */
  #stirred = false;

  constructor(input: RunInput, everyEvent: boolean) {
    this.#input = input;
    this.#everyEvent = everyEvent;
    this.#clock = new SimClock(Math.min(...input.series.map((one) => one.columns.openTime[one.first] ?? 0)));
    this.#band = bandOf(input);
    this.#venue = new PaperOnTape({
      clock: this.#clock,
      instruments: input.instruments,
      rules: input.rules,
      fees: input.fees,
      balances: openingBalances(input),
      ...marketsOf(input),
      mayOwe: input.margin !== undefined,
      listener: this.#entries.listening(this.#band.listener),
      works: (symbol) => this.#poller.later(symbol),
    });
    this.#assembled = deskOf(input, this.#clock, this.#book, this.#venue.orders, maxSendDelayMs);
    this.#margin = marginOn(input, this.#clock, this.#assembled, (entry) => this.#book.append(entry), this.#venue);
    this.#assembled.booked.subscribe((fill) => this.#margin?.booked(fill));
    this.#stage = {
      clock: this.#clock,
      assembled: this.#assembled,
      rules: input.rules,
      again: (leg) => this.#again.emit(decisionOf(leg)),
      targets: new PendingTakeProfits(this.#assembled),
      hosted: input.hosted,
      margin: this.#margin,
    };
    lookAfterFills(this.#stage, (symbol) => this.#venue.market(symbol).byTape);
    this.#poller = new Poller(this.#clock, this.#venue, this.#assembled, input.rules);
    this.#sweeping = sweepsOnChange(this.#clock, () => this.#assembled);
    this.#venue.orders.news?.subscribe(this.#sweeping.changed);
    this.#lanes = input.series.map((series) => this.#lane(series));
    this.#several = input.hosted
      .filter(({ markets }) => markets !== undefined)
      .map((one) => new MarketsCursor(one, input.series, this.#assembled.portfolio, false));
    this.#reopening = reopening(this.#stage, this.#several, this.#lanes);
    this.#lines = new PriceLines(input, this.#clock, this.#assembled);
  }

  async run(): Promise<RunResult> {
    const input = this.#input;
    const fills: Fill[] = [];
    const decisions = input.hosted
      .filter(({ markets }) => markets === undefined)
      .map((hosted) => decisionsOf(hosted, this.#inputsOf(hosted)));
    const trading = trade({ ...this.#trader(), decisions: [...decisions, this.#again.stream] }).subscribe((fill) =>
      fills.push(fill),
    );
    await this.#clock.turn(); // Strategies only listen once recovery is through.
    const flows = flowsOn(input, this.#assembled, this.#venue, (entry) => this.#book.append(entry));
    const cursors = [
      ...this.#lanes.flatMap((lane) => this.#cursorsOf(lane)),
      flowCursor(flows, ranks.gap),
      ...this.#severalMarkets(),
    ];
    const passing = new Set<Cursor>(this.#passing.map(({ cursor }) => cursor));
    this.#others.push(...cursors.filter((cursor) => !passing.has(cursor)));
    const endedAt = await this.#walk(cursors);
    const legsAlone = this.#assembled.legsAlone.times(endedAt ?? spanOf(input.series).end);
    await this.#findLast();
    // Promises may still emit signals or throw.
    if (input.hosted.some(({ strategy }) => 'signals' in strategy)) await this.#clock.loop();
    trading.unsubscribe();
    if (this.#faults.length > 0) throw this.#faults[0];
    return withRequests(this.#book, input, {
      fills,
      entries: this.#entries.list(),
      ...killsOf(this.#assembled.risk),
      finalEquity: plus(this.#assembled.portfolio.totalEquity(), flows.idle),
      ...(flows.done.length > 0 && { cashFlows: flows.done }),
      ...(this.#margin !== undefined && { margin: this.#margin.result() }),
      legsAlone,
      ...this.#band.sums(),
      ambiguousKlines: this.#lanes.reduce((sum, { market }) => sum + market.klines.fills.ambiguousKlines, 0),
      requests: this.#venue.requests,
      journal: () => this.#book.db,
      ...(endedAt === undefined ? {} : { endedAt }),
    });
  }

  /** The trader, which also notes when orders may have changed. */
  #trader(): Assembled['trader'] {
    const { trader } = this.#assembled;
    const expires = expiresInTime(this.#stage, (symbol) => this.#venue.market(symbol).byTape);
    return {
      ...trader,
      execute: this.#sweeping.execute,
      note: (decision) => {
        this.#stirred = true;
        for (const leg of decision.legs) this.#entries.changed(leg);
        const isOpen = trader.note(decision);
        for (const leg of decision.legs) expires(leg);
        return isOpen;
      },
      judge: (draft) => {
        const verdict = trader.judge(draft);
        this.#entries.judged(draft, verdict);
        if (verdict.kind === 'denied') this.#restlessUntil = this.#clock.now() + restlessMs;
        return verdict;
      },
    };
  }

  #lane(series: RunSeries): TapeLane {
    const { symbol } = series;
    const tape = this.#input.tapes?.get(symbol);
    return {
      symbol,
      series,
      recorded: new RecordedSeries(upToEnd(series)),
      market: this.#venue.market(symbol),
      tape,
      covered: coverage(tape),
      pairOf: depthPairs(),
      trades: source(),
      depth: source(),
      gaps: source(),
    };
  }

  #inputsOf(hosted: NamedHosted): Inputs {
    const { symbol, interval, id, strategy } = hosted;
    const lane = this.#lanes.find((one) => one.symbol === symbol) as TapeLane;
    const { series, recorded, gaps } = lane;
    const own = strategyKlines(recorded.before(recorded.row), recorded.klines, series.interval, interval);
    return {
      ...withHolding(this.#assembled.portfolio, hosted, own),
      ...strategyTape(lane, hosted, this.#faults),
      gaps: merge(...this.#lanes.map((one) => one.recorded.gaps), gaps.stream),
      fills: 'signals' in strategy ? this.#assembled.booked : EMPTY,
      atOnce: true,
      now: () => this.#clock.now(),
      failed: (error) => void this.#faults.push(withStrategy(error, { id, now: this.#clock.now() })),
    };
  }

  /** Returns the time at which its pace ended it, if it did. */
  async #walk(cursors: readonly Cursor[]): Promise<number | undefined> {
    const clock = this.#clock;
    const tell = pacedByTime(this.#input.pace, spanOf(this.#input.series));
    for (let next = earliest(cursors); next !== undefined; next = earliest(cursors)) {
      const asked = tell(next.time);
      if (asked !== undefined && (await asked)) return clock.now();
      if (!this.#everyEvent && this.#pass(next)) continue;
      const { time, rank } = next;
      // What is due by now comes after the events of now, but before a kline opens, in which orders given at its open fill.
      const until = rank >= ranks.open ? time : time - aMoment;
      if (clock.dueBy(until)) {
        await clock.advanceTo(until);
        continue;
      }
      clock.skipTo(time);
      const work = next.fire();
      if (work !== undefined) await work;
      if (this.#stirred && clock.busy) await clock.settle();
      this.#stirred = false;
    }
    return undefined;
  }

  /** Passes over trades that change nothing until something else happens; true when there were any. */
  #pass({ rank }: Cursor): boolean {
    if (rank !== ranks.trade && rank !== ranks.seenTrade) return false;
    let until = this.#clock.nextDue;
    for (const cursor of this.#others) until = Math.min(until, cursor.time);
    for (const passing of this.#passing) until = passing.ends(until);
    let passed = false;
    for (const passing of this.#passing) {
      if (passing.cursor.time >= until) continue;
      passing.pass(until);
      passed = true;
    }
    return passed;
  }

  /** What strategies of several markets have beside their markets. */
  #severalMarkets(): readonly Cursor[] {
    if (this.#several.length === 0) return [];
    const emit = (decision: Decision): void => this.#again.emit(decision);
    return [
      ...this.#several.map((one) => momentCursor(one, this.#stage, this.#lanes, emit)),
      this.#reopening.cursor,
      aloneCursor(this.#assembled, spanOf(this.#input.series).end, emit),
    ];
  }

  /** What was granted before the last event is found, too. */
  async #findLast(): Promise<void> {
    const { pollMs, entryLatencyMs, responseLatencyMs } = this.#input.rules;
    const round = pollMs + 2 * (entryLatencyMs + responseLatencyMs) + retryMs;
    await this.#clock.advanceTo(this.#clock.now() + round * lastLooks);
  }

  #cursorsOf(lane: TapeLane): readonly Cursor[] {
    const { series, tape } = lane;
    const { openTime } = series.columns;
    const from = openTime[series.first] as number;
    const to = closeTime(series.interval, openTime[series.end - 1] as number);
    const feedMs = this.#input.rules.feedLatencyMs;
    const rows = (time: Float64Array) => ({ time, from: rowAt(time, from), to: rowAt(time, to + 1) });
    const stage = this.#stage;
    const closing = closingKlines(stage, lane);
    const { opened } = this.#reopening;
    const cursors = [closing, openingKlines(stage, lane, { asked: (symbol) => this.#poller.later(symbol), opened })];
    const { trades, books } = tape ?? {};
    if (trades !== undefined) {
      const at = rows(trades.time);
      const prints = cursorOver({ ...at, delayMs: 0, rank: ranks.trade }, (row) => this.#print(lane, trades, row));
      const prices = cursorOver({ ...at, delayMs: feedMs, rank: ranks.seenTrade }, (row) =>
        this.#seeTrade(lane, trades, row),
      );
      cursors.push(prints, prices);
      this.#passing.push(
        passingPrints(prints, trades, at.to, lane.market.tape, () => this.#margin?.held(lane.symbol)),
        passingPrices(
          prices,
          trades,
          { to: at.to, delayMs: feedMs },
          {
            line: () => (this.#clock.now() < this.#restlessUntil ? undefined : this.#lines.of(lane)),
            mark: (price, seenAt) => this.#assembled.portfolio.mark(lane.symbol, price, seenAt),
          },
        ),
      );
    }
    if (books !== undefined) {
      const at = rows(books.time);
      cursors.push(cursorOver({ ...at, delayMs: 0, rank: ranks.book }, (row) => this.#show(lane, books, row)));
      cursors.push(
        cursorOver({ ...at, delayMs: feedMs, rank: ranks.seenBook }, (row) => this.#seeBook(lane, books, row)),
      );
    }
    const gaps = (tape?.gaps ?? []).filter((gap) => gap.to > from && gap.from <= to);
    const all = { from: 0, to: gaps.length };
    cursors.push(
      cursorOver({ ...all, time: gaps.map((gap) => gap.from), delayMs: 0, rank: ranks.gap }, (row) => {
        lane.market.tape.gap(gaps[row]?.to ?? 0);
        return undefined;
      }),
      cursorOver({ ...all, time: gaps.map((gap) => gap.to), delayMs: feedMs, rank: ranks.seenGap }, (row) => {
        lane.gaps.emit(gaps[row] as FeedGap);
        return undefined;
      }),
    );
    return cursors;
  }

  #print({ market, symbol }: TapeLane, trades: TradeColumns, row: number): undefined {
    const { price, quantity, time } = trades;
    market.print(
      sideOf(trades.side[row] as number),
      price[row] as number,
      quantity[row] as number,
      time[row] as number,
    );
    if (market.byTape) this.#margin?.liquidateRuined(symbol, price[row] as number);
  }

  #show({ market, symbol, tape }: TapeLane, books: BookColumns, book: number): undefined {
    const { bids, asks } = market.tape.sides;
    const [from, middle, to] = [books.start[book], books.asks[book], books.start[book + 1]] as [number, number, number];
    write(bids, books, from, middle);
    write(asks, books, middle, to);
    market.shown(books.time[book] as number);
    // Where trades are stored they are the prices; the best of a book with a side missing says nothing.
    if (!market.byTape || tape?.trades !== undefined || from === middle || middle === to) return;
    this.#margin?.liquidateRuined(symbol, books.price[from] as number, books.price[middle] as number);
  }

  /** A trade is seen: it is the price now, moves and sets off stops, and is what the loss limit looks at. */
  #seeTrade(lane: TapeLane, trades: TradeColumns, row: number): Promise<void> | undefined {
    const { symbol, market } = lane;
    const { portfolio, risk } = this.#assembled;
    const now = this.#clock.now();
    const price = trades.price[row] as number;
    portfolio.mark(symbol, price, now);
    risk.seePrice(symbol, price);
    if (market.byTape) {
      hitByTrade(this.#assembled, { symbol, price, time: trades.time[row] as number });
      this.#retry(symbol);
    }
    lane.trades.emit(tradeAt(symbol, trades, row, now));
    return this.#watchLoss();
  }

  /** A book is seen: its middle is the price now, and two in a row move and set off stops as a live session's do. */
  #seeBook(lane: TapeLane, books: BookColumns, book: number): Promise<void> | undefined {
    const { symbol, market } = lane;
    const now = this.#clock.now();
    const depth = depthAt(symbol, books, book, now);
    const [bid, ask] = [depth.bids[0]?.[0], depth.asks[0]?.[0]];
    this.#assembled.risk.seeBook(depth, now);
    if (bid !== undefined && ask !== undefined) this.#assembled.portfolio.mark(symbol, (bid + ask) / 2, now);
    const pair = lane.pairOf(depth);
    if (market.byTape && pair !== undefined) {
      hitByBooks(this.#assembled, symbol, pair);
      this.#retry(symbol);
    }
    lane.depth.emit(depth);
    return pair?.isSteady === true ? this.#watchLoss() : undefined;
  }

  /** Does what must not stay undone, as a live session does every second. */
  #retry(symbol: string): void {
    const now = this.#clock.now();
    const isNeeded = now < this.#restlessUntil || this.#assembled.protection.guards(symbol);
    if (!isNeeded || now - this.#retriedAt < retryMs) return;
    this.#retriedAt = now;
    this.#assembled.retryPending();
    this.#stirred = true;
  }

  #watchLoss(): Promise<void> | undefined {
    const killing = watchLoss({ clock: this.#clock, assembled: this.#assembled });
    if (killing !== undefined) this.#restlessUntil = Number.POSITIVE_INFINITY;
    return killing;
  }
}
