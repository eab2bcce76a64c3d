/** What holds an order back after its decision. */
import type { Intent } from '../domain/order.ts';
import { pastOf } from '../risk/kill.ts';
import type { TradingComponents } from './components.ts';

/** Why an order may neither be sent nor rest: a kill, a pause, or the end of the flatten that it belongs to. */
export function stoppedBy({ risk, flattening }: TradingComponents, intent: Intent): string | undefined {
  const kill = risk.switch.against(intent);
  return kill === undefined ? flattening.against(intent) : `${pastOf[kill.kind]}: ${kill.reason}`;
}
