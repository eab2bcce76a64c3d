/** What a kind of torture is. */
import type { Arena, Setting } from './arena.ts';

/** Numbers about an ordeal that are summed over a campaign: unknown outcomes, denials, creates of importance. */
export type Facts = Readonly<Record<string, number>>;

export interface Done {
  /** How many of what the kind counts this was. */
  readonly count: number;
  readonly facts?: Facts;
  /** What went wrong although the ledgers may be equal. */
  readonly faults?: readonly string[];
}

export interface Kind {
  readonly name: string;
  /** What is counted, in the plural. */
  readonly counts: string;
  /** How many are asked for where nobody says how many. */
  readonly wanted: number;
  /** Comparisons in one arena before it is closed: a journal that grows without end makes every start longer. */
  readonly comparisons: number;
  /** Its figures are times: nothing else runs beside it. */
  readonly alone?: boolean;
  /** Why it cannot be done on this machine. */
  readonly impossible?: () => string | undefined;
  readonly setting?: () => Setting | Promise<Setting>;
  /** Called once for each arena, before anything runs in it. */
  readonly prepare?: (arena: Arena) => Promise<void>;
  /** Does its worst. A daemon runs before it and after it, and what is left is to come to rest. */
  readonly ordeal: (arena: Arena) => Promise<Done>;
  /** Called once for each arena at its end. */
  readonly clean?: (arena: Arena) => Promise<void>;
}
