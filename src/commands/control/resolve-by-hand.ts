/** The commands by which a human decides what nobody else may: how an order ended, what becomes of an invalid trade, and what moved the balances beside trades. */

import { systemClock } from '../../clock/clock.ts';
import { unitsText } from '../../domain/money.ts';
import { exchangeIdPattern, isClosed, type OrderState, type TradeDecision } from '../../domain/order.ts';
import { Refusal } from '../../domain/refusal.ts';
import { statedReason } from '../../domain/stated-reason.ts';
import { holdings } from '../../execution/invariants/holdings.ts';
import { type View, viewOf } from '../../execution/invariants/view.ts';
import { type HumanWord, humanWords, whyNot } from '../../execution/operator-decisions.ts';
import { decisionEntries, rowsToDecide } from '../../execution/quarantined-trades.ts';
import { transitions } from '../../execution/states.ts';
import type { Entry } from '../../journal/entries.ts';
import { openToRead } from '../../journal/reader.ts';
import {
  adjustedText,
  amountOf,
  onPaper,
  refuseBelowNothing,
  refuseNoAsset,
  refuseUnheard,
  resolvedText,
  tradeText,
} from '../../session/decisions.ts';
import { chooseState, inJournal, refusalOf } from '../../session/state.ts';
import { orderOf } from '../show/why.ts';
import { ask, writeAtRest } from './kill-resume-cancel.ts';

export interface DecideOptions {
  readonly state?: string;
  readonly reason: string;
  readonly json: boolean;
  readonly out: (line: string) => void;
  readonly say: (line: string) => void;
}

/**
 * `sluice resolve ORDER --as STATE --reason TEXT`, with a daemon or, while none runs, in the journal; or
 * `sluice resolve ORDER --adopt ID --reason TEXT`, which needs the daemon, since only it can ask the exchange.
 */
export async function resolve(
  subject: string,
  options: DecideOptions & { readonly as?: HumanWord; readonly adopt?: string },
): Promise<void> {
  const { as, adopt, json, out, say } = options;
  if ((as === undefined) === (adopt === undefined))
    throw new Refusal('give either --as STATE or --adopt EXCHANGE_ORDER_ID');
  const reason = statedReason(options.reason);
  const { dir, running } = chooseState(options.state, say, true);
  const order = inJournal(dir, (reader) => orderOf(reader, subject));
  if (order === undefined) throw new Refusal(`there is no order ${subject} in ${dir}: sluice orders lists them`);
  const { clientOrderId } = order;
  const done = (message: string): void =>
    out(
      json
        ? JSON.stringify({
            ...{ version: 2, action: 'resolve', state: dir, order: clientOrderId },
            ...{ as: as ?? null, orderId: adopt ?? null, message },
          })
        : message,
    );
  if (adopt !== undefined) {
    if (!exchangeIdPattern.test(adopt))
      throw new Refusal(
        `${adopt} is not an order id of the exchange: write its digits, as sluice order open lists them`,
      );
    if (running === undefined)
      throw new Refusal(
        `no daemon runs on ${dir}: adopting an order needs it, since it asks the exchange for the order and its fills. Start it, then try again`,
      );
    return done(await ask(running, 'adopt', { order: clientOrderId, orderId: adopt, reason }));
  }
  if (as === undefined) return;
  const against = whyNot(clientOrderId, order.state, as);
  if (against !== undefined) throw new Refusal(against);
  let message = resolvedText(clientOrderId, as);
  if (running === undefined) {
    const at = systemClock.now();
    const state = transitions[order.state][humanWords[as]]?.to ?? order.state;
    const step = (event: 'resolved' | 'closed', detail: Readonly<Record<string, string>>): Entry => ({
      kind: 'event',
      at,
      clientOrderId,
      event,
      detail,
    });
    writeAtRest(dir, [
      {
        ...order,
        state,
        quarantineReason: as === 'quarantined' ? 'human' : order.quarantineReason,
        closedAt: isClosed(state) ? at : null,
      },
      step('resolved', { as, by: 'operator', reason }),
      ...(isClosed(state) ? [step('closed', { state: state satisfies OrderState })] : []),
    ]);
  } else message = await ask(running, 'resolve', { order: clientOrderId, as, reason });
  done(message);
}

/** `sluice resolve-trade TRADE_ID --accept|--discard --reason TEXT`, with a daemon or, while none runs, in the journal. */
export async function resolveTrade(
  trade: string,
  options: DecideOptions & { readonly accept: boolean; readonly discard: boolean },
): Promise<void> {
  const { accept, discard, json, out, say } = options;
  if (accept === discard) throw new Refusal('give either --accept (book it as shown) or --discard (never book it)');
  const as: TradeDecision = accept ? 'accepted' : 'discarded';
  const reason = statedReason(options.reason);
  const { dir, running } = chooseState(options.state, say, true);
  const rows = rowsToDecide(
    inJournal(dir, (reader) => reader.quarantinedTrades()).filter((row) => row.decision === null),
    trade,
    as,
  );
  if (typeof rows === 'string') throw new Refusal(rows);
  const decided = { decision: as, decidedAt: systemClock.now(), by: 'operator', reason };
  if (running === undefined)
    writeAtRest(
      dir,
      rows.flatMap((row) => decisionEntries({ ...row, ...decided })),
    );
  const message =
    running === undefined
      ? `${tradeText(trade, as)} The next daemon applies it.`
      : await ask(running, 'resolve-trade', { trade, as, reason });
  out(json ? JSON.stringify({ version: 2, action: 'resolve-trade', state: dir, trade, as, message }) : message);
}

/** `sluice adjust ASSET AMOUNT --reason TEXT`, with a daemon or, while none runs, in the journal. */
export async function adjust(asset: string, text: string, options: DecideOptions): Promise<void> {
  const { json, out, say } = options;
  const reason = statedReason(options.reason);
  refuseNoAsset(asset);
  const amount = unitsText(amountOf(text));
  const { dir, running } = chooseState(options.state, say, true);
  const meta = inJournal(dir, (reader) => reader.meta);
  if (meta.get('mode') === 'paper') throw new Refusal(onPaper);
  refuseSlips(asset, amount, dir);
  if (running === undefined)
    writeAtRest(dir, [
      { kind: 'adjustment', at: systemClock.now(), what: 'adjust', asset, amount, by: 'operator', reason },
    ]);
  const message =
    running === undefined
      ? adjustedText(asset, amount, meta.get('account') !== 'margin')
      : await ask(running, 'adjust', { asset, amount, reason });
  out(json ? JSON.stringify({ version: 2, action: 'adjust', state: dir, asset, amount, message }) : message);
}

/** A slip in an asset's name, or in an amount, would halt everything at the next comparison with the account. */
function refuseSlips(asset: string, amount: string, dir: string): void {
  const { db } = openToRead(dir);
  try {
    const heard = db
      .prepare('SELECT base FROM instruments UNION SELECT quote FROM instruments UNION SELECT asset FROM adjustments')
      .pluck()
      .all() as string[];
    refuseUnheard(asset, heard);
    if (amount.startsWith('-')) refuseMore(asset, amount, viewOf(db));
  } catch (error) {
    throw refusalOf(error, dir, 'read');
  } finally {
    db.close();
  }
}

function refuseMore(asset: string, amount: string, view: View): void {
  const held = holdings(view)?.get(asset);
  if (held === undefined) return;
  const [last] = view.all<{ differences: string }>('SELECT differences FROM audits ORDER BY at DESC LIMIT 1');
  const seen = last === undefined ? undefined : (JSON.parse(last.differences) as Record<string, string>)[asset];
  refuseBelowNothing(asset, amount, held, seen);
}
