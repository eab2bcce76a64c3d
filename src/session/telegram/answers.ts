/** What the bot answers, and what it does. It runs beside trading, and reads only what is in memory. */
import type { History } from '../../dashboard/history.ts';
import type { View } from '../../dashboard/view.ts';
import type { OperatorActions } from '../../domain/operator-actions.ts';
import { causeOf, Refusal } from '../../domain/refusal.ts';
import { moment, roundedMoney } from '../../domain/words.ts';
import { changeText, equityByStrategy, openLines, positionLines } from '../summary/summary-text.ts';
import { type Command, helpText } from './commands.ts';

export interface Answering {
  readonly view: () => View;
  readonly history: History;
  readonly actions: Pick<OperatorActions, 'kill' | 'pause' | 'resume' | 'flatten' | 'cancel' | 'acknowledge'>;
  /** Equity of each strategy when this run began. */
  readonly atStart: () => Readonly<Record<string, string>>;
}

/** Of decisions and steps, the newest. */
const maxLines = 12;

export async function answer(answering: Answering, by: string, command: Command): Promise<string> {
  try {
    return await answerOf(answering, by, command);
  } catch (error) {
    return `Not done: ${error instanceof Refusal ? error.message : `it failed: ${causeOf(error)}`}`;
  }
}

async function answerOf({ view, history, actions, atStart }: Answering, by: string, command: Command): Promise<string> {
  switch (command.name) {
    case 'help':
      return helpText;
    case 'status':
      return statusText(view());
    case 'positions':
      return positionLines(view()).join('\n') || 'No position is held.';
    case 'profit':
      return profitText(view(), atStart());
    case 'why':
      return command.subject === undefined ? decisionsText(view()) : whyText(history, command.subject);
    case 'ack':
      return actions.acknowledge({ by, alarm: command.alarm });
    case 'kill':
    case 'pause': {
      const { name, ...asked } = command;
      const { strategy, reason, note } = readAs(command, view());
      return `${note}${await actions[name]({ by, ...asked, strategy, reason })}`;
    }
    case 'cancel':
      return actions.cancel({ by, order: orderOf(command.order, view()), reason: command.reason });
    case 'resume':
    case 'flatten': {
      const { name, ...asked } = command;
      return actions[name]({ by, ...asked });
    }
  }
}

/**
 * A word that names no strategy is the reason of a kill or a pause of all: `/kill looks wrong` must not fail in a hurry, and stopping too much is
 * the safer mistake. Capitals do not matter: telephones write them by themselves.
 */
function readAs(
  {
    name,
    strategy,
    reason,
  }: { readonly name: string; readonly strategy?: string | undefined; readonly reason: string },
  { strategies }: Pick<View, 'strategies'>,
): { readonly strategy: string | undefined; readonly reason: string; readonly note: string } {
  if (strategy === undefined) return { strategy, reason, note: '' };
  const ids = strategies.map(({ id }) => id);
  const known = ids.find((id) => id === strategy) ?? ids.find((id) => id.toLowerCase() === strategy.toLowerCase());
  if (known !== undefined) return { strategy: known, reason, note: '' };
  return {
    strategy: undefined,
    reason: reason === `/${name}` ? strategy : `${strategy} ${reason}`,
    note: `No strategy is called ${strategy}, so this counts as the reason, for all strategies. `,
  };
}

/** The open order with this id, ours or the exchange's, or the only one whose id begins or ends so. */
function orderOf(given: string, { openOrders }: Pick<View, 'openOrders'>): string {
  const part = given.replace(/^(…|\.\.\.)/, '').toLowerCase();
  const found = openOrders.filter(({ clientOrderId, orderId = '' }) =>
    [clientOrderId, orderId].some((id) => id.startsWith(part) || id.endsWith(part)),
  );
  const [one] = found;
  if (one === undefined) throw new Refusal(`no open order has an id that begins or ends with ${given}`);
  if (found.length > 1) throw new Refusal(`${found.length} open orders have an id with ${given}: give more characters`);
  return one.clientOrderId;
}

function statusText(shown: View): string {
  const { equity, stateText, mode, alarms = [] } = shown;
  const open = openLines(shown);
  return [
    `${mode}: ${stateText}`,
    `Equity ${roundedMoney(equity.now)} ${equity.asset}, today ${changeText(equity.dayStart, equity.now)}`,
    ...(open.length === 0 ? ['Nothing is open.'] : open),
    ...alarms.map(({ id, text }) => `Alarm ${id}: ${text}`),
  ].join('\n');
}

function profitText(shown: View, atStart: Readonly<Record<string, string>>): string {
  const { equity } = shown;
  return [
    `Today ${changeText(equity.dayStart, equity.now)} ${equity.asset}, since the first start ${changeText(equity.start, equity.now)}`,
    ...Object.entries(equityByStrategy(shown)).map(
      ([id, now]) => `${id}: ${roundedMoney(now)}, since this start ${changeText(atStart[id] ?? now, now)}`,
    ),
  ].join('\n');
}

/** The last decisions. */
function decisionsText({ decisions }: View): string {
  const lines = decisions.slice(0, maxLines).map(({ at, strategy, symbol, draft, verdict, code, text }) => {
    const denied = verdict === 'denied' ? `DENIED by ${code ?? 'a rule'}: ` : '';
    return `${moment(at)} ${strategy} ${symbol} ${draft}: ${denied}${text}`;
  });
  return lines.join('\n') || 'No decision yet.';
}

/** `subject`: a strategy, or an order's id, ours or the exchange's, or the end of one. */
async function whyText(history: History, subject: string): Promise<string> {
  const { title, advice, steps } = await history.ask('why', { subject });
  const lines = steps.slice(-maxLines).map(({ at, event, detail }) => `${moment(at)} ${event}: ${detail}`);
  return [title, ...(advice === undefined ? [] : [advice]), ...lines].join('\n');
}
