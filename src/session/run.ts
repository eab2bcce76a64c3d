/** A running session: watches prices, runs strategies and sweeps for fills until it is stopped. */

import { defer, EMPTY, type Observable, switchMap, takeUntil } from 'rxjs';
import type { Alerts } from '../alerts/alerts.ts';
import { wellEveryMs } from '../alerts/ping.ts';
import { pricesName } from '../books/daily-proof.ts';
import type { Price } from '../books/profit.ts';
import type { Budget } from '../budget/budget.ts';
import { every, pause, type ScaledClock } from '../clock/clock.ts';
import type { DaemonState } from '../dashboard/view.ts';
import { priceText, unitsText } from '../domain/money.ts';
import { type Decision, decisionOf } from '../domain/order.ts';
import { differenceText, subLedgerDifferences } from '../execution/ledger.ts';
import type { Notice } from '../journal/entries.ts';
import type { Journal } from '../journal/journal.ts';
import type { PositionKey } from '../portfolio/by-position.ts';
import { trade } from '../trader.ts';
import type { Assembled } from '../trading/assemble.ts';
import { type Source, source } from '../trading/hot-streams.ts';
import { noteDay } from '../trading/kill-switch.ts';
import { tradedSymbols } from '../trading/lanes.ts';
import { PendingTakeProfits, waitMs } from '../trading/pending-take-profits.ts';
import { beatMs, freshness } from '../trading/price-freshness.ts';
import { watchLoss, watchPrices } from '../trading/price-updates.ts';
import type { NamedHosted } from '../trading/strategies.ts';
import type { Exchange } from '../venue/exchange/exchange.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { ConnectOptions } from './preflight/connect.ts';
import type { Reloads } from './reload/reload.ts';
import { type StoppedStrategy, stoppedName } from './strategies/stopped-strategies.ts';
import { strategySignals } from './strategies/strategy-runner.ts';
import { summaryCheckMs } from './summary/daily-summary.ts';
import type { IndicatorCharts } from './view/indicator-charts.ts';
import { formerPositions } from './view/strategy-view.ts';
import type { Screen } from './view/view.ts';
import {
  banKeeper,
  bannedUntilName,
  marketKeeper,
  noExchangeTimeName,
  noMarketDataName,
  timeKeeper,
} from './watch/exchange-watch.ts';
import { health, healthMs } from './watch/health.ts';
import { watchKills } from './watch/kill-watcher.ts';
import { whyUnhealthy } from './watch/ping-condition.ts';
import type { UnprotectedTimes } from './watch/unprotected-time.ts';

export interface Made {
  readonly clock: ScaledClock;
  readonly limits: Pick<Budget, 'meter'>;
  readonly exchange: Exchange;
  readonly journal: Journal;
  readonly assembled: Assembled;
  readonly unprotected: UnprotectedTimes;
  readonly screen: Screen;
  readonly indicators: IndicatorCharts;
  readonly metrics: Metrics | undefined;
  /** Changes the daemon's state, which is shown and logged. */
  readonly enter: (state: DaemonState) => void;
  /** Reports the state where it changed by itself: by a kill, its end, or market data. */
  readonly reportState: () => void;
  readonly hosted: readonly NamedHosted[];
  readonly reloads: Pick<Reloads, 'of'>;
  readonly notice: (notice: Notice) => void;
  readonly reaching: ConnectOptions;
  readonly stateDir: string;
  readonly onShutdown: 'cancel' | 'keep';
  readonly fatal: (error: Error) => void;
  /** Undefined where none are configured. */
  readonly alerts: Alerts | undefined;
  /** Why nothing may be created at this moment. */
  readonly blocked: () => string | undefined;
  /** The daily summary, to be called often. */
  readonly summary: () => void;
}

/** Between two points of the equity curve, ms of the clock. */
const equityEveryMs = 60_000;
/** Between two comparisons of the ledger with the account, real ms. */
const auditEveryMs = 60_000;
/** Between two retries of pending work, real ms. */
const retryMs = 1_000;
/** Between two checks of the exchange's time and of market data, real ms. */
const timeMs = 1_000;
/** How long stopping waits for orders in flight and resting ones, and again for sweeps, real ms. */
const stopPatienceMs = 8_000;

export function run(made: Made) {
  const { clock, assembled, enter, hosted, fatal } = made;
  const stopping = source<true>();
  let isStopping = false;
  const tasks = new AbortController();
  // Stops of former strategies need prices, and the fills of their orders need sweeps.
  const former = formerPositions(assembled.portfolio, tradedSymbols(hosted));
  const symbols = [...new Set([...tradedSymbols(hosted), ...former].map(({ symbol }) => symbol))];
  const fresh = freshness(clock);
  const watched = symbols.map((symbol) => watchPrices({ ...made, feed: made.exchange.feed }, symbol, fresh));
  const course = stoppedByThemselves(made);
  const begin = (one: NamedHosted): Observable<Decision> => {
    course.began(one.id);
    return strategySignals({ ...made, failed: course.failed }, one);
  };
  const again = source<Decision>();
  const ready = Promise.withResolvers<void>();

  const trader = {
    ...assembled.trader,
    async recover() {
      enter('recovering');
      await assembled.trader.recover();
      enter('ready');
      for (const position of former) reportFormer(made, position);
      for (const symbol of symbols) void assembled.sweeps.watch(symbol).catch(fatal);
      void every(clock, clock.machine(auditEveryMs), tasks.signal, () => audit(assembled)).catch(fatal);
      void every(clock, clock.machine(retryMs), tasks.signal, targetsOf(made, again)).catch(fatal);
      ready.resolve();
    },
    // A stop that came while recovery went on is over when strategies would begin.
    decisions: [
      ...hosted.map((one) =>
        defer(() => (isStopping ? EMPTY : made.reloads.of(one.id).pipe(switchMap(begin), takeUntil(stopping.stream)))),
      ),
      again.stream.pipe(takeUntil(stopping.stream)),
    ],
  };
  const trading = trade(trader).subscribe({ error: fatal });
  lookAfter(made, fresh, tasks.signal);

  async function atMost(work: Promise<unknown>): Promise<void> {
    const patience = new AbortController();
    await Promise.race([work, pause(clock, clock.machine(stopPatienceMs), patience.signal)]);
    patience.abort();
  }
  return {
    ready: ready.promise,
    async stop(): Promise<void> {
      enter('stopping');
      isStopping = true;
      stopping.emit(true);
      await atMost(assembled.end(made.onShutdown));
      // The ledger must equal the account at the end.
      await atMost(audit(assembled));
      // A fill that a sweep has just found must still be booked.
      await atMost(assembled.sweeps.stop());
      reportLeftOrders(made);
      tasks.abort();
      for (const end of watched) end();
      trading.unsubscribe();
    },
  };
}

/** Starts the work beside trading, until the signal. */
function lookAfter(made: Made, fresh: ReturnType<typeof freshness>, signal: AbortSignal): void {
  const { clock, assembled, unprotected, journal, fatal } = made;
  const each = (ms: number, work: () => Promise<void> | void): void => void every(clock, ms, signal, work).catch(fatal);
  void watchKills(made, signal).catch(fatal);
  each(clock.machine(healthMs), healthOf(made));
  each(equityEveryMs, () => noteEquity(made));
  each(clock.machine(beatMs), () => fresh.beat());
  each(clock.machine(retryMs), () => {
    assembled.retryPending();
    unprotected.update();
  });
  const rememberAs =
    (name: string) =>
    (value: string): void =>
      journal.append({ kind: 'memory', name, value });
  const stoppedUntil = (): number | undefined => made.limits.meter().stoppedUntil;
  each(clock.machine(timeMs), timeKeeper({ ...made, stoppedUntil, remember: rememberAs(noExchangeTimeName) }));
  each(clock.machine(timeMs), banKeeper({ ...made, stoppedUntil, remember: rememberAs(bannedUntilName) }));
  each(clock.machine(timeMs), marketKeeper({ ...made, remember: rememberAs(noMarketDataName) }));
  each(clock.machine(timeMs), made.reportState);
  each(clock.machine(wellEveryMs), () => {
    if (whyUnhealthy(made) === undefined) made.alerts?.well();
  });
  each(clock.machine(summaryCheckMs), made.summary);
}

/** Places take-profits for entries that filled after the last signal. */
function targetsOf({ assembled, hosted, clock }: Made, again: Source<Decision>): () => void {
  const { risk, execution } = assembled;
  const targets = new PendingTakeProfits(assembled, (times) => clock.machine(waitMs(times)));
  const isForbidden = (strategy: string): boolean =>
    execution.halts.against() !== undefined || risk.switch.against({ strategy, purpose: 'takeProfit' }) !== undefined;
  return () => {
    for (const one of tradedSymbols(hosted)) {
      if (isForbidden(one.id)) {
        targets.forget(one);
        continue;
      }
      const leg = targets.due(one, clock.now());
      if (leg !== undefined) again.emit(decisionOf(leg));
    }
  };
}

/** Keeps which strategies threw, for the screen and for `sluice status`; none has at the start. */
function stoppedByThemselves({ screen, journal, clock }: Made) {
  let stopped: readonly StoppedStrategy[] = [];
  const remember = (): void => journal.append({ kind: 'memory', name: stoppedName, value: JSON.stringify(stopped) });
  remember();
  return {
    failed: (strategy: string, error: string): void => {
      screen.failed(strategy, error);
      stopped = [...stopped, { strategy, at: clock.now(), error }];
      remember();
    },
    /** Also again, with new code. */
    began: (strategy: string): void => {
      if (!stopped.some((one) => one.strategy === strategy)) return;
      screen.began(strategy);
      stopped = stopped.filter((one) => one.strategy !== strategy);
      remember();
    },
  };
}

const healthOf = ({ clock, exchange, assembled, notice, fatal }: Made): (() => void) =>
  health({
    clock,
    halts: assembled.execution.halts,
    syncTime: () => exchange.syncTime(),
    sweepAll: () => assembled.sweeps.sweepAll(),
    notice,
    fatal,
  });

/** Reports a position or orders of a strategy that is no longer configured. */
function reportFormer({ assembled: { portfolio, protection }, notice }: Made, { strategy, symbol }: PositionKey): void {
  const at = portfolio.instrument(symbol);
  const stop = protection.stops(symbol).find((one) => one.strategy === strategy);
  const guard = stop === undefined ? 'without a stop' : `with a stop at ${priceText(stop.price, at)} in force`;
  const rest = protection.isGuarded(strategy, symbol)
    ? 'keeps its exits in force, and places no other orders'
    : 'places no orders';
  const orders = portfolio.ordersOf(strategy, symbol).length;
  const left: string[] = [];
  if (portfolio.holding(strategy, symbol).quantity !== 0)
    left.push(`holds ${unitsText(portfolio.position(strategy, symbol).base)} ${at.base} ${guard}`);
  if (orders > 0) left.push(`has ${orders} open ${orders === 1 ? 'order' : 'orders'}`);
  if (left.length === 0) return;
  notice({
    level: 'warn',
    text: `strategy ${strategy} is no longer configured for ${symbol} but ${left.join(' and ')}: Sluice tracks its prices and fills, ${rest}`,
  });
}

/** Reports orders that should have ended: the exchange was too slow, or their outcome is unknown. */
function reportLeftOrders({ assembled, onShutdown, notice }: Made): void {
  const left = [...assembled.portfolio.orders()].filter(({ state }) => onShutdown === 'cancel' || state === 'unknown');
  if (left.length === 0) return;
  const list = left.map(({ intent, state }) => `${intent.clientOrderId} on ${intent.symbol} (${state})`).join(', ');
  notice({ level: 'warn', text: `stopped before these orders had ended: ${list}; the next start resolves them` });
}

async function audit(assembled: Assembled): Promise<void> {
  await assembled.audit();
  const { books, halts } = assembled.execution;
  const off = books === undefined ? [] : subLedgerDifferences(assembled.portfolio, books.ledger);
  if (off.length > 0)
    halts.halt(
      'ledger',
      `the positions of the strategies differ from the fills: ${off.map(differenceText).join(', ')}`,
    );
}

/** The prices that the equity was calculated with. */
const lastPrices = ({ portfolio }: Assembled): Readonly<Record<string, Price>> =>
  Object.fromEntries(
    [...portfolio.instruments].flatMap(([symbol, at]) => {
      const [mark, price] = [portfolio.lastMark(symbol), portfolio.markTicks(symbol)];
      return mark === undefined || price === undefined ? [] : [[symbol, { price: priceText(price, at), at: mark.at }]];
    }),
  );

function noteEquity({ clock, journal, assembled }: Made): void {
  const { portfolio, risk } = assembled;
  if (!portfolio.isPriced()) return;
  watchLoss(assembled);
  journal.append({ kind: 'equity', at: clock.now(), equity: unitsText(portfolio.totalEquity()) });
  journal.append({ kind: 'memory', name: pricesName, value: JSON.stringify(lastPrices(assembled)) });
  noteDay(risk, journal);
}
