/** What is made of the entries of the journal while a daemon runs: the view of the dashboard, and the events that are logged and shown. */
import { filter, type Observable } from 'rxjs';
import type { Alerts } from '../alerts/alerts.ts';
import type { Budget } from '../budget/budget.ts';
import type { ScaledClock } from '../clock/clock.ts';
import type { AlertsConfig } from '../config/alerts.ts';
import { isLoopback } from '../config/schema.ts';
import type { DaemonState, View } from '../dashboard/view.ts';
import type { Entry } from '../journal/entries.ts';
import { held } from '../trading/hot-streams.ts';
import type { Exchange } from '../venue/exchange/exchange.ts';
import { isForPeople, logEvent, type SessionEvent, SessionEvents } from './log/events.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { SessionOptions, Undo } from './options.ts';
import type { ReadConfig } from './reload/reload-config.ts';
import { stateOptionFor } from './state-in-commands.ts';
import { IndicatorCharts } from './view/indicator-charts.ts';
import { isKillEntry } from './view/notices.ts';
import { leftOpenText } from './view/strategy-view.ts';
import { Screen, type ScreenOptions } from './view/view.ts';
import { bannedText } from './watch/exchange-watch.ts';

interface Connected {
  readonly clock: ScaledClock;
  readonly limits: Pick<Budget, 'meter' | 'stoppedUntil'>;
  readonly exchange: Pick<Exchange, 'noMarketData'>;
}

type Shown = Pick<ScreenOptions, 'hosted' | 'assembled' | 'unprotected' | 'blocked' | 'loaded'>;

export interface Observed {
  readonly screen: Screen;
  readonly indicators: IndicatorCharts;
  readonly metrics: Metrics | undefined;
  /** Events, kept until somebody subscribes. */
  readonly shown: Observable<SessionEvent>;
  /** Undefined where none are configured. */
  readonly alerts: Alerts | undefined;
  see(entry: Entry): void;
  /** Changes the daemon's state, which is shown and logged. */
  enter(state: DaemonState): void;
  /** Reports the state where it changed by itself: by a kill, its end, or market data. */
  reportState(): void;
  /** Reports what happened in a day. */
  summarize(text: string): void;
  /** Changes the alerts and the log to what the configuration says now. */
  follow(next: ReadConfig): void;
  /** When the daily summary is due; undefined where none is configured. */
  summaryTime(): AlertsConfig['summary'];
}

/** Begins to observe. `undo` ends it. */
export function observe(options: SessionOptions, reached: Connected, made: Shown, undo: Undo): Observed {
  const screen = screenOf(options, reached, made);
  const { portfolio } = made.assembled;
  const events = new SessionEvents({
    speed: options.config.exchange.speed,
    instrument: (symbol) => portfolio.instrument(symbol),
    order: (clientOrderId) => portfolio.order(clientOrderId),
    now: () => reached.clock.now(),
  });
  options.metrics?.follow({ ...reached, ...made, screen });
  const logged = events.stream.subscribe((event) => logEvent(options.log, event));
  const banners = events.stream.subscribe((event) => screen.seeEvent(event));
  const shown = held(events.stream);
  const alerts = sendAlerts(options, events, undo);
  undo.unshift(() => {
    logged.unsubscribe();
    banners.unsubscribe();
    shown.end();
  });
  let configured = options.config;
  const reportChange = stateReports(events, screen);
  const reportState = (): void => {
    events.countHalts();
    reportChange(reached.exchange.noMarketData() === undefined, made.blocked() !== undefined);
  };
  return {
    screen,
    indicators: new IndicatorCharts(),
    metrics: options.metrics,
    shown: shown.stream,
    alerts,
    see(entry) {
      const ban = isKillEntry(entry) ? bannedText(options, reached.limits) : undefined;
      screen.see(entry, ban);
      events.see(entry, ban);
      options.metrics?.see(entry);
    },
    enter(state) {
      screen.state = state;
      reportState();
    },
    reportState,
    summarize: (text) => events.summary(text),
    follow({ config, alertSecrets }) {
      configured = config;
      options.changeLog?.(config.log);
      if (config.alerts !== undefined && alertSecrets !== undefined)
        options.alerts?.configure({ config: config.alerts, secrets: alertSecrets });
    },
    summaryTime: () => configured.alerts?.summary,
  };
}

/** Reports the state where it changed, and again where it was reported as blocked and is not any more: the last message must not be wrong. */
export function stateReports(
  events: Pick<SessionEvents, 'state'>,
  screen: Pick<Screen, 'shownState' | 'reason'> & { readonly view: () => Pick<View, 'stateText' | 'strategies'> },
): (hasData: boolean, isBlocked: boolean) => void {
  let reported = '';
  let wasBlocked = false;
  return (hasData, isBlocked) => {
    const state = screen.shownState;
    const now = `${state} ${state !== 'ready' || hasData}`;
    if (now === reported && (isBlocked || !wasBlocked)) return;
    [reported, wasBlocked] = [now, isBlocked];
    const { stateText, strategies } = screen.view();
    const level = state === 'stopping' && leftOpenText(strategies) !== undefined ? 'warn' : 'info';
    events.state(level, state, hasData, stateText, screen.reason);
  };
}

/** Sends the events by the alerts of the start, until the session ends. */
function sendAlerts({ alerts, log }: SessionOptions, events: SessionEvents, undo: Undo): Alerts | undefined {
  if (alerts?.sender === undefined) return undefined;
  alerts.troublesTo((level, text) => events.ofAlerts(level, text));
  const sent = events.stream.pipe(filter(isForPeople())).subscribe((event) => {
    // The alerts send their own troubles by the channels that work, and a warning reports that market data is missing.
    if (event.kind === 'alerts' || (event.kind === 'state' && event.state === 'ready' && !event.hasMarketData)) return;
    alerts.add(event, { resumesAll: event.kind === 'resume' && event.strategy === null });
  });
  undo.unshift(() => {
    sent.unsubscribe();
    alerts.troublesTo((level, text) => log[level](text));
  });
  return alerts.sender;
}

const screenOf = (
  { mode, stateDir, secrets, config }: SessionOptions,
  { clock, limits, exchange }: Connected,
  made: Shown,
): Screen =>
  new Screen({
    mode,
    isRealMoney: secrets !== undefined && !isLoopback(config.exchange.restUrl),
    exchangeUrl: config.exchange.restUrl,
    stateOption: stateOptionFor(mode, stateDir),
    speed: config.exchange.speed,
    now: () => clock.now(),
    weight() {
      const { ip, uid, waiting, stoppedUntil } = limits.meter();
      return { ip, uid, waiting, bannedUntil: stoppedUntil };
    },
    banned: () => bannedText({ secrets }, limits),
    noMarketData: () => exchange.noMarketData(),
    ...made,
  });
