/** The start options of a session, shared by the modules that open its parts. */
import type { AlertSecrets } from '../alerts/secrets.ts';
import type { ScaledClock } from '../clock/clock.ts';
import type { LogConfig } from '../config/log.ts';
import type { TradingConfig } from '../config/schema.ts';
import type { Secrets } from '../config/secrets.ts';
import type { Instrument } from '../domain/instrument.ts';
import type { Rate } from '../domain/money.ts';
import type { LimitEntry } from '../journal/entries.ts';
import type { Loaded } from '../journal/load.ts';
import type { Opening } from '../journal/open.ts';
import type { TradedSymbol } from '../trading/lanes.ts';
import type { Configured } from '../trading/strategies.ts';
import type { Exchange } from '../venue/exchange/exchange.ts';
import type { OrderEntry } from '../venue/venue.ts';
import type { DaemonAlerts } from './daemon-alerts.ts';
import type { Log } from './log/log.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Recorder } from './recording/recorder.ts';
import type { ReadConfig } from './reload/reload-config.ts';
import type { StartReports } from './start-reports.ts';

/** What carries out orders, made once the exchange's feed and instruments are there. */
export interface Venue {
  readonly orders: OrderEntry;
  /** What fees leave missing in a bought asset; zero where they are taken in quote. */
  readonly feeInBase: Rate;
  /** The journal as far as it holds for a venue that keeps nothing over a restart; left out: all of it. */
  readonly loaded?: Loaded;
  close?(): void;
}

export interface VenueParts {
  readonly exchange: Exchange;
  readonly instruments: ReadonlyMap<string, Instrument>;
  /** Each strategy with each symbol that it trades. */
  readonly traded: readonly TradedSymbol[];
  readonly clock: ScaledClock;
  readonly loaded: Loaded;
}

/**
 * Replays the last days of the strategies through the limits, and says what these would have denied if that was much. Commands pass it in,
 * because a session runs no backtest.
 */
export type DenialsReplay = (given: {
  readonly config: TradingConfig;
  readonly configured: readonly Configured[];
  readonly instruments: readonly Instrument[];
  /** Steps about limits in the journal. */
  readonly steps: readonly LimitEntry[];
  readonly feed: Pick<Exchange['feed'], 'history'>;
}) => Promise<string | undefined>;

export interface SessionOptions {
  readonly mode: string;
  readonly config: TradingConfig;
  readonly configured: readonly Configured[];
  readonly stateDir: string;
  /** undefined: market data only. */
  readonly secrets: Secrets | undefined;
  /** The account's name in the journal: numbers of two accounts never mix. */
  readonly venueName: string;
  /** The state directory: threads may still examine what is in it. */
  readonly opening: Opening;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Why a journal is taken that is not the newest, or from another host; undefined: it is refused. */
  readonly acceptRestored?: string | undefined;
  readonly log: Log;
  readonly recorder?: Recorder | undefined;
  /** Where a configuration asks for them. */
  readonly metrics?: Metrics | undefined;
  readonly alerts?: DaemonAlerts | undefined;
  /** Reports a start that does not finish. */
  readonly starting?: StartReports | undefined;
  /** Left out where no alerts are configured. */
  readonly alertSecrets?: AlertSecrets | undefined;
  readonly replayDenials?: DenialsReplay | undefined;
  /** Reads the configuration and its secrets again, for a reload. A `Refusal` says all that is wrong with it. */
  readonly reread?: (() => ReadConfig) | undefined;
  /** Changes the level and the rotation of the log. */
  readonly changeLog?: ((config: LogConfig) => void) | undefined;
  /** Asks a question on the terminal; left out where nobody can answer. */
  readonly confirm?: ((question: string) => Promise<boolean>) | undefined;
  /** Says things on the terminal while there is no status yet. */
  readonly say: (line: string) => void;
  /** Aborts a start that still waits for the exchange. */
  readonly signal: AbortSignal;
  makeVenue(parts: VenueParts): Venue;
  /** Called when something broke that leaves no way on. */
  readonly fatal: (error: Error) => void;
}

/** What live and paper are started with: the rest follows from which of them it is. */
export type StartOptions = Omit<SessionOptions, 'makeVenue' | 'venueName' | 'secrets' | 'opening'>;

/** What to take back, the newest first. */
export type Undo = (() => void | Promise<void>)[];
