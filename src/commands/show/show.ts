/** The reading commands: orders, fills, positions, status. They work beside a running daemon and without one. */
import { join } from 'node:path';
import { machineWall } from '../../clock/clock.ts';
import { instrument } from '../../domain/instrument.ts';
import { Decimal, unitsNumber, unitsText } from '../../domain/money.ts';
import { mainRole } from '../../domain/order.ts';
import { Refusal } from '../../domain/refusal.ts';
import { moment, roundedMoney } from '../../domain/words.ts';
import { type HaltCause, haltCauses } from '../../execution/halt.ts';
import type { OrderEntryRow } from '../../journal/entries.ts';
import { examine } from '../../journal/examine.ts';
import { journalFile } from '../../journal/open.ts';
import { type HeldPosition, type JournalReader, openReader } from '../../journal/reader.ts';
import { killRequests } from '../../session/kill-file.ts';
import { fewOf } from '../../session/kills.ts';
import { refuseOld } from '../../session/preflight/journal-head-check.ts';
import { type ChosenState, chooseState, isHeld, refusalOf } from '../../session/state.ts';
import { type StoppedStrategy, stoppedName } from '../../session/strategy-runner.ts';
import { lastBeat } from '../../session/watch/heartbeat.ts';
import { noMarketDataName } from '../../session/watch/market-data.ts';
import { type BareRow, unprotectedMemory } from '../../session/watch/unprotected-time.ts';
import { clipped, fillJson, isDust, shortId } from '../../trading/format.ts';
import { textTable } from '../text-table.ts';

export interface ShowOptions {
  readonly state?: string;
  readonly json: boolean;
  readonly out: (line: string) => void;
  readonly say: (line: string) => void;
}

/** Opens the state that a command means, runs `show` on it as `doubted` says, and closes it whatever happens. */
export function withState<T>({ state, say }: ShowOptions, show: (reader: JournalReader, chosen: ChosenState) => T): T {
  const chosen = chooseState(state, say);
  return doubted(chosen, () => {
    const reader = openReader(chosen.dir);
    try {
      return show(reader, chosen);
    } finally {
      reader.close();
    }
  });
}

/** Shows what is in a journal. One that something else changed stays readable and is not taken for true: it is refused afterwards (exit 3). */
export function doubted<T>(chosen: ChosenState, show: () => T): T {
  const foundIn = examined(chosen);
  let shown: T;
  try {
    shown = show();
  } catch (error) {
    // What cannot be read may be what was changed, which says more.
    throw foundIn() ?? refusalOf(error, chosen.dir, 'read');
  }
  const found = foundIn();
  if (found instanceof Refusal) throw new Refusal(`do not rely on what is shown: ${found.message}`, found.exitCode);
  return shown;
}

/** Begins to look whether a journal is as Sluice left it, a large one by threads. A daemon that runs on it did so at its start, and has it since. */
function examined({ dir, running }: ChosenState): () => Refusal | undefined {
  if (running !== undefined) return () => undefined;
  const caught = (work: () => void): Refusal | undefined => {
    try {
      work();
      return undefined;
    } catch (error) {
      const refusal = refusalOf(error, dir, 'read');
      if (refusal instanceof Refusal) return refusal;
      throw error;
    }
  };
  let looking: ReturnType<typeof examine>;
  const early = caught(() => {
    const path = join(dir, journalFile);
    looking = examine(path, (looked) => refuseOld(looked, path, process.env));
  });
  return () => early ?? caught(() => looking?.block());
}

export function showFills(options: ShowOptions): void {
  withState(options, (reader) => {
    const fills = reader.fills();
    if (options.json) for (const fill of fills) options.out(JSON.stringify(fillJson(fill)));
    else {
      const rows = fills.map((fill) => [
        moment(fill.time),
        fill.strategy,
        fill.symbol,
        fill.side,
        fill.quantity,
        fill.price,
        `${fill.fee} ${fill.feeAsset}`,
        fill.maker ? 'maker' : 'taker',
        fill.tradeId,
      ]);
      options.out(
        textTable(
          ['time (UTC)', 'strategy', 'symbol', 'side', 'quantity', 'price', 'fee', 'liquidity', 'trade id'],
          rows,
          'no fills yet',
        ),
      );
    }
  });
}

/** One order as `orders --json` prints it (docs/reference/json.md). */
export const orderJson = ({ expected, executed, filled, venueStatus, tradeFloor, ...order }: OrderEntryRow) => ({
  ...order,
  kind: undefined,
  expectedQuantity: expected,
  filledQuantity: filled,
  exchangeQuantity: executed,
  exchangeStatus: venueStatus,
  lastTradeIdBefore: tradeFloor,
});

/** The number of a decision, and its role where the strategy names one. */
export const decisionText = ({ decision, role }: Pick<OrderEntryRow, 'decision' | 'role'>): string =>
  role === mainRole ? `${decision}` : `${decision} ${role}`;

/** Orders with what their fills come to: an order's own row is written when its state changes, not with each fill. */
function ordersOf(reader: JournalReader): readonly OrderEntryRow[] {
  const filled = new Map<string, Decimal>();
  for (const { clientOrderId, quantity } of reader.fills())
    filled.set(clientOrderId, (filled.get(clientOrderId) ?? new Decimal(0)).plus(quantity));
  return reader.orders().map((order) => ({ ...order, filled: filled.get(order.clientOrderId)?.toFixed() ?? '0' }));
}

export function showOrders(options: ShowOptions): void {
  withState(options, (reader) => {
    const orders = ordersOf(reader);
    if (options.json) for (const order of orders) options.out(JSON.stringify(orderJson(order)));
    else {
      const rows = orders.map((order) => [
        moment(order.createdAt),
        order.strategy,
        decisionText(order),
        order.symbol,
        order.side,
        order.quantity ?? `for ${order.amount}`,
        order.price ?? 'market',
        order.filled,
        order.state,
        shortId(order.clientOrderId),
      ]);
      options.out(
        textTable(
          ['created (UTC)', 'strategy', 'decision', 'symbol', 'side', 'quantity', 'price', 'filled', 'state', 'order'],
          rows,
          'no orders yet',
        ),
      );
    }
  });
}

export function showPositions(options: ShowOptions): void {
  withState(options, (reader) => {
    const positions = reader.positions().map(({ strategy, symbol, instrument: entry, position, protection }) => {
      const at = instrument(entry);
      return {
        strategy,
        symbol,
        quantity: unitsText(position.base),
        isDust: isDust(position, at),
        baseAsset: at.base,
        entryPrice:
          position.base === 0n
            ? null
            : (unitsNumber(position.cost) / unitsNumber(position.base)).toFixed(at.pricePrecision + 2),
        realised: unitsText(position.realised),
        fees: unitsText(position.fees),
        quoteAsset: at.quote,
        protection,
      };
    });
    if (options.json)
      for (const { protection, ...position } of positions)
        options.out(JSON.stringify({ ...position, protection: protectionJson(protection) }));
    else {
      const rows = positions.map((row) => [
        row.strategy,
        row.symbol,
        row.isDust ? `0 (dust ${row.quantity})` : row.quantity,
        row.isDust ? '' : (row.entryPrice ?? ''),
        `${roundedMoney(row.realised)} ${row.quoteAsset}`,
        `${roundedMoney(row.fees)} ${row.quoteAsset}`,
        row.isDust ? '' : guardText(row.protection),
      ]);
      options.out(
        textTable(['strategy', 'symbol', 'held', 'entry', 'realised', 'fees', 'protection'], rows, 'no positions yet'),
      );
    }
  });
}

/** A position's exits as `positions --json` prints them. */
function protectionJson(protection: HeldPosition['protection']): object | null {
  if (protection === undefined) return null;
  const { size, taken, best, leftSize, leftWhy, ...levels } = protection;
  return {
    target: size,
    ...levels,
    bestPrice: best,
    soldByTakeProfit: taken,
    exitedTarget: leftSize,
    exitReason: leftWhy,
  };
}

/** The exits that were asked for, of those that a daemon has to watch prices for. */
const guardText = (protection: Readonly<Record<string, string>> | null | undefined): string =>
  Object.entries(protection ?? {})
    .filter(([name]) => name === 'stop' || name === 'takeProfit' || name === 'trailing')
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

/** Positions whose exits wait for prices, which only a daemon hears. */
const guardedIn = (
  reader: JournalReader,
): readonly { readonly strategy: string; readonly symbol: string; readonly exits: string }[] =>
  reader.positions().flatMap(({ strategy, symbol, instrument: entry, position, protection }) => {
    const exits = isDust(position, instrument(entry)) ? '' : guardText(protection);
    return exits === '' ? [] : [{ strategy, symbol, exits }];
  });

interface Unprotected {
  readonly strategy: string;
  readonly symbol: string;
  readonly longestMs: number;
  /** Since when it is, UTC ms; null: it was. */
  readonly since: number | null;
}

/** For how long positions stood without the protection that was asked for, at the longest. */
function unprotectedIn(reader: JournalReader): readonly Unprotected[] {
  const memories = reader.memories();
  const told = JSON.parse(memories.get(unprotectedMemory) ?? '[]') as readonly BareRow[];
  // Of a journal that no daemon has written to since these are told while they last.
  const ended = JSON.parse(memories.get('unprotected') ?? '[]') as readonly [string, string, number][];
  const isTold = (strategy: string, symbol: string): boolean =>
    told.some((row) => row[0] === strategy && row[1] === symbol);
  return [
    ...told.map(([strategy, symbol, longestMs, since]) => ({ strategy, symbol, longestMs, since })),
    ...ended
      .filter(([strategy, symbol, longestMs]) => longestMs > 0 && !isTold(strategy, symbol))
      .map(([strategy, symbol, longestMs]) => ({ strategy, symbol, longestMs, since: null })),
  ];
}

/** Strategies that threw since the running daemon began. */
export const stoppedIn = (reader: JournalReader): readonly StoppedStrategy[] =>
  JSON.parse(reader.memories().get(stoppedName) ?? '[]') as readonly StoppedStrategy[];

/** A daemon beats each second, real ms: one that has not for so long does nothing else either. */
const mostSilentMs = 10_000;

const silentMsOf = (dir: string): number | null => {
  const beat = lastBeat(dir);
  return beat === undefined ? null : Math.max(0, Math.round(machineWall() - beat.at));
};

/** What `status` says, as `--json` prints it (docs/reference/json.md). */
function statusOf(reader: JournalReader, { dir, running }: ChosenState) {
  const orders = reader.orders('closed_at IS NULL');
  return {
    version: 2,
    state: dir,
    mode: reader.meta.get('mode') ?? 'unknown',
    account: reader.meta.get('account') ?? 'unknown',
    venue: reader.meta.get('venue') ?? 'unknown',
    running:
      running === undefined
        ? null
        : {
            pid: running.pid,
            startedAt: running.startedAt,
            exchange: running.exchange,
            control: running.control,
            heartbeatAgeMs: silentMsOf(dir),
          },
    equity: reader.equity() ?? null,
    openOrders: orders.filter(({ state }) => state !== 'unknown' && state !== 'quarantined').length,
    unknownOrders: orders.filter(({ state }) => state === 'unknown').map(({ clientOrderId }) => clientOrderId),
    quarantinedOrders: orders.filter(({ state }) => state === 'quarantined').map(({ clientOrderId }) => clientOrderId),
    quarantinedTrades: reader
      .quarantinedTrades()
      .filter(({ decision }) => decision === null)
      .map(({ tradeId, symbol, orderIds, why, raw }) => ({ tradeId, symbol, orderIds, cause: why, raw })),
    fills: reader.fillCount(),
    halts: reader.halts().map(({ at, by, reason }) => ({ at, cause: by, reason })),
    unprotectedPositions: unprotectedIn(reader),
    stoppedStrategies: running === undefined ? [] : stoppedIn(reader),
    diskFull: running === undefined ? null : (lastBeat(dir)?.diskFull ?? false),
    unwatchedPositions: running === undefined ? guardedIn(reader) : [],
    noMarketData: running === undefined ? null : (reader.memories().get(noMarketDataName) ?? '') || null,
    kills: reader.kills().map(({ at, strategy, by, reason }) => ({ at, strategy, by, reason })),
    pendingKills: killRequests(dir).map(({ strategy, path, reason }) => ({ strategy: strategy ?? null, path, reason })),
  };
}

/** One line for each cause: of a journal that was restored each order that it lacks halts. */
function* haltLines(
  halts: readonly { readonly at: number; readonly cause: string; readonly reason: string }[],
): Iterable<string> {
  for (const [cause, alike] of Map.groupBy(halts, (halt) => halt.cause)) {
    const meaning = Object.hasOwn(haltCauses, cause) ? haltCauses[cause as HaltCause] : cause;
    const since = Math.min(...alike.map(({ at }) => at));
    yield `HALT       since ${moment(since)} UTC: ${fewOf(alike.map(({ reason }) => reason))}; ${meaning} (sluice resume lifts it)`;
  }
}

export function showStatus(options: ShowOptions): void {
  withState(options, (reader, chosen) => {
    const { running } = chosen;
    const status = statusOf(reader, chosen);
    if (options.json) {
      options.out(JSON.stringify(status));
      return;
    }
    options.out(`state      ${status.state} (${status.mode}, ${status.account}, ${status.venue})`);
    options.out(
      running === undefined
        ? `daemon     ${isHeld(chosen.dir, 'read') ? 'just starting or stopping' : 'not running'}`
        : `daemon     process ${running.pid} since ${moment(running.startedAt)} UTC on ${running.exchange}, control at ${running.control}`,
    );
    for (const { strategy, symbol, exits } of status.unwatchedPositions)
      options.out(
        `ATTENTION  nobody watches the exits of what ${strategy} holds of ${symbol} (${exits}) until a daemon runs on this state again`,
      );
    const silentMs = status.running?.heartbeatAgeMs ?? 0;
    if (running !== undefined && silentMs > mostSilentMs)
      options.out(
        `ATTENTION  the daemon has given no sign of life for ${Math.round(silentMs / 1_000)} s: a strategy that does not return, or a machine that stands still; its stops are not watched. sluice kill holds for when it comes to itself, kill -9 ${running.pid} ends it`,
      );
    options.out(`equity     ${status.equity === null ? 'not known yet' : roundedMoney(status.equity)}`);
    options.out(
      `orders     ${status.openOrders} open, ${status.unknownOrders.length} of unknown outcome${status.unknownOrders.length === 0 ? '' : `: ${status.unknownOrders.join(', ')}`}`,
    );
    options.out(`fills      ${status.fills}`);
    if (status.diskFull === true)
      options.out(
        `ATTENTION  the disk of ${chosen.dir} is full: no order is created until there is space, and what happens meanwhile is not in this list yet`,
      );
    for (const { strategy, at, error } of status.stoppedStrategies)
      options.out(
        `STOPPED    ${strategy} since ${moment(at)} UTC: it threw, and begins again with the next start: ${clipped(error)}`,
      );
    if (status.noMarketData !== null)
      options.out(`ATTENTION  no market data: ${status.noMarketData}; nothing is entered meanwhile`);
    for (const { strategy, symbol, longestMs, since } of status.unprotectedPositions) {
      const most = `at most ${Math.ceil(longestMs / 100) / 10} s`;
      options.out(
        since === null
          ? `unprotected ${most}: what ${strategy} held of ${symbol}`
          : `unprotected since ${moment(since)} UTC and still: what ${strategy} holds of ${symbol} (${most})`,
      );
    }
    for (const clientOrderId of status.quarantinedOrders)
      options.out(
        `QUARANTINED order ${clientOrderId}: its symbol is blocked (sluice why ${clientOrderId} shows the evidence, sluice resolve decides)`,
      );
    for (const { tradeId, symbol, cause, raw } of status.quarantinedTrades)
      options.out(
        `QUARANTINED trade ${tradeId}: ${symbol} is blocked, since ${cause} (sluice resolve-trade ${tradeId} decides); as shown: ${clipped(raw)}`,
      );
    for (const line of haltLines(status.halts)) options.out(line);
    for (const kill of status.kills)
      options.out(
        `KILLED     ${kill.strategy ?? 'everything'} since ${moment(kill.at)} UTC by ${kill.by}: ${kill.reason} (sluice resume lifts it)`,
      );
    for (const { strategy, path, reason } of status.pendingKills)
      options.out(
        `KILL ASKED of ${strategy ?? 'everything'} by the file ${path}: ${reason} (${status.diskFull === true ? 'it holds, and is written down once the disk has space' : 'a daemon carries it out as soon as it trades there'})`,
      );
  });
}
