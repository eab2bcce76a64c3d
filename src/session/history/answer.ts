/** Answers to the questions of the dashboard, from the journal and the log of a state directory. */
import type { Answers, Asked, DenialsByRule, Question, TimelineView } from '../../dashboard/history.ts';
import { isClosed } from '../../domain/order.ts';
import { denialText } from '../../domain/words.ts';
import { wordsFor } from '../../execution/operator-decisions.ts';
import type { JournalReader } from '../../journal/reader.ts';
import { clipped, speedName } from '../../trading/format.ts';
import { logLines } from './log-lines.ts';
import type { Performance } from './performance.ts';
import { decisionTimeline, type Step, timelineOf } from './timeline.ts';

export type AnyQuestion = { [Q in Question]: { readonly question: Q; readonly asked: Asked<Q> } }[Question];

const hourMs = 3_600_000;
/** Steps that are answered; the first ones are left out. */
const maxSteps = 400;

const shown = (steps: readonly Step[]): TimelineView['steps'] =>
  steps.slice(-maxSteps).map((step) => ({ ...step, detail: clipped(step.detail) }));

function why(reader: JournalReader, dir: string, subject: string): TimelineView {
  const { order, steps } = timelineOf(reader, dir, subject);
  if (order === undefined) return { title: `Denied signals of ${subject}`, advice: undefined, steps: shown(steps) };
  const { clientOrderId, orderId, strategy, side, symbol, state } = order;
  // While the outcome is unknown, the daemon queries it.
  const words = isClosed(state) || state === 'unknown' ? [] : wordsFor(state);
  return {
    title: `${strategy}: ${side} ${symbol}, order ${orderId ?? clientOrderId}, ${state}`,
    advice:
      words.length === 0 ? undefined : `npx sluice resolve ${clientOrderId} --as ${words.join('|')} --reason TEXT`,
    steps: shown(steps),
  };
}

/** The hours before the last row of the journal: the clock of a demo is not that of the machine. */
function denials(reader: JournalReader, hours: number): readonly DenialsByRule[] {
  const [newest] = reader.denials(1);
  const now = Math.max(reader.equity()?.at ?? 0, newest?.lastAt ?? 0);
  const speed = Number(reader.memories().get(speedName) ?? 1);
  return reader.denialsSince(now - hours * hourMs).flatMap(({ rule, times, last }) =>
    last === undefined
      ? []
      : [
          {
            ...{ rule, times, lastAt: last.lastAt, strategy: last.strategy, symbol: last.symbol, order: last.draft },
            text: denialText(last, speed),
          },
        ],
  );
}

/** The answer; throws a `Refusal` where there is none. `sums` are what performance has added up from one question to the next. */
export function answer(reader: JournalReader, dir: string, given: AnyQuestion, sums: Performance): Answers[Question] {
  switch (given.question) {
    case 'why':
      return why(reader, dir, given.asked.subject);
    case 'decision': {
      const { strategy, symbol } = given.asked;
      const steps = shown(decisionTimeline(reader, dir, given.asked));
      return { title: `Decision of ${strategy} on ${symbol}`, advice: undefined, steps };
    }
    case 'denials':
      return denials(reader, given.asked.hours);
    case 'performance':
      return sums.of(reader, given.asked.strategy);
    case 'log':
      return logLines(dir, given.asked);
    default:
      return given satisfies never;
  }
}
