/** The fill rules of a backtest: a ruleset, with the deviations in `fills`. */
import { resolve } from 'node:path';
import type { BacktestConfig } from '../../config/schema.ts';
import { namedCsv, readNamedFile } from '../../data/named-file.ts';
import { rateText, ticks } from '../../domain/money.ts';
import { Refusal } from '../../domain/refusal.ts';
import { type ImpactModel, squareRoot } from '../../fill/impact.ts';
import type { LatencyModel } from '../../fill/latency.ts';
import { aboutRules, aboutTape, type Rules, rulesets } from '../../fill/rules.ts';
import type { RunInput } from '../run.ts';

export function rulesOf(
  dir: string,
  { account, rules, fills }: Pick<BacktestConfig, 'account' | 'rules' | 'fills'>,
): Rules {
  if (fills.closeAtEnd === true && account === 'margin')
    throw new Refusal(
      'fills.closeAtEnd: not supported on margin, because interest may be owed in the traded asset: leave it out',
    );
  const { latencies, latencyDrawn, queue, queueExponent, impact, penetrationTicks, ...plain } = fills;
  const base = rulesets[rules];
  const given = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined));
  return {
    ...base,
    ...(given as Partial<Rules>),
    ...(penetrationTicks !== undefined && {
      penetrationTicks: ticks(String(penetrationTicks), { pricePrecision: 0, quantityPrecision: 0 }),
    }),
    ...(latencies !== undefined && { latency: measured(resolve(dir, latencies), latencyDrawn) }),
    queue: { kind: queue ?? base.queue.kind, n: queueExponent ?? base.queue.n },
    impact: impact === undefined ? base.impact : impactModels[impact],
  };
}

/** The rules of each kind of fill, by the beginning of its evidence. */
const fillsBy = [
  ['depth', 'by depth: ', aboutTape.books],
  ['trade', 'by trades: ', aboutTape.trades],
] as const;

/** The beginnings of evidence that a run's fills can have, by what is recorded of its symbols. */
export const recordedIn = ({ series, tapes }: Pick<RunInput, 'series' | 'tapes'>): readonly string[] =>
  series.flatMap(({ symbol }) => {
    const tape = tapes?.get(symbol);
    const [books, trades] = [tape?.books, tape?.trades];
    return tape === undefined ? ['kline'] : [...(books ? ['depth'] : []), ...(trades ? ['trade'] : [])];
  });

/** What the rules of a configuration assume, in words; with the evidence of fills only for the kinds of fills that occurred. */
export function rulesText(
  { rules, fills }: Pick<BacktestConfig, 'rules' | 'fills'>,
  evidence: readonly string[] = [],
): string {
  const changed = Object.entries(fills).flatMap(([key, value]) =>
    value === undefined || value === false ? [] : [`${key} ${typeof value === 'bigint' ? rateText(value) : value}`],
  );
  const byTape = fillsBy.filter(([start]) => evidence.some((rule) => rule.startsWith(start)));
  const byKlines = byTape.length === 0 || evidence.some((rule) => rule.startsWith('kline'));
  const said = [
    ...byTape.map(([, name, words]) => `${name}${words}`),
    ...(byKlines ? [`${byTape.length === 0 ? '' : 'by klines: '}${aboutRules[rules]}`] : []),
  ].join(' | ');
  const kept = fills.impact === 'none' ? said.replaceAll(/; large orders move (it|their price)/g, '') : said;
  return changed.length === 0 ? kept : `${kept}; but ${changed.join(', ')}`;
}

/** The models of impact, with their usual numbers; `volumeShare` has those of zipline. */
const impactModels: Readonly<Record<'none' | ImpactModel['kind'], ImpactModel | undefined>> = {
  none: undefined,
  squareRoot,
  volumeShare: { kind: 'volumeShare', impact: 0.1, maxShare: 0.025 },
};

/** Latencies of requests from a CSV file: those measured at each time, or drawn from all of them. */
function measured(path: string, isDrawn: boolean): LatencyModel {
  const file = namedCsv(path, [
    { name: 'time_ms', role: 'number' },
    { name: 'entry_ms', role: 'number' },
    { name: 'response_ms', role: 'number' },
  ]);
  const rows: { readonly time: number; readonly entryMs: number; readonly responseMs: number }[] = [];
  readNamedFile(file, ({ columns, rows: count, lines }) => {
    for (let row = 0; row < count; row++) {
      const [time = 0, entryMs = 0, responseMs = 0] = columns.map((column) => column[row] as number);
      if (time < (rows.at(-1)?.time ?? 0))
        throw new Refusal(`${path}, line ${lines[row]}: it is earlier than the line before: sort the file by time`);
      rows.push({ time, entryMs, responseMs });
    }
  });
  return isDrawn ? { kind: 'distribution', travels: rows } : { kind: 'recorded', rows };
}
