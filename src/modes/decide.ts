/** The commands by which a human decides what nobody else may: how an order ended, what becomes of an invalid trade, and what moved the balances beside trades. */
import { systemClock } from '../clock/clock.ts';
import {
  type Decimal,
  MoneyError,
  noUnits,
  plus,
  type Units,
  units,
  unitsDecimal,
  unitsText,
} from '../domain/money.ts';
import { exchangeIdPattern, isClosed, type OrderState, type TradeDecision } from '../domain/order.ts';
import { didYouMean, Refusal } from '../domain/refusal.ts';
import { type ByHand, type HumanWord, humanWords, whyNot } from '../execution/by-hand.ts';
import { decisionEntries, rowsToDecide } from '../execution/quarantined-trades.ts';
import { transitions } from '../execution/states.ts';
import type { Entry } from '../journal/entries.ts';
import { openToRead } from '../journal/reader.ts';
import type { DashboardSource } from '../ops/dashboard.ts';
import type { Assembled } from './assemble.ts';
import { ask, inJournal, statedReason, writeAtRest } from './control.ts';
import { holdings } from './journal/holdings.ts';
import { type View, viewOf } from './journal/view.ts';
import { chooseState, refusalOf } from './state.ts';
import { orderOf } from './why.ts';

export interface DecideOptions {
  readonly state?: string;
  readonly reason: string;
  readonly json: boolean;
  readonly out: (line: string) => void;
  readonly say: (line: string) => void;
}

const isWord = (word: string): word is HumanWord => Object.hasOwn(humanWords, word);

const resolvedText = (order: string, as: HumanWord): string =>
  as === 'quarantined'
    ? `Order ${order} is quarantined: it stays reserved and its symbol blocked until the exchange shows it, or you close it.`
    : `Order ${order} is closed as ${as}, because you say so. Nothing was booked: what it did trade is booked when the exchange shows it, or said with sluice adjust.`;

const tradeText = (trade: string, as: TradeDecision): string =>
  as === 'accepted'
    ? `Trade ${trade} accepted and booked as the exchange shows it.`
    : `Trade ${trade} discarded. It will never be booked, and the position does not count it. If it changed balances, run sluice adjust.`;

const adjustedText = (asset: string, amount: string, isCompared: boolean): string =>
  `The ledger counts ${amount.replace('-', '')} ${asset} ${amount.startsWith('-') ? 'less' : 'more'}; ${isCompared ? 'the next comparison tells whether it equals the account' : 'nothing compares it with the account, since the exchange tells no balances of margin'}.`;

/** What a daemon does when it is told so, by a command or by the API: what the command refuses it refuses, too. */
export function decisionsOf({
  resolveByHand,
  adoptByHand,
  resolveTrade: decideTrade,
  adjust: adjustLedger,
  execution: { books, halts },
  portfolio: { instruments },
}: ByHand & Known): Pick<DashboardSource, 'resolve' | 'adopt' | 'resolveTrade' | 'adjust'> {
  return {
    async resolve(order, as, reason) {
      if (!isWord(as)) throw new Refusal(`an order is resolved as ${Object.keys(humanWords).join(', ')}, not as ${as}`);
      const against = await resolveByHand(order.toLowerCase(), as, 'operator', reason);
      if (against !== undefined) throw new Refusal(against);
      return resolvedText(order, as);
    },
    async adopt(order, orderId, reason) {
      const against = await adoptByHand({ clientOrderId: order.toLowerCase(), orderId, by: 'operator', reason });
      if (against !== undefined) throw new Refusal(against);
      return `Order ${order} adopted as exchange order ${orderId}. Its fills are booked.`;
    },
    async resolveTrade(trade, as, reason) {
      const against = await decideTrade(trade, as, 'operator', reason);
      if (against !== undefined) throw new Refusal(against);
      return tradeText(trade, as);
    },
    async adjust(asset, text, reason) {
      refuseNoAsset(asset);
      const amount = amountOf(text);
      if (books === undefined) throw new Refusal(onPaper);
      const held = books.ledger.expected();
      const traded = [...instruments.values()].flatMap(({ base, quote }) => [base, quote]);
      refuseUnheard(asset, [...new Set([...traded, ...held.keys()])]);
      // What the account was itself seen to lack may be said, too.
      const isShort = halts.inForce.some(({ cause }) => cause === 'ledger');
      const there = books.ledger.begun && !isShort ? held.get(asset) : undefined;
      if (there !== undefined && amount < 0n) refuseBelowNothing(asset, unitsText(amount), unitsDecimal(there));
      await adjustLedger(asset, amount, 'operator', reason);
      return adjustedText(asset, unitsText(amount), books.balances !== undefined);
    },
  };
}

interface Known {
  readonly execution: Pick<Assembled['execution'], 'books' | 'halts'>;
  readonly portfolio: Pick<Assembled['portfolio'], 'instruments'>;
}

const onPaper =
  'nothing can be adjusted on paper: what there is comes from the configuration (cash, allocation) and from the fills, and is compared with no account';

function refuseNoAsset(asset: string): void {
  if (!/^[A-Z0-9]{1,20}$/.test(asset))
    throw new Refusal(`${asset} is no asset: write it as the exchange does, such as USDT`);
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
            ...{ version: 1, action: 'resolve', state: dir, order: clientOrderId },
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
      { ...order, state, doubt: as === 'quarantined' ? 'human' : order.doubt, closedAt: isClosed(state) ? at : null },
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
  out(json ? JSON.stringify({ version: 1, action: 'resolve-trade', state: dir, trade, as, message }) : message);
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
  out(json ? JSON.stringify({ version: 1, action: 'adjust', state: dir, asset, amount, message }) : message);
}

/** A slip in an asset's name, or in an amount, would halt everything at the next comparison with the account. */
function refuseSlips(asset: string, amount: string, dir: string): void {
  const { db, version } = openToRead(dir);
  try {
    // A journal of the first schema knows of no adjustments.
    if (version < 2) return;
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

function refuseUnheard(asset: string, heard: readonly string[]): void {
  if (heard.length > 0 && !heard.includes(asset))
    throw new Refusal(
      `${asset} is no asset of this account${didYouMean(asset, heard)}: the journal knows ${heard.join(', ')}`,
    );
}

function refuseMore(asset: string, amount: string, view: View): void {
  const held = holdings(view)?.get(asset);
  if (held === undefined) return;
  const [last] = view.has('audits')
    ? view.all<{ differences: string }>('SELECT differences FROM audits ORDER BY at DESC LIMIT 1')
    : [];
  const seen = last === undefined ? undefined : (JSON.parse(last.differences) as Record<string, string>)[asset];
  refuseBelowNothing(asset, amount, held, seen);
}

/** Nobody can withdraw more than there is; what the account was itself seen to lack is another matter. */
function refuseBelowNothing(asset: string, amount: string, held: Decimal, seen?: string): void {
  if (held.plus(amount).gte(0)) return;
  if (seen !== undefined && held.plus(seen).lte(held.plus(amount))) return;
  throw new Refusal(
    `the ledger holds ${held.toFixed()} ${asset}, and ${amount.slice(1)} less would be below nothing: look at the amount and its sign${seen === undefined ? '' : `; when the account was last compared it held ${seen} ${asset} beside what the ledger explains`}`,
  );
}

/** More than any exchange holds of anything, the cheapest coins too. */
const most = units('1000000000000000000');

function amountOf(text: string): Units {
  try {
    const amount = /^-?\d+(\.\d+)?$/.test(text) ? units(text) : undefined;
    if (amount === noUnits) throw new Refusal(`${text} would change nothing: write what came (100) or went (-12.5)`);
    if (amount !== undefined && (amount > most || plus(amount, most) < noUnits))
      throw new Refusal(`${text} is more than there is of any asset: look at the amount`);
    if (amount !== undefined) return amount;
  } catch (error) {
    if (!(error instanceof MoneyError)) throw error;
  }
  throw new Refusal(`${text} is no amount: write a plain number with at most 18 decimals, such as 100 or -12.5`);
}
