/** `sluice resolve`, `resolve-trade` and `adjust`. */
import type { TradeDecision } from '../../domain/order.ts';
import { Refusal } from '../../domain/refusal.ts';
import { statedReason } from '../../domain/stated-reason.ts';
import type { OperatorOutcome } from '../../execution/operator-decisions.ts';
import { adjustLedger, adoptOrder, decideTrade, resolveOrder } from '../../session/control/offline-decisions.ts';
import { findOrder } from '../../session/find-order.ts';
import { chooseState, inJournal } from '../../session/state.ts';
import type { Output } from '../../terminal/output.ts';

export interface DecideOptions extends Output {
  readonly state?: string;
  readonly reason: string;
}

const print = ({ json, out }: DecideOptions, message: string, facts: object): void =>
  out(json ? JSON.stringify({ version: 2, ...facts, message }) : message);

/** `sluice resolve ORDER --as STATE|--adopt ID --reason TEXT`. */
export async function resolve(
  subject: string,
  options: DecideOptions & { readonly as?: OperatorOutcome; readonly adopt?: string },
): Promise<void> {
  const { as, adopt } = options;
  const reason = statedReason(options.reason);
  const chosen = chooseState(options.state, options.say, true);
  const { dir } = chosen;
  const order = inJournal(dir, (reader) => findOrder(reader, subject));
  if (order === undefined) throw new Refusal(`there is no order ${subject} in ${dir}: sluice orders lists them`);
  const { clientOrderId } = order;
  let message: string;
  if (adopt !== undefined && as === undefined) message = await adoptOrder(chosen, clientOrderId, adopt, reason);
  else if (as !== undefined && adopt === undefined) message = await resolveOrder(chosen, order, as, reason);
  else throw new Refusal('give either --as STATE or --adopt EXCHANGE_ORDER_ID');
  const facts = { action: 'resolve', state: dir, order: clientOrderId, as: as ?? null, orderId: adopt ?? null };
  print(options, message, facts);
}

/** `sluice resolve-trade TRADE_ID --accept|--discard --reason TEXT`. */
export async function resolveTrade(
  trade: string,
  options: DecideOptions & { readonly accept: boolean; readonly discard: boolean },
): Promise<void> {
  const { accept, discard } = options;
  if (accept === discard) throw new Refusal('give either --accept (book it as shown) or --discard (never book it)');
  const as: TradeDecision = accept ? 'accepted' : 'discarded';
  const reason = statedReason(options.reason);
  const chosen = chooseState(options.state, options.say, true);
  const message = await decideTrade(chosen, trade, as, reason);
  print(options, message, { action: 'resolve-trade', state: chosen.dir, trade, as });
}

/** `sluice adjust ASSET AMOUNT --reason TEXT`. */
export async function adjust(asset: string, text: string, options: DecideOptions): Promise<void> {
  const reason = statedReason(options.reason);
  const chosen = chooseState(options.state, options.say, true);
  const { amount, message } = await adjustLedger(chosen, asset, text, reason);
  print(options, message, { action: 'adjust', state: chosen.dir, asset, amount });
}
