/** The list of all round trips: filtered, sorted, a page at a time, and as a CSV file. */
import type { Payload, PayloadSeries } from '../chart-data.ts';
import { amount, byId, element, moment } from './evidence.ts';
import { unpack } from './unpack.ts';

interface Trip {
  readonly symbol: string;
  readonly strategy: string;
  readonly side: 'long' | 'short';
  readonly entryTime: number;
  readonly exitTime: number;
  readonly quantity: number;
  readonly entryPrice: number;
  readonly exitPrice: number;
  readonly profit: number;
  /** Fractions: of the value at the entry, and of the entry price. */
  readonly gain: number;
  readonly worst: number;
  readonly best: number;
}

async function tripsOf({ symbol, tripData }: PayloadSeries, { strategies }: Payload): Promise<Trip[]> {
  const { length, at } = await unpack(tripData);
  let time = 0;
  return Array.from({ length }, (_, row): Trip => {
    time += at(0, row);
    return {
      ...{ symbol, strategy: strategies[at(2, row)] ?? '', side: at(3, row) === 1 ? 'long' : 'short' },
      ...{ entryTime: time, exitTime: time + at(1, row), quantity: at(4, row), entryPrice: at(5, row) },
      ...{ exitPrice: at(6, row), profit: at(7, row), gain: at(8, row), worst: at(9, row), best: at(10, row) },
    };
  });
}

const percent = (value: number): string => `${(value * 100).toFixed(2)} %`;
const hours = ({ entryTime, exitTime }: Trip): number => (exitTime - entryTime) / 3_600_000;

interface Column {
  readonly title: string;
  readonly text: (trip: Trip) => string;
  /** What it is sorted by; a number is aligned to the right. */
  readonly by: (trip: Trip) => number | string;
}

const columnsIn = (asset: string): readonly Column[] => [
  { title: 'Entry (UTC)', text: ({ entryTime }) => moment(entryTime).slice(0, 16), by: ({ entryTime }) => entryTime },
  { title: `Profit, ${asset}`, text: ({ profit }) => amount(profit, 4), by: ({ profit }) => profit },
  { title: 'Gain', text: ({ gain }) => percent(gain), by: ({ gain }) => gain },
  { title: 'Hours', text: (trip) => amount(hours(trip), 1), by: hours },
  { title: 'Strategy', text: ({ strategy }) => strategy, by: ({ strategy }) => strategy },
  { title: 'Symbol', text: ({ symbol }) => symbol, by: ({ symbol }) => symbol },
  { title: 'Side', text: ({ side }) => side, by: ({ side }) => side },
  { title: 'Quantity', text: ({ quantity }) => amount(quantity, 8), by: ({ quantity }) => quantity },
  { title: 'Entry price', text: ({ entryPrice }) => amount(entryPrice, 8), by: ({ entryPrice }) => entryPrice },
  { title: 'Exit price', text: ({ exitPrice }) => amount(exitPrice, 8), by: ({ exitPrice }) => exitPrice },
  { title: 'MAE', text: ({ worst }) => percent(worst), by: ({ worst }) => worst },
  { title: 'MFE', text: ({ best }) => percent(best), by: ({ best }) => best },
];

const rowsOfPage = 25;

/** The choices of a filter: everything, or one value. */
interface Filter {
  readonly title: string;
  readonly of: (trip: Trip) => string;
}
const filters: readonly Filter[] = [
  { title: 'Strategy', of: ({ strategy }) => strategy },
  { title: 'Symbol', of: ({ symbol }) => symbol },
  { title: 'Side', of: ({ side }) => side },
  { title: 'Result', of: ({ profit }) => (profit > 0 ? 'profit' : 'loss') },
];

class TripList {
  readonly #all: readonly Trip[];
  readonly #columns: readonly Column[];
  readonly #chosen = new Map<Filter, string>();
  #sorted = 0;
  #isDown = true;
  #page = 0;

  constructor(all: readonly Trip[], asset: string) {
    this.#all = all;
    this.#columns = columnsIn(asset);
    byId('trip-filters').replaceChildren(
      ...filters.flatMap((filter) => this.#select(filter)),
      this.#button('Save as CSV', () => this.#save()),
    );
    this.draw();
  }

  /** Nothing to choose where all are alike. */
  #select(filter: Filter): HTMLElement[] {
    const values = [...new Set(this.#all.map(filter.of))].sort();
    if (values.length < 2) return [];
    const select = document.createElement('select');
    select.append(
      ...['all', ...values].map((value, index) => {
        const option = element('option', value) as HTMLOptionElement;
        option.value = index === 0 ? '' : value;
        return option;
      }),
    );
    select.addEventListener('change', () => {
      if (select.value === '') this.#chosen.delete(filter);
      else this.#chosen.set(filter, select.value);
      this.#page = 0;
      this.draw();
    });
    const label = element('label', `${filter.title} `);
    label.append(select);
    return [label];
  }

  #button(text: string, act: () => void): HTMLElement {
    const button = element('button', text) as HTMLButtonElement;
    button.type = 'button';
    button.addEventListener('click', act);
    return button;
  }

  #found(): readonly Trip[] {
    const kept = this.#all.filter((trip) => [...this.#chosen].every(([{ of }, value]) => of(trip) === value));
    const by = this.#columns[this.#sorted]?.by ?? (() => 0);
    const sign = this.#isDown ? -1 : 1;
    return kept.toSorted((a, b) => {
      const [one, other] = [by(a), by(b)];
      return sign * (one < other ? -1 : one > other ? 1 : 0);
    });
  }

  draw(): void {
    const found = this.#found();
    const pages = Math.max(1, Math.ceil(found.length / rowsOfPage));
    const from = this.#page * rowsOfPage;
    const table = document.createElement('table');
    table.append(this.#head(), ...found.slice(from, from + rowsOfPage).map((trip) => this.#row(trip)));
    byId('trip-table').replaceChildren(table);
    const total = found.reduce((sum, { profit }) => sum + profit, 0);
    const turn = (text: string, page: number): HTMLElement => {
      const button = this.#button(text, () => {
        this.#page = page;
        this.draw();
      });
      if (page < 0 || page >= pages) button.setAttribute('disabled', '');
      return button;
    };
    byId('trip-pages').replaceChildren(
      turn('Previous', this.#page - 1),
      element(
        'span',
        `${amount(found.length, 0)} of ${amount(this.#all.length, 0)} round trips, profit ${amount(total, 2)}; page ${this.#page + 1} of ${amount(pages, 0)}`,
      ),
      turn('Next', this.#page + 1),
    );
  }

  #head(): HTMLElement {
    const row = document.createElement('tr');
    for (const [index, { title, by }] of this.#columns.entries()) {
      const cell = element('th', '', this.#isNumber(by) ? 'n' : '');
      cell.setAttribute('scope', 'col');
      const isSorted = index === this.#sorted;
      cell.setAttribute('aria-sort', isSorted ? (this.#isDown ? 'descending' : 'ascending') : 'none');
      const sign = isSorted ? (this.#isDown ? ' ▼' : ' ▲') : '';
      cell.append(
        this.#button(`${title}${sign}`, () => {
          this.#isDown = isSorted ? !this.#isDown : true;
          this.#sorted = index;
          this.#page = 0;
          this.draw();
        }),
      );
      row.append(cell);
    }
    return row;
  }

  #isNumber(by: Column['by']): boolean {
    const [first] = this.#all;
    return by !== this.#columns[0]?.by && first !== undefined && typeof by(first) === 'number';
  }

  #row(trip: Trip): HTMLElement {
    const row = document.createElement('tr');
    for (const [index, { title, text, by }] of this.#columns.entries()) {
      const isProfit = title.startsWith('Profit') || title === 'Gain';
      const colour = isProfit ? (trip.profit > 0 ? ' up' : ' down') : '';
      const cell = element('td', index === 0 ? '' : text(trip), `${this.#isNumber(by) ? 'n' : ''}${colour}`);
      if (index === 0) {
        const jump = element('button', text(trip), 'jump');
        jump.dataset['symbol'] = trip.symbol;
        jump.dataset['time'] = String(trip.entryTime);
        cell.append(jump);
      }
      row.append(cell);
    }
    return row;
  }

  /** All that the filters leave, in the order shown, with every digit. */
  #save(): void {
    const names = [
      ...(['entryTime', 'exitTime', 'strategy', 'symbol', 'side', 'quantity', 'entryPrice'] as const),
      ...(['exitPrice', 'profit', 'gain', 'worst', 'best'] as const),
    ];
    const cell = (value: string | number): string =>
      typeof value === 'number' ? String(value) : `"${value.replaceAll('"', '""')}"`;
    const rows = this.#found().map((trip) =>
      names
        .map((name) => (name.endsWith('Time') ? new Date(trip[name] as number).toISOString() : cell(trip[name])))
        .join(','),
    );
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([[names.join(','), ...rows, ''].join('\n')], { type: 'text/csv' }));
    link.download = 'round-trips.csv';
    link.click();
    URL.revokeObjectURL(link.href);
  }
}

export async function listTrips(payload: Payload): Promise<void> {
  if (document.getElementById('trip-table') === null) return;
  const all = await Promise.all(payload.series.map((series) => tripsOf(series, payload)));
  new TripList(all.flat(), payload.asset);
}
