import { describe, expect, it } from 'vitest';
import { sampleTime, strategyView, view } from '../../test/kit/view.ts';
import { SimClock } from '../clock/sim-clock.ts';
import { type Client, maxClients, pusher } from './push.ts';
import type { Update, View } from './view.ts';

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

/** A daemon whose view the test may change. */
function daemon() {
  const clock = new SimClock(0);
  const shown: { view: View; looks: number } = { view: view(), looks: 0 };
  const source = {
    view: () => {
      shown.looks++;
      return shown.view;
    },
  };
  return { clock, shown, pushes: pusher(source, clock) };
}

describe('pushing the view', () => {
  it('sends a new page everything, and after that only the parts that changed, of the equity curve its end', async () => {
    const { clock, shown, pushes } = daemon();
    const page = new Page();
    pushes.add(page);
    expect(page.updates[0]).toEqual({ whole: true, view: JSON.parse(JSON.stringify(shown.view)) });
    const { equity } = shown.view;
    const point = { at: sampleTime + 1, equity: '99000' };
    shown.view = view({ noMarketData: 'no answer', equity: { ...equity, series: [...equity.series, point] } });
    await clock.advanceTo(200);
    const series = [equity.series.at(-1), point];
    expect(page.updates[1]).toEqual({
      whole: false,
      view: { noMarketData: 'no answer', equity: { ...equity, series } },
    });
    const { noMarketData: _, ...others } = shown.view;
    shown.view = others;
    await clock.advanceTo(400);
    expect(page.updates[2]).toEqual({ whole: false, view: { noMarketData: null } });
    pushes.close();
  });

  it('carries no klines: the first message and the changes of twenty symbols are small', async () => {
    const { clock, shown, pushes } = daemon();
    const [market] = view().markets;
    const twenty = (last: string) => Array.from({ length: 20 }, () => ({ ...market, last })) as View['markets'];
    const page = new Page();
    shown.view = view({ markets: twenty('1') });
    pushes.add(page);
    shown.view = view({ markets: twenty('2'), marketTime: sampleTime + 1 });
    await clock.advanceTo(200);
    const sizes = page.updates.map((update) => JSON.stringify(update).length);
    expect(sizes[0]).toBeLessThan(60_000);
    expect(sizes[1]).toBeLessThan(4_000);
    pushes.close();
  });

  it('sends a page that comes between two pushes what the others have', async () => {
    const { clock, shown, pushes } = daemon();
    const [early, late] = [new Page(), new Page()];
    const before = shown.view;
    pushes.add(early);
    shown.view = view({ strategies: [strategyView({ id: 'other' })] });
    pushes.add(late);
    shown.view = before;
    await clock.advanceTo(200);
    expect(late.updates).toEqual(early.updates);
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
    const { equity } = shown.view;
    shown.view = view({ equity: { ...equity, series: equity.series.slice(0, 2) } });
    await clock.advanceTo(200);
    expect(page.updates.at(-1)).toMatchObject({ whole: true, view: { equity: { series: equity.series.slice(0, 2) } } });
    pushes.close();
  });

  it('turns away more pages than it can serve', () => {
    const { pushes } = daemon();
    const taken = Array.from({ length: maxClients + 1 }, () => pushes.add(new Page()));
    expect(taken.filter(Boolean)).toHaveLength(maxClients);
    pushes.close();
  });
});
