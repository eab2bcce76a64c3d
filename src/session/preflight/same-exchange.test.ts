import { describe, expect, test } from 'vitest';
import { btc, startTime } from '../../../test/kit/builders.ts';
import { fillRowOf } from '../../../test/kit/journal-rows.ts';
import { ScaledClock } from '../../clock/clock.ts';
import type { Refusal } from '../../domain/refusal.ts';
import { restoreFill } from '../../journal/fill-entries.ts';
import { type Answer, failed, type OrderEntry, ok, type Page } from '../../venue/venue.ts';
import { refuseAnotherExchange } from './same-exchange.ts';

const hourMs = 3_600_000;
const fills = [fillRowOf({ tradeId: '7', orderId: '1001' })];
type Trades = Answer<Page<ReturnType<typeof tradeOf>>>;
const tradeOf = (orderId: string) => ({ ...restoreFill(fillRowOf(), btc), orderIds: [orderId] });
const listing = (...orderIds: readonly string[]): Trades => ok({ rows: orderIds.map(tradeOf), full: false });

/** undefined: it may be the same exchange. Its time is `now`, its trades those; undefined: the fills are not its own. */
async function refusal(now: number, trades: Trades | undefined, rows = fills): Promise<Refusal | undefined> {
  // Lists what comes after the id it is given, as some do, and not the trade with that id.
  const orders: Pick<OrderEntry, 'tradesSince'> = {
    tradesSince: (_, fromId) => Promise.resolve(fromId === '7' ? listing() : (trades ?? listing())),
  };
  const reaching = {
    url: 'http://x',
    clock: new ScaledClock(1, now),
    waiting: () => undefined,
    signal: AbortSignal.abort(),
  };
  try {
    await refuseAnotherExchange(
      { past: { newestFills: () => rows } },
      reaching,
      trades === undefined ? undefined : orders,
      'var/live',
    );
    return undefined;
  } catch (error) {
    return error as Refusal;
  }
}

describe('an exchange', () => {
  test('whose time lies before the newest fill is another one', async () => {
    const refused = await refusal(startTime - hourMs, undefined);
    expect(refused).toMatchObject({ exitCode: 3 });
    expect(refused?.message).toMatch(
      /^at the exchange at http:\/\/x it is 2020-03-11T23:00:0\S+, before the newest fill in var\/live \(2020-03-12T00:00:00.000Z\): the exchange was reset/,
    );
    expect(await refusal(startTime - 4_000, undefined)).toBeUndefined();
    expect(await refusal(startTime - hourMs, undefined, [])).toBeUndefined();
  });

  test('that does not list the newest fill is another one', async () => {
    expect(await refusal(startTime + hourMs, listing())).toMatchObject({ exitCode: 3 });
    expect(await refusal(startTime + hourMs, listing('1002'))).toMatchObject({ exitCode: 3 });
    expect(await refusal(startTime + hourMs, listing('1001'))).toBeUndefined();
  });

  test('may have forgotten a fill of long ago, or a symbol that is not traded any more', async () => {
    expect(await refusal(startTime + 25 * hourMs, listing())).toBeUndefined();
    expect(await refusal(startTime + hourMs, failed('Invalid symbol.', '-1121'))).toBeUndefined();
  });
});
