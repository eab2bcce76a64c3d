/**
 * The view model: everything that the dashboard, the terminal status and `GET /api/view` say about a running daemon.
 * Money is decimal text, times are UTC ms of the daemon's clock. A field that changes its meaning raises `viewVersion`.
 */

import type { LimitUse } from '../domain/limit-use.ts';
import type { Columns, Kline, Side } from '../domain/market.ts';
import type { Account, FillJson, OrderState, OrderType, Purpose } from '../domain/order.ts';
import type { ActionWords } from '../domain/words.ts';

export const viewVersion = 1;

/** What the daemon is doing; `killed` means that no order is created until somebody resumes. */
export type DaemonState = 'starting' | 'recovering' | 'ready' | 'killed' | 'stopping';

export interface View {
  readonly version: typeof viewVersion;
  /** What the run is called on the screen: `live`, `paper`, `demo`. */
  readonly mode: string;
  /** Orders reach an exchange that is not on this machine. */
  readonly isRealMoney: boolean;
  readonly exchangeUrl: string;
  readonly account: Account;
  readonly marketTime: number;
  /** Exchange seconds per real second. */
  readonly speed: number;
  readonly state: DaemonState;
  /** The state in a sentence: what happens now and what the user may do. */
  readonly stateText: string;
  /** Why no market data comes, which is in `stateText` too; undefined while it does. */
  readonly noMarketData?: string | undefined;
  /** Why no order is created until that passes by itself, such as a ban or a full disk; undefined while they are. */
  readonly blocked?: string | undefined;
  readonly equity: EquityView;
  readonly markets: readonly MarketView[];
  readonly strategies: readonly StrategyView[];
  readonly openOrders: readonly OpenOrderView[];
  /** Newest first. */
  readonly decisions: readonly DecisionView[];
  /** Newest first; the charts mark these too. */
  readonly fills: readonly FillView[];
  /** Limits in force with what is used of them, those of all strategies first. */
  readonly limits: readonly LimitUse[];
  readonly weight: WeightView;
  /** Unresolved ones first, then the newest. */
  readonly unknowns: readonly UnknownView[];
  /** Newest first. */
  readonly notices: readonly NoticeView[];
  /** Alarms that nobody has acknowledged, oldest first; left out where none can be. */
  readonly alarms?: readonly AlarmView[];
  /** Kills, pauses and HALTs in force. */
  readonly inForce: InForceView;
  /** What each button does, in a sentence that is shown before it is done. */
  readonly actions: ActionWords;
}

export interface EquityView {
  /** The asset it is counted in. */
  readonly asset: string;
  readonly now: string;
  /** At the start of the UTC day; the daily loss is measured anew from a resume on, this is not. */
  readonly dayStart: string;
  /** At the first start of this state directory. */
  readonly start: string;
  /** Oldest first. */
  readonly series: readonly EquityPoint[];
}
export interface EquityPoint {
  readonly at: number;
  readonly equity: string;
}

/** It is sent again until somebody acknowledges it. */
export interface AlarmView extends Pick<NoticeView, 'level' | 'text'> {
  readonly id: number;
  readonly time: number;
}

/** A symbol with charts of its own. */
export interface MarketView {
  readonly symbol: string;
  /** Of the chart that is shown first: that of the first strategy. */
  readonly interval: string;
  /** That strategies and their indicators use, the smallest first; each has a chart. */
  readonly intervals: readonly string[];
  readonly last: string | undefined;
  readonly pricePrecision: number;
}

/** A kline for the chart; `number` is right for klines (architecture, "Core types"). The last one may still be open. */
export type KlineView = Pick<Kline, keyof Columns>;

export interface StrategyView {
  readonly id: string;
  /** The strategy's name or file; empty, as the interval is, of a former one. */
  readonly use: string;
  readonly symbol: string;
  readonly interval: string;
  /** All its markets, where it decides on several; then there is one such view for each in which it holds something. */
  readonly markets?: readonly MarketOfStrategy[];
  /** `stopped`: it threw. `paused` and `killed`: by `kill`. `former`: not configured any more, but something of it is left. */
  readonly status: 'running' | 'paused' | 'killed' | 'stopped' | 'former';
  /** Why it was paused, killed or stopped. */
  readonly error: string | undefined;
  /** The kill or pause in force: of several the one that stops the most. */
  readonly kill: KillView | undefined;
  readonly position: PositionView;
  readonly equity: string;
  /** Protective prices in force now. */
  readonly stop: string | undefined;
  readonly takeProfit: string | undefined;
  /** The longest time that a position of it stood without the protection that it asked for, ms. */
  readonly unprotectedMs: number;
  /** It does so now. */
  readonly isUnprotected: boolean;
}
/** What an operator or a limit stopped, of one strategy or of all. */
export interface KillView {
  readonly kind: 'kill' | 'pause';
  /** Of a kill: it stops exits, too. */
  readonly everything: boolean;
  readonly at: number;
  /** `operator`, `dashboard`, `telegram NAME`, `file`, `signal` or the limit's name. */
  readonly by: string;
  readonly reason: string;
  /** Null: all strategies. */
  readonly strategy: string | null;
}

/** What a resume of all would lift. */
export interface InForceView {
  /** Changes with what is in force; a resume names the mark that its asker saw. */
  readonly mark: string;
  /** Sentences, the newest first; empty while nothing is in force. */
  readonly text: string;
}

/** A market of a strategy that has several. */
export interface MarketOfStrategy {
  /** Its name in the strategy; in a list, its symbol. */
  readonly role: string;
  readonly symbol: string;
  readonly interval: string;
  /** `data`: it is read alone. */
  readonly use: 'traded' | 'data';
}

export interface PositionView {
  /** In the base asset; `0` when flat, negative when short. */
  readonly quantity: string;
  /** Less than an order can sell, as fees leave it behind: shown as flat. */
  readonly isDust: boolean;
  readonly entryPrice: string | undefined;
  /** At the last price, in quote. */
  readonly value: string;
  readonly openProfit: string;
}

export interface OpenOrderView {
  readonly clientOrderId: string;
  readonly orderId: string | undefined;
  readonly strategy: string;
  readonly symbol: string;
  readonly side: Side;
  readonly type: OrderType;
  /** LIMIT only. */
  readonly price: string | undefined;
  readonly quantity: string;
  readonly filled: string;
  readonly state: OrderState;
  readonly createdAt: number;
}

export interface DecisionView {
  readonly at: number;
  readonly strategy: string;
  readonly symbol: string;
  /** The target, quotes or order in words: `hold 0.25 XBT`, `2 quotes around 5,012.5`. */
  readonly draft: string;
  /** The strategy's own reason. */
  readonly reason: string;
  /** `none`: nothing had to be done, so no rule was asked. */
  readonly verdict: 'approved' | 'denied' | 'none';
  /** Our client id of the order that was approved. */
  readonly order?: string;
  /** The rule that denied. */
  readonly code: string | undefined;
  /** The verdict in words, with its numbers. */
  readonly text: string;
}

export interface FillView extends FillJson {
  readonly maker: boolean;
  readonly purpose: Purpose;
}

export interface WeightView {
  readonly ip: Meter;
  readonly uid: Meter;
  /** Requests that wait for weight. */
  readonly waiting: number;
  /** Nothing is sent before this, when the exchange stopped us. */
  readonly bannedUntil: number | undefined;
}
export interface Meter {
  readonly used: number;
  readonly max: number;
}

/** An order whose outcome was not known, and how that ended. */
export interface UnknownView {
  readonly clientOrderId: string;
  readonly strategy: string;
  readonly symbol: string;
  /** `BUY 0.01 at 5,012.5`. */
  readonly order: string;
  readonly since: number;
  readonly cause: string;
  /** What was asked so far, oldest first. */
  readonly steps: readonly StepView[];
  /** Undefined while it is still unknown. */
  readonly resolved: StepView | undefined;
}
export interface StepView {
  readonly at: number;
  readonly text: string;
}

export interface NoticeView {
  readonly at: number;
  /** As pino names them. */
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  /** What the user can do about it. */
  readonly advice: string | undefined;
}

/** One push to the page: the whole view, which replaces what the page has, or its changes. */
export type Update =
  | { readonly whole: true; readonly view: View }
  | { readonly whole: false; readonly view: ViewChanges };

/** The parts that have changed, null for one that is gone. Of `equity.series` its new or changed end. */
export type ViewChanges = { readonly [Part in keyof View]?: View[Part] | null };

/** The longest chart: the cost of a chart's update grows with its length, so older klines are dropped. */
export const maxKlines = 1_000;
/** The longest equity curve; older points are dropped. */
export const maxEquityPoints = 2_000;
