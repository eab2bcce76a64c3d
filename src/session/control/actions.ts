/** What operators may do to a running daemon. */
import type { Alerts } from '../../alerts/alerts.ts';
import type { ScaledClock } from '../../clock/clock.ts';
import type { Asked, OfStrategy, OperatorActions } from '../../domain/operator-actions.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Notice } from '../../execution/context.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import type { Kill } from '../../risk/kill.ts';
import type { Assembled } from '../../trading/assemble.ts';
import { limitSteps } from '../preflight/limits.ts';
import type { Reloads } from '../reload.ts';
import type { ConfigReloadRequest } from '../reload-config.ts';
import { decisionsOf } from './decisions.ts';
import { flatten } from './flatten.ts';
import { afterCancelText, cancelledText, liftedText, resumedText, stoppedText, unknownStrategy } from './kill-texts.ts';

export interface ActionParts {
  readonly assembled: Assembled;
  readonly clock: ScaledClock;
  readonly hosted: readonly { readonly id: string }[];
  readonly stateDir: string;
  readonly reloads: Pick<Reloads, 'reload'>;
  /** Undefined where none are configured. */
  readonly alerts: Pick<Alerts, 'acknowledge'> | undefined;
  readonly notice: (notice: Notice) => void;
  readonly reloadConfig: (asked: ConfigReloadRequest) => string;
}

export function actionsOf(parts: ActionParts): OperatorActions {
  const { assembled, clock, hosted, stateDir, reloads, reloadConfig } = parts;
  const refuseNobody = (strategy: string | undefined): void => {
    const why = strategy === undefined ? undefined : unknownStrategy(strategy, hosted, assembled);
    if (why !== undefined) throw new Refusal(why);
  };
  async function stop(
    { strategy, by, reason }: Asked & OfStrategy,
    how: Pick<Kill, 'kind' | 'everything'>,
  ): Promise<string> {
    refuseNobody(strategy);
    const resting = await assembled.kill({ ...how, at: clock.now(), strategy, by, reason });
    return `${stoppedText({ ...how, strategy })} ${cancelledText(resting)}`;
  }
  return {
    kill: ({ everything = false, ...asked }) => stop(asked, { kind: 'kill', everything }),
    pause: (asked) => stop(asked, { kind: 'pause', everything: false }),
    async resume({ strategy, by, reason }) {
      refuseNobody(strategy);
      const halted = strategy === undefined ? assembled.execution.halts.inForce : [];
      const before = killsOf(assembled);
      await assembled.resume(strategy, by, reason);
      const halts = assembled.execution.halts.inForce.map(({ text }) => ({
        ...{ kind: 'halt' as const, strategy: null, reason: text },
      }));
      return `${resumedText(strategy, before, [...killsOf(assembled), ...halts])}${liftedText(halted)}`;
    },
    async cancel({ strategy, order }) {
      refuseNobody(strategy);
      if (order !== undefined) return cancelledText(await assembled.cancelOrders([openOrder(order, assembled)]));
      return cancelledText(await assembled.cancelAll(strategy)) + afterCancelText(strategy, hosted, assembled);
    },
    flatten: (asked) => flatten(asked, { assembled, clock, refuseNobody }),
    ...decisionsOf(assembled),
    acknowledge: (asked) => acknowledge(parts, asked),
    reload: (asked) => reloads.reload(asked),
    reloadConfig: async (asked) => reloadConfig(asked),
    limits: limitSteps(assembled, clock, stateDir),
  };
}

async function acknowledge(
  { alerts, notice }: Pick<ActionParts, 'alerts' | 'notice'>,
  { by, alarm }: Parameters<OperatorActions['acknowledge']>[0],
): Promise<string> {
  if (alerts === undefined) throw new Refusal('no alerts are configured, so there is no alarm');
  const count = await alerts.acknowledge(alarm, by);
  if (count === 0)
    throw new Refusal(alarm === undefined ? 'no alarm waits to be acknowledged' : `alarm ${alarm} does not wait`);
  const text = count === 1 ? 'one alarm is acknowledged' : `${count} alarms are acknowledged`;
  notice({ level: 'info', text: `${text} by ${by}${alarm === undefined ? '' : `: alarm ${alarm}`}` });
  return text;
}

const killsOf = ({ risk }: Pick<Assembled, 'risk'>) =>
  risk.switch.inForce.map((kill) => ({ ...kill, strategy: kill.strategy ?? null }));

/** The order of this client id, which rests. */
function openOrder(clientOrderId: string, { portfolio }: Pick<Assembled, 'portfolio'>): WorkingOrder {
  const order = portfolio.order(clientOrderId.toLowerCase());
  if (order?.state === 'open') return order;
  throw new Refusal(
    order === undefined
      ? `order ${clientOrderId} is not open: there is nothing to cancel`
      : `order ${clientOrderId} is ${order.state}: only an order that is open can be cancelled${order.state === 'unknown' ? `; sluice kill --strategy ${order.intent.strategy} cancels it once it is found` : ''}`,
  );
}
