/**
 * What a daemon measures, for Prometheus. In: entries of the journal, durations, and the parts of a session. Out: the text of a scrape, and whether
 * the daemon is healthy and ready. Definitions are in `definitions.ts`, the server is `server.ts`.
 *
 * Labels have few values: strategies and symbols of the configuration, rules, channels. No text of others is one.
 */
import { existsSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { outboxFile, waitingIn } from '../../alerts/outbox.ts';
import type { Budget } from '../../budget/budget.ts';
import { realMs, type ScaledClock, watchLoop } from '../../clock/clock.ts';
import type { DaemonState } from '../../dashboard/view.ts';
import { unitsNumber } from '../../domain/money.ts';
import type { Entry, EventEntry } from '../../journal/entries.ts';
import type { WriterHost } from '../../journal/journal.ts';
import { journalFile } from '../../journal/open.ts';
import type { Kill } from '../../risk/kill.ts';
import type { Assembled } from '../../trading/assemble.ts';
import { tradedSymbols } from '../../trading/lanes.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import type { Exchange } from '../../venue/exchange/exchange.ts';
import type { OrderEntry } from '../../venue/venue.ts';
import { type Definitions, definitions, outcomes, type Stage, states } from './definitions.ts';

/** The parts of a running session that are read at each scrape. */
export interface Measured {
  readonly clock: Pick<ScaledClock, 'now' | 'machine'>;
  readonly assembled: Pick<Assembled, 'portfolio' | 'risk' | 'execution'>;
  readonly hosted: readonly NamedHosted[];
  readonly limits: Pick<Budget, 'meter'>;
  readonly exchange: Pick<Exchange, 'noMarketData'>;
  readonly screen: { readonly shownState: DaemonState };
  /** Why nothing may be created at this moment. */
  readonly blocked: () => string | undefined;
}

export interface MetricsOptions {
  readonly mode: string;
  readonly version: string;
  readonly stateDir: string;
  readonly log: { readonly lost: number };
}

/** Answers of `/health` and `/ready`. The words are ours: no text of an exchange or a strategy is in them. */
export interface Readiness {
  readonly isOk: boolean;
  readonly state: (typeof states)[number];
  /** Why it is not; empty if it is. */
  readonly reasons: readonly string[];
  /** Strategies that somebody, or a limit, paused or killed. */
  readonly paused: readonly string[];
  readonly killed: readonly string[];
}

/** Of the delays of the event loop. */
const quantiles = [0.5, 0.99, 1];

/** A scrape is calculated at most so often, real ms: whoever asks more often gets the last one. */
const minReadGapMs = 1_000;

export class Metrics {
  readonly #options: MetricsOptions;
  readonly #metrics: Definitions = definitions();
  readonly #loop = watchLoop();
  #measured: Measured | undefined;
  #last: { readonly at: number; readonly text: Promise<string> } | undefined;

  constructor(options: MetricsOptions) {
    this.#options = options;
    const { mode, version } = options;
    this.#metrics.build.set({ version, mode, node: process.versions.node }, 1);
  }

  get contentType(): string {
    return this.#metrics.registry.contentType;
  }

  /** Begins to read a session. */
  follow(measured: Measured): void {
    this.#measured = measured;
  }

  /** Takes an entry of the journal. */
  see(entry: Entry): void {
    const { fills, denials, notices } = this.#metrics;
    if (entry.kind === 'fill') fills.inc({ strategy: entry.strategy, symbol: entry.symbol, side: entry.side });
    else if (entry.kind === 'denied')
      denials.inc({ strategy: entry.strategy, rule: entry.code }, 1 + (entry.repeated?.times ?? 0));
    else if (entry.kind === 'notice') notices.inc({ level: entry.level });
    else if (entry.kind === 'event') this.#seeEvent(entry);
  }

  #seeEvent({ clientOrderId, event }: EventEntry): void {
    const outcome = outcomes[event];
    const strategy = this.#measured?.assembled.portfolio.order(clientOrderId)?.intent.strategy;
    if (outcome !== undefined && strategy !== undefined) this.#metrics.orders.inc({ strategy, outcome });
  }

  /** Takes how long something took, real ms. */
  took(stage: Stage, ms: number): void {
    this.#metrics.latency.observe({ stage }, ms / 1_000);
  }

  /** The event loop answers, for this is called, and the journal takes entries. */
  health(): Readiness {
    const isWritable = this.#measured?.assembled.execution.journal.full !== true && existsSync(this.#options.stateDir);
    return this.#readiness(isWritable ? [] : ['the journal cannot be written']);
  }

  /** New positions could be entered now, but for those of strategies that are paused or killed: that is no failure of the daemon. */
  ready(): Readiness {
    return this.#readiness([...this.health().reasons, ...unready(this.#measured)]);
  }

  #readiness(reasons: readonly string[]): Readiness {
    const { hosted = [], assembled, screen } = this.#measured ?? {};
    const by = (kind: Kill['kind']): readonly string[] =>
      hosted.flatMap(({ id }) => (assembled?.risk.switch.of(id)?.kind === kind ? [id] : []));
    const shown = screen?.shownState ?? 'starting';
    const state = shown === 'ready' && unready(this.#measured).length > 0 ? 'waiting' : shown;
    return { isOk: reasons.length === 0, state, reasons, paused: by('pause'), killed: by('kill') };
  }

  /** All metrics in the text format of Prometheus. Rejects where they cannot be read. */
  async text(): Promise<string> {
    const now = realMs();
    if (this.#last === undefined || now - this.#last.at >= minReadGapMs) {
      this.#read();
      this.#last = { at: now, text: this.#metrics.registry.metrics() };
    }
    return this.#last.text;
  }

  #read(): void {
    const { state, healthy, ready, loopDelay, logLost } = this.#metrics;
    const { state: now, isOk } = this.ready();
    for (const name of states) state.set({ state: name }, name === now ? 1 : 0);
    ready.set(isOk ? 1 : 0);
    healthy.set(this.health().isOk ? 1 : 0);
    for (const [index, delay] of this.#loop.take(quantiles).entries())
      loopDelay.set({ quantile: String(quantiles[index]) }, delay);
    logLost.reset();
    logLost.inc(this.#options.log.lost);
    this.#readFiles();
    if (this.#measured !== undefined) readSession(this.#metrics, this.#measured);
  }

  #readFiles(): void {
    const { journalBytes, diskFree, alertsQueued } = this.#metrics;
    const { stateDir } = this.#options;
    const sizeOf = (name: string): number => statSync(join(stateDir, name), { throwIfNoEntry: false })?.size ?? 0;
    journalBytes.set(sizeOf(journalFile) + sizeOf(`${journalFile}-wal`));
    try {
      const { bavail, bsize } = statfsSync(stateDir);
      diskFree.set(bavail * bsize);
      alertsQueued.reset();
      if (!existsSync(join(stateDir, outboxFile))) return;
      for (const [channel, count] of waitingIn(stateDir)) alertsQueued.set({ channel }, count);
    } catch {
      // The directory was removed, or no file can be opened: `health` says so.
    }
  }
}

/** Why nothing new could be entered. */
function unready(measured: Measured | undefined): readonly string[] {
  if (measured === undefined) return ['starting'];
  const { screen, exchange, blocked, hosted, assembled, clock } = measured;
  const { risk, portfolio } = assembled;
  const state = screen.shownState;
  const symbols = [...new Set(tradedSymbols(hosted).map(({ symbol }) => symbol))];
  const maxAgeMs = clock.machine(risk.limits.maxDataAgeMs);
  const stale = symbols.filter((symbol) => clock.now() - (portfolio.lastMark(symbol)?.at ?? 0) > maxAgeMs);
  return [
    ...(state === 'ready' ? [] : [state]),
    ...(exchange.noMarketData() === undefined ? [] : ['no market data']),
    ...stale.map((symbol) => `no fresh price of ${symbol}`),
    ...(blocked() === undefined ? [] : ['orders are blocked for now']),
  ];
}

function readSession(metrics: Definitions, { assembled, clock, hosted, limits, exchange }: Measured): void {
  const { portfolio, risk, execution } = assembled;
  const seconds = (ms: number): number => Math.max(0, ms / clock.machine(1_000));
  const now = clock.now();
  const orders = [...portfolio.orders()];
  const unknown = orders.filter(({ state }) => state === 'unknown' || state === 'quarantined');
  metrics.unknown.set(unknown.length);
  metrics.unknownAge.set(seconds(now - Math.min(now, ...unknown.map(({ intent }) => intent.createdAt))));
  for (const { id, symbol } of tradedSymbols(hosted)) {
    metrics.strategyEquity.set({ strategy: id }, unitsNumber(portfolio.equity(id, symbol)));
    metrics.openOrders.set({ strategy: id, symbol }, portfolio.ordersOf(id, symbol).length);
    const mark = portfolio.lastMark(symbol)?.price;
    if (mark !== undefined)
      metrics.positionValue.set({ strategy: id, symbol }, unitsNumber(portfolio.position(id, symbol).base) * mark);
  }
  for (const symbol of new Set(tradedSymbols(hosted).map((one) => one.symbol))) {
    const at = portfolio.lastMark(symbol)?.at;
    if (at !== undefined) metrics.feedAge.set({ symbol }, seconds(now - at));
  }
  const { ip, uid, waiting, stoppedUntil } = limits.meter();
  for (const [of, { used, max }] of Object.entries({ ip, uid })) {
    metrics.weightUsed.set({ of }, used);
    metrics.weightLimit.set({ of }, max);
  }
  metrics.requestsWaiting.set(waiting);
  metrics.banned.set(stoppedUntil === undefined ? 0 : seconds(stoppedUntil - now));
  for (const kind of ['kill', 'pause'] as const)
    metrics.kills.set({ kind }, risk.switch.inForce.filter((one) => one.kind === kind).length);
  metrics.halts.set(execution.halts.inForce.length);
  metrics.marketData.set(exchange.noMarketData() === undefined ? 1 : 0);
  if (portfolio.isPriced()) metrics.equity.set(unitsNumber(portfolio.totalEquity()));
  metrics.dayStartEquity.set(unitsNumber(risk.dayStart.equity));
}

/** The same orders; how long each request took is measured. */
export function timedOrders(orders: OrderEntry, metrics: Pick<Metrics, 'took'> | undefined): OrderEntry {
  if (metrics === undefined) return orders;
  const timed = async <T>(stage: Stage, work: Promise<T>): Promise<T> => {
    const begun = realMs();
    const result = await work;
    metrics.took(stage, realMs() - begun);
    return result;
  };
  return {
    ...orders,
    admit: (until) => timed('weight', orders.admit(until)),
    prepare(intent, instrument) {
      const prepared = orders.prepare(intent, instrument);
      return { ...prepared, send: (gate) => timed('create', prepared.send(gate)) };
    },
    cancel: (order, lane) => timed('cancel', orders.cancel(order, lane)),
  };
}

/** The same host; how long each commit took is measured. */
export const timedHost = (host: WriterHost, metrics: Pick<Metrics, 'took'> | undefined): WriterHost =>
  metrics === undefined
    ? host
    : {
        ...host,
        async write(entries) {
          const begun = realMs();
          const result = await host.write(entries);
          metrics.took('commit', realMs() - begun);
          return result;
        },
      };
