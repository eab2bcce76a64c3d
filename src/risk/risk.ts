/** The gate between a plan and an order: the rules, the recent orders and prices that they judge by, and the limits that kill. */
import type { Clock } from '../clock/clock.ts';
import type { Depth } from '../domain/market.ts';
import { minus, noUnits, part, plus, type Rate, rateNumber, type Units, unitsNumber } from '../domain/money.ts';
import type { Denial, Fill, Leg, Verdict } from '../domain/order.ts';
import { ByPosition } from '../portfolio/by-position.ts';
import type { Judgement, OrderDraft } from '../portfolio/plan.ts';
import type { Restriction } from '../portfolio/planner.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import { clippedDraft, isOfSize } from './clip.ts';
import type { Created, Limits, NewVersion, RiskContext, SeenBook } from './context.ts';
import { weighed } from './exposure-rules.ts';
import { type Kill, type KillingLimit, KillSwitch, pastOf } from './kill.ts';
import { type Disabling, Drawdown, type StrategyCount, StrategyCounts, shortText } from './killing-limits.ts';
import { Markets } from './recent-market.ts';
import { firstDenial } from './rules.ts';

const dayMs = 86_400_000;
/** One real second, ms. */
const secondMs = 1_000;
const approved: Verdict = { kind: 'approved' };

const keptCounts = (memories: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map(
    [...memories]
      .filter(([name]) => name.startsWith(countsName))
      .map(([name, json]) => [name.slice(countsName.length), json]),
  );

export interface RiskOptions {
  readonly limits: Limits;
  readonly portfolio: Portfolio;
  readonly clock: Clock;
  readonly kills?: readonly Kill[];
  /** The equity a UTC day began with, when a journal knows it. */
  readonly dayStart?: { readonly day: number; readonly equity: Units };
  /** What an earlier run remembered, JSON by name, and where to remember what changes. */
  readonly memories?: ReadonlyMap<string, string>;
  readonly remember?: (name: string, json: string) => void;
  /** Versions of strategies' code that nobody has released, by strategy. */
  readonly newVersions?: ReadonlyMap<string, NewVersion>;
  /** Called with the kill of a strategy that a limit has just disabled. It journals the kill and cancels resting orders. */
  readonly disabled?: (kill: Kill) => void;
  /** Called for the first signal in a second that exceeds `maxSignalsPerSecond`. */
  readonly signalDenied?: (leg: Leg, denial: Denial) => void;
}

/** The changed signals of a strategy in one market within a second. */
interface SignalCount {
  since: number;
  count: number;
}

/** Under which names a restart finds what was counted. */
const countsName = 'throttle.';
const peakName = 'peak';
/** How far back price moves are measured unless configured, ms of the clock. */
const moveWindowMs = 60_000;

export class Risk {
  readonly switch: KillSwitch;
  #limits: Limits;
  readonly #portfolio: Portfolio;
  readonly #clock: Clock;
  readonly #markets: Markets;
  readonly #counts: StrategyCounts;
  readonly #drawdownOf: (limit: Rate | undefined, kept?: string) => Drawdown | undefined;
  #drawdown: Drawdown | undefined;
  readonly #newVersions: Map<string, NewVersion>;
  readonly #disabled: (kill: Kill) => void;
  readonly #signalDenied: ((leg: Leg, denial: Denial) => void) | undefined;
  readonly #signals = new ByPosition<SignalCount>();
  #recent: Created[] = [];
  #day: number;
  #dayEquity: Units;
  #tripped = false;
  /** An estimated equity above this cannot have passed the limit. */
  #clearlyAbove = Number.NaN;

  constructor({ limits, portfolio, clock, kills, dayStart, ...kept }: RiskOptions) {
    const { memories = new Map<string, string>(), remember = () => {}, newVersions, disabled = () => {} } = kept;
    this.#limits = limits;
    this.switch = new KillSwitch(kills);
    this.#portfolio = portfolio;
    this.#clock = clock;
    this.#markets = new Markets(limits.moveWindowMs ?? moveWindowMs);
    this.#counts = new StrategyCounts({
      limits: () => this.#limits,
      portfolio,
      kept: keptCounts(memories),
      keep: (strategy, json) => remember(countsName + strategy, json),
    });
    this.#drawdownOf = (limit, kept) => {
      if (limit === undefined) return undefined;
      const tripped = this.switch.inForce.some(({ by }) => by === 'drawdown');
      return new Drawdown(limit, portfolio, { kept, tripped }, (json) => remember(peakName, json));
    };
    this.#drawdown = this.#drawdownOf(limits.maxDrawdown, memories.get(peakName));
    this.#newVersions = new Map(newVersions);
    this.#disabled = disabled;
    this.#signalDenied = kept.signalDenied;
    this.#day = dayStart?.day ?? Number.NaN;
    this.#dayEquity = noUnits;
    this.#base(dayStart?.equity ?? portfolio.totalEquity());
    this.#tripped = this.#isKilledToday();
  }

  get limits(): Limits {
    return this.#limits;
  }

  /** The limits from now on. All may change but `moveWindowMs`, over which prices are measured already, and `maxLeverage`, which a plan knows. */
  changeLimits(limits: Limits): void {
    this.#limits = limits;
    if (this.#drawdown === undefined || limits.maxDrawdown === undefined)
      this.#drawdown = this.#drawdownOf(limits.maxDrawdown);
    else this.#drawdown.limit = limits.maxDrawdown;
    this.#clear();
  }

  get #maxDataAgeMs(): number {
    return this.#clock.machine(this.#limits.maxDataAgeMs);
  }

  /** Whether a strategy may change a signal now. One that changes them too often is denied: the first denial in a second is reported. */
  mayChange(leg: Leg): boolean {
    const { maxSignalsPerSecond } = this.limits;
    if (maxSignalsPerSecond === undefined) return true;
    const { strategy, symbol } = leg;
    const now = this.#clock.now();
    // By market: a decision on many of them changes a signal in each at once.
    const second = this.#signals.get(strategy, symbol) ?? { since: now, count: 0 };
    this.#signals.set(strategy, symbol, second);
    if (now - second.since >= this.#clock.machine(secondMs)) {
      second.since = now;
      second.count = 0;
    }
    second.count++;
    if (second.count <= maxSignalsPerSecond) return true;
    if (second.count === maxSignalsPerSecond + 1)
      this.#signalDenied?.(leg, { code: 'signalRate', facts: { inLastSecond: second.count, maxSignalsPerSecond } });
    this.refused(strategy, 'signalRate');
    return false;
  }

  /** What a strategy may do while it is paused or killed; undefined while it is neither. */
  restriction(strategy: string): Restriction | undefined {
    const kill = this.switch.of(strategy);
    if (kill === undefined) return undefined;
    const facts = { since: kill.at, by: kill.by, reason: kill.reason };
    return { may: kill.kind === 'pause' ? 'reduce' : 'exit', denial: { code: pastOf[kill.kind], facts } };
  }

  /** Judges an order that is about to be created. One that may be clipped is reduced where only its size is against it. */
  judge(draft: OrderDraft): Judgement {
    const now = this.#clock.now();
    this.#forget(now);
    const context = this.#context(draft, now);
    const over = firstDenial(context);
    if (over === undefined) return approved;
    const reduced = draft.clip === true && isOfSize(over.code) ? clippedDraft(context) : undefined;
    const denial = reduced === undefined ? over : firstDenial({ ...context, draft: reduced });
    if (reduced !== undefined && denial === undefined) return { kind: 'reduced', draft: reduced };
    // What an operator asks for is not the strategy's doing.
    if (draft.purpose !== 'flatten') this.refused(draft.strategy, (denial ?? over).code);
    return { kind: 'denied', ...(denial ?? over) };
  }

  /** Judges an order anew that is reserved and about to leave: while it waited, prices, books and other orders went on. */
  judgeAgain(intent: OrderDraft): Denial | undefined {
    return firstDenial(this.#context(intent, this.#clock.now(), true));
  }

  /** Counts a refusal against a strategy: too many of them disable it. */
  refused(strategy: string, code: string): void {
    this.#disable(strategy, this.#counts.denied(strategy, code, this.#clock.now()));
  }

  /** Counts a fill that the portfolio has just booked. */
  booked(fill: Fill): void {
    this.#disable(fill.strategy, this.#counts.booked(fill));
  }

  /** What counts against a strategy at the moment. */
  countsOf(strategy: string): StrategyCount {
    return this.#counts.now(strategy, this.#clock.now());
  }

  /** How far the equity is below its highest, and at which fall all is killed; undefined where that is not limited or not known yet. */
  get drawdown(): { readonly fall: Units; readonly allowed: Units } | undefined {
    return this.#drawdown?.now();
  }

  /** A strategy kept the program busy for so many real ms at once. */
  decideTook(strategy: string, ms: number): void {
    const { maxDecideMs } = this.limits;
    if (maxDecideMs !== undefined && ms > maxDecideMs)
      this.#disable(strategy, {
        by: 'decideTime',
        reason: `kept the program busy for ${Math.round(ms)} ms, at most ${maxDecideMs} ms are allowed`,
      });
  }

  #disable(strategy: string, why: Disabling | undefined): void {
    if (why === undefined || this.switch.of(strategy)?.kind === 'kill') return;
    this.#disabled(this.#kill(why.by, `${strategy} ${why.reason}`, strategy));
  }

  /** Takes note of a book that was fresh at `at`, UTC ms: it may have waited in a socket while this process stood still. */
  seeBook(depth: Depth, at: number): void {
    this.#markets.seeBook(depth, at);
  }

  /** The best prices of the last book; undefined without one, and where it is older than a price to decide by may be. */
  best(symbol: string): { readonly bid: number; readonly ask: number } | undefined {
    const book = this.book(symbol);
    const [bid, ask] = [book?.bids[0]?.[0], book?.asks[0]?.[0]];
    return bid === undefined || ask === undefined ? undefined : { bid, ask };
  }

  /** The last book; undefined without one, and where it is older than a price to decide by may be. */
  book(symbol: string): SeenBook | undefined {
    const book = this.#markets.book(symbol, this.#clock.now());
    return book === undefined || book.ageMs > this.#maxDataAgeMs ? undefined : book;
  }

  /** Takes note of a price, for how far it moves. */
  seePrice(symbol: string, price: number): void {
    this.#markets.seePrice(symbol, price, this.#clock.now());
  }

  /** A version of a strategy's code may hold all that the strategy may from now on. */
  release(strategy: string): void {
    this.#newVersions.delete(strategy);
  }

  /** Its code has changed: what it may hold while nobody has released the version; undefined: one that was released before. */
  changeVersion(strategy: string, version: NewVersion | undefined): void {
    if (version === undefined) this.#newVersions.delete(strategy);
    else this.#newVersions.set(strategy, version);
  }

  get newVersions(): ReadonlyMap<string, NewVersion> {
    return this.#newVersions;
  }

  /** The numbers of an approval; to be asked before the order counts as exposure itself. */
  weigh(draft: OrderDraft): Denial['facts'] {
    return weighed(this.#context(draft, this.#clock.now()));
  }

  #context(draft: OrderDraft, now: number, isReserved = false): RiskContext {
    const { maxDepthAgeMs, maxDepthShare } = this.limits;
    const needsDepth = maxDepthAgeMs !== undefined || maxDepthShare !== undefined;
    return {
      draft,
      portfolio: this.#portfolio,
      limits: this.limits,
      now,
      maxDataAgeMs: this.#maxDataAgeMs,
      kill: this.switch.of(draft.strategy),
      recent: this.#recent,
      newVersion: this.#newVersions.get(draft.strategy),
      book: needsDepth ? this.#markets.book(draft.symbol, now) : undefined,
      maxDepthAgeMs: maxDepthAgeMs === undefined ? undefined : this.#clock.machine(maxDepthAgeMs),
      moved: this.limits.maxMove === undefined ? undefined : this.#markets.moved(draft.symbol, now),
      isReserved,
    };
  }

  /** Counts an order that is being created. */
  created(draft: OrderDraft): void {
    this.#recent.push({ at: this.#clock.now(), draft });
  }

  /** The equity this UTC day began with; before it is known its day is not a number. */
  get dayStart(): { readonly day: number; readonly equity: Units } {
    return { day: this.#day, equity: this.#dayEquity };
  }

  /** While the estimated equity stays above the first and up to the second within a UTC day, `watchLoss` would find nothing. */
  get calmEquity(): { readonly above: number; readonly upTo: number } {
    const daily = this.#tripped ? Number.NEGATIVE_INFINITY : this.#clearlyAbove;
    if (this.#drawdown === undefined) return { above: daily, upTo: Number.POSITIVE_INFINITY };
    const { above, upTo } = this.#drawdown.calm;
    return { above: Math.max(daily, above), upTo };
  }

  /**
   * Compares the equity once prices moved. Returns the kill when the daily loss limit has just been passed; the caller
   * journals it and cancels resting orders. A new UTC day starts anew but lifts nothing. Nothing is judged while a held
   * symbol has no price yet, as after a restart: without it an open profit would count as a loss.
   */
  watchLoss(): Kill | undefined {
    const now = this.#clock.now();
    if (!(now - this.#day < dayMs)) {
      if (!this.#portfolio.isPriced()) return undefined;
      this.#beginDay(Math.floor(now / dayMs) * dayMs);
    }
    const fallen = this.#drawdown?.watch();
    if (fallen !== undefined) return this.#kill('drawdown', fallen);
    if (this.#tripped || this.#portfolio.equityEstimate() > this.#clearlyAbove) return undefined;
    if (!this.#portfolio.isPriced()) return undefined;
    const allowed = part(this.#dayEquity, this.limits.maxDailyLoss, 'down');
    const loss = minus(this.#dayEquity, this.#portfolio.totalEquity());
    if (loss < allowed || allowed <= 0n) return undefined;
    this.#tripped = true;
    return this.#kill('dailyLoss', `lost ${shortText(loss)} since midnight UTC, the limit is ${shortText(allowed)}`);
  }

  #kill(by: KillingLimit, reason: string, strategy?: string): Kill {
    const kill: Kill = { kind: 'kill', everything: false, at: this.#clock.now(), strategy, by, reason };
    this.switch.kill(kill);
    return kill;
  }

  #beginDay(day: number): void {
    this.#day = day;
    this.#base(this.#portfolio.totalEquity());
    this.#tripped = this.#isKilledToday();
  }

  /** A kill for today's loss that a restart finds in force is not reported again. */
  #isKilledToday(): boolean {
    return this.switch.inForce.some(({ by, at }) => by === 'dailyLoss' && at >= this.#day);
  }

  /** Losses are counted from this equity on. */
  #base(equity: Units): void {
    this.#dayEquity = equity;
    this.#tripped = false;
    this.#clear();
  }

  #clear(): void {
    const start = unitsNumber(this.#dayEquity);
    this.#clearlyAbove = start * (1 - rateNumber(this.limits.maxDailyLoss)) + Math.abs(start) * 1e-9;
  }

  /** An amount was paid in, or out: neither a gain nor a loss of the day, nor of the way down from the highest. */
  moved(amount: Units): void {
    this.#drawdown?.moved(amount);
    if (Number.isNaN(this.#day)) return;
    const tripped = this.#tripped;
    this.#base(plus(this.#dayEquity, amount));
    this.#tripped = tripped;
  }

  /**
   * Lifts kills and pauses. After a kill losses are measured anew from now on, or from when every held symbol has a price: they would trip again
   * at once.
   */
  resume(strategy: string | undefined): void {
    const lifted = this.switch.resume(strategy);
    if (!lifted.some(({ kind }) => kind === 'kill')) return;
    this.#counts.forget(strategy);
    this.#drawdown?.beginAnew();
    if (this.#portfolio.isPriced()) this.#base(this.#portfolio.totalEquity());
    else this.#day = Number.NaN;
  }

  #forget(now: number): void {
    const oldest = this.#recent[0];
    const keepMs = Math.max(1_000, this.#limits.duplicateWindowMs);
    if (oldest === undefined || now - oldest.at < keepMs) return;
    const keep = this.#recent.findIndex((created) => now - created.at < keepMs);
    if (keep > 0) this.#recent = this.#recent.slice(keep);
    else if (keep < 0) while (this.#recent.length > 0) this.#recent.pop();
  }
}
