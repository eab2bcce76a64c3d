/** The page's first lines: unpack what came with it, draw, and answer clicks. */
import type { Payload } from '../chart-data.ts';
import { KlineChart, openSeries, type Pointed, type Shown } from './chart.ts';
import { amount, byId, moment, showEvidence } from './evidence.ts';

/** Klines on either side of what was gone to. */
const beside = 60;

function openPage(payload: Payload): {
  whole(symbol: string): Promise<void>;
  goTo(symbol: string, time: number): Promise<void>;
  paint(): void;
  picture(): HTMLCanvasElement;
} {
  const legend = byId('legend');
  const note = byId('chart-note');
  const opened = new Map<string, Shown>();
  let shown: Shown | undefined;
  const tell = (at: Pointed | undefined): void => {
    const last = shown?.opened.findLast(({ isPartial }) => !isPartial)?.klines.at(-1);
    const kline = at?.kline ?? last;
    if (kline === undefined || shown === undefined) return;
    const price = (value: number): string => amount(value, shown?.series.pricePrecision ?? 0);
    legend.textContent = `${moment(kline.time).slice(0, 16)}  O ${price(kline.open)}  H ${price(kline.high)}  L ${price(kline.low)}  C ${price(kline.close)}`;
  };
  const chart = new KlineChart(byId('kline-chart'), {
    pointed: tell,
    clicked(at) {
      if (shown !== undefined) showEvidence(at, shown, payload.asset);
      chart.mark(at.kline.time);
    },
    viewed(interval, hidden) {
      note.textContent = `Klines of ${interval}${hidden > 0 ? `; ${amount(hidden, 0)} fills in view: zoom in to see them` : ''}`;
    },
  });
  async function choose(symbol: string): Promise<Shown | undefined> {
    const series = payload.series.find((one) => one.symbol === symbol) ?? payload.series[0];
    if (series === undefined) return undefined;
    const ready = opened.get(series.symbol) ?? (await openSeries(series, payload));
    opened.set(series.symbol, ready);
    shown = ready;
    for (const button of document.querySelectorAll<HTMLElement>('[data-choose]'))
      button.setAttribute('aria-pressed', String(button.dataset['choose'] === series.symbol));
    return ready;
  }
  return {
    paint: () => chart.paint(),
    picture: () => chart.picture(),
    async whole(symbol) {
      const ready = await choose(symbol);
      const coarse = ready?.opened[0];
      const [first, last] = [coarse?.klines[0], coarse?.klines.at(-1)];
      if (ready === undefined || first === undefined || last === undefined) return;
      chart.show(ready, first.time, last.time + (coarse?.ms ?? 0));
      tell(undefined);
    },
    async goTo(symbol, time) {
      const ready = await choose(symbol);
      if (ready === undefined) return;
      chart.show(ready, time - beside * ready.series.ms, time + beside * ready.series.ms);
      chart.mark(time);
      const at = chart.klineAt(time);
      if (at !== undefined) showEvidence(at, ready, payload.asset);
      byId('chart').scrollIntoView({ behavior: 'smooth' });
    },
  };
}

async function start(): Promise<void> {
  const payload = JSON.parse(byId('payload').textContent ?? '') as Payload;
  const page = openPage(payload);
  page.paint();
  document.addEventListener('click', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    const { choose, time, symbol } = target.dataset;
    if (choose !== undefined) void page.whole(choose);
    else if (time !== undefined) void page.goTo(symbol ?? '', Number(time));
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => page.paint());
  // Paper is white: the chart is painted anew for it, and back.
  addEventListener('beforeprint', () => {
    document.documentElement.dataset['theme'] = 'light';
    page.paint();
    byId('printed').replaceChildren(page.picture());
  });
  addEventListener('afterprint', () => {
    delete document.documentElement.dataset['theme'];
    page.paint();
  });
  await page.whole(payload.series[0]?.symbol ?? '');
}

void start();
