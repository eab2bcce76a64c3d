/** `--stress`: the same run under worse conditions, to see how much the result depends on them. */
import { Observable } from 'rxjs';
import type { Kline } from '../../domain/market.ts';
import { unitsNumber } from '../../domain/money.ts';
import type { Signal } from '../../domain/order.ts';
import { doubled } from '../../fill/fees.ts';
import type { LatencyModel, Travel } from '../../fill/latency.ts';
import type { Stressed } from '../../research/verdict.ts';
import {
  hasList,
  isDeciding,
  isStreaming,
  type Legs,
  type Moment,
  type Strategy,
  type Weights,
} from '../../strategy/contract.ts';
import { over } from '../../strategy/override.ts';
import type { Params } from '../../strategy/params.ts';
import { checked } from '../../strategy/signals.ts';
import { copyOfValues, type Values } from '../../strategy/values.ts';
import type { RunInput, RunResult } from '../run.ts';

/**
 * A strategy that sees each kline when the next one has closed; a streaming one emits its signals that much later. Its position is current:
 * a target from before its purchase, emitted after it, would sell again at once, for ever.
 */
function delayed(strategy: Strategy): Strategy {
  if (isStreaming(strategy))
    return over(strategy, {
      signals: (context) =>
        new Observable<Signal>((subscriber) => {
          let pending: Signal | undefined;
          const klines = context.klines.subscribe(() => {
            if (pending !== undefined) subscriber.next(pending);
            pending = undefined;
          });
          klines.add(
            strategy.signals(context).subscribe((signal) => {
              pending = checked(signal, context.interval);
            }),
          );
          return klines;
        }),
    });
  if (hasList(strategy)) {
    const late = oneLate('weights');
    return over(strategy, { choose: (markets, moment) => late(strategy.choose(markets, moment)) as Weights });
  }
  if (!isDeciding(strategy)) {
    const late = oneLate('legs');
    return over(strategy, { decide: (values, moment) => late(strategy.decide(values, moment)) as Legs<never> });
  }
  let before: { readonly values: Values; readonly kline: Kline } | undefined;
  return over(strategy, {
    decide(values: Values, moment: Moment<Params>): ReturnType<typeof strategy.decide> {
      const { kline } = moment;
      // A new run begins without the klines of the one before.
      const known = before !== undefined && before.kline.openTime < kline.openTime ? before : undefined;
      before = { values: copyOfValues(values), kline };
      return known === undefined ? undefined : strategy.decide(known.values, { ...moment, kline: known.kline });
    },
  });
}

/** Gives what was returned one call before. A memory is kept at once: the next call already has it. */
function oneLate(beside: 'legs' | 'weights'): (returned: unknown) => unknown {
  let last: unknown;
  return (returned) => {
    const hasMemory = typeof returned === 'object' && returned !== null && 'memory' in returned;
    const before = last;
    last = hasMemory ? (returned as Readonly<Record<string, unknown>>)[beside] : returned;
    return hasMemory ? { memory: returned.memory, [beside]: before } : before;
  };
}

function tripled(model: LatencyModel): LatencyModel {
  const slower = <T extends Travel>(travel: T): T => ({
    ...travel,
    entryMs: 3 * travel.entryMs,
    responseMs: 3 * travel.responseMs,
  });
  return model.kind === 'recorded'
    ? { ...model, rows: model.rows.map(slower) }
    : { ...model, travels: model.travels.map(slower) };
}

const conditions: readonly { readonly name: string; readonly worsen: (input: RunInput) => RunInput }[] = [
  {
    name: 'Fees × 2',
    worsen: (input) => ({ ...input, fees: doubled(input.fees) }),
  },
  {
    name: 'Latency × 3',
    worsen: (input) => {
      const { feedLatencyMs, entryLatencyMs, responseLatencyMs } = input.rules;
      const slower = {
        feedLatencyMs: 3 * feedLatencyMs,
        entryLatencyMs: 3 * entryLatencyMs,
        responseLatencyMs: 3 * responseLatencyMs,
        // Measured latencies replace the constants.
        latency: input.rules.latency && tripled(input.rules.latency),
      };
      return { ...input, rules: { ...input.rules, ...slower } };
    },
  },
  {
    name: 'One kline later',
    worsen: (input) => ({
      ...input,
      hosted: input.hosted.map((hosted) => ({ ...hosted, strategy: delayed(hosted.strategy) })),
    }),
  },
];

export const conditionNames = conditions.map(({ name }) => name);

/** Runs under each condition until `stopped`; `judge` takes the input with that condition. */
export async function stress(
  input: RunInput,
  run: (input: RunInput, name: string) => Promise<RunResult>,
  judge: (input: RunInput, result: RunResult) => Pick<Stressed, 'return' | 'sharpe'>,
  stopped: () => boolean,
): Promise<readonly Stressed[]> {
  const found: Stressed[] = [];
  for (const { name, worsen } of conditions) {
    if (stopped()) break;
    const worse = worsen(input);
    const result = await run(worse, name);
    // Part of a run cannot be compared with a whole one.
    if (result.endedAt !== undefined) break;
    const finalEquity = unitsNumber(result.finalEquity);
    found.push({
      name,
      finalEquity,
      ...judge(worse, result),
      fills: result.fills.length,
      ...(result.kills.length > 0 && { kills: result.kills }),
    });
  }
  return found;
}
