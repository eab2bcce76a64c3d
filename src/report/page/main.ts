/** Where the page's script begins: it unpacks the payload, draws it, and answers clicks. */
import type { Payload } from '../chart-data.ts';
import { KlineChart, openSeries, type Pointed, type Shown } from './chart.ts';
import { amount, byId, moment, showEvidence } from './evidence.ts';
import { lineColour } from './indicator-lines.ts';
import { listTrips } from './trip-list.ts';

/** Klines on either side of a moment that the reader jumps to. */
const beside = 60;

class ReportPage {
  readonly #payload: Payload;
  readonly #chart: KlineChart;
  readonly #unpacked = new Map<string, Shown>();
  #shown: Shown | undefined;

  constructor(payload: Payload) {
    this.#payload = payload;
    this.#chart = new KlineChart(byId('kline-chart'), {
      pointed: (at) => this.#showPrices(at),
      clicked: (at) => {
        if (this.#shown !== undefined) showEvidence(at, this.#shown, payload.asset);
        this.#chart.mark(at.kline.time);
      },
      viewed(interval, klinesOfArrow) {
        byId('chart-note').textContent =
          `Klines of ${interval}${klinesOfArrow > 1 ? `; an arrow is the fills of up to ${klinesOfArrow} klines: zoom in for each` : ''}`;
      },
    });
  }

  /** Shows all klines of a symbol. */
  async whole(symbol: string): Promise<void> {
    const shown = await this.#choose(symbol);
    const [first, last] = [shown?.levels[0]?.klines[0], shown?.levels[0]?.klines.at(-1)];
    if (shown === undefined || first === undefined || last === undefined) return;
    this.#chart.show(shown, first.time, last.time + (shown.levels[0]?.ms ?? 0));
    this.#showPrices(undefined);
  }

  async jump(symbol: string, time: number): Promise<void> {
    const shown = await this.#choose(symbol);
    if (shown === undefined) return;
    this.#chart.show(shown, time - beside * shown.series.ms, time + beside * shown.series.ms);
    this.#chart.mark(time);
    const at = this.#chart.klineAt(time);
    if (at !== undefined) showEvidence(at, shown, this.#payload.asset);
    byId('chart').scrollIntoView({ behavior: 'smooth' });
  }

  paint(): void {
    this.#chart.paint();
  }

  picture(): HTMLCanvasElement {
    return this.#chart.picture();
  }

  /** The prices of the kline under the pointer, or of the last one. */
  #showPrices(at: Pointed | undefined): void {
    const last = this.#shown?.levels.findLast(({ isPartial }) => !isPartial);
    const kline = at?.kline ?? last?.klines.at(-1);
    const values = at?.values ?? last?.values.map((line) => line.at(-1) ?? Number.NaN);
    if (kline === undefined) return;
    const price = (value: number): string => amount(value, this.#shown?.series.pricePrecision ?? 0);
    byId('legend').textContent =
      `${moment(kline.time).slice(0, 16)}  O ${price(kline.open)}  H ${price(kline.high)}  L ${price(kline.low)}  C ${price(kline.close)}`;
    const { indicators = [], leftOut = 0 } = this.#shown?.series ?? {};
    const of = (name: string, index: number): string => {
      const value = values?.[index] ?? Number.NaN;
      return Number.isFinite(value) ? `${name} ${value.toPrecision(5)}` : name;
    };
    byId('indicators').replaceChildren(
      ...indicators.map(({ name }, index) => {
        const entry = document.createElement('span');
        entry.style.color = lineColour(index);
        entry.textContent = of(name, index);
        return entry;
      }),
      leftOut === 0 ? '' : `${leftOut} more without room`,
    );
  }

  async #choose(symbol: string): Promise<Shown | undefined> {
    const series = this.#payload.series.find((one) => one.symbol === symbol) ?? this.#payload.series[0];
    if (series === undefined) return undefined;
    const shown = this.#unpacked.get(series.symbol) ?? (await openSeries(series, this.#payload));
    this.#unpacked.set(series.symbol, shown);
    this.#shown = shown;
    for (const button of document.querySelectorAll<HTMLElement>('[data-choose]'))
      button.setAttribute('aria-pressed', String(button.dataset['choose'] === series.symbol));
    return shown;
  }
}

async function start(): Promise<void> {
  const payload = JSON.parse(byId('payload').textContent ?? '') as Payload;
  const page = new ReportPage(payload);
  page.paint();
  document.addEventListener('click', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    const { choose, time, symbol } = target.dataset;
    if (choose !== undefined) void page.whole(choose);
    else if (time !== undefined) void page.jump(symbol ?? '', Number(time));
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => page.paint());
  // Paper is white: the chart is painted in light colours for it, and back.
  addEventListener('beforeprint', () => {
    document.documentElement.dataset['theme'] = 'light';
    page.paint();
    byId('printed').replaceChildren(page.picture());
  });
  addEventListener('afterprint', () => {
    delete document.documentElement.dataset['theme'];
    page.paint();
  });
  void listTrips(payload);
  await page.whole(payload.series[0]?.symbol ?? '');
}

void start();
