/** A trading daemon, live or on paper. The modes differ in the venue of their orders. Begin with `startSession`. */

import { randomBytes } from 'node:crypto';
import type { Observable } from 'rxjs';
import type { Budget } from '../budget/budget.ts';
import { accountName } from '../budget/shared-file.ts';
import { machineWall, ScaledClock, systemClock, systemRng } from '../clock/clock.ts';
import { type Assets, loadAssetsInThread } from '../dashboard/assets.ts';
import { type Dashboard, type DashboardSource, startDashboard } from '../dashboard/dashboard.ts';
import type { Indicators } from '../dashboard/indicators.ts';
import type { Klines } from '../dashboard/klines.ts';
import type { Pushed } from '../dashboard/push.ts';
import type { Instrument } from '../domain/instrument.ts';
import type { Entry, Notice } from '../journal/entries.ts';
import type { Journal } from '../journal/journal.ts';
import type { Loaded } from '../journal/load.ts';
import { discard, type OpenedState } from '../journal/open.ts';
import { pendingText } from '../portfolio/flattening.ts';
import { type Assembled, assemble, type Parts } from '../trading/assemble.ts';
import { speedName } from '../trading/format.ts';
import { aloneRules, lanesOf, tradedSymbols } from '../trading/lanes.ts';
import { allocationsOf, type Configured, hostedOf, instrumentsFor, withoutUnlisted } from '../trading/strategies.ts';
import { type Exchange, exchange } from '../venue/exchange/exchange.ts';
import { type Balance, ok } from '../venue/venue.ts';
import { actionsOf } from './control/actions.ts';
import { confirmed, storeKill } from './control/confirm-on-disk.ts';
import { history } from './history/history.ts';
import { instrumentRows, type LeftOut, leftOutNotices, withFormer } from './instruments.ts';
import { sessionJournal } from './journal.ts';
import type { SessionEvent } from './log/events.ts';
import { timedOrders } from './metrics/metrics.ts';
import { type Observed, observe } from './observe.ts';
import type { SessionOptions, Undo } from './options.ts';
import { allocationChanges, recordStart } from './preflight/allocation-changes.ts';
import { refuseMissingFunds } from './preflight/balance-check.ts';
import { isQueriedByClientId, rememberFact, windowAt } from './preflight/capabilities-file.ts';
import { queryUntilAnswered } from './preflight/connect.ts';
import { askAboutDenials } from './preflight/denials-question.ts';
import { isStrict, limitsOf, NotRaised, versionRows } from './preflight/limits.ts';
import { markTrading, whileOpening } from './preflight/open-state.ts';
import { probeOnce } from './preflight/probe-exchange.ts';
import { refuseAnotherExchange, refuseMeasuredSpeed, refuseOtherSpeed } from './preflight/same-exchange.ts';
import { sharedLimits } from './preflight/shared-limits.ts';
import { refuseWithdrawKey } from './preflight/withdraw-key.ts';
import { Reloads } from './reload/reload.ts';
import { type ConfigReloadRequest, configReload } from './reload/reload-config.ts';
import { type Made, run } from './run.ts';
import { removeDaemonInfo, writeDaemonInfo } from './state.ts';
import { countInThread, dailySummary, summaryName } from './summary/daily-summary.ts';
import { obeyTelegram } from './telegram/telegram.ts';
import { leftOpenText } from './view/strategy-view.ts';
import { awayText, blockedBy } from './watch/blocked.ts';
import { watchHost } from './watch/host-watch.ts';
import { type Terms, watchTerms } from './watch/instrument-updates.ts';
import { lastAliveAt } from './watch/kill-watcher.ts';
import { type UnprotectedTimes, unprotectedMemory, unprotectedTimes } from './watch/unprotected-time.ts';

export interface Session {
  readonly dashboard: Dashboard;
  readonly source: DashboardSource;
  /** What happens, from the start on: kept until somebody subscribes. */
  readonly events: Observable<SessionEvent>;
  /** Resolves when trading has begun: recovery is through. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/** Opens the state, reaches the exchange, recovers, and trades until stopped. */
export async function startSession(options: SessionOptions): Promise<Session> {
  const undo: Undo = [];
  const takeBack = async (): Promise<void> => {
    for (const step of undo.splice(0)) await step();
  };
  let state: OpenedState | undefined;
  try {
    const [opened, [reached, assets]] = await whileOpening(
      options,
      undo,
      (found) => {
        state = found;
      },
      // The page is read here because a large journal is still being examined.
      (signal) => Promise.all([reachExchange({ ...options, signal }, undo), loadAssetsInThread()]),
    );
    const [at] = reached.instruments.values();
    // After the check of the journal, because the results are written into the state directory.
    if (options.secrets !== undefined && at !== undefined)
      await probeOnce(options, reached.exchange, at, reached.clock);
    const own = options.secrets === undefined ? undefined : reached.exchange.orders;
    // Journalled steps may be finer than those that the exchange lists now.
    for (const at of withFormer(reached.instruments, opened.loaded).values()) reached.exchange.setInstrument(at);
    await refuseAnotherExchange(opened.loaded, reached.reaching, own, options.stateDir);
    const report = await askAboutDenials(options, toReplay(reached), opened.loaded.limits);
    const equipped = equip(options, opened, reached, undo);
    const source = {
      ...shownBy(equipped),
      history: historyOf(options, equipped, undo),
      ...confirmed(
        actionsOf({
          ...equipped,
          isStopping: () => equipped.screen.state === 'stopping',
          away: () => awayText(options, equipped.limits, equipped.assembled.sweeps),
        }),
        equipped.journal,
        options.stateDir,
        () => equipped.assembled.risk.switch.inForce,
      ),
    };
    obeyTelegram(options, { ...equipped, source }, undo);
    const dashboard = await serve(options, equipped, source, assets, undo);
    options.recorder?.follow(equipped.exchange.feed, equipped.clock);
    markTrading(options);
    equipped.begun();
    const running = run(equipped);
    report(equipped.notice);
    watchHost(options, equipped, undo);
    return {
      dashboard,
      source,
      events: equipped.shown,
      ready: running.ready,
      async stop() {
        await running.stop();
        const left = [
          leftOpenText(equipped.screen.view().strategies) ?? [],
          equipped.assembled.flattening.pending().map((flatten) => `Flatten of ${pendingText(flatten, false)}.`),
        ].flat();
        await takeBack();
        for (const text of left) options.say(text);
        if (equipped.journal.full) options.say(unwrittenText(options.stateDir));
      },
    };
  } catch (error) {
    await takeBack();
    if (state?.isNew === true && !(error instanceof NotRaised)) discard(state);
    throw error;
  }
}

const toReplay = ({ configured, instruments, exchange }: Reached) => ({
  configured,
  instruments: [...instruments.values()],
  feed: exchange.feed,
});

const unwrittenText = (dir: string): string =>
  `the disk of ${dir} is full: the last rows of its journal could not be written. Orders and fills are read from the exchange at the next start; repeat every resume, adjust and limits command since then; kills are stored as files there`;

interface Reached {
  readonly clock: ScaledClock;
  readonly limits: Budget;
  readonly exchange: Exchange;
  readonly instruments: ReadonlyMap<string, Instrument>;
  /** Without the symbols of lists that the exchange does not list. */
  readonly configured: readonly Configured[];
  readonly leftOut: readonly LeftOut[];
  readonly reaching: Made['reaching'];
  /** Of the account that is traded; undefined where fills are simulated. */
  readonly balances: readonly Balance[] | undefined;
}

async function reachExchange(options: SessionOptions, undo: Undo): Promise<Reached> {
  const { config, log, secrets, stateDir, venueName } = options;
  const url = config.exchange.restUrl;
  const clock = new ScaledClock(config.exchange.speed);
  const limits = sharedLimits(options, clock);
  undo.unshift(() => limits.close());
  options.starting?.watchBans({ clock, stoppedUntil: () => limits.meter().stoppedUntil });
  const x = exchange({
    ...config.exchange,
    apiKey: secrets?.apiKey ?? '',
    apiSecret: secrets?.apiSecret,
    account: config.account,
    clock,
    rng: systemRng,
    spend: limits.spend,
    notice: limits.notice,
    uidSeen: (uid) => limits.identify(accountName(uid)),
    log,
    byClientId: isQueriedByClientId(stateDir, venueName),
    window: windowAt(stateDir, venueName),
    cancelSeen: (cancel) => rememberFact(stateDir, venueName, machineWall(), { cancel }),
    windowSeen: (windowTaken) => rememberFact(stateDir, venueName, machineWall(), { windowTaken }),
    observeFrames: options.recorder?.observeFrames,
  });
  undo.unshift(() => x.close());
  const reaching = { url, clock, signal: options.signal, waiting: options.starting?.waits ?? options.say };
  await queryUntilAnswered(reaching, 'its time', async () => {
    const answer = await x.syncTime();
    await refuseMeasuredSpeed(x, clock, url);
    return answer;
  });
  await refuseOtherSpeed(x, clock, url);
  const available = await queryUntilAnswered(reaching, 'its symbols', () => x.instruments());
  const balances =
    secrets === undefined ? undefined : await queryUntilAnswered(reaching, 'the account', () => x.account.balances());
  if (secrets !== undefined) await refuseWithdrawKey(x, config.execution.withdrawKey === 'accepted');
  options.starting?.reached();
  const { configured, leftOut } = withoutUnlisted(options.configured, available);
  const instruments = instrumentsFor(configured, available, `the exchange at ${url}`);
  return { clock, limits, exchange: x, reaching, instruments, configured, leftOut, balances };
}

type Equipped = Made & {
  readonly limits: Budget;
  readonly reloads: Reloads;
  readonly reloadConfig: (request: ConfigReloadRequest) => string;
  readonly shown: Observable<SessionEvent>;
  /** Journals allocations and versions, for the next start to compare with; called once nothing refuses this one any more. */
  readonly begun: () => void;
};

function equip(options: SessionOptions, state: OpenedState, reached: Reached, undo: Undo): Equipped {
  const { config, stateDir, fatal } = options;
  const { clock, limits, exchange } = reached;
  const instruments = withFormer(reached.instruments, state.loaded);
  const hosted = [...hostedOf(reached.configured, instruments)];
  const traded = tradedSymbols(hosted);
  const venue = options.makeVenue({ ...reached, instruments, traded, loaded: state.loaded });
  const allocations = allocationsOf(reached.configured);
  const versions = versionRows(config, options.configured, state.loaded.limits, clock.now());
  const { loaded, ...since } = allocationChanges(venue.loaded ?? state.loaded, allocations, clock.now());
  let observed: Observed | undefined;
  const early: Entry[] = [];
  const book = sessionJournal(
    { ...options, ...state, loaded, clock },
    {
      notice: (said) => notice(said),
      seen(entry) {
        if (observed === undefined) early.push(entry);
        else observed.see(entry);
        if (entry.kind === 'kill') void storeKill(entry, book, stateDir);
      },
    },
  );
  undo.unshift(() => book.close());
  // The last connection that closes puts the log back into the file: the writer's.
  undo.unshift(() => loaded.past.close());
  for (const row of instrumentRows(instruments, reached.instruments)) book.append(row);
  book.append({ kind: 'memory', name: speedName, value: String(config.exchange.speed) });
  undo.unshift(() => venue.close?.());
  const notice = ({ text, ...rest }: Notice): void => {
    const said = { ...rest, text: observed?.screen.isStopped === true ? whileStopped(text) : text };
    book.append({ kind: 'notice', at: clock.now(), ...said });
    // The status is gone: orders that remain at the exchange must not be reported in the log alone.
    if (observed?.screen.state === 'stopping' && said.level !== 'info') options.say(said.text);
  };
  for (const said of leftOutNotices(reached.leftOut)) notice(said);
  limits.onAlarm((text) => notice({ level: 'error', text }));
  const terms = termsOf(reached, instruments, notice, undo);
  const blocked = blockedBy(options, exchange, limits, terms);
  const assembled = assemble({
    clock,
    journal: book,
    identity: state.identity,
    loaded,
    orders: timedOrders(terms.watched(venue.orders), options.metrics),
    account: config.account,
    dedicated: config.dedicatedAccount,
    ...{ instruments, allocations, notice, blocked },
    limits: limitsOf(config.risk, config.strategies, isStrict(config)),
    newVersions: versions.unreleased,
    aloneSince: lastAliveAt(stateDir, clock),
    timing: { ...config.execution, sweepGapMs: config.execution.sweepMs },
    maxSendDelayMs: config.execution.maxSendDelayMs,
    ...{ laneOf: lanesOf(hosted), aloneRules: aloneRules(hosted) },
    batchCreate: config.execution.batchCreate,
    marketBuyIn: 'amount',
    feeInBase: venue.feeInBase,
    ...accountOf(options, exchange, clock),
  });
  refuseMissing(options, { ...reached, traded, portfolio: assembled.portfolio, notice });
  const unprotected = unprotectedIn(assembled, clock, loaded, book);
  const blockedNow = (): string | undefined => (book.full ? 'the disk is full' : blocked());
  observed = observe(options, reached, { hosted, assembled, unprotected, blocked: blockedNow, loaded }, undo);
  for (const entry of early) observed.see(entry);
  const parts = { ...reached, ...observed, assembled, unprotected, hosted, notice, journal: book, stateDir, blocked };
  const reloadConfig = configReload({ ...options, ...parts, risk: assembled.risk });
  const summary = summaryOf(options, { ...parts, loaded });
  const begun = (): void => recordStart(parts, since, versions, options.log);
  return { ...parts, reloads: new Reloads(parts), reloadConfig, summary, begun, onShutdown: config.onShutdown, fatal };
}

/** The daily summary of a configuration. */
function summaryOf(
  { stateDir }: SessionOptions,
  {
    screen,
    summarize,
    summaryTime,
    journal,
    notice,
    clock,
    loaded,
  }: Pick<Observed, 'screen' | 'summarize' | 'summaryTime'> &
    Pick<Made, 'journal' | 'notice' | 'clock'> & { readonly loaded: Loaded },
): () => void {
  return dailySummary({
    time: summaryTime,
    isReady: () => screen.state === 'ready',
    view: () => screen.view(),
    kept: loaded.memories.get(summaryName),
    journalFrom: loaded.equity[0]?.at ?? clock.now(),
    remember: (value) => journal.append({ kind: 'memory', name: summaryName, value }),
    counts: (since, until) => countInThread({ stateDir, since, until }),
    summarize,
    failed: (error) => notice({ level: 'warn', text: `the daily summary failed: ${String(error)}` }),
    now: machineWall,
    startedAt: machineWall(),
  });
}

function refuseMissing(
  { config, acceptRestored }: SessionOptions,
  {
    balances,
    ...given
  }: Omit<Parameters<typeof refuseMissingFunds>[0], 'balances' | 'isRestored'> & Pick<Reached, 'balances'>,
): void {
  if (balances !== undefined && config.account === 'spot')
    refuseMissingFunds({ balances, isRestored: acceptRestored !== undefined, ...given });
}

const unprotectedIn = (assembled: Assembled, clock: ScaledClock, loaded: Loaded, book: Journal): UnprotectedTimes =>
  unprotectedTimes({
    ...{ assembled, clock, kept: loaded.memories.get(unprotectedMemory) },
    remember: (value) => book.append({ kind: 'memory', name: unprotectedMemory, value }),
  });

/** The end of a passing obstacle lifts no kill or HALT. */
const whileStopped = (text: string): string =>
  text.replace('orders are created again', 'nothing is created before sluice resume');

/** What execution may ask about the account and its time: nothing of a venue that simulates fills, no balances on margin. */
function accountOf(
  { secrets, config }: SessionOptions,
  { account, time }: Exchange,
  clock: ScaledClock,
): Pick<Parts, 'balances' | 'serverTime'> {
  if (secrets === undefined) return {};
  return {
    ...(config.account === 'spot' ? { balances: () => account.balances() } : {}),
    async serverTime() {
      const answer = await time.sync();
      return answer.kind === 'ok' ? ok(clock.now() - answer.value.uncertaintyMs) : answer;
    },
  };
}

/** Follows what the exchange asks of orders in the symbols of this run, until the session ends. */
function termsOf(
  { exchange, clock, instruments: current }: Reached,
  instruments: Map<string, Instrument>,
  notice: (said: Notice) => void,
  undo: Undo,
): Terms {
  const symbols = [...current.keys()];
  const terms = watchTerms({ listed: () => exchange.instruments(), instruments, symbols, clock, notice });
  undo.unshift(terms.begin());
  return terms;
}

function historyOf({ stateDir }: SessionOptions, { clock }: Equipped, undo: Undo): DashboardSource['history'] {
  const made = history(stateDir, clock);
  undo.unshift(() => made.close());
  return made;
}

async function serve(
  { config, mode, stateDir }: SessionOptions,
  equipped: Equipped,
  source: DashboardSource,
  assets: Assets,
  undo: Undo,
): Promise<Dashboard> {
  const token = randomBytes(24).toString('base64url');
  const { port } = config.dashboard;
  const dashboard = await startDashboard({ port, token, assets, source, clock: equipped.clock });
  undo.unshift(() => dashboard.close());
  const control = `http://127.0.0.1:${dashboard.port}`;
  writeDaemonInfo(stateDir, {
    pid: process.pid,
    mode,
    startedAt: systemClock.now(),
    exchange: config.exchange.restUrl,
    control,
    token,
  });
  undo.unshift(() => removeDaemonInfo(stateDir));
  return dashboard;
}

const shownBy = ({ screen, indicators, alerts }: Equipped): Pushed & Klines & Indicators => ({
  view: () => ({ ...screen.view(), ...(alerts !== undefined && { alarms: alerts.alarms }) }),
  klines: (asked) => screen.klinesView(asked),
  indicators: (asked) => indicators.view(asked),
});
