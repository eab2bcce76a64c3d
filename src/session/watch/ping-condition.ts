/** Whether all is well with a daemon, as the dead-man's ping has it. */
import type { DaemonState } from '../../dashboard/view.ts';

export interface PingParts {
  readonly screen: { readonly state: DaemonState };
  readonly exchange: { noMarketData(): string | undefined };
  readonly journal: { readonly full: boolean };
  readonly assembled: { readonly execution: { readonly halts: { against(): string | undefined } } };
  readonly blocked: () => string | undefined;
}

/**
 * Why not; undefined where all is well: it is through with recovery, market data comes, the exchange is reachable and permits orders, the journal
 * can be written, and no HALT is in force. Kills and pauses are what somebody decided, or a limit, and are reported.
 */
export function whyUnhealthy({ screen, exchange, journal, assembled, blocked }: PingParts): string | undefined {
  if (screen.state !== 'ready') return screen.state;
  if (journal.full) return 'the disk is full';
  return assembled.execution.halts.against() ?? exchange.noMarketData() ?? blocked();
}
