/** What operators may do to a running daemon. */

import type { Alerts } from '../../alerts/alerts.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Asked, By, OfStrategy, OperatorActions } from '../../domain/operator-actions.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Notice } from '../../journal/entries.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import type { Kill } from '../../risk/kill.ts';
import type { Assembled } from '../../trading/assemble.ts';
import { limitSteps } from '../preflight/limits.ts';
import type { Reloads } from '../reload/reload.ts';
import type { ConfigReloadRequest } from '../reload/reload-config.ts';
import { decisionsOf } from './decisions.ts';
import { awayWhile, unsentText, type Waits } from './exchange-unreachable.ts';
import { flatten } from './flatten.ts';
import {
  afterCancelText,
  cancelledText,
  endedText,
  inForceOf,
  liftedText,
  resumedText,
  stoppedText,
  stopsOf,
  unknownStrategy,
} from './kill-texts.ts';

export interface ActionParts {
  readonly assembled: Assembled;
  readonly clock: Clock;
  readonly hosted: readonly { readonly id: string }[];
  readonly stateDir: string;
  readonly reloads: Pick<Reloads, 'reload'>;
  /** Undefined where none are configured. */
  readonly alerts: Pick<Alerts, 'acknowledge'> | undefined;
  readonly notice: (notice: Notice) => void;
  readonly reloadConfig: (asked: ConfigReloadRequest) => string;
  /** Why nothing at all reaches the exchange; undefined where it takes requests. */
  readonly away: () => string | undefined;
  readonly isStopping: () => boolean;
}

export function actionsOf(parts: ActionParts): OperatorActions {
  const { assembled, clock, hosted, stateDir, reloads, reloadConfig } = parts;
  const refuseNobody = (strategy: string | undefined): void => {
    const why = strategy === undefined ? undefined : unknownStrategy(strategy, hosted, assembled);
    if (why !== undefined) throw new Refusal(why);
  };
  const stop = async (asked: Asked & OfStrategy, how: Pick<Kill, 'kind' | 'everything'>): Promise<string> => {
    refuseNobody(asked.strategy);
    return stopStrategies(parts, asked, how);
  };
  const refuseStopping = (): void => {
    if (parts.isStopping())
      throw new Refusal('nothing was done: the daemon is stopping. Repeat it with the next one', 1);
  };
  return {
    kill: ({ everything = false, ...asked }) => stop(asked, { kind: 'kill', everything }),
    pause: (asked) => stop(asked, { kind: 'pause', everything: false }),
    async resume({ strategy, by, reason, seen }) {
      refuseNobody(strategy);
      refuseUnseen(parts, seen);
      const halted = strategy === undefined ? assembled.execution.halts.inForce : [];
      const before = stopsOf(assembled);
      const flattens = assembled.flattening.pending(strategy);
      await assembled.resume(strategy, by, reason);
      const said = `${resumedText(strategy, before, stopsOf(assembled))}${liftedText(halted)}${endedText(flattens)}`;
      return said + unsentText(parts.away(), 'Orders are created');
    },
    async cancel({ strategy, order, by, reason }) {
      refuseStopping();
      refuseNobody(strategy);
      const orders = order === undefined ? openOrders(strategy, assembled) : [openOrder(order, assembled)];
      const what = order === undefined ? `the resting orders of ${strategy ?? 'all strategies'}` : `order ${order}`;
      const because = reason === undefined ? '' : `: ${reason}`;
      parts.notice({ level: 'info', text: `${by} cancels ${what}${because}`, typed: reason });
      noteCancel(assembled, orders, { by, ...(reason !== undefined && { reason }) });
      const why = orders.length === 0 ? undefined : await awayWhile(parts, assembled.cancelOrders(orders));
      const said =
        why === undefined ? cancelledText(orders) : `Cancels were requested.${unsentText(why, 'They are sent')}`;
      return order === undefined ? said + afterCancelText(strategy, hosted, assembled) : said;
    },
    async flatten(asked) {
      refuseStopping();
      return flatten(asked, { ...parts, refuseNobody });
    },
    ...decisionsOf(assembled),
    acknowledge: (asked) => acknowledge(parts, asked),
    async reload(asked) {
      refuseStopping();
      return reloads.reload(asked);
    },
    async reloadConfig(asked) {
      refuseStopping();
      return reloadConfig(asked);
    },
    limits: limitSteps(assembled, clock, stateDir),
  };
}

/** Kills or pauses. Where nothing reaches the exchange, it answers before the cancels, which wait for that. */
export async function stopStrategies(
  parts: Waits & { readonly assembled: Pick<Assembled, 'kill'> },
  { strategy, by, reason }: Asked & OfStrategy,
  how: Pick<Kill, 'kind' | 'everything'>,
): Promise<string> {
  const { assembled, clock } = parts;
  const stopping = assembled.kill({ ...how, at: clock.now(), strategy, by, reason });
  const stopped = stoppedText({ ...how, strategy });
  const why = await awayWhile(parts, stopping);
  if (why !== undefined) return stopped + unsentText(why, 'Resting orders are cancelled');
  return `${stopped} ${cancelledText(await stopping)}`;
}

/** An answer lifts what its question named: what came in force since then may be the reason not to resume. */
function refuseUnseen({ assembled, away }: ActionParts, seen: string | undefined): void {
  const { mark, text } = inForceOf(assembled, away());
  if (seen === undefined || seen === mark) return;
  const now = text === '' ? 'Nothing is in force any more.' : `Now in force: ${text} Resume again to lift that.`;
  throw new Refusal(`nothing was lifted: what is in force has changed since you were asked. ${now}`, 1);
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

/** `sluice why ORDER` shows who cancelled it, and why. */
export function noteCancel(
  { execution: { journal, clock } }: Pick<Assembled, 'execution'>,
  orders: readonly WorkingOrder[],
  asked: By & { readonly reason?: string },
): void {
  for (const { intent } of orders)
    journal.append({
      ...{ kind: 'event', event: 'cancelAsked', at: clock.now(), detail: { ...asked } },
      clientOrderId: intent.clientOrderId,
    });
}

const openOrders = (
  strategy: string | undefined,
  { portfolio }: Pick<Assembled, 'portfolio'>,
): readonly WorkingOrder[] =>
  [...portfolio.orders()].filter(
    ({ state, intent }) => state === 'open' && (strategy ?? intent.strategy) === intent.strategy,
  );

/** The order of this client id, which rests. */
function openOrder(clientOrderId: string, { portfolio }: Pick<Assembled, 'portfolio'>): WorkingOrder {
  const order = portfolio.order(clientOrderId.toLowerCase());
  if (order?.state === 'open') return order;
  throw new Refusal(
    order === undefined
      ? `order ${clientOrderId} is not open: there is nothing to cancel`
      : `order ${clientOrderId} is ${order.state}: only an order that is open can be cancelled${order.state === 'unknown' ? `; sluice kill --strategy ${order.intent.strategy} cancels it once it is found` : ''}`,
    1,
  );
}
