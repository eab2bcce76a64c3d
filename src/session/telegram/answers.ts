/** What the bot answers, and what it does. It runs beside trading, and reads only what is in memory. */
import type { History } from '../../dashboard/history.ts';
import type { View } from '../../dashboard/view.ts';
import type { OperatorActions } from '../../domain/operator-actions.ts';
import { Refusal } from '../../domain/refusal.ts';
import { moment, roundedMoney } from '../../domain/words.ts';
import { changeText, equityByStrategy, openLines, positionLines } from '../summary/summary-text.ts';
import { type Command, helpText } from './commands.ts';

export interface Answering {
  readonly view: () => View;
  readonly history: History;
  readonly actions: Pick<OperatorActions, 'kill' | 'pause' | 'resume' | 'flatten' | 'acknowledge'>;
  /** Equity of each strategy when this run began. */
  readonly atStart: () => Readonly<Record<string, string>>;
}

/** Of decisions and steps, the newest. */
const mostLines = 12;

export async function answer(answering: Answering, by: string, command: Command): Promise<string> {
  try {
    return await answerOf(answering, by, command);
  } catch (error) {
    return `Not done: ${error instanceof Refusal ? error.message : `it failed: ${String(error)}`}`;
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
    case 'pause':
    case 'resume':
    case 'flatten': {
      const { name, ...asked } = command;
      return actions[name]({ by, ...asked });
    }
  }
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
  const lines = decisions.slice(0, mostLines).map(({ at, strategy, symbol, draft, verdict, code, text }) => {
    const denied = verdict === 'denied' ? `DENIED by ${code ?? 'a rule'}: ` : '';
    return `${moment(at)} ${strategy} ${symbol} ${draft}: ${denied}${text}`;
  });
  return lines.join('\n') || 'No decision yet.';
}

/** `subject`: a strategy, or an order's id, ours or the exchange's, or the end of one. */
async function whyText(history: History, subject: string): Promise<string> {
  const { title, advice, steps } = await history.ask('why', { subject });
  const lines = steps.slice(-mostLines).map(({ at, event, detail }) => `${moment(at)} ${event}: ${detail}`);
  return [title, ...(advice === undefined ? [] : [advice]), ...lines].join('\n');
}
