/** An operator's decisions for commands: resolve an order, decide a trade, adjust the ledger. By the daemon if one runs, else in the journal. */
import { systemClock } from '../../clock/clock.ts';
import { unitsText } from '../../domain/money.ts';
import { exchangeIdPattern, isClosed, type TradeDecision } from '../../domain/order.ts';
import { Refusal } from '../../domain/refusal.ts';
import { holdings } from '../../execution/invariants/holdings.ts';
import { type View, viewOf } from '../../execution/invariants/view.ts';
import { type OperatorOutcome, operatorOutcomes, whyNot } from '../../execution/operator-decisions.ts';
import { decisionEntries, rowsToDecide } from '../../execution/quarantined-trades.ts';
import { transitions } from '../../execution/states.ts';
import type { Entry, OrderEntryRow } from '../../journal/entries.ts';
import { openToRead } from '../../journal/reader.ts';
import { type ChosenState, inJournal, noDaemonText, refusalOf } from '../state.ts';
import { callDaemon } from './daemon-client.ts';
import {
  adjustedText,
  onPaper,
  parseAmount,
  refuseNegativeBalance,
  refuseNoAsset,
  refuseUnknownAsset,
  resolvedText,
  tradeText,
} from './decisions.ts';
import { writeOffline } from './offline-journal.ts';

/** Records the outcome of an order that nobody else can determine. */
export async function resolveOrder(
  { dir, running }: ChosenState,
  order: OrderEntryRow,
  as: OperatorOutcome,
  reason: string,
): Promise<string> {
  const { clientOrderId } = order;
  const against = whyNot(clientOrderId, order.state, as);
  if (against !== undefined) throw new Refusal(against);
  if (running !== undefined)
    return callDaemon(running, 'resolve', { by: 'operator', order: clientOrderId, as, reason });
  const at = systemClock.now();
  const state = transitions[order.state][operatorOutcomes[as]]?.to ?? order.state;
  const step = (event: 'resolved' | 'closed', detail: Readonly<Record<string, string>>): Entry => ({
    ...{ kind: 'event', at, clientOrderId, event, detail },
  });
  writeOffline(dir, [
    {
      ...order,
      state,
      quarantineReason: as === 'quarantined' ? 'human' : order.quarantineReason,
      closedAt: isClosed(state) ? at : null,
    },
    step('resolved', { as, by: 'operator', reason }),
    ...(isClosed(state) ? [step('closed', { state })] : []),
  ]);
  return resolvedText(clientOrderId, as);
}

/** Binds an order to an exchange order. Only the daemon can ask the exchange for its fills. */
export async function adoptOrder(
  chosen: ChosenState,
  clientOrderId: string,
  orderId: string,
  reason: string,
): Promise<string> {
  if (!exchangeIdPattern.test(orderId))
    throw new Refusal(
      `${orderId} is not an order id of the exchange: write its digits, as sluice order open lists them`,
    );
  const { running } = chosen;
  if (running === undefined)
    throw new Refusal(
      `${noDaemonText(chosen)}. Only a daemon that trades can adopt an order, because it queries the order and its fills. Try again when one does`,
    );
  return callDaemon(running, 'adopt', { by: 'operator', order: clientOrderId, orderId, reason });
}

/** Books a quarantined trade, or never. */
export async function decideTrade(
  { dir, running }: ChosenState,
  trade: string,
  as: TradeDecision,
  reason: string,
): Promise<string> {
  const open = inJournal(dir, (reader) => reader.quarantinedTrades()).filter((row) => row.decision === null);
  const rows = rowsToDecide(open, trade, as);
  if (typeof rows === 'string') throw new Refusal(rows);
  if (running !== undefined) return callDaemon(running, 'resolve-trade', { by: 'operator', trade, as, reason });
  const decided = { decision: as, decidedAt: systemClock.now(), by: 'operator', reason };
  writeOffline(
    dir,
    rows.flatMap((row) => decisionEntries({ ...row, ...decided })),
  );
  return `${tradeText(trade, as)} The next daemon applies it.`;
}

/** Books a deposit or a withdrawal; returns the exact amount, too. */
export async function adjustLedger(
  { dir, running }: ChosenState,
  asset: string,
  text: string,
  reason: string,
): Promise<{ readonly amount: string; readonly message: string }> {
  const amount = unitsText(parseAmount(text));
  const meta = inJournal(dir, (reader) => reader.meta);
  if (meta.get('mode') === 'paper') throw new Refusal(onPaper);
  refuseTypos(asset, amount, dir);
  if (running !== undefined)
    return { amount, message: await callDaemon(running, 'adjust', { by: 'operator', asset, amount, reason }) };
  const at = systemClock.now();
  writeOffline(dir, [{ kind: 'adjustment', at, what: 'adjust', asset, amount, by: 'operator', reason }]);
  return { amount, message: adjustedText(asset, amount, meta.get('account') !== 'margin') };
}

/** A typo in an asset or an amount would halt everything at the next comparison with the account. */
function refuseTypos(asset: string, amount: string, dir: string): void {
  refuseNoAsset(asset);
  const { db } = openToRead(dir);
  try {
    const known = db
      .prepare('SELECT base FROM instruments UNION SELECT quote FROM instruments UNION SELECT asset FROM adjustments')
      .pluck()
      .all() as string[];
    refuseUnknownAsset(asset, known);
    if (amount.startsWith('-')) refuseOverdraft(asset, amount, viewOf(db));
  } catch (error) {
    throw refusalOf(error, dir, 'read');
  } finally {
    db.close();
  }
}

function refuseOverdraft(asset: string, amount: string, view: View): void {
  const balance = holdings(view)?.get(asset);
  if (balance === undefined) return;
  const [last] = view.all<{ differences: string }>('SELECT differences FROM audits ORDER BY at DESC LIMIT 1');
  const difference = last === undefined ? undefined : (JSON.parse(last.differences) as Record<string, string>)[asset];
  refuseNegativeBalance(asset, amount, balance, difference);
}
