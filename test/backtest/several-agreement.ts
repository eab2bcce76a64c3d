/** A generated case of several markets, as the product runs it and as the slow reference answers it, in the same rows. */
import { runBacktest } from '../../src/backtest/engines.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import { intervalMs } from '../../src/domain/interval.ts';
import { rate, units, unitsText } from '../../src/domain/money.ts';
import type { Target } from '../../src/domain/order.ts';
import { type RulesetName, rulesets } from '../../src/fill/rules.ts';
import { highest, of, weights } from '../../src/index.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';
import { wide } from '../kit/builders.ts';
import { severalInput } from '../kit/several-markets.ts';
import { Decimal, equityAt, type State } from '../reference/account.ts';
import {
  type GeneratedCase,
  type Glimpse,
  glimpseOf,
  isDue,
  marginRules,
  signalsAt,
  symbolOf,
  weightsAt,
} from '../reference/generated-several.ts';
import { type SeveralQuestion, severalTogether } from '../reference/several.ts';
import { type Answer, type Kline as ReferenceKline, rulesets as referenceRules } from '../reference/types.ts';
import { columnsOf, joined, type Rows, rowsWhere, withoutRefused } from './agreement.ts';
import { asProduct, inMs } from './product-signals.ts';

/** What came of a run: of each market, and what all have together. */
export interface SeveralRows {
  readonly markets: Readonly<Record<string, Pick<Rows, 'decisions' | 'orders' | 'fills'>>>;
  /** In the order in which they were created. */
  readonly created: readonly string[];
  readonly equity: string;
  readonly ambiguousKlines: number;
  /** What margin cost. */
  readonly charges: readonly string[];
}

export const fees = { maker: '0.001', taker: '0.002' };

const rolesOf = ({ markets }: GeneratedCase): readonly string[] => markets.map(({ role }) => role);

export async function byProduct(given: GeneratedCase, rules: RulesetName): Promise<SeveralRows> {
  return rowsOfResult(await runBacktest(await inputOf(given, rules)), 'one', rolesOf(given));
}

/** Two strategies on the same markets. The second says what it says by another seed, and while klines are missing, too. */
export const twoCases = (given: GeneratedCase): readonly [GeneratedCase, GeneratedCase] => [
  given,
  { ...given, seed: given.seed + 1, kind: { ...given.kind, allowMissing: true } },
];

export async function byProductTogether(
  [first, second]: readonly [GeneratedCase, GeneratedCase],
  rules: RulesetName,
): Promise<readonly SeveralRows[]> {
  const names = ['first', 'second'] as const;
  const result = await runBacktest(joined(await inputOf(first, rules), await inputOf(second, rules), [...names]));
  return names.map((name) => rowsOfResult(result, name, rolesOf(first)));
}

export async function inputOf(given: GeneratedCase, rules: RulesetName): Promise<RunInput> {
  const { kind, markets, flows, cash } = given;
  const bound = markets.map(({ role, minutes }) => `${role}: { symbol: ${symbolOf(role)}, interval: ${minutes}min }`);
  const binding =
    kind.form === 'roles'
      ? `markets: { ${bound.join(', ')} }`
      : `symbols: [${markets.map(({ role }) => symbolOf(role)).join(', ')}]`;
  const input = await severalInput(
    kind.form === 'roles' ? byRoles(given) : byList(given),
    binding,
    Object.fromEntries(markets.map(({ role, klines }) => [symbolOf(role), columnsOf(klines)])),
    {
      ...{ cash, rules, fees, more: kind.margin === true ? marginLines(markets) : '' },
      intervals: Object.fromEntries(
        markets.map(({ role, minutes }) => [symbolOf(role), `${minutes}min` as const]),
      ) as never,
      minima: Object.fromEntries(markets.map(({ role, instrument }) => [symbolOf(role), instrument])),
    },
  );
  const first = input.allocations[0];
  return {
    ...input,
    // Nothing but money and the exchange limits an order.
    limits: {
      ...{ ...wide, maxOrdersPerSecond: 1_000_000, maxDailyLoss: rate('1') },
      ...(kind.margin === true && { maxLeverage: rate(marginRules.maxLeverage) }),
      ...(kind.maxPosition !== undefined && { maxPosition: units(kind.maxPosition) }),
    },
    ...(input.margin !== undefined && {
      margin: { ...input.margin, interestEveryMs: marginRules.interestEveryMs },
    }),
    rules: { ...rulesets[rules], closeAtEnd: false },
    ...(flows.length > 0 && {
      cashFlows: flows.map(({ time, amount }) => ({
        ...{ time, asset: 'USD', amount: units(amount), reason: 'test' },
        shares: [{ strategy: 'one', symbol: first?.symbol ?? '', amount: units(amount) }],
      })),
    }),
  };
}

function marginLines(markets: GeneratedCase['markets']): string {
  const { maxLeverage, maintenanceRatio, liquidationFee, interest } = marginRules;
  const rates = [
    ...markets.map(({ instrument }) => `${instrument.base}: "${interest.base}"`),
    `USD: "${interest.quote}"`,
  ];
  const rules = `maxLeverage: "${maxLeverage}", maintenanceRatio: "${maintenanceRatio}", liquidationFee: "${liquidationFee}"`;
  return `account: margin\nmargin: { ${rules}, interest: { ${rates.join(', ')} }, interestEveryHours: 1 }\n`;
}

const glimpses = (
  { markets }: GeneratedCase,
  klines: Readonly<Record<string, Kline | undefined>>,
  tops: Readonly<Record<string, number>>,
  held: (role: string) => number,
): readonly Glimpse[] =>
  markets.flatMap(({ role }) => {
    const [kline, top] = [klines[role], tops[role] ?? Number.NaN];
    return kline === undefined || Number.isNaN(top) ? [] : [{ role, kline: asKline(kline), top, held: held(role) }];
  });

type Kline = Omit<ReferenceKline, 'time'> & { readonly openTime: number };
const asKline = ({ openTime: time, open, high, low, close, volume }: Kline): ReferenceKline => ({
  ...{ time, open, high, low, close, volume },
});

function byRoles(given: GeneratedCase): Strategy {
  const { markets, warmup, kind } = given;
  return defineStrategy({
    name: 'scripted',
    about: 'Says what a case has',
    params: {},
    allowMissing: kind.allowMissing === true,
    ...(kind.alone !== undefined && { legsAlone: kind.alone }),
    markets: Object.fromEntries(markets.map(({ role, use }) => [role, use])),
    indicators: () => Object.fromEntries(markets.map(({ role }) => [role, of(role, highest('close', warmup))])),
    decide(values, { time, klines, holdings, equity }) {
      const all = holdings as Readonly<Record<string, { readonly quantity: number }>>;
      const seen = glimpses(given, klines as never, values as never, (role) => all[role]?.quantity ?? 0);
      const signals = signalsAt(given, time, seen, equity);
      return Object.fromEntries(Object.entries(signals).map(([role, signal]) => [role, asProduct(signal)]));
    },
  });
}

function byList(given: GeneratedCase): Strategy {
  const { warmup, kind } = given;
  return defineStrategy({
    name: 'scripted',
    about: 'Says what a case has',
    params: {},
    ...(kind.schedule !== undefined && { rebalance: kind.schedule }),
    indicators: () => ({ top: highest('close', warmup) }),
    choose(markets, { time }) {
      const seen = markets.map(
        ({ symbol, kline, values, holding }): Glimpse => ({
          role: symbol.slice(0, 1).toLowerCase(),
          ...{ kline: asKline(kline), top: values.top, held: holding.quantity },
        }),
      );
      const chosen = weightsAt(given, time, seen);
      const bySymbol = Object.fromEntries(
        Object.entries(chosen.weights).map(([role, weight]) => [symbolOf(role), weight]),
      );
      const exits = Object.entries(chosen.exits ?? {}).map(([role, own]) => {
        const { kind: _, size: __, reason: ___, ...options } = asProduct({ ...own, quantity: '1' }) as Target;
        return [symbolOf(role), options] as const;
      });
      return weights(bySymbol, 'test', {
        threshold: chosen.threshold,
        ...(chosen.exits && { exits: Object.fromEntries(exits) }),
      });
    },
  });
}

export const bySlowReference = (given: GeneratedCase, rules: RulesetName): SeveralRows =>
  bySlowReferenceTogether([given], rules)[0] as SeveralRows;

/** The equity is that of all of them. */
export function bySlowReferenceTogether(cases: readonly GeneratedCase[], rules: RulesetName): readonly SeveralRows[] {
  const all = severalTogether(cases.map((given) => questionOf(given, rules)));
  const equity = Decimal.sum(...all.map((states) => equityAt(Object.values(states)[0] as State))).toFixed();
  return all.map((states, index) => rowsOfStates(states, (cases[index] as GeneratedCase).markets, equity));
}

function questionOf(given: GeneratedCase, rules: RulesetName): SeveralQuestion {
  const { kind, warmup, cash, flows, markets } = given;
  return {
    ...{ rules: referenceRules[rules], fees, cash, cashFlows: flows },
    ...(kind.margin === true && { margin: marginRules }),
    ...(kind.alone !== undefined && { alone: kind.alone }),
    ...(kind.maxPosition !== undefined && { maxPosition: kind.maxPosition }),
    markets: markets.map(({ role, klines, minutes, instrument }) => ({
      ...{ role, klines, instrument },
      intervalMs: intervalMs(`${minutes}min` as '1min', 0),
    })),
    strategy:
      kind.form === 'roles'
        ? {
            ...{ kind: 'roles', allowMissing: kind.allowMissing === true, warmup },
            decide: (time, all, equity) =>
              signalsAt(
                given,
                time,
                all.map((one) => glimpseOf(one, warmup)),
                equity,
              ),
          }
        : {
            ...{ kind: 'list', warmup, isDue: isDue(kind.schedule) },
            choose: (time, all) =>
              weightsAt(
                given,
                time,
                all.map((one) => glimpseOf(one, warmup)),
              ),
          },
  };
}

function rowsOfStates(
  states: Readonly<Record<string, State>>,
  markets: GeneratedCase['markets'],
  equity: string,
): SeveralRows {
  const each = Object.entries(states).map(([role, state]) => {
    const minutes = markets.find((one) => one.role === role)?.minutes ?? 1;
    return [role, rowsOfState(state, minutes * 60_000)] as const;
  });
  return {
    markets: Object.fromEntries(each),
    created: createdOf(
      Object.entries(states).flatMap(([role, { orders }]) => orders.map(({ row }) => ({ ...row, role }))),
    ),
    equity,
    ambiguousKlines: Object.values(states).reduce((sum, { ambiguousRows }) => sum + ambiguousRows.size, 0),
    charges: Object.entries(states)
      .flatMap(([role, { charges }]) => charges.map((one) => `${one.time} ${role} ${one.kind} ${one.amount}`))
      .sort(),
  };
}

function rowsOfState({ decisions, orders, fills }: State, klineMs: number): SeveralRows['markets'][string] {
  const { orders: kept, fills: filled } = withoutRefused({
    decisions: [],
    orders: orders.map(({ row, executed }): Answer['orders'][number] => ({ ...row, executed: executed.toFixed() })),
    fills,
    equity: '',
    ambiguousKlines: 0,
  });
  return {
    decisions: decisions.map(({ time, signal }) => ({ time, signal: rounded(inMs(asProduct(signal), klineMs)) })),
    orders: kept,
    fills: filled,
  };
}

/** Amounts come from an equity of which the last binary digit may differ. */
function rounded(signal: object): object {
  const size = 'size' in signal ? (signal.size as { readonly amount?: number }) : undefined;
  return size?.amount === undefined ? signal : { ...signal, size: { amount: Number(size.amount.toFixed(3)) } };
}

const createdOf = (
  rows: readonly {
    readonly number: number;
    readonly state: unknown;
    readonly time: unknown;
    readonly role: string;
    readonly side: unknown;
    readonly purpose: unknown;
  }[],
): readonly string[] =>
  rows
    .filter(({ state }) => state !== 'denied' && state !== 'rejected')
    .toSorted((a, b) => a.number - b.number)
    .map(({ time, role, side, purpose }) => [time, role, side, purpose].join(' '));

function rowsOfResult(result: RunResult, strategy: string, roles: readonly string[]): SeveralRows {
  const each = rowsWhere(
    result,
    roles.map((role) => ({ strategy, symbol: symbolOf(role) })),
  );
  const db = result.journal();
  const rows = db.prepare('SELECT * FROM orders WHERE strategy = ? ORDER BY client_order_id').all(strategy) as Record<
    string,
    unknown
  >[];
  db.close();
  return {
    markets: Object.fromEntries(
      roles.map((role, index) => {
        const { decisions, orders, fills } = each[index] as Rows;
        return [
          role,
          {
            decisions: decisions.map(({ time, signal }) => ({ time, signal: rounded(signal as object) })),
            orders,
            fills,
          },
        ];
      }),
    ),
    created: createdOf(
      rows.map((row) => ({
        number: Number(String(row['client_order_id']).slice(1)),
        ...{ state: row['state'], time: row['created_at'], side: row['side'], purpose: row['purpose'] },
        role: String(row['symbol']).slice(0, 1).toLowerCase(),
      })),
    ),
    equity: unitsText(result.finalEquity),
    ambiguousKlines: result.ambiguousKlines,
    charges: (result.margin?.charges ?? [])
      .filter((one) => one.strategy === strategy)
      .map((one) => `${one.at} ${one.symbol.slice(0, 1).toLowerCase()} ${one.kind} ${unitsText(one.amount)}`)
      .sort(),
  };
}
