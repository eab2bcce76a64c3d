import { describe, expect, it } from 'vitest';
import { view } from '../../test/kit/view.ts';
import { SimClock } from '../clock/sim-clock.ts';
import { type Client, maxClients, pusher } from './push.ts';
import type { KlineView, Update, View } from './view.ts';

const kline = (openTime: number, close = 1): KlineView => ({ openTime, open: 1, high: 2, low: 0.5, close, volume: 3 });

/** The klines of the only market. */
const klinesOf = (update: Update | undefined) => Object.values(update?.klines ?? {})[0];

class Page implements Client {
  bufferedAmount = 0;
  dropped = false;
  readonly updates: Update[] = [];
  send(text: string): void {
    this.updates.push(JSON.parse(text) as Update);
  }
  terminate(): void {
    this.dropped = true;
  }
}

/** A daemon with one market whose view and klines the test may change. */
function daemon() {
  const clock = new SimClock(0);
  const shown: { view: View; klines: KlineView[]; looks: number } = {
    view: view(),
    klines: [kline(0), kline(60_000)],
    looks: 0,
  };
  const source = {
    view: () => {
      shown.looks++;
      return shown.view;
    },
    klines: () => shown.klines,
  };
  return { clock, shown, pushes: pusher(source, clock) };
}

describe('pushing the view', () => {
  it('sends a new page everything, and after that only the ends of series', async () => {
    const { clock, shown, pushes } = daemon();
    const page = new Page();
    pushes.add(page);
    await clock.advanceTo(200);
    shown.klines = [kline(0), kline(60_000, 1.5), kline(120_000)];
    await clock.advanceTo(400);
    expect(page.updates[0]?.whole).toBe(true);
    expect(klinesOf(page.updates[0])).toHaveLength(2);
    const last = page.updates.at(-1);
    expect(last?.whole).toBe(false);
    expect(klinesOf(last)).toEqual([kline(60_000, 1.5), kline(120_000)]);
    expect(last?.view.equity.series).toHaveLength(1);
    pushes.close();
  });

  it('sends again from a kline that was closed, or a hole that was filled, behind one that was sent', async () => {
    const { clock, shown, pushes } = daemon();
    const page = new Page();
    pushes.add(page);
    shown.klines = [kline(0), kline(120_000), kline(180_000)];
    await clock.advanceTo(200);
    shown.klines = [kline(0), kline(120_000, 1.7), kline(180_000)];
    await clock.advanceTo(400);
    expect(klinesOf(page.updates.at(-1))).toEqual([kline(120_000, 1.7), kline(180_000)]);
    // The oldest one has left the chart.
    shown.klines = [kline(60_000), kline(120_000, 1.7), kline(180_000)];
    await clock.advanceTo(600);
    shown.klines = [kline(120_000, 1.7), kline(180_000), kline(240_000)];
    await clock.advanceTo(800);
    expect(klinesOf(page.updates.at(-2))).toHaveLength(3);
    expect(klinesOf(page.updates.at(-1))).toEqual([kline(240_000)]);
    pushes.close();
  });

  it('pushes at most five times a second, and nothing while nothing changes', async () => {
    const { clock, shown, pushes } = daemon();
    const page = new Page();
    pushes.add(page);
    for (let at = 10; at <= 1_000; at += 10) {
      shown.view = view({ marketTime: at });
      await clock.advanceTo(at);
    }
    const sent = page.updates.length;
    expect(sent).toBe(6);
    await clock.advanceTo(5_000);
    expect(page.updates.length).toBeLessThanOrEqual(sent + 1);
    pushes.close();
  });

  it('looks at nothing while no page is open', async () => {
    const { clock, shown, pushes } = daemon();
    const page = new Page();
    pushes.add(page);
    pushes.remove(page);
    await clock.advanceTo(200);
    const { looks } = shown;
    await clock.advanceTo(10_000);
    expect(shown.looks).toBe(looks);
  });

  it('drops a page that does not keep up, and goes on with the others', async () => {
    const { clock, shown, pushes } = daemon();
    const slow = new Page();
    const quick = new Page();
    pushes.add(slow);
    pushes.add(quick);
    slow.bufferedAmount = 100_000_000;
    shown.view = view({ marketTime: 1 });
    await clock.advanceTo(200);
    expect(slow.dropped).toBe(true);
    expect(quick.updates.at(-1)?.view.marketTime).toBe(1);
    pushes.close();
  });

  it('sends everything again when time was set back', async () => {
    const { clock, shown, pushes } = daemon();
    const page = new Page();
    pushes.add(page);
    await clock.advanceTo(200);
    shown.klines = [kline(0)];
    await clock.advanceTo(400);
    expect(page.updates.at(-1)?.whole).toBe(true);
    expect(klinesOf(page.updates.at(-1))).toHaveLength(1);
    pushes.close();
  });

  it('turns away more pages than it can serve', () => {
    const { pushes } = daemon();
    const taken = Array.from({ length: maxClients + 1 }, () => pushes.add(new Page()));
    expect(taken.filter(Boolean)).toHaveLength(maxClients);
    pushes.close();
  });
});
