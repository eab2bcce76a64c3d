/**
 * Backtests in several quote currencies on one account. Each strategy spends only its allocation in its own currency. So the backtest is
 * one run per currency, and the results are added in one currency, at recorded rates.
 */

import type { BacktestConfig } from '../../config/schema.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { noUnits, plus, ticksOf, type Units, unitsNumber, unitsText, worth } from '../../domain/money.ts';
import type { Fill } from '../../domain/order.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Rates } from '../../research/currency-rates.ts';
import { entriesTogether } from '../../research/entry-losses.ts';
import type { CurrencyRow } from '../../research/summary.ts';
import type { Currencies, Other } from '../prepare/run-money.ts';
import { impactTogether } from '../result/ambiguity-band.ts';
import { sorted } from '../result/refusals.ts';
import { askedTogether } from '../result/spent-weight.ts';
import { type RunInput, type RunResult, spanOf } from '../run.ts';
import { mergedJournal } from './merged-journal.ts';

/** Refuses what cannot be counted together; the pair of each other currency, by asset. Undefined where there is one currency. */
export function pairsOf(
  file: string,
  { currency, currencies }: Pick<BacktestConfig, 'currency' | 'currencies'>,
  quotes: readonly string[],
  available: readonly Instrument[],
): ReadonlyMap<string, Instrument> | undefined {
  const given = Object.entries(currencies);
  const refuse = (key: string, what: string): never => {
    throw new Refusal(`${file}: ${key}: ${what}`);
  };
  if (currency === undefined) {
    if (given.length > 0 || quotes.length > 1)
      refuse('currency', `is missing: set it to the currency of the equity, ${quotes.join(' or ')}`);
    return undefined;
  }
  const pairs = new Map<string, Instrument>();
  for (const quote of quotes)
    if (quote !== currency && !Object.hasOwn(currencies, quote))
      refuse(
        `currencies.${quote}`,
        `is missing: give the cash in ${quote} and the pair that converts ${quote} to ${currency}`,
      );
  for (const [asset, { pair }] of given) {
    const at = available.find((one) => one.symbol === pair);
    if (!quotes.includes(asset)) refuse(`currencies.${asset}`, `no strategy trades against ${asset}`);
    if (at === undefined) refuse(`currencies.${asset}.pair`, `instruments has no symbol ${pair}`);
    else if (at.base !== asset || at.quote !== currency)
      refuse(
        `currencies.${asset}.pair`,
        `${pair} gives the value of ${at.base} in ${at.quote}, not of ${asset} in ${currency}`,
      );
    else pairs.set(asset, at);
  }
  return pairs.size === 0 ? undefined : pairs;
}

/** Refuses rates that do not reach back to the start, or have longer holes than is allowed; says how old one had to get. */
export function rateNote(
  { asset, pair, line }: Pick<Other, 'asset' | 'pair' | 'line'>,
  { start, end }: { readonly start: number; readonly end: number },
  intervalMs: number,
  maxRateAgeMs: number,
): string | undefined {
  const moment = (time: number): string => `${new Date(time).toISOString().slice(0, 16)}Z`;
  if (line.rowAt(start) < 0)
    throw new Refusal(
      `${asset}: there is no rate at ${moment(start)}, the start of the run: the first kline of ${pair.symbol} closes at ${moment(line.closeOf(0))}; set from: ${moment(line.closeOf(0))}`,
    );
  const { ageMs, at } = line.oldest(start, end);
  const hours = `${(ageMs / 3_600_000).toFixed(1)} h`;
  if (ageMs > maxRateAgeMs)
    throw new Refusal(
      `${asset}: the rate by ${pair.symbol} would be ${hours} old at ${moment(at)}, more than maxRateAgeMs: fill the gap in its klines, or raise maxRateAgeMs`,
    );
  return ageMs > intervalMs
    ? `${asset}: klines of ${pair.symbol} are missing; the oldest rate was ${hours} old, at ${moment(at)}`
    : undefined;
}

/** One run for each currency that strategies are paid in; the run itself where there is one. */
export function partsOf(input: RunInput): readonly RunInput[] {
  const { currencies, ...rest } = input;
  if (currencies === undefined) return [input];
  const own = { asset: currencies.reporting, cash: currencies.cash, limits: {} };
  return [own, ...currencies.others].flatMap(({ asset, cash, limits }): readonly RunInput[] => {
    const hosted = input.hosted.filter(({ instrument }) => instrument.quote === asset);
    if (hosted.length === 0) return [];
    const symbols = new Set(hosted.map(({ symbol }) => symbol));
    const ids = new Set(hosted.map(({ id }) => id));
    const flows = input.cashFlows?.filter((flow) => flow.asset === asset) ?? [];
    const { cashFlows: _, ...without } = rest;
    return [
      {
        ...without,
        ...(flows.length > 0 && { cashFlows: flows }),
        hosted,
        cash,
        limits: { ...input.limits, ...limits },
        instruments: new Map([...input.instruments].filter(([symbol]) => symbols.has(symbol))),
        series: input.series.filter(({ symbol }) => symbols.has(symbol)),
        allocations: input.allocations.filter(({ strategy }) => ids.has(strategy)),
        ...(input.tapes !== undefined && {
          tapes: new Map([...input.tapes].filter(([symbol]) => symbols.has(symbol))),
        }),
      },
    ];
  });
}

/** An amount of a currency at the close of its pair, exact, cut to the precision of amounts. */
export function inReporting(currencies: Currencies | undefined, asset: string, amount: Units, time: number): Units {
  const other = currencies?.others.find((one) => one.asset === asset);
  return other === undefined ? amount : worth(amount, ticksOf(other.line.at(time), other.pair, 'down'), other.pair);
}

const assetOf = (part: RunInput): string => part.hosted[0]?.instrument.quote ?? '';

/** Runs each currency by itself and counts what they come to together. */
export async function inEach(input: RunInput, run: (part: RunInput) => Promise<RunResult>): Promise<RunResult> {
  const parts = partsOf(input);
  const results: RunResult[] = [];
  for (const part of parts) results.push(await run(part));
  return together(input, parts, results);
}

function together(input: RunInput, parts: readonly RunInput[], results: readonly RunResult[]): RunResult {
  const { currencies } = input;
  const [only] = results;
  if (currencies === undefined && only !== undefined) return only;
  if (currencies === undefined) throw new Error('there are no currencies to add up');
  if (results.some(({ endedAt }) => endedAt !== undefined))
    throw new Refusal('stopped: a run in several currencies has no partial result', 1);
  const { end } = spanOf(input.series);
  const all = parts.map((part, index) => ({ asset: assetOf(part), result: results[index] as RunResult }));
  const sum = (amountOf: (result: RunResult) => Units): Units =>
    all.reduce(
      (total, { asset, result }) => plus(total, inReporting(currencies, asset, amountOf(result), end)),
      noUnits,
    );
  const isIdle = all.every(({ asset }) => asset !== currencies.reporting);
  const flows = all.flatMap(({ result }) => result.cashFlows ?? []).toSorted((a, b) => a.at - b.at);
  const requests = results.flatMap((result) => result.requests ?? []);
  let merged: ReturnType<RunResult['journal']> | undefined;
  return {
    fills: all
      .flatMap(({ asset, result }) => result.fills.map((fill) => named(fill, asset)))
      .toSorted((a, b) => a.time - b.time),
    finalEquity: plus(
      sum(({ finalEquity }) => finalEquity),
      isIdle ? currencies.cash : noUnits,
    ),
    couldBeBetterBy: sum(({ couldBeBetterBy }) => couldBeBetterBy),
    couldBeWorseBy: sum(({ couldBeWorseBy }) => couldBeWorseBy),
    ...impactTogether(
      all.map(({ asset, result: { impact } }) => ({
        impact,
        worthOf: (cost) => inReporting(currencies, asset, cost, end),
      })),
    ),
    ambiguousKlines: results.reduce((total, { ambiguousKlines }) => total + ambiguousKlines, 0),
    entries: entriesTogether(results.flatMap(({ entries }) => entries ?? [])),
    refused: sorted(results.flatMap(({ refused }) => refused ?? [])),
    asked: () => askedTogether(results.map(({ asked }) => asked())),
    kills: all.flatMap(({ asset, result }) => result.kills.map((kill) => `${asset}: ${kill}`)),
    ...firstStop(all.map(({ result }) => result)),
    finals: all.map(({ asset, result }) => ({ asset, equity: result.finalEquity })),
    ...(flows.length > 0 && { cashFlows: flows }),
    ...(requests.length > 0 && {
      requests: {
        creates: requests.reduce((total, { creates }) => total + creates, 0),
        cancels: requests.reduce((total, { cancels }) => total + cancels, 0),
        queries: requests.reduce((total, { queries }) => total + queries, 0),
      },
    }),
    // Once: it closes those that it is made of.
    journal: () => (merged ??= mergedJournal(all.map(({ asset, result }) => ({ name: asset, db: result.journal() })))),
  };
}

/** Ids count anew in each currency's run. */
const named = (fill: Fill, asset: string): Fill => ({
  ...fill,
  tradeId: `${asset}-${fill.tradeId}`,
  orderId: `${asset}-${fill.orderId}`,
  clientOrderId: `${asset}-${fill.clientOrderId}`,
});

/** For figures: rates, and who is paid in what. */
export const ratesOf = ({
  currencies,
  instruments,
}: Pick<RunInput, 'currencies' | 'instruments'>): Rates | undefined =>
  currencies === undefined
    ? undefined
    : {
        lines: new Map(currencies.others.map(({ asset, line }) => [asset, line])),
        of: new Map(
          [...instruments.values()].flatMap(({ symbol, quote }) =>
            quote === currencies.reporting ? [] : [[symbol, quote] as const],
          ),
        ),
        cash: new Map(currencies.others.map(({ asset, cash }) => [asset, unitsNumber(cash)])),
      };

/** All cash at the start, in the currency of the equity. */
export function wholeCash({ cash, currencies, series }: Pick<RunInput, 'cash' | 'currencies' | 'series'>): Units {
  if (currencies === undefined) return cash;
  const { start } = spanOf(series);
  return currencies.others.reduce(
    (sum, other) => plus(sum, inReporting(currencies, other.asset, other.cash, start)),
    currencies.cash,
  );
}

/** What was kept and traded in each currency, for the record. */
export function currencyRows({ currencies, series }: RunInput, { finals = [] }: RunResult): readonly CurrencyRow[] {
  if (currencies === undefined) return [];
  const { start, end } = spanOf(series);
  const finalOf = (asset: string, cash: Units): string =>
    unitsText(finals.find((one) => one.asset === asset)?.equity ?? cash);
  return [
    {
      asset: currencies.reporting,
      cash: unitsText(currencies.cash),
      finalEquity: finalOf(currencies.reporting, currencies.cash),
      pair: null,
      firstRate: 1,
      lastRate: 1,
      oldestRateMs: 0,
    },
    ...currencies.others.map(({ asset, cash, pair, line }) => ({
      asset,
      cash: unitsText(cash),
      finalEquity: finalOf(asset, cash),
      pair: pair.symbol,
      firstRate: line.at(start),
      lastRate: line.at(end),
      oldestRateMs: line.oldest(start, end).ageMs,
    })),
  ];
}

function firstStop(all: readonly RunResult[]): Pick<RunResult, 'stoppedAt'> {
  const times = all.flatMap(({ stoppedAt }) => stoppedAt ?? []);
  return times.length === 0 ? {} : { stoppedAt: Math.min(...times) };
}
