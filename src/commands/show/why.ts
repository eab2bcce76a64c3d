/** `sluice why`: the timeline of an order, or of the denied signals of a strategy. */
import { attachArchive } from '../../archive/attach.ts';
import { isClosed } from '../../domain/order.ts';
import { aloneText } from '../../domain/words.ts';
import { wordsFor } from '../../execution/operator-decisions.ts';
import { timelineOf } from '../../session/history/timeline.ts';
import { clipped } from '../../trading/format.ts';
import { type ShowOptions, withState } from './read-state.ts';
import { orderJson } from './show.ts';

const stamp = (at: number): string => new Date(at).toISOString().slice(11, 23);
const day = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** `subject`: a strategy's id, for its last denied signals; or an order's id, or its beginning or end. */
export function showWhy(subject: string, options: ShowOptions): void {
  withState(options, (reader, { dir }) => {
    attachArchive(reader.db, dir);
    const { order, lost, alone, steps } = timelineOf(reader, dir, subject);
    if (options.json) {
      options.out(
        JSON.stringify({
          version: 2,
          subject,
          order: order === undefined ? null : orderJson(order),
          legsAlone: alone,
          timeline: steps,
        }),
      );
      return;
    }
    if (lost !== undefined)
      options.out(
        `order ${lost.clientOrderId} (at the exchange: ${lost.orderId}) has no row, because this restored journal lacks that period. The exchange's data:`,
      );
    if (order !== undefined)
      options.out(
        `order ${order.clientOrderId} (at the exchange: ${order.orderId ?? 'no id known'}) is ${order.state}, on ${day(order.createdAt)} UTC`,
      );
    if (order?.state === 'unknown')
      options.out(
        'wait: a running daemon queries its outcome until the order is found or proven absent. If it can prove neither, the order is quarantined, and you decide',
      );
    else if (order !== undefined && !isClosed(order.state) && wordsFor(order.state).length > 0)
      options.out(
        `only you may decide it: sluice resolve ${order.clientOrderId} --as ${wordsFor(order.state).join('|')} --reason TEXT`,
      );
    // The first line of an order says its day.
    let shown = order === undefined ? '' : day(order.createdAt);
    for (const times of alone) options.out(`legs alone ${aloneText(times)}`);
    for (const { at, event: what, detail } of steps) {
      if (day(at) !== shown) options.out(`${day(at)} UTC`);
      shown = day(at);
      options.out(`${stamp(at)}  ${what}${detail === '' ? '' : `: ${clipped(detail)}`}`);
    }
  });
}
