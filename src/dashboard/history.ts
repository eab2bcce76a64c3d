/**
 * What the page asks for when somebody looks at it, instead of being pushed: timelines, denials, performance, and the log. Money is decimal text,
 * times are UTC ms of the daemon's clock.
 */
import { z } from 'zod';
import type { EquityPoint } from './view.ts';

/** One line of a timeline. */
export interface TimelineStep {
  readonly at: number;
  readonly event: string;
  readonly detail: string;
}

export interface TimelineView {
  readonly title: string;
  /** What only an operator can decide, as a command. */
  readonly advice: string | undefined;
  readonly steps: readonly TimelineStep[];
}

/** Denials by one rule, with the last one. */
export interface DenialsByRule {
  readonly rule: string;
  readonly times: number;
  readonly lastAt: number;
  readonly strategy: string;
  readonly symbol: string;
  readonly order: string;
  readonly text: string;
}

/** A day, week or month (UTC). A week begins on Monday. */
export interface Period {
  readonly start: number;
  /** Of all strategies: the change of the equity. Of one: closed profit less fees. */
  readonly profit: string;
  readonly fees: string;
  readonly fills: number;
  /** Positions that were closed, and those with a profit after fees. */
  readonly roundTrips: number;
  readonly wins: number;
}
export const periodUnits = ['day', 'week', 'month'] as const;
export type PeriodUnit = (typeof periodUnits)[number];

export interface PerformanceView {
  readonly strategies: readonly string[];
  /** Newest first. */
  readonly periods: Readonly<Record<PeriodUnit, readonly Period[]>>;
  /** Oldest first. Of one strategy its profit: a point after each fill, at the price of the fill. */
  readonly curve: readonly EquityPoint[];
  /** Of one strategy with fills in several symbols: the profit of each, a point after each of its fills, at the price of the fill. Of many those that moved most. */
  readonly markets: readonly { readonly symbol: string; readonly curve: readonly EquityPoint[] }[];
  /** Markets that are left out. */
  readonly otherMarkets: number;
  /** The deepest fall of the curve from its highest point. */
  readonly maxDrawdown: { readonly amount: string; readonly from: number; readonly to: number };
  readonly roundTrips: number;
  readonly wins: number;
  readonly fees: string;
}

export interface LogLine {
  /** UTC ms of the machine; undefined where a line has none. */
  readonly at: number | undefined;
  readonly level: LogLevel;
  readonly text: string;
}
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogView {
  /** Newest first. */
  readonly lines: readonly LogLine[];
  /** There is more before the first line: only the end of the log is searched. */
  readonly isCut: boolean;
}

const name = z.string().min(1).max(100);

/** Each question with what it takes. Values come from an address, so numbers are written as text. */
export const questions = {
  /** The timeline of an order, by its id or the end of it; or the denials of a strategy. */
  why: z.strictObject({ subject: name }),
  /** What became of the signal of a strategy that was in force at a time. */
  decision: z.strictObject({ strategy: name, symbol: name, at: z.coerce.number().int() }),
  denials: z.strictObject({
    hours: z.coerce
      .number()
      .min(1)
      .max(24 * 366),
  }),
  /** Of all strategies together, or of one. */
  performance: z.strictObject({ strategy: name.optional() }),
  log: z.strictObject({
    level: z.enum(logLevels).default('info'),
    strategy: name.optional(),
    text: z.string().max(200).optional(),
  }),
};
type Questions = typeof questions;
export type Question = keyof Questions;
export type Asked<Q extends Question> = z.output<Questions[Q]>;

export interface Answers {
  readonly why: TimelineView;
  readonly decision: TimelineView;
  readonly denials: readonly DenialsByRule[];
  readonly performance: PerformanceView;
  readonly log: LogView;
}

/** Answers without keeping the daemon from trading. A `Refusal` says why there is no answer. */
export interface History {
  ask<Q extends Question>(question: Q, asked: Asked<Q>): Promise<Answers[Q]>;
}
