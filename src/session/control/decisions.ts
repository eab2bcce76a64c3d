/** An operator's decisions in a daemon: resolve or adopt an order, decide a trade, adjust the ledger. Commands share the texts and checks. */
import {
  type Decimal,
  MoneyError,
  noUnits,
  plus,
  type Units,
  units,
  unitsDecimal,
  unitsText,
} from '../../domain/money.ts';
import type { OperatorActions } from '../../domain/operator-actions.ts';
import type { TradeDecision } from '../../domain/order.ts';
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import { type ByHand, type OperatorOutcome, operatorOutcomes } from '../../execution/operator-decisions.ts';
import type { Assembled } from '../../trading/assemble.ts';

const isWord = (word: string): word is OperatorOutcome => Object.hasOwn(operatorOutcomes, word);

export const resolvedText = (order: string, as: OperatorOutcome): string =>
  as === 'quarantined'
    ? `Order ${order} is quarantined: it stays reserved and its symbol blocked until the exchange shows it, or you close it.`
    : `Order ${order} is closed as ${as} by your decision. Nothing was booked: its trades are booked when the exchange shows them, or with sluice adjust.`;

export const tradeText = (trade: string, as: TradeDecision): string =>
  as === 'accepted'
    ? `Trade ${trade} accepted and booked as the exchange shows it.`
    : `Trade ${trade} discarded. It will never be booked, and the position does not count it. If it changed balances, run sluice adjust. An order that waits for it is closed with sluice resolve ORDER --as filled.`;

export const adjustedText = (asset: string, amount: string, isCompared: boolean): string =>
  `The ledger counts ${amount.replace('-', '')} ${asset} ${amount.startsWith('-') ? 'less' : 'more'}; ${isCompared ? 'the next comparison shows whether it equals the account' : 'nothing compares it with the account, because the exchange has no query for margin balances'}.`;

/** The decisions of the control API, with the same checks as the commands. */
export function decisionsOf({
  resolveByHand,
  adoptByHand,
  resolveTrade: decideTrade,
  adjust: adjustLedger,
  execution: { books, halts },
  portfolio: { instruments },
}: ByHand & Known): Pick<OperatorActions, 'resolve' | 'adopt' | 'resolveTrade' | 'adjust'> {
  return {
    async resolve({ order, as, by, reason }) {
      if (!isWord(as))
        throw new Refusal(`an order is resolved as ${Object.keys(operatorOutcomes).join(', ')}, not as ${as}`);
      const against = await resolveByHand(order.toLowerCase(), as, by, reason);
      if (against !== undefined) throw new Refusal(against);
      return resolvedText(order, as);
    },
    async adopt({ order, orderId, by, reason }) {
      const against = await adoptByHand({ clientOrderId: order.toLowerCase(), orderId, by, reason });
      if (against !== undefined) throw new Refusal(against);
      return `Order ${order} adopted as exchange order ${orderId}. Its fills are booked.`;
    },
    async resolveTrade({ trade, as, by, reason }) {
      const against = await decideTrade(trade, as, by, reason);
      if (against !== undefined) throw new Refusal(against);
      return tradeText(trade, as);
    },
    async adjust({ asset, amount: text, by, reason }) {
      refuseNoAsset(asset);
      const amount = parseAmount(text);
      if (books === undefined) throw new Refusal(onPaper);
      const expected = books.ledger.expected();
      const traded = [...instruments.values()].flatMap(({ base, quote }) => [base, quote]);
      refuseUnknownAsset(asset, [...new Set([...traded, ...expected.keys()])]);
      // After a shortfall of the account itself, the adjustment may exceed the ledger.
      const hasShortfall = halts.inForce.some(({ cause }) => cause === 'ledger');
      const balance = books.ledger.begun && !hasShortfall ? expected.get(asset) : undefined;
      if (balance !== undefined && amount < 0n) refuseNegativeBalance(asset, unitsText(amount), unitsDecimal(balance));
      await adjustLedger(asset, amount, by, reason);
      return adjustedText(asset, unitsText(amount), books.balances !== undefined);
    },
  };
}

interface Known {
  readonly execution: Pick<Assembled['execution'], 'books' | 'halts'>;
  readonly portfolio: Pick<Assembled['portfolio'], 'instruments'>;
}

export const onPaper =
  'nothing can be adjusted on paper: balances come from the configuration (cash, allocation) and the fills, and are not compared with an account';

export function refuseNoAsset(asset: string): void {
  if (!/^[A-Z0-9]{1,20}$/.test(asset))
    throw new Refusal(`${asset} is not an asset: write it as the exchange does, such as USDT`);
}

export function refuseUnknownAsset(asset: string, known: readonly string[]): void {
  if (known.length > 0 && !known.includes(asset))
    throw new Refusal(
      `${asset} is not an asset of this account${didYouMean(asset, known)}: the journal knows ${known.join(', ')}`,
    );
}

/** Refuses a withdrawal of more than the balance, unless the account itself was seen to lack it (`difference`). */
export function refuseNegativeBalance(asset: string, amount: string, balance: Decimal, difference?: string): void {
  const after = balance.plus(amount);
  if (after.gte(0) || (difference !== undefined && balance.plus(difference).lte(after))) return;
  throw new Refusal(
    `the ledger has ${balance.toFixed()} ${asset}, and ${amount.slice(1)} less is below zero: check the amount and its sign${difference === undefined ? '' : `; at the last comparison the account differed from the ledger by ${difference} ${asset}`}`,
  );
}

/** More than any exchange has of any asset. */
const most = units('1000000000000000000');

export function parseAmount(text: string): Units {
  try {
    const amount = /^-?\d+(\.\d+)?$/.test(text) ? units(text) : undefined;
    if (amount === noUnits)
      throw new Refusal(`${text} would change nothing: write a deposit (100) or a withdrawal (-12.5)`);
    if (amount !== undefined && (amount > most || plus(amount, most) < noUnits))
      throw new Refusal(`${text} is more than exists of any asset: check the amount`);
    if (amount !== undefined) return amount;
  } catch (error) {
    if (!(error instanceof MoneyError)) throw error;
  }
  throw new Refusal(`${text} is not an amount: write a plain number with at most 18 decimals, such as 100 or -12.5`);
}
