/** The way of market data: the exchange's own socket sessions behind a `Ws` port whose wire is simulated, with what goes wrong on it. */
import { gunzipSync, gzipSync } from 'node:zlib';
import type { RawData } from 'ws';
import type { Feed } from '../../src/simulator/ws/feed.ts';
import { type Line, Session } from '../../src/simulator/ws/session.ts';
import type { Ws, WsConnection, WsEvents } from '../../src/venue/exchange/market/ws.ts';
import type { Chance } from './chance.ts';
import type { Life, Time } from './life.ts';
import type { Venue } from './venue.ts';

/** What happens to a frame, each with its share of those that are harmed. */
export const frameFaults = {
  /** It and all behind it come seconds late. */
  late: 3,
  /** Half of its bytes. */
  cut: 2,
  doubled: 2,
  /** It says nothing that a frame should say. */
  malformed: 3,
  /** A book that is sound and wrong: one alone, since nobody can tell two from the truth. */
  odd: 10,
  /** The socket stays open and says nothing for a while. */
  silence: 1,
  /** The connection breaks. */
  broken: 1,
} as const;
export type FrameFault = keyof typeof frameFaults;

/** The share of frames that are harmed. */
const harm = 0.015;
/** So many frames between two odd ones of a connection: a second one in a row would be believed. */
const oddEvery = 12;
/** Shorter ones are held up, not dropped: nobody could tell them from a quiet market. */
const shortestSilenceMs = 4_000;
const longestSilenceMs = 40_000;
/** By how much an odd book is off. */
const oddBy = 0.98;
/** How long an upgrade may take, ms, as in the real port. */
const handshakeMs = 10_000;

const nonsense = [
  '{"channel":"',
  'null',
  '[]',
  '{"ping":{}}',
  '{"channel":"CHANNEL","tick":{"asks":[["x",-1]],"buys":[[0,0]]},"ts":0}',
  '{"channel":"CHANNEL","tick":{"data":[{"price":"NaN","vol":"1e999","side":"BUY"}]},"ts":"soon"}',
  '{"channel":"CHANNEL","tick":{"asks":[],"buys":[]},"ts":9e99}',
  '{"channel":"CHANNEL","tick":{"id":1e99,"open":-1,"high":"","low":null,"close":{},"vol":0}}',
];

export interface CableOptions {
  readonly time: Time;
  readonly venue: Venue;
  readonly feed: Feed;
  readonly chance: Chance;
  readonly harmed: (fault: FrameFault) => void;
  /** Neither connections come about nor frames come through. */
  readonly isOut: () => boolean;
  /** The way stands still: what is sent comes later, as it does over TCP. */
  readonly isHeldUp: () => boolean;
}

/** Undefined where nobody opens a socket. */
export function openCable(options: Omit<CableOptions, 'feed'>): Cable | undefined {
  const { feed } = options.venue;
  return feed === undefined ? undefined : new Cable({ ...options, feed });
}

export class Cable {
  readonly #options: CableOptions;
  /** No more faults. */
  healed = false;

  constructor(options: CableOptions) {
    this.#options = options;
  }

  /** The port of one process. */
  port(life: Life): Ws {
    return (_url, events) => this.#connect(life, events);
  }

  #connect(life: Life, events: WsEvents): WsConnection {
    const { time, chance, isOut, isHeldUp, venue, feed } = this.#options;
    const end = new Connection(this.#options, life, events, () => this.#draw());
    time.after(chance.between(2, 90), () => {
      if (!isOut() && !isHeldUp()) {
        end.open(() => {
          const { exchange, quirks, clock } = venue;
          const [refresh, publish] = [(): void => venue.advance(), (): void => venue.look()];
          new Session(end, {
            exchange,
            feed,
            quirks,
            clock,
            openSpoiler: () => (_, frame) => [frame],
            refresh,
            publish,
          });
        });
      } else if (chance.is(0.5)) end.fail('connect ECONNREFUSED');
      else time.after(handshakeMs, () => end.fail('Opening handshake has timed out'));
    });
    return { send: (text) => end.hear(text), close: () => end.terminate() };
  }

  #draw(): FrameFault | undefined {
    const { chance } = this.#options;
    if (this.healed || !chance.is(harm)) return undefined;
    let left = chance.next() * total;
    for (const [name, share] of shares) {
      left -= share;
      if (left < 0) return name;
    }
    return undefined;
  }
}

const shares = Object.entries(frameFaults) as readonly (readonly [FrameFault, number])[];
const total = shares.reduce((sum, [, share]) => sum + share, 0);

/** Both ends of one connection. What the exchange's end is told of its death comes to nobody else. */
class Connection implements Line {
  readonly bufferedAmount = 0;
  readonly #options: CableOptions;
  readonly #life: Life;
  readonly #events: WsEvents;
  readonly #draw: () => FrameFault | undefined;
  readonly #received: ((bytes: RawData, isBinary: boolean) => void)[] = [];
  readonly #closed: (() => void)[] = [];
  #isOver = false;
  /** Frames come in order: none before this. */
  #notBefore = 0;
  #silentUntil = 0;
  #held: Buffer[] = [];
  #sinceOdd = 0;

  constructor(options: CableOptions, life: Life, events: WsEvents, draw: () => FrameFault | undefined) {
    this.#options = options;
    this.#life = life;
    this.#events = events;
    this.#draw = draw;
  }

  on(event: 'message', received: (bytes: RawData, isBinary: boolean) => void): void;
  on(event: 'close' | 'error', received: () => void): void;
  on(event: 'message' | 'close' | 'error', received: (bytes: RawData, isBinary: boolean) => void): void {
    if (event === 'message') this.#received.push(received);
    else if (event === 'close') this.#closed.push(() => received(nothing, false));
  }

  open(serve: () => void): void {
    if (this.#isOver || !this.#life.alive) return;
    serve();
    this.#events.opened();
  }

  fail(cause: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#life.alive) this.#events.closed(cause);
  }

  /** The process says something. */
  hear(text: string): void {
    const { time, chance, isOut, isHeldUp } = this.#options;
    const bytes = Buffer.from(text);
    time.after(chance.between(1, 40), () => {
      if (!this.#isOver && !isOut() && !isHeldUp()) for (const received of this.#received) received(bytes, false);
    });
  }

  /** The exchange says something. */
  send(frame: Buffer): void {
    const { harmed, time, chance, isOut, isHeldUp } = this.#options;
    if (!this.#life.alive) this.terminate();
    if (this.#isOver || isOut() || time.now() < this.#silentUntil) return;
    if (isHeldUp()) {
      this.#held.push(frame);
      return;
    }
    for (const held of this.#held.splice(0)) this.#deliver(held);
    this.#sinceOdd++;
    const fault = this.#draw();
    if (fault !== undefined) harmed(fault);
    if (fault === 'silence') this.#silentUntil = time.now() + chance.between(shortestSilenceMs, longestSilenceMs);
    if (fault === 'late') this.#notBefore = Math.max(this.#notBefore, time.now()) + chance.between(200, 6_000);
    if (fault === 'broken') this.#break('read ECONNRESET');
    else if (fault !== 'silence') for (const one of this.#spoilt(fault, frame)) this.#deliver(one);
  }

  close(): void {
    this.#break('closed with code 1000');
  }

  /** Either end lets go at once. */
  terminate(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const closed of this.#closed) closed();
  }

  #break(cause: string): void {
    const wasOver = this.#isOver;
    this.terminate();
    if (!wasOver && this.#life.alive) this.#events.closed(cause);
  }

  #deliver(frame: Buffer): void {
    const { time, chance } = this.#options;
    // Things due in the same ms come in any order.
    this.#notBefore = Math.max(this.#notBefore + 1, time.now() + chance.between(1, 60));
    time.at(this.#notBefore, () => {
      if (!this.#isOver && this.#life.alive) this.#events.frame(frame);
    });
  }

  #spoilt(fault: FrameFault | undefined, frame: Buffer): readonly Buffer[] {
    const { chance } = this.#options;
    if (fault === 'cut') return [frame.subarray(0, Math.floor(frame.length / 2))];
    if (fault === 'doubled') return [frame, frame];
    if (fault === 'malformed') {
      const channel = /"channel":"([^"]*)"/.exec(gunzipSync(frame).toString())?.[1] ?? '';
      return [gzipSync(chance.pick(nonsense).replace('CHANNEL', channel))];
    }
    if (fault !== 'odd' || this.#sinceOdd < oddEvery) return [frame];
    this.#sinceOdd = 0;
    return [oddBook(frame)];
  }
}

const nothing = Buffer.alloc(0);

interface Book {
  readonly tick?: { readonly asks?: [number, number][]; readonly buys?: [number, number][] };
}

/** The same book at other prices; a frame of another channel is left alone. */
function oddBook(frame: Buffer): Buffer {
  const pushed = JSON.parse(gunzipSync(frame).toString()) as Book;
  const { asks, buys } = pushed.tick ?? {};
  if (asks === undefined || buys === undefined) return frame;
  for (const level of [...asks, ...buys]) level[0] = Math.round(level[0] * oddBy * 100) / 100;
  return gzipSync(JSON.stringify(pushed));
}
