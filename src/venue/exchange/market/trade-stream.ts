/** Public prints from the socket, oldest first, without those that a reconnect brings again. */
import type { Clock } from '../../../clock/clock.ts';
import type { Trade } from '../../../domain/market.ts';
import type { Count } from '../counters.ts';
import { type Fields, isFields, textOf, timeOf } from '../rest/json.ts';
import { readPrint } from './read-market.ts';
import type { Hole, Listener } from './socket.ts';
import type { Rows } from './socket-requests.ts';

export interface TradeStreamOptions {
  readonly symbol: string;
  readonly count: Count;
  readonly now: () => number;
  readonly print: (trade: Trade) => void;
  /** `healed`: the prints of the hole were fetched, up to those that were known. */
  readonly gap: (hole: Hole, healed: boolean) => void;
  /** Fetches the newest prints as they come by `req`; left out, holes stay. */
  readonly heal?: { readonly clock: Clock; readonly ask: () => Promise<Rows> };
}

export interface TradeStream extends Required<Omit<Listener, 'lost'>> {
  /** Nothing is printed any more. */
  stop(): void;
}

type Past = Extract<Rows, { kind: 'ok' }>['value'];

interface Held {
  readonly rows: readonly unknown[];
  readonly frameTime: number;
  readonly seenAt: number;
}

/** Real ms that new prints wait for the past before them, so that all come in order; a market without prices cannot be traded for longer. */
const waitMs = 3_000;
/** Frames that may wait; with more the past is not waited for. */
const maxHeld = 1_000;

/** So many prints, up to twice, are remembered to know repeats by; a reconnect brings at most the last few dozen again. */
const remembered = 1_000;

/**
 * Distinguishes identical prints, and stays the same when a print is sent again: its own time, or the text of `ds`. The time of its frame
 * differs in the history.
 */
function stampOf(row: unknown): string | number | undefined {
  if (!isFields(row)) return undefined;
  return timeOf(row['ts']) ?? textOf(row['ds']);
}

/**
 * The exchange's own id, where it gives one. Numbers stay numbers: writing each out as text would cost a tenth of the frame. One
 * beyond 2^53 was rounded when the frame was read and is shared by its neighbours: it is none, or prints would be lost as repeats.
 */
function printId(row: unknown): string | number | undefined {
  const id = isFields(row) ? row['id'] : undefined;
  if (typeof id === 'number') return Number.isSafeInteger(id) ? id : undefined;
  return textOf(id);
}

/**
 *     {"channel":"market_btcusdt_trade_ticker","tick":{"data":[{"amount":"23311.6","ds":"2026-09-23 11:29:10","id":13652120,
 *      "price":"86650.65","side":"BUY","ts":1790134150000,"vol":"0.26903"}],"ts":1790134150000},"ts":1790134150000}
 *
 * Newest first. `ds` is local time of an unknown zone: it dates nothing, but identifies a print without id and time, as the
 * specification shows them. Identical prints without an id may both be real (times are often whole seconds), so only those of the
 * first frame after a (re)subscription are compared with what was seen before it.
 *
 * After a break the past is asked for, and what comes meanwhile waits. The hole is healed when the past goes back to a print that was known.
 * A history in which new trades cannot be identified is ignored: minutes of old prices, taken as current, would trigger stops.
 * A silence is a hole only where the past shows prints that did not come, or where it cannot be had.
 */
export function tradeStream({ symbol, count, now, print, gap, heal }: TradeStreamOptions): TradeStream {
  const seen = seenPrints(symbol, count);
  /** While the past is being fetched, what came since the break. */
  let held: Held[] | undefined;
  let broken: (Hole & { readonly isSure: boolean }) | undefined;
  /** UTC ms up to which the past has shown what there was. */
  let knownTo = 0;
  /** The past was not answered the last time. */
  let isMute = false;
  let stopTimer = (): void => {};

  /** Lets go of what waited, behind the past if that came; late answers find nothing that waits. */
  function release(waiting: Held[], answer: Past | undefined): void {
    if (held !== waiting) return;
    stopTimer();
    held = undefined;
    const past = answer !== undefined && seen.canPlace(answer.rows) ? answer : undefined;
    const { fresh, repeats, missed } = merged(seen, waiting, past, now());
    isMute = past === undefined;
    if (broken !== undefined) {
      const { isSure, from, to, cause } = broken;
      const isHole = isSure || (past === undefined ? waiting.length > 0 : missed > 0);
      if (isHole) gap({ from: Math.max(from, knownTo), to, cause }, repeats > 0);
    }
    if (past !== undefined) knownTo = now();
    broken = undefined;
    for (const trade of inTime(fresh)) print(trade);
  }

  /** Asks for the past; what comes meanwhile waits. */
  function ask(hole: Hole, isSure: boolean, by: NonNullable<typeof heal>): void {
    seen.broke();
    const waiting: Held[] = [];
    held = waiting;
    broken = { ...hole, isSure };
    stopTimer = by.clock.at(now() + by.clock.machine(waitMs), () => release(waiting, undefined));
    void by.clock.track(by.ask()).then((answer) => release(waiting, answer.kind === 'ok' ? answer.value : undefined));
  }

  return {
    data(tick, ts) {
      const frame = heldOf(tick, ts, now());
      if (frame === undefined) count('unreadable trades', tick);
      else if (held === undefined) {
        const fresh: Trade[] = [];
        seen.take(frame, fresh);
        seen.settled();
        for (const trade of inTime(fresh)) print(trade);
      } else if (held.push(frame) >= maxHeld) release(held, undefined);
    },
    hole(hole) {
      if (held !== undefined) release(held, undefined);
      if (heal !== undefined) ask(hole, true, heal);
      else {
        seen.broke();
        gap(hole, false);
      }
    },
    quiet(hole, isOver) {
      if (held !== undefined || heal === undefined) return;
      // Without an answer, every print after a quiet minute would wait in vain.
      if (isMute && isOver) gap({ ...hole, from: Math.max(hole.from, knownTo) }, false);
      else ask(hole, false, heal);
    },
    stop() {
      stopTimer();
      held = undefined;
    },
  };
}

function heldOf(tick: Fields, ts: unknown, seenAt: number): Held | undefined {
  const rows = tick['data'];
  if (!Array.isArray(rows)) return undefined;
  return { rows, frameTime: timeOf(tick['ts']) ?? timeOf(ts) ?? seenAt, seenAt };
}

/** What is new of the past and of what waited behind it, how many of the past were known, and how many came in no frame. */
function merged(
  seen: SeenPrints,
  waiting: readonly Held[],
  past: Past | undefined,
  seenAt: number,
): { readonly fresh: Trade[]; readonly repeats: number; readonly missed: number } {
  const fresh: Trade[] = [];
  let repeats = 0;
  if (past !== undefined) {
    // Prints without a time of their own are dated before what waited behind them.
    const frameTime = Math.min(timeOf(past.ts) ?? seenAt, waiting[0]?.frameTime ?? Number.POSITIVE_INFINITY);
    repeats = seen.takePast({ rows: past.rows, frameTime, seenAt }, fresh);
  }
  let missed = fresh.length;
  for (const frame of waiting) {
    missed -= seen.take(frame, fresh);
    if (past === undefined) seen.settled();
  }
  seen.settled();
  return { fresh, repeats, missed };
}

/** Sorts them where it must. */
function inTime(fresh: Trade[]): readonly Trade[] {
  const sorted = fresh.every((trade, index) => index === 0 || (fresh[index - 1] as Trade).time <= trade.time);
  return sorted ? fresh : fresh.sort((a, b) => a.time - b.time);
}

type SeenPrints = ReturnType<typeof seenPrints>;

function seenPrints(symbol: string, count: Count) {
  const isNew = newById();
  let recent: string[] = [];
  /** Prints without an id, seen before the break, that the first frame after it may bring again. */
  let mayRepeat: string[] | undefined = [];
  let isAnyKnown = false;

  function isRepeat(trade: Trade, row: unknown): boolean {
    isAnyKnown = true;
    const id = printId(row);
    if (id !== undefined) return !isNew(id);
    const key = keyOf(trade, row);
    const at = mayRepeat?.indexOf(key) ?? -1;
    // Each remembered print accounts for one repeat, not for all identical ones.
    if (at >= 0) mayRepeat?.splice(at, 1);
    else if (recent.push(key) > 2 * remembered) recent = recent.slice(-remembered);
    return at >= 0;
  }

  /** `past`: gets the keys of what is new in it; what came before the first known one is taken out again. */
  function take({ rows, frameTime, seenAt }: Held, fresh: Trade[], past?: string[]): number {
    let repeats = 0;
    for (let index = rows.length - 1; index >= 0; index--) {
      const row: unknown = rows[index];
      const trade = readPrint(row, symbol, seenAt, frameTime);
      if (trade === undefined) count('unreadable trade', row);
      else if (!isRepeat(trade, row)) {
        fresh.push(trade);
        past?.push(keyOf(trade, row));
      } else if (repeats++ === 0 && past !== undefined) {
        fresh.splice(0);
        past.splice(0);
      }
    }
    return repeats;
  }

  return {
    /** Adds the new trades of a frame; returns how many were known. */
    take: (frame: Held, fresh: Trade[]): number => take(frame, fresh),
    /** Whether these can be compared with known prints; otherwise new ones cannot be identified. */
    canPlace: (rows: readonly unknown[]): boolean =>
      isAnyKnown && rows.every((row) => printId(row) !== undefined || stampOf(row) !== undefined),
    /** The same of the history, without prints older than all known ones. Waiting frames may repeat it. */
    takePast(past: Held, fresh: Trade[]): number {
      const keys: string[] = [];
      const repeats = take(past, fresh, keys);
      mayRepeat = [...(mayRepeat ?? []), ...keys];
      return repeats;
    },
    /** The next frame may repeat known prints. */
    broke(): void {
      mayRepeat = [...recent];
    },
    /** From now on only ids identify repeats. */
    settled(): void {
      mayRepeat = undefined;
    },
  };
}

/** Joined, because V8 keeps a template's pieces: two thousand keys of each symbol would take four times the memory. */
const keyOf = ({ time, price, quantity, side }: Trade, row: unknown): string =>
  [stampOf(row) ?? time, price, quantity, side].join(' ');

/** True for an id that is not among the last thousand. Two sets alternate, because dropping single ids is expensive. */
function newById(): (id: string | number) => boolean {
  let older = new Set<string | number>();
  let newer = new Set<string | number>();
  return (id) => {
    if (newer.has(id) || older.has(id)) return false;
    if (newer.size >= remembered) {
      older = newer;
      newer = new Set();
    }
    newer.add(id);
    return true;
  };
}
