/** Commands of the operator to a daemon or its journal: `sluice kill`, `pause`, `resume`, `cancel`, `reload`, `resolve`, `resolve-trade` and `adjust`. */
import type { TradeDecision } from '../../domain/order.ts';
import { Refusal } from '../../domain/refusal.ts';
import { statedReason } from '../../domain/stated-reason.ts';
import type { OperatorOutcome } from '../../execution/operator-decisions.ts';
import type { OrderEntryRow } from '../../journal/entries.ts';
import { type Control, control, refuseUnknown } from '../../session/control/control.ts';
import { callDaemon } from '../../session/control/daemon-client.ts';
import { adjustLedger, adoptOrder, decideTrade, resolveOrder } from '../../session/control/offline-decisions.ts';
import { findOrder } from '../../session/find-order.ts';
import { chooseState, inJournal, noDaemonText } from '../../session/state.ts';
import type { Output } from '../../terminal/output.ts';
import type { ShowOptions } from '../show/read-state.ts';

interface DecideOptions extends ShowOptions {
  readonly reason: string;
}

export const printDone = ({ json, out }: Output, message: string, facts: object): void =>
  out(json ? JSON.stringify({ version: 2, ...facts, message }) : message);

interface ControlOptions extends ShowOptions {
  readonly strategy?: string;
  readonly reason?: string;
}

async function run(options: ControlOptions, given: Omit<Control, 'reason' | 'strategy'>): Promise<void> {
  const { state, strategy, reason = '', say } = options;
  const chosen = chooseState(state, say, true);
  const message = await control(chosen, { ...given, strategy, reason }, say);
  printDone(options, message, { ...given, state: chosen.dir, strategy: strategy ?? null });
}

export const kill = (options: ControlOptions & { readonly everything: boolean }): Promise<void> =>
  run(options, { action: 'kill', everything: options.everything });
/** `sluice pause [STRATEGY]`, or `--strategy ID` as for the others. */
export async function pause(
  subject: string | undefined,
  options: ControlOptions & { readonly reason: string },
): Promise<void> {
  const strategy = subject ?? options.strategy;
  if (options.strategy !== undefined && options.strategy !== strategy)
    throw new Refusal(`name one strategy: ${subject}, or --strategy ${options.strategy}`);
  await run({ ...options, ...(strategy !== undefined && { strategy }) }, { action: 'pause' });
}
export const resume = (options: ControlOptions): Promise<void> => run(options, { action: 'resume' });
/** `sluice cancel ORDER`, or of a strategy, or all. */
export async function cancel(
  subject: string | undefined,
  options: ControlOptions & { readonly all: boolean },
): Promise<void> {
  const chosen = [subject !== undefined, options.strategy !== undefined, options.all].filter(Boolean);
  if (chosen.length !== 1)
    throw new Refusal('choose the orders: sluice cancel ORDER, sluice cancel --strategy ID, or sluice cancel --all');
  if (subject === undefined) return run(options, { action: 'cancel' });
  const { dir } = chooseState(options.state, options.say, true);
  await run({ ...options, state: dir }, { action: 'cancel', order: orderOf(subject, dir).clientOrderId });
}

function orderOf(subject: string, dir: string): OrderEntryRow {
  const order = inJournal(dir, (reader) => findOrder(reader, subject));
  if (order === undefined) throw new Refusal(`there is no order ${subject} in ${dir}: sluice orders lists them`);
  return order;
}

/** Real ms that the first answer to `flatten` may take. */
const flattenMs = 60_000;

/** `sluice flatten`: a daemon closes positions. */
export async function flatten(
  options: DecideOptions & { readonly strategy?: string; readonly symbol?: string; readonly maxSlippage?: string },
): Promise<void> {
  const { state, strategy, symbol, maxSlippage } = options;
  const reason = statedReason(options.reason);
  const chosen = chooseState(state, options.say, true);
  const { dir, running } = chosen;
  if (strategy !== undefined) refuseUnknown(strategy, dir);
  if (running === undefined)
    throw new Refusal(
      `${noDaemonText(chosen)}. Only a daemon that trades can close positions; sluice kill before that keeps it from entering`,
      1,
    );
  const body = { by: 'operator', strategy, symbol, maxSlippage, reason };
  const message = await callDaemon(running, 'flatten', body, flattenMs);
  printDone(options, message, { action: 'flatten', state: dir, strategy: strategy ?? null, symbol: symbol ?? null });
}

/** Real ms that a reload may take at most: the file twice, the klines of its warm-up, and its decisions. */
const reloadMs = 120_000;

/** `sluice reload ID`: the code of a strategy. `sluice reload`: the limits in the configuration. */
export async function reload(
  strategy: string | undefined,
  options: ShowOptions & { readonly loosen: boolean; readonly reason?: string },
): Promise<void> {
  const { loosen } = options;
  if (loosen && strategy !== undefined)
    throw new Refusal('--loosen is about the limits in the configuration: sluice reload --loosen, without a strategy');
  if (loosen && options.reason === undefined)
    throw new Refusal('--loosen allows more than before: say why, for the journal, with --reason TEXT');
  const reason = statedReason(options.reason ?? 'sluice reload');
  const chosen = chooseState(options.state, options.say, true);
  const { dir, running } = chosen;
  if (running === undefined)
    throw new Refusal(
      `${noDaemonText(chosen)}. ${chosen.starting === undefined ? 'The next one there reads' : 'It has read its configuration; start it again to read'} the newest code and configuration`,
      1,
    );
  const body = { by: 'operator', reason, ...(strategy === undefined ? { loosen } : { strategy }) };
  const message = await callDaemon(running, 'reload', body, reloadMs);
  printDone(options, message, { action: 'reload', state: dir, strategy: strategy ?? null });
}

/** `sluice resolve ORDER --as STATE|--adopt ID --reason TEXT`. */
export async function resolve(
  subject: string,
  options: DecideOptions & { readonly as?: OperatorOutcome; readonly adopt?: string },
): Promise<void> {
  const { as, adopt } = options;
  const reason = statedReason(options.reason);
  const chosen = chooseState(options.state, options.say, true);
  const { dir } = chosen;
  const order = orderOf(subject, dir);
  const { clientOrderId } = order;
  let message: string;
  if (adopt !== undefined && as === undefined) message = await adoptOrder(chosen, clientOrderId, adopt, reason);
  else if (as !== undefined && adopt === undefined) message = await resolveOrder(chosen, order, as, reason);
  else throw new Refusal('give either --as STATE or --adopt EXCHANGE_ORDER_ID');
  const facts = { action: 'resolve', state: dir, order: clientOrderId, as: as ?? null, orderId: adopt ?? null };
  printDone(options, message, facts);
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
  printDone(options, message, { action: 'resolve-trade', state: chosen.dir, trade, as });
}

/** `sluice adjust ASSET AMOUNT --reason TEXT`. */
export async function adjust(asset: string, text: string, options: DecideOptions): Promise<void> {
  const reason = statedReason(options.reason);
  const chosen = chooseState(options.state, options.say, true);
  const { amount, message } = await adjustLedger(chosen, asset, text, reason);
  printDone(options, message, { action: 'adjust', state: chosen.dir, asset, amount });
}
