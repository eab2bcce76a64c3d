/** Entries that a rule or a lack of money denied, or a rule reduced: a result without them is not the one of the strategy. */
import { grouped } from '../domain/words.ts';

export interface EntryLosses {
  /** Entries that the strategies asked for. A target is one entry, however often its order is repeated. */
  readonly asked: number;
  /** Those that a rule denied without an order that was sent later, and those that it reduced, by the name of the rule. */
  readonly rules: readonly { readonly code: string; readonly denied: number; readonly reduced: number }[];
}

/** Several results as one. */
export function entriesTogether(all: readonly EntryLosses[]): EntryLosses {
  const rules = new Map<string, { readonly code: string; denied: number; reduced: number }>();
  for (const { code, denied, reduced } of all.flatMap((one) => one.rules)) {
    const known = rules.get(code) ?? { code, denied: 0, reduced: 0 };
    rules.set(code, { code, denied: known.denied + denied, reduced: known.reduced + reduced });
  }
  return { asked: all.reduce((sum, { asked }) => sum + asked, 0), rules: [...rules.values()] };
}

/** Words for what no rule denied. */
const names: Readonly<Record<string, string>> = { money: 'no money for price and fee' };

/** `7,927 of 8,012 entries denied (orderValue 7,900, allocation 27), 3 reduced (position 3)`; undefined where none was. */
export function lossesText({ asked, rules }: EntryLosses): string | undefined {
  const parts = (['denied', 'reduced'] as const).flatMap((what) => {
    const some = rules.filter((rule) => rule[what] > 0).toSorted((a, b) => b[what] - a[what]);
    const count = some.reduce((sum, rule) => sum + rule[what], 0);
    const by = some.map((rule) => `${names[rule.code] ?? rule.code} ${grouped(rule[what])}`).join(', ');
    return count === 0 ? [] : [{ what, count: grouped(count), by }];
  });
  const texts = parts.map(({ what, count, by }, index) => {
    const of = index > 0 ? '' : ` of ${grouped(asked)} ${asked === 1 ? 'entry' : 'entries'}`;
    return `${count}${of} ${what} (${by})`;
  });
  return texts.length === 0 ? undefined : texts.join(', ');
}

/** A result without more than this share of its entries is doubtful. */
const manyShare = 0.01;

export const manyDenied = ({ asked, rules }: EntryLosses): boolean =>
  rules.reduce((sum, { denied }) => sum + denied, 0) > manyShare * asked;
