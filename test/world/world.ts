/** One seed: the production code, the exchange, the wire, the disk and everybody else in one process, on one time that the seed moves. */
import Database from 'better-sqlite3';
import type { OrderState } from '../../src/domain/order.ts';
import { btc, eth, startTime } from '../kit/builders.ts';
import { type Cable, openCable } from './cable.ts';
import { type Chance, chanceOf } from './chance.ts';
import { Disk } from './disk.ts';
import { expiredAreCancelled } from './entry-checks.ts';
import { Course, tradingIn } from './exact.ts';
import { type CrashEvent, Happenings, takenFrom } from './happenings.ts';
import { Life, Time } from './life.ts';
import type { Bent } from './mutation-points.ts';
import { Operator } from './operator.ts';
import { Others } from './others.ts';
import {
  type CrashPoint,
  calmMs,
  endMs,
  faultsMs,
  isLeftToHumans,
  isSharedWithoutIds,
  isUnnamed,
  type Plan,
  pricedMs,
  watchMs,
  withLateQueue,
} from './plan.ts';
import { Prices } from './prices.ts';
import { isInTime, isPriced, lastLook, openText, type Process, startProcess, worldTiming } from './process.ts';
import { brokenAtRest } from './rest-checks.ts';
import { resultOf, type WorldOptions, type WorldResult } from './result.ts';
import { settleMs } from './scenarios.ts';
import { limitsOf, MachineLimits } from './spent.ts';
import { Trace } from './trace.ts';
import { Venue } from './venue.ts';
import { Watch } from './watch.ts';
import { Wire } from './wire.ts';

/** Between two looks whether the world has come to rest, virtual ms. */
const sliceMs = 250;

/** Runs a seed to its end. */
export async function runWorld(options: WorldOptions): Promise<WorldResult> {
  const world = new World(options);
  // What nobody catches would end a real process as well.
  const unhandled = (error: unknown): void => world.fatal(error);
  process.on('unhandledRejection', unhandled);
  try {
    await world.run();
    return world.result();
  } finally {
    process.off('unhandledRejection', unhandled);
    world.close();
  }
}

class World {
  readonly #plan: Plan;
  readonly #bent: Bent;
  readonly #time: Time;
  readonly #trace: Trace;
  readonly #watch: Watch;
  readonly #disk: Disk;
  readonly #venue: Venue;
  readonly #wire: Wire;
  readonly #cable: Cable | undefined;
  readonly #prices: Prices;
  readonly #others: Others;
  readonly #trading: ReturnType<typeof tradingIn>;
  readonly #machine: MachineLimits;
  readonly #operator: Operator;
  readonly #course: Course | undefined;
  readonly #batches: boolean;
  readonly #happenings: Happenings;
  readonly #faultsMs: number;
  readonly #limits: ReturnType<typeof limitsOf>;
  readonly #closeByHand = () => this.#operator.closeDoubts((id) => this.#happenings.isGone(id), this.#plan);
  #armed: CrashEvent[] = [];
  #process: Process | undefined;
  #lives = 0;
  #crashes = 0;
  #atRest = false;

  constructor({ plan, bent = {}, trace = false, absentAfterMs = worldTiming.absentAfterMs }: WorldOptions) {
    this.#plan = bent.lateQueue === true ? withLateQueue(plan) : plan;
    this.#bent = { ...bent, timing: { absentAfterMs, ...bent.timing } };
    const { seed, classes, exact } = this.#plan;
    this.#course = exact === undefined ? undefined : new Course(exact);
    const course = this.#course;
    this.#batches = course?.scenario.batches ?? classes.includes('batches');
    this.#faultsMs = course?.scenario.toMs ?? faultsMs;
    this.#time = new Time(startTime, chanceOf(seed, 'ties').next);
    const time = this.#time;
    this.#machine = new MachineLimits(time, bent.bansByTheWall === true);
    this.#trace = new Trace(() => time.elapsed(), trace);
    this.#limits = limitsOf(classes.includes('tight'));
    this.#watch = new Watch({
      time,
      trace: this.#trace,
      plan: this.#plan,
      maxWeight: this.#limits.ipWeightPerMinute,
      absentAfterMs,
      batches: this.#batches,
      byHand: () => this.#operator.byHand,
      exchangeNow: () => this.#venue.now() + this.#wire.skewMs,
      price: (symbol) => this.#others.mid(symbol),
    });
    this.#disk = new Disk({
      time,
      chance: chanceOf(seed, 'disk'),
      slow: classes.includes('slowDisk') || course?.slowDisk === true,
      syncEvery: bent.syncEvery ?? 1,
      bounded: plan.events.some(({ kind }) => kind === 'noPages'),
      committed: (entries, db) => this.#watch.committed(entries, db, this.#wire.pending.keys()),
      wroteOn: () => this.#watch.fail('disk', 'a process writes on after an I/O error of its disk'),
    });
    this.#venue = new Venue({
      time,
      instruments: [btc, eth],
      quirks: plan.quirks,
      limits: this.#limits,
      lagMs: classes.includes('lag') ? plan.lagMs : undefined,
      account: classes.includes('margin') ? 'margin' : 'spot',
      sockets: classes.includes('streams'),
      priced: classes.includes('streams') ? (changes) => this.#prices.see(changes, time.now()) : undefined,
      changed: (orders, trades) => this.#watch.changed(orders, trades, this.#disk.db),
    });
    this.#prices = new Prices(this.#venue.exchange);
    this.#cable = this.#cableOf(this.#venue);
    this.#wire = new Wire({
      ...{ time, venue: this.#venue, plan: this.#plan, trace: this.#trace },
      chance: chanceOf(seed, 'wire'),
      leaves: (request) => this.#watch.leaves(request, this.#disk.db),
      forbidden: (until) => this.#watch.forbid(until),
      harmed: (fault) => this.#watch.reach.fault(fault, this.#orderStates()),
      strike: course === undefined ? undefined : (request) => course.strike(request, time.elapsed()),
    });
    this.#operator = this.#operatorOf();
    this.#others = this.#othersOf();
    this.#happenings = this.#happeningsOf();
    this.#trading = tradingIn(this.#plan, course);
  }

  #operatorOf(): Operator {
    return new Operator({
      now: () => this.#time.now(),
      after: (ms, fn) => void this.#time.after(ms, fn),
      process: () => this.#process,
      db: () => this.#disk.db,
      fatal: (error) => this.fatal(error),
      lookUp: this.#plan.classes.includes('noEcho') ? (id) => this.#watch.truth.order(id)?.orderId : undefined,
    });
  }

  #othersOf(): Others {
    return new Others({
      time: this.#time,
      venue: this.#venue,
      trace: this.#trace,
      plan: this.#plan,
      publishes: this.#cable !== undefined,
      priceOf: () => this.#course?.scenario.price?.(this.#time.elapsed()),
      closes: isLeftToHumans(this.#plan) ? this.#closeByHand : undefined,
      isOver: () => this.#atRest,
      isHealed: () => this.#happenings.healed,
    });
  }

  #cableOf(venue: Venue): Cable | undefined {
    return openCable({
      time: this.#time,
      venue,
      chance: chanceOf(this.#plan.seed, 'cable'),
      harmed: (fault) => this.#watch.reach.fault(`frame:${fault}`, this.#orderStates()),
      isOut: () => this.#wire.outage !== undefined,
      isHeldUp: () => this.#happenings.quiet,
    });
  }

  #happeningsOf(): Happenings {
    return new Happenings({
      time: this.#time,
      trace: this.#trace,
      watch: this.#watch,
      disk: this.#disk,
      venue: this.#venue,
      wire: this.#wire,
      operator: this.#operator,
      process: () => this.#process,
      states: () => this.#orderStates(),
      crash: (event) => this.#crashOr(event),
      cable: this.#cable,
    });
  }

  async run(): Promise<void> {
    this.#others.begin();
    for (const event of this.#course?.events ?? this.#plan.events)
      this.#time.after(event.at, () => this.#happenings.happen(event));
    this.#time.after(this.#faultsMs, () => {
      this.#armed = [];
      // Where a scenario was killed it stays so.
      this.#happenings.heal(this.#course === undefined);
    });
    this.#boot();
    await this.#until(() => false, this.#faultsMs + (this.#course === undefined ? calmMs : 0));
    await this.#untilReady();
    const areCancelled = expiredAreCancelled(() => this.#disk.db, this.#plan, this.#time.now());
    await this.#until(areCancelled, this.#time.elapsed() + calmMs, 'an entry that has expired still rests');
    if (this.#course?.scenario.ends !== undefined) await this.#until(() => false, this.#time.elapsed() + settleMs);
    if (this.#cable !== undefined)
      await this.#until(() => isPriced(this.#process), this.#time.elapsed() + pricedMs, 'no price comes');
    const isDoubtful = (): boolean => this.#orderStates().includes('quarantined');
    let mayCome = this.#plan.lateQueue || isDoubtful();
    const ending = this.#process?.assembled.end('cancel').then(() => {
      this.#atRest = true;
      mayCome ||= isDoubtful();
    });
    void ending?.catch((error: unknown) => this.fatal(error));
    await this.#until(() => this.#atRest, this.#time.elapsed() + endMs, 'nothing of ours has come to an end');
    // One that a human quarantined can be found by the look that ended the rest.
    await (mayCome ? this.#untilLateOnesEnd() : this.#untilKnown());
    const restAt = this.#time.elapsed() + watchMs;
    await this.#until(() => this.#time.elapsed() >= restAt && this.#wire.inFlight === 0, restAt + 60_000);
    // What came late, or was quarantined by a human before it came, is found now, or was a moment ago.
    if (mayCome || isDoubtful()) await this.#untilLateOnesEnd();
    await this.#untilSeen();
    this.#operator.lookAtHalts();
    this.#closeByHand();
    await this.#until(() => !this.#operator.isAdopting, this.#time.elapsed() + endMs, 'an adoption does not end');
    await this.#untilLateOnesEnd();
    // Until its horizon, which late orders raise, an order without an id may be one that was given up.
    const knownMs = isSharedWithoutIds(this.#plan) ? 2 * (this.#process?.assembled.execution.horizon.ms ?? 0) : 0;
    await this.#until(() => false, this.#time.elapsed() + knownMs);
    await this.#untilSeen();
    this.#checkAtRest();
    await this.#time.sim.loop();
  }

  /** What came after everything was ended rests: nobody signals it any more. */
  async #untilLateOnesEnd(): Promise<void> {
    await this.#untilSeen();
    void this.#process?.assembled.cancelAll().catch((error: unknown) => this.fatal(error));
    await this.#untilKnown();
  }

  #untilKnown(): Promise<void> {
    return this.#until(
      () => this.#orderStates().every((state) => state === 'quarantined'),
      this.#time.elapsed() + endMs,
      'not every outcome is known',
    );
  }

  /** A last look at everything, and the journal written. Where the weight of a minute is spent it waits for that. */
  async #untilSeen(): Promise<void> {
    const maxMs = this.#time.elapsed() + 90_000;
    if (this.#process !== undefined) await this.#until(lastLook(this.#process), maxMs, 'the last look does not end');
  }

  /** Ready again after the last restart, and after a ban. */
  async #untilReady(): Promise<void> {
    const until = this.#machine.stoppedUntil;
    const banned = Math.max(0, until - this.#time.now());
    await this.#until(
      () => this.#process?.ready === true && this.#process.life.alive,
      this.#time.elapsed() + banned + endMs,
      'the process is not ready',
    );
    const still = until - this.#time.start + 1_000;
    if (still > this.#time.elapsed()) await this.#until(() => this.#time.elapsed() >= still, still);
  }

  /** Lets time pass until something is so; past `maxMs` that is a failure where there is a word for it. */
  async #until(isSo: () => boolean, maxMs: number, otherwise?: string): Promise<void> {
    while (this.#watch.failure === undefined && !isSo()) {
      if (this.#time.elapsed() >= maxMs) {
        if (otherwise !== undefined) this.#watch.fail('I11', `${otherwise} by ${maxMs} ms: ${openText(this.#process)}`);
        return;
      }
      await this.#time.sim.advanceTo(this.#time.sim.now() + sliceMs);
    }
  }

  #boot(): void {
    const chance = chanceOf(this.#plan.seed, `life ${++this.#lives}`);
    const { goesByTheWall = false } = this.#bent;
    const machine = { time: this.#time, wallAheadMs: () => this.#happenings.wallAheadMs, goesByTheWall };
    const life = new Life(this.#lives, machine, (point) => this.#comesBy(life, point));
    this.#trace.say(`${life.number} starts`);
    this.#process = this.#start(life, chance) ?? this.#process;
    if (this.#process?.life !== life) return;
    const started = this.#process;
    this.#watch.started(started, this.#disk.db);
    this.#operator.started();
  }

  /** Undefined where the disk did not let it begin: the next start is some time away. */
  #start(life: Life, chance: Chance): Process | undefined {
    try {
      return startProcess({
        life,
        disk: this.#disk,
        http: this.#wire.port(life),
        shared: this.#machine.port(life),
        account: this.#venue.account,
        limits: this.#limits,
        elapsed: () => this.#time.elapsed(),
        ...this.#trading,
        ws: this.#cable?.port(life),
        ...this.#watch.prices(this.#prices, () => isInTime(life, this.#venue.now())),
        mid: (symbol) => (this.#happenings.quiet ? undefined : this.#others.mid(symbol)),
        book: (symbol) => this.#watch.bookSeen(this.#venue.book(symbol)),
        chance,
        dedicated: this.#batches || isUnnamed(this.#plan),
        batches: this.#batches,
        bent: this.#bent,
        say: (what) => this.#trace.say(what),
        fatal: (error) => life.alive && this.fatal(error),
        broke: (error) => this.#broke(life, error),
      });
    } catch (error) {
      if (!(error instanceof Database.SqliteError)) throw error;
      this.#broke(life, error);
      return undefined;
    }
  }

  /** The journal's writer broke: one line, and the process ends. */
  #broke(life: Life, error: unknown): void {
    this.#trace.say(`${life.number} cannot write: ${String(error)}`);
    this.#end(life, this.#happenings.downMs);
  }

  /** An exception of the production code ends the process: that is a bug. */
  fatal(error: unknown): void {
    this.#watch.fail('exception', error instanceof Error ? (error.stack ?? error.message) : String(error));
  }

  #comesBy(life: Life, point: CrashPoint): boolean {
    const isRecovering = this.#process?.life !== life || !this.#process.ready;
    if (this.#course?.comesBy(this.#time.elapsed(), isRecovering) === true) {
      this.#crash(life, { ...this.#course.crash, point });
      return true;
    }
    const crash = takenFrom(this.#armed, point);
    if (crash !== undefined) this.#crash(life, crash);
    return crash !== undefined;
  }

  #crash(life: Life, { point, power, downMs }: CrashEvent): void {
    if (!life.alive) return;
    this.#watch.reach.fault(`crash:${point}${power ? ':power' : ''}`, this.#orderStates());
    this.#trace.say(`${life.number} dies ${point}${power ? ' with the power' : ''}`);
    if (power) this.#disk.losePower();
    this.#end(life, downMs);
  }

  /** It is gone, and comes again after a while. */
  #end(life: Life, downMs: number): void {
    life.alive = false;
    this.#crashes++;
    this.#operator.crashed();
    this.#time.after(downMs, () => this.#boot());
  }

  #orderStates(): OrderState[] {
    return [...(this.#process?.assembled.portfolio.orders() ?? [])].map(({ state }) => state);
  }

  #crashOr(event: CrashEvent): void {
    const life = this.#process?.life;
    if (event.point !== 'now') this.#armed.push(event);
    else if (life !== undefined) this.#crash(life, event);
  }

  #checkAtRest(): void {
    if (this.#watch.failure !== undefined || this.#process === undefined) return;
    this.#venue.advance();
    this.#venue.look();
    const { exchange, holder } = this.#venue;
    const { assembled } = this.#process;
    const others = { transfers: this.#happenings.transfers, byHand: this.#operator.byHand };
    const seen = { db: this.#disk.db, truth: this.#watch.truth, plan: this.#plan };
    const broken = brokenAtRest({ exchange, holder, assembled, ...others, ...seen });
    if (broken !== undefined) this.#watch.fail(broken.invariant, broken.text);
  }

  result(): WorldResult {
    const counts = { seed: this.#plan.seed, crashes: this.#crashes, points: this.#course?.points ?? [] };
    return { ...counts, ...resultOf(this.#watch, this.#time, this.#disk, this.#trace) };
  }

  /** The process is silenced: what it waits for never comes. */
  close(): void {
    if (this.#process !== undefined) this.#process.life.alive = false;
    this.#disk.close();
  }
}
