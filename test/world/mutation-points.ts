/**
 * Where a world can be bent: each port and part that the production code is given may be wrapped. This is how mutants are planted;
 * nothing in the production code knows of it.
 */

import type { Account } from '../../src/domain/order.ts';
import type { Timing } from '../../src/execution/context.ts';
import type { Journal, WriterHost } from '../../src/journal/journal.ts';
import type { Loaded } from '../../src/journal/load.ts';
import type { Identity } from '../../src/journal/open.ts';
import type { Portfolio } from '../../src/portfolio/portfolio.ts';
import type { Assembled } from '../../src/trading/assemble.ts';
import type { Ws } from '../../src/venue/exchange/market/ws.ts';
import type { Http } from '../../src/venue/exchange/rest/http.ts';
import type { Answer, LimitNotice, MarketFeed, OrderEntry, Spend } from '../../src/venue/venue.ts';
import type { Chance } from './chance.ts';
import type { DiskError } from './plan.ts';

/** What a wrapper may use of the process that it is part of. */
export interface Inside {
  readonly chance: Chance;
  readonly portfolio: () => Portfolio;
  readonly sleep: (ms: number) => Promise<void>;
  /** Which account it trades. */
  readonly account: Account;
}

export interface Bent {
  readonly orders?: (orders: OrderEntry, inside: Inside) => OrderEntry;
  readonly http?: (http: Http) => Http;
  readonly ws?: (ws: Ws) => Ws;
  readonly feed?: (feed: MarketFeed) => MarketFeed;
  readonly host?: (host: WriterHost, inside: Inside) => WriterHost;
  readonly journal?: (journal: Journal, inside: Inside) => Journal;
  readonly loaded?: (loaded: Loaded) => Loaded;
  readonly identity?: (identity: Identity) => Identity;
  readonly spend?: (spend: Spend) => Spend;
  readonly notice?: (notice: (limit: LimitNotice) => void) => (limit: LimitNotice) => void;
  /** The exchange's time as the protocol reads it. */
  readonly serverTime?: (time: Answer<number>) => Answer<number>;
  readonly timing?: Partial<Timing>;
  /** Bends what was put together, in place. */
  readonly assembled?: (assembled: Assembled, inside: Inside) => void;
  /** Each so many-th commit is synced: 1 is `synchronous=FULL`. */
  readonly syncEvery?: number;
  /** These I/O errors at a commit count as written. */
  readonly ioErrorIsWritten?: readonly DiskError[];
  /** What was forbidden until a time is taken by the clock of whoever reads it. */
  readonly bansByTheWall?: boolean;
  /** The process goes by the machine's wall clock, whatever the exchange says. */
  readonly goesByTheWall?: boolean;
  /** Spent weight and bans are forgotten by a restart. */
  readonly forgetsLimits?: boolean;
  /** The plan asks for a late queue (the window is judged at the gateway only). */
  readonly lateQueue?: boolean;
}
