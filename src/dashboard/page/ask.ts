/** Questions to the daemon whose answers are shown when somebody looks. */
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { Answers, Question } from '../history.ts';
import type { MarketView } from '../view.ts';
import { bearer, noAnswer } from './daemon.ts';
import { chartOf, view } from './store.ts';
import { afterMs } from './timer.ts';

export type Answer<T> =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'answered'; readonly value: T }
  | { readonly kind: 'failed'; readonly message: string };

export type Parameters = Readonly<Record<string, string | number | undefined>>;

/** Real ms between two answers while something that changes is looked at. */
const againMs = 3_000;

const queryOf = (parameters: Parameters): string =>
  new URLSearchParams(
    Object.entries(parameters).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, String(value)]],
    ),
  ).toString();

/** A GET of the daemon's. Its refusal, and that nobody answers, come as a sentence. `patienceMs`: real ms for the answer, where that is limited. */
export async function get<T>(path: string, patienceMs?: number): Promise<Answer<T>> {
  const giveUp = new AbortController();
  const cancel = patienceMs === undefined ? () => {} : afterMs(patienceMs, () => giveUp.abort());
  try {
    const reply = await fetch(path, { headers: bearer(), signal: giveUp.signal });
    const said: unknown = await reply.json();
    if (reply.ok) return { kind: 'answered', value: said as T };
    return { kind: 'failed', message: (said as { readonly message?: string }).message ?? `Status ${reply.status}.` };
  } catch {
    return { kind: 'failed', message: noAnswer };
  } finally {
    cancel();
  }
}

export const ask = <Q extends Question>(question: Q, parameters: Parameters): Promise<Answer<Answers[Q]>> =>
  get<Answers[Q]>(`api/history/${question}?${queryOf(parameters)}`);

interface Pace {
  /** Real ms between two answers. */
  readonly everyMs?: number;
  readonly patienceMs?: number;
}
/** Asks again and again while it is shown, and at once where `key` changes. `pathOf` is called for each question: it may ask for what is new alone. */
function useRepeated<T>(
  key: string,
  pathOf: () => string,
  take: (said: Answer<T>) => void,
  { everyMs = againMs, patienceMs }: Pace = {},
): void {
  useEffect(() => {
    let isOver = false;
    let cancel = (): void => {};
    const look = async (): Promise<void> => {
      const said = await get<T>(pathOf(), patienceMs);
      if (isOver) return;
      take(said);
      cancel = afterMs(everyMs, () => void look());
    };
    void look();
    return () => {
      isOver = true;
      cancel();
    };
  }, [key]);
}

/** Asks for what a chart shows, while it is shown. `since`: what the page has already, so that an answer holds only what is new. */
export function useChartData<T>(
  call: 'klines' | 'indicators',
  market: MarketView,
  { since, take, everyMs }: { since: () => Parameters; take: (chart: string, value: T) => void; everyMs: number },
): void {
  const { symbol, interval } = market;
  const chart = chartOf(market);
  useRepeated<T>(
    chart,
    () => `api/${call}?${queryOf({ symbol, interval, ...since() })}`,
    (said) => said.kind === 'answered' && take(chart, said.value),
    { everyMs },
  );
}

/** The answer to a GET, asked again while it is shown: every few seconds, and at once where its address changes. */
export function useGet<T>(path: string, pace?: Pace): Answer<T> {
  const [answer, setAnswer] = useState<{ readonly path: string; readonly said: Answer<T> } | undefined>();
  useRepeated<T>(
    path,
    () => path,
    (said) => setAnswer({ path, said }),
    pace,
  );
  return answer?.path === path ? answer.said : { kind: 'waiting' };
}

export const useAnswer = <Q extends Question>(question: Q, parameters: Parameters): Answer<Answers[Q]> =>
  useGet<Answers[Q]>(`api/history/${question}?${queryOf(parameters)}`);

/** The strategy that panels are about; empty: all of them. */
export const chosenStrategy = signal('');

/** Every strategy that is shown, for a choice. */
export const strategyIds = (): readonly string[] => [...new Set((view.value?.strategies ?? []).map(({ id }) => id))];
