/** One seed: the production code, the exchange, the wire, the disk and everybody else in one process, on one time that the seed moves. */
import { createHash } from 'node:crypto';
import { plus, noUnits } from '../../domain/money.ts';
import type { OrderState } from '../../domain/order.ts';
import { btc, eth, startTime } from '../builders.ts';
import type { Bent } from './bent.ts';
import { type Chance, chanceOf } from './chance.ts';
import { Disk } from './disk.ts';
import { Life, Time } from './life.ts';
import { Crowd, Human } from './people.ts';
import { type CrashPoint, faultsMs, type Plan, type PlannedEvent } from './plan.ts';
import { type Process, startProcess } from './process.ts';
import { countEvents, Reach } from './reach.ts';
import { brokenAtRest } from './rest-checks.ts';
import { MachineLimits } from './spent.ts';
import * as check from './step-checks.ts';
import { Trace } from './trace.ts';
import { Truth } from './truth.ts';
import { Venue } from './venue.ts';
import { Wire } from './wire.ts';
import { strategyIds, symbolsOf, type Wish, wishesOf } from './wishes.ts';

/** After the faults: how long trading goes on, how long everything may take to end, and how long it is watched after that, virtual ms. */
const calmMs = 10_000;
const endMs = 240_000;
const watchMs = 13_000;
/** Between two looks whether the world has come to rest, virtual ms. */
const sliceMs = 250;
const crowdMs = 900;

export interface WorldOptions {
  readonly plan: Plan;
  readonly bent?: Bent;
  /** Keeps every line of the trace. */
  readonly trace?: boolean;
}

export interface WorldResult {
  readonly seed: number;
  readonly failure: (check.Violation & { readonly atMs: number }) | undefined;
  readonly hash: string;
  readonly steps: number;
  readonly crashes: number;
  readonly unknowns: number;
  readonly creates: number;
  readonly fills: number;
  readonly commits: number;
  readonly virtualMs: number;
  readonly reach: Reach;
  readonly trace: readonly string[];
}

type CrashEvent = Extract<PlannedEvent, { kind: 'crash' }>;

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
  readonly #truth = new Truth();
  readonly #reach = new Reach();
  readonly #disk: Disk;
  readonly #venue: Venue;
  readonly #wire: Wire;
  readonly #crowds: ReadonlyMap<string, Crowd>;
  readonly #human: Human;
  readonly #humanChance: Chance;
  readonly #wishes: ReadonlyMap<string, readonly Wish[]>;
  readonly #machine: MachineLimits;
  readonly #spending: check.Spending;
  readonly #limits: { readonly ipWeightPerMinute: number; readonly uidWeightPerMinute: number };
  readonly #sent = new Set<string>();
  readonly #states = new Map<string, OrderState>();
  #armed: CrashEvent[] = [];
  #process: Process | undefined;
  #lives = 0;
  #crashes = 0;
  #unknowns = 0;
  #fills = 0;
  #healed = false;
  #quiet = false;
  #atRest = false;
  #failure: WorldResult['failure'];

  constructor({ plan, bent = {}, trace = false }: WorldOptions) {
    this.#plan = bent.lateQueue === true ? { ...plan, lateQueue: true } : plan;
    this.#bent = bent;
    const { seed, classes } = this.#plan;
    this.#time = new Time(startTime, chanceOf(seed, 'ties').next);
    const time = this.#time;
    this.#machine = new MachineLimits(time);
    this.#trace = new Trace(() => time.elapsed(), trace);
    const most = classes.includes('tight') ? 600 : 12_000;
    this.#limits = { ipWeightPerMinute: most, uidWeightPerMinute: 5 * most };
    // A ban is counted by the exchange's clock, which a skewed gateway tells wrongly.
    this.#spending = new check.Spending(most, classes.includes('skew') ? 5_000 : 150);
    this.#disk = new Disk({
      time,
      chance: chanceOf(seed, 'disk'),
      slow: classes.includes('slowDisk'),
      syncEvery: bent.syncEvery ?? 1,
      committed: (entries) => this.#committed(entries),
    });
    this.#venue = new Venue({
      time,
      instruments: [btc, eth],
      habits: plan.habits,
      limits: this.#limits,
      lagMs: classes.includes('lag') ? plan.lagMs : undefined,
      changed: (orders, trades) => this.#changed(orders, trades),
    });
    this.#wire = new Wire({
      time,
      venue: this.#venue,
      plan: this.#plan,
      chance: chanceOf(seed, 'wire'),
      trace: this.#trace,
      leaves: (request) => this.#leaves(request),
      forbidden: (_status, until) => {
        this.#spending.forbiddenUntil = Math.max(this.#spending.forbiddenUntil, until);
      },
      harmed: (fault) => this.#reach.fault(fault, this.#orderStates()),
    });
    this.#crowds = new Map([btc, eth].map((at) => [at.symbol, new Crowd(this.#venue, at, chanceOf(seed, at.symbol))]));
    this.#humanChance = chanceOf(seed, 'human');
    this.#human = new Human(this.#venue, this.#humanChance);
    this.#wishes = new Map(
      strategyIds.flatMap((id) => symbolsOf[id].map((symbol) => [`${id} ${symbol}`, wishesOf(seed, id, symbol)])),
    );
  }

  async run(): Promise<void> {
    const { sim } = this.#time;
    for (const crowd of this.#crowds.values()) this.#crowdTurn(crowd);
    if (this.#plan.classes.includes('human')) this.#humanTurn();
    for (const event of this.#plan.events) this.#time.after(event.at, () => this.#happen(event));
    this.#time.after(faultsMs, () => this.#heal());
    this.#boot();
    const until = (ms: number): Promise<void> => this.#until(() => this.#time.elapsed() >= ms, ms);
    await until(faultsMs + calmMs);
    await this.#untilReady();
    const ending = this.#process?.assembled.end('cancel').then(() => {
      this.#atRest = true;
    });
    void ending?.catch((error: unknown) => this.fatal(error));
    await this.#until(() => this.#atRest, this.#time.elapsed() + endMs, 'nothing of ours has come to an end');
    const restAt = this.#time.elapsed() + watchMs;
    await this.#until(() => this.#time.elapsed() >= restAt && this.#wire.inFlight === 0, restAt + 60_000);
    let written = false;
    void this.#process?.durable().then(() => {
      written = true;
    });
    await this.#until(() => written, this.#time.elapsed() + 5_000, 'the journal is not written');
    this.#checkAtRest();
    await sim.turn();
  }

  /** Ready again after the last restart; a ban that was heard late is waited for. */
  async #untilReady(): Promise<void> {
    const { banUntil, stopUntil } = this.#machine.bans;
    const banned = Math.max(0, Math.max(banUntil, stopUntil) - this.#time.now());
    await this.#until(
      () => this.#process?.ready === true && this.#process.life.alive,
      this.#time.elapsed() + banned + endMs,
      'the process is not ready',
    );
    const still = Math.max(banUntil, stopUntil) - this.#time.start + 1_000;
    if (still > this.#time.elapsed()) await this.#until(() => this.#time.elapsed() >= still, still);
  }

  /** Lets time pass until something is so; past `mostMs` that is a failure where there is a word for it. */
  async #until(isSo: () => boolean, mostMs: number, otherwise?: string): Promise<void> {
    while (this.#failure === undefined && !isSo()) {
      if (this.#time.elapsed() >= mostMs) {
        if (otherwise !== undefined) this.#fail('I11', `${otherwise} by ${mostMs} ms: ${this.#openText()}`);
        return;
      }
      await this.#time.sim.advanceTo(this.#time.sim.now() + sliceMs);
    }
  }

  #openText(): string {
    const orders = [...(this.#process?.assembled.portfolio.orders() ?? [])];
    return orders.map(({ intent, state }) => `${intent.clientOrderId} is ${state}`).join(', ') || 'no order is open';
  }

  #boot(): void {
    const { seed } = this.#plan;
    const life = new Life(++this.#lives, this.#time, (point) => this.#comesBy(life, point));
    this.#trace.say(`${life.number} starts`);
    this.#process = startProcess({
      life,
      disk: this.#disk,
      http: this.#wire.port(life),
      shared: this.#machine.port(life),
      limits: this.#limits,
      elapsed: () => this.#time.elapsed(),
      wishes: this.#wishes,
      mid: (symbol) => (this.#quiet ? undefined : this.#crowds.get(symbol)?.mid),
      chance: chanceOf(seed, `life ${life.number}`),
      bent: this.#bent,
      say: (what) => this.#trace.say(what),
      fatal: (error) => {
        if (life.alive) this.fatal(error);
      },
    });
  }

  /** An exception of the production code ends the process: that is a bug. */
  fatal(error: unknown): void {
    this.#fail('exception', error instanceof Error ? (error.stack ?? error.message) : String(error));
  }

  #comesBy(life: Life, point: CrashPoint): boolean {
    if (this.#armed.length === 0) return false;
    const index = this.#armed.findIndex((crash) => crash.point === point);
    const crash = this.#armed[index];
    if (crash === undefined) return false;
    this.#armed.splice(index, 1);
    this.#crash(life, crash);
    return true;
  }

  #crash(life: Life, { point, power, downMs }: CrashEvent): void {
    if (!life.alive) return;
    this.#reach.fault(`crash:${point}${power ? ':power' : ''}`, this.#orderStates());
    life.alive = false;
    this.#crashes++;
    this.#trace.say(`${life.number} dies ${point}${power ? ' with the power' : ''}`);
    if (power) this.#disk.losePower();
    this.#time.after(downMs, () => this.#boot());
  }

  #orderStates(): OrderState[] {
    return [...(this.#process?.assembled.portfolio.orders() ?? [])].map(({ state }) => state);
  }

  #happen(event: PlannedEvent): void {
    if (this.#healed) return;
    this.#trace.say(`event ${JSON.stringify(event)}`);
    if (event.kind === 'crash') {
      const life = this.#process?.life;
      if (event.point !== 'now') this.#armed.push(event);
      else if (life !== undefined) this.#crash(life, event);
      return;
    }
    this.#reach.fault(event.kind, this.#orderStates());
    const [begin, end] = this.#switches(event);
    begin();
    this.#time.after(event.forMs, end);
  }

  #switches(event: Exclude<PlannedEvent, CrashEvent>): readonly [begin: () => void, end: () => void] {
    switch (event.kind) {
      case 'outage':
        return [() => void (this.#wire.outage = event.how), () => void (this.#wire.outage = undefined)];
      case 'fullDisk':
        return [() => void (this.#disk.full = true), () => void (this.#disk.full = false)];
      case 'skew':
        return [() => void (this.#wire.skewMs = event.byMs), () => void (this.#wire.skewMs = 0)];
      case 'quiet':
        return [() => void (this.#quiet = true), () => void (this.#quiet = false)];
    }
  }

  #heal(): void {
    this.#trace.say('the faults end');
    this.#healed = true;
    this.#armed = [];
    this.#quiet = false;
    this.#disk.full = false;
    Object.assign(this.#wire, { healed: true, outage: undefined, skewMs: 0 });
  }

  #crowdTurn(crowd: Crowd): void {
    if (this.#atRest) return;
    crowd.turn();
    this.#time.after(crowdMs, () => this.#crowdTurn(crowd));
  }

  #humanTurn(): void {
    this.#time.after(this.#humanChance.between(1_500, 8_000), () => {
      if (this.#healed) return;
      const at = this.#humanChance.pick([btc, eth]);
      this.#trace.say(`human ${this.#human.turn(at, this.#crowds.get(at.symbol)?.mid ?? 100)}`);
      this.#humanTurn();
    });
  }

  #leaves(request: Parameters<typeof check.createdId>[0]): void {
    this.#try('I10', this.#spending.spend(request, this.#time.now()));
    const id = check.createdId(request);
    if (id === undefined) return;
    const hash = createHash('sha256').update(request.body ?? '').digest('hex');
    this.#try('I2', check.createsFollowCommits(id, hash, this.#sent, this.#disk.db));
  }

  #committed(entries: Parameters<typeof check.committedEntries>[0]): void {
    const { db } = this.#disk;
    countEvents(entries, this.#states, this.#reach);
    for (const entry of entries) {
      if (entry.kind !== 'event') continue;
      if (entry.event === 'unknown') this.#unknowns++;
      this.#trace.say(`event ${entry.clientOrderId} ${entry.event} ${JSON.stringify(entry.detail)}`);
    }
    const { fills, orders } = check.committedEntries(entries);
    this.#fills += fills.length;
    for (const fill of fills) {
      this.#trace.say(`fill ${fill.tradeId} ${fill.orderId} ${fill.side} ${fill.quantity} of ${fill.clientOrderId}`);
      this.#try('I3', check.fillsAreTheExchanges(fill, this.#truth));
      this.#try('I5', check.fillsFitOrders(fill, db));
    }
    for (const row of orders) {
      const before = this.#states.get(row.clientOrderId);
      if (before !== row.state) this.#trace.say(`order ${row.clientOrderId} is ${row.state}`);
      this.#try('I4', check.closedAddsUp(row, this.#truth, db));
      this.#try('I9', check.closedStaysClosed(row, before));
      const now = this.#plan.lateQueue ? Number.NEGATIVE_INFINITY : this.#time.now();
      this.#try('I7', check.absenceIsNotTooEarly(row, before, this.#wire.pending.keys(), now));
      this.#states.set(row.clientOrderId, row.state);
    }
  }

  #changed(...[orders, trades]: Parameters<Truth['see']>): void {
    const fresh = this.#truth.see(orders, trades);
    if (fresh.length === 0) return;
    this.#try('I1', check.ordersHaveIntents(fresh, this.#truth, this.#disk.db));
    for (const order of fresh) {
      let held = noUnits;
      for (const id of strategyIds) held = plus(held, this.#truth.position(id, order.symbol));
      const price = this.#crowds.get(order.symbol)?.mid ?? 100;
      this.#try('I8', check.exposureStaysBelowLimit(order, this.#truth, held, price));
      this.#try('I8', check.nothingIsBoughtTwice(order, this.#truth));
    }
  }

  #checkAtRest(): void {
    if (this.#failure !== undefined || this.#process === undefined) return;
    this.#venue.advance();
    this.#venue.look();
    const { assembled } = this.#process;
    const { exchange } = this.#venue;
    const broken = brokenAtRest({ db: this.#disk.db, truth: this.#truth, exchange, assembled });
    if (broken !== undefined) this.#fail(broken.invariant, broken.text);
  }

  #try(invariant: string, verdict: check.Verdict): void {
    if (verdict !== undefined) this.#fail(invariant, verdict);
  }

  #fail(invariant: string, text: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = { invariant, text, atMs: this.#time.elapsed() };
    this.#trace.say(`BROKEN ${invariant}: ${text}`);
  }

  result(): WorldResult {
    return {
      seed: this.#plan.seed,
      failure: this.#failure,
      hash: this.#trace.hash,
      steps: this.#time.steps,
      crashes: this.#crashes,
      unknowns: this.#unknowns,
      creates: this.#sent.size,
      fills: this.#fills,
      commits: this.#disk.commits,
      virtualMs: this.#time.elapsed(),
      reach: this.#reach,
      trace: this.#trace.lines,
    };
  }

  /** The process is silenced: what it waits for never comes. */
  close(): void {
    if (this.#process !== undefined) this.#process.life.alive = false;
    this.#disk.close();
  }
}
