/** `sluice status`. */
import { machineWall } from '../../clock/clock.ts';
import { instrument } from '../../domain/instrument.ts';
import { noUnits, plus, unitsText } from '../../domain/money.ts';
import { aloneText, denialText, moment, roundedMoney } from '../../domain/words.ts';
import { type HaltCause, haltCauses } from '../../execution/halt.ts';
import type { JournalReader } from '../../journal/reader.ts';
import { pendingKept, pendingText } from '../../portfolio/flattening.ts';
import { controlFiles } from '../../session/control/control-files.ts';
import { fewOf } from '../../session/control/kill-texts.ts';
import { aloneIn } from '../../session/history/timeline.ts';
import { type ChosenState, isHeld, noDaemonText } from '../../session/state.ts';
import { stoppedIn } from '../../session/strategies/stopped-strategies.ts';
import {
  bannedUntilName,
  forbiddenText,
  noExchangeTimeName,
  noMarketDataName,
} from '../../session/watch/exchange-watch.ts';
import { lastBeat } from '../../session/watch/heartbeat.ts';
import { lowDiskName, otherDaemonsName } from '../../session/watch/host-watch.ts';
import { flattenMemory } from '../../trading/flatten.ts';
import { clipped, isDust, speedName } from '../../trading/format.ts';
import { type ShowOptions, withState } from './read-state.ts';
import { exitsText, unprotectedIn } from './show.ts';

/** Positions with exits, which only a daemon can watch. */
const unwatchedIn = (reader: JournalReader) =>
  reader.positions().flatMap(({ strategy, symbol, instrument: entry, position, protection }) => {
    const exits = isDust(position, instrument(entry)) ? '' : exitsText({ protection });
    return exits === '' ? [] : [{ strategy, symbol, exits }];
  });

const hourMs = 3_600_000;

/** Denials of the last hour by the exchange's clock; of the last hour of the run where no daemon runs. */
function denialsIn(reader: JournalReader) {
  const [newest] = reader.denials(1);
  const now = Math.max(reader.equity()?.at ?? 0, newest?.lastAt ?? 0);
  const speed = Number(reader.memories().get(speedName) ?? 1);
  return reader.denialsSince(now - hourMs).map(({ rule, times, last }) => ({
    ...{ rule, times, strategy: last?.strategy, symbol: last?.symbol, order: last?.draft },
    text: last === undefined ? '' : denialText(last, speed),
  }));
}

/** A daemon that ended within a ban leaves its end behind. */
function bannedUntilIn(reader: JournalReader): number | null {
  const until = Number(reader.memories().get(bannedUntilName) ?? 0);
  return until > machineWall() ? until : null;
}

/** Realised profit and fees of all positions, by quote asset. */
function profitIn(reader: JournalReader) {
  const byQuote = Map.groupBy(reader.positions(), ({ instrument: { quote } }) => quote);
  return [...byQuote].map(([quote, held]) => {
    const sum = (of: 'realised' | 'fees'): string =>
      unitsText(held.reduce((total, { position }) => plus(total, position[of]), noUnits));
    return { quote, realised: sum('realised'), fees: sum('fees') };
  });
}

/** A daemon beats each second. After this time without a beat (real ms) nothing else of it works either. */
const oldBeatMs = 10_000;

const textLines = (text = ''): readonly string[] => text.split('\n').filter((line) => line !== '');

/** The output of `status --json` (docs/reference/json.md). */
function statusOf(reader: JournalReader, { dir, running, starting }: ChosenState) {
  const orders = reader.orders('closed_at IS NULL');
  const inState = (state: string): readonly string[] =>
    orders.filter((order) => order.state === state).map(({ clientOrderId }) => clientOrderId);
  const [unknownOrders, quarantinedOrders] = [inState('unknown'), inState('quarantined')];
  const beat = lastBeat(dir);
  const heartbeatAgeMs = beat === undefined ? null : Math.max(0, Math.round(machineWall() - beat.at));
  const equity = reader.equity();
  const meta = (name: string): string => reader.meta.get(name) ?? 'unknown';
  return {
    version: 2,
    state: dir,
    ...{ mode: meta('mode'), account: meta('account'), venue: meta('venue') },
    running: running === undefined ? null : { ...running, mode: undefined, token: undefined, heartbeatAgeMs },
    starting: starting === undefined ? null : { ...starting, mode: undefined },
    equity: equity?.equity ?? null,
    equityAt: equity?.at ?? null,
    profit: profitIn(reader),
    openOrders: orders.length - unknownOrders.length - quarantinedOrders.length,
    unknownOrders,
    quarantinedOrders,
    quarantinedTrades: reader
      .quarantinedTrades()
      .filter(({ decision }) => decision === null)
      .map(({ tradeId, symbol, orderIds, why, raw }) => ({ tradeId, symbol, orderIds, cause: why, raw })),
    fills: reader.fillCount(),
    denialsLastHour: denialsIn(reader),
    halts: reader.halts().map(({ at, by, reason }) => ({ at, cause: by, reason })),
    unprotectedPositions: unprotectedIn(reader),
    legsAlone: aloneIn(reader),
    stoppedStrategies: running === undefined ? [] : stoppedIn(reader),
    diskFull: running === undefined ? null : (beat?.diskFull ?? false),
    lowDisk: running === undefined ? null : reader.memories().get(lowDiskName) || null,
    unwatchedPositions: running === undefined ? unwatchedIn(reader) : [],
    noMarketData: running === undefined ? null : reader.memories().get(noMarketDataName) || null,
    otherDaemons: running === undefined ? null : textLines(reader.memories().get(otherDaemonsName)),
    noExchangeTime: running === undefined ? null : reader.memories().get(noExchangeTimeName) || null,
    bannedUntil: running === undefined ? null : bannedUntilIn(reader),
    // A daemon takes away those that have ended.
    flattens: pendingKept(reader.memories().get(flattenMemory), running === undefined ? machineWall() : 0),
    kills: reader
      .kills()
      .filter(({ kind }) => kind === 'kill')
      .map(({ at, strategy, everything, by, reason }) => ({ at, strategy, everything, by, reason })),
    pauses: reader
      .kills()
      .filter(({ kind }) => kind === 'pause')
      .map(({ at, strategy, by, reason }) => ({ at, strategy, by, reason })),
    pendingFiles: controlFiles(dir).map(({ kind, strategy, everything, path, reason }) => ({
      kind,
      strategy: strategy ?? null,
      everything,
      path,
      reason,
    })),
  };
}
type Status = ReturnType<typeof statusOf>;

export const showStatus = (options: ShowOptions): void =>
  withState(options, (reader, chosen) => {
    const { json, out } = options;
    const status = statusOf(reader, chosen);
    if (json) out(JSON.stringify(status));
    else for (const line of [...daemonLines(status, chosen), ...findingLines(status)]) out(line);
  });

function* daemonLines(status: Status, chosen: ChosenState): Iterable<string> {
  const { dir, running } = chosen;
  const { unknownOrders } = status;
  yield `state      ${dir} (${status.mode}, ${status.account}, ${status.venue})`;
  yield running === undefined
    ? `daemon     ${isHeld(dir, 'read') ? noDaemonText(chosen) : 'not running'}`
    : `daemon     process ${running.pid} since ${moment(running.startedAt)} UTC on ${running.exchange}, control at ${running.control}`;
  for (const { strategy, symbol, exits } of status.unwatchedPositions)
    yield `ATTENTION  the exits of ${strategy} on ${symbol} (${exits}) are not watched until a daemon trades on this state directory again`;
  const ageMs = status.running?.heartbeatAgeMs ?? 0;
  if (running !== undefined && ageMs > oldBeatMs)
    yield `ATTENTION  the daemon has had no heartbeat for ${Math.round(ageMs / 1_000)} s: a strategy does not return, or the machine was suspended; its stops are not watched. sluice kill applies when it responds again, kill -9 ${running.pid} ends it`;
  const { equity, equityAt } = status;
  const isKnown = equity !== null && equityAt !== null;
  yield `equity     ${isKnown ? `${roundedMoney(equity)} at ${moment(equityAt)} UTC` : 'not known yet'}`;
  const unknown = unknownOrders.length === 0 ? '' : `: ${unknownOrders.join(', ')}`;
  for (const { quote, realised, fees } of status.profit)
    yield `profit     ${roundedMoney(realised)} ${quote} realised, ${roundedMoney(fees)} ${quote} fees (sluice pnl has the rest)`;
  yield `orders     ${status.openOrders} open, ${unknownOrders.length} of unknown outcome${unknown}`;
  yield `fills      ${status.fills}`;
  const [most] = status.denialsLastHour;
  if (most !== undefined) {
    const all = status.denialsLastHour.reduce((sum, { times }) => sum + times, 0);
    yield `denied     ${all} in the last hour, ${most.times === all ? 'all' : most.times} by ${most.rule}, such as ${most.strategy} ${most.symbol} ${most.order}: ${most.text} (sluice why ${most.strategy})`;
  }
  if (status.diskFull === true)
    yield `ATTENTION  the disk of ${dir} is full: no order is created until there is space, and newer events are not in this list yet`;
}

const exitsGoOn = (everything: boolean): string => (everything ? 'exits are stopped, too' : 'exits go on');

function* findingLines(status: Status): Iterable<string> {
  for (const { strategy, at, error } of status.stoppedStrategies)
    yield `STOPPED    ${strategy} since ${moment(at)} UTC: stopped after an error; starts again with the daemon: ${clipped(error)}`;
  if (status.lowDisk !== null && status.diskFull !== true) yield `ATTENTION  ${status.lowDisk}`;
  if (status.noMarketData !== null)
    yield `ATTENTION  no market data: ${status.noMarketData}; no new positions until it resumes, and stops do not work`;
  for (const other of status.otherDaemons ?? []) yield `ATTENTION  ${other}: stop one, or give each its own account`;
  if (status.noExchangeTime !== null)
    yield `ATTENTION  the exchange's time cannot be read: ${status.noExchangeTime}; retrying`;
  if (status.bannedUntil !== null) yield `ATTENTION  ${forbiddenText(status.bannedUntil)}`;
  for (const flatten of status.flattens) yield `flatten    ${pendingText(flatten, status.running !== null)}`;
  for (const { strategy, symbol, longestMs, since, longestAt } of status.unprotectedPositions) {
    const most = `at most ${Math.ceil(longestMs / 100) / 10} s`;
    yield since === null
      ? `unprotected ${most}${longestAt === null ? '' : `, until ${moment(longestAt)} UTC`}: position of ${strategy} on ${symbol}`
      : `unprotected since ${moment(since)} UTC and still: position of ${strategy} on ${symbol} (${most})`;
  }
  for (const times of status.legsAlone) yield `legs alone ${aloneText(times)}`;
  for (const id of status.quarantinedOrders)
    yield `QUARANTINED order ${id}: its symbol is blocked (sluice why ${id} shows the evidence, sluice resolve decides)`;
  for (const { tradeId, symbol, cause, raw } of status.quarantinedTrades)
    yield `QUARANTINED trade ${tradeId}: ${symbol} is blocked, since ${cause} (sluice resolve-trade ${tradeId} decides); as shown: ${clipped(raw)}`;
  // One line per cause: after a restore each missing order halts.
  for (const [cause, halts] of Map.groupBy(status.halts, (halt) => halt.cause)) {
    const meaning = Object.hasOwn(haltCauses, cause) ? haltCauses[cause as HaltCause] : cause;
    const since = Math.min(...halts.map(({ at }) => at));
    yield `HALT       since ${moment(since)} UTC: ${fewOf(halts.map(({ reason }) => reason))}; ${meaning} (sluice resume lifts it)`;
  }
  for (const { strategy, at, everything, by, reason } of status.kills)
    yield `KILLED     ${strategy ?? 'all strategies'} since ${moment(at)} UTC by ${by}: ${reason}; ${exitsGoOn(everything)} (sluice resume lifts it)`;
  for (const { strategy, at, by, reason } of status.pauses)
    yield `PAUSED     ${strategy ?? 'all strategies'} since ${moment(at)} UTC by ${by}: ${reason}; exits go on (sluice resume lifts it)`;
  const then =
    status.diskFull === true
      ? 'it is in force, and is journalled once the disk has space'
      : 'a daemon applies it as soon as it trades there';
  for (const { kind, strategy, path, reason } of status.pendingFiles)
    yield `${kind.toUpperCase()} PENDING of ${strategy ?? 'all strategies'} by the file ${path}: ${reason} (${then})`;
}
