/**
 * Drawings as SVG that stretches with its box, and their labels as text beside it: lines and dots keep their width, letters
 * their size, on a phone, a screen and paper. Positions are classes (`l37`: 37 % from the left), since the policy forbids styles.
 */
import { type Content, type Html, html, raw } from './html.ts';

export const wide = 1_000;
export const high = 1_000;

/** From values to coordinates in a drawing. */
export interface Scale {
  readonly at: (value: number) => number;
  readonly low: number;
  readonly high: number;
}

/** `down`: large values have small coordinates, as on a vertical axis of SVG. */
export function linear(low: number, top: number, size: number, down = false): Scale {
  const range = top - low || 1;
  return {
    low,
    high: top,
    at: (value) => (down ? size - ((value - low) / range) * size : ((value - low) / range) * size),
  };
}

/** A vertical scale whose equal steps are equal factors; for values above zero. */
export function logarithmic(low: number, top: number, size: number): Scale {
  const inner = linear(Math.log(low), Math.log(top), size, true);
  return { low, high: top, at: (value) => inner.at(Math.log(Math.max(value, low))) };
}

export function rangeOf(curves: readonly Float64Array[]): readonly [low: number, top: number] {
  let [low, top] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const curve of curves)
    for (const value of curve) {
      if (value < low) low = value;
      if (value > top) top = value;
    }
  return [low, top];
}

const rounded = (value: number): string => String(Math.round(value * 10) / 10);

/** A line through points; a point at the same coordinates as the one before is left out. */
export function path(xs: ArrayLike<number>, ys: ArrayLike<number>, x: Scale, y: Scale): string {
  let text = '';
  let last = '';
  for (let index = 0; index < xs.length; index++) {
    const point = `${rounded(x.at(xs[index] as number))} ${rounded(y.at(ys[index] as number))}`;
    if (point === last) continue;
    text += `${index === 0 ? 'M' : 'L'}${point}`;
    last = point;
  }
  return text;
}

/** The area between a line and a value. */
export const area = (xs: ArrayLike<number>, ys: ArrayLike<number>, x: Scale, y: Scale, base: number): string =>
  xs.length === 0
    ? ''
    : `${path(xs, ys, x, y)}L${rounded(x.at(xs[xs.length - 1] as number))} ${rounded(y.at(base))}L${rounded(x.at(xs[0] as number))} ${rounded(y.at(base))}Z`;

/** Dots of one size whatever the box does: lines of no length with round ends. */
export const dots = (points: readonly (readonly [x: number, y: number])[]): string =>
  points.map(([x, y]) => `M${rounded(x)} ${rounded(y)}h.01`).join('');

export const rectangle = (x: number, y: number, width: number, height: number, cls: string, title: string): Html =>
  html`<rect x="${rounded(x)}" y="${rounded(y)}" width="${rounded(Math.max(width, 0.5))}" height="${rounded(height)}" class="${cls}"><title>${title}</title></rect>`;

export interface Label {
  readonly value: number;
  readonly text: string;
}

const percentOf = (share: number): number => Math.min(100, Math.max(0, Math.round(100 * share)));

interface Plot {
  readonly x: Scale;
  readonly y: Scale;
  readonly xLabels: readonly Label[];
  readonly yLabels: readonly Label[];
  /** Of the box. */
  readonly size: 'tall' | 'mid' | 'low';
  /** For screen readers. */
  readonly label: string;
  readonly body: Content;
}

/** A drawing with grid lines and labels at the left and below. */
export function plot({ x, y, xLabels, yLabels, size, label, body }: Plot): Html {
  const rows = yLabels.map(({ value, text }) => ({ text, top: y.at(value) / high }));
  const columns = xLabels.map(({ value, text }) => ({ text, left: x.at(value) / wide }));
  return html`<figure class="plot ${size}"><div class="axis-y" aria-hidden="true">${rows.map(
    ({ text, top }) => html`<span class="t${percentOf(top)}">${text}</span>`,
  )}</div><svg viewBox="0 0 ${wide} ${high}" preserveAspectRatio="none" role="img" aria-label="${label}">${rows.map(
    ({ top }) => html`<path class="grid" d="M0 ${rounded(top * high)}H${wide}"/>`,
  )}${body}</svg><div class="axis-x" aria-hidden="true">${columns.map(
    ({ text, left }) =>
      html`<span class="l${percentOf(left)}${left > 0.93 ? ' right' : left < 0.04 ? ' left' : ''}">${text}</span>`,
  )}</div></figure>`;
}

export const percentLabel = (share: number): string => `${Number((share * 100).toPrecision(3))} %`;

/** Round values between two, about four of them. */
export function roundSteps(low: number, top: number, about = 4): readonly number[] {
  const rough = (top - low) / about;
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  // Of whole numbers: a sum of steps comes to 3e-17 instead of 0.
  const [first, last] = [Math.ceil(low / step), Math.floor(top / step + 1e-9)];
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

/** Powers of ten, and two and five times them, for logarithmic scales. */
export function factorSteps(low: number, top: number): readonly number[] {
  const found: number[] = [];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= top; power *= 10)
    for (const factor of [1, 2, 5]) if (factor * power >= low && factor * power <= top) found.push(factor * power);
  const every = Math.ceil(found.length / 6);
  return found.filter((_, index) => index % every === 0);
}

const dayMs = 86_400_000;
export const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Labels of a time axis where hours, days, months or years begin, UTC. */
export function timeLabels(from: number, to: number): readonly Label[] {
  const days = (to - from) / dayMs;
  if (days > 75) return monthLabels(from, to, days);
  const minutes = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720].find((step) => (days * 1_440) / step <= 7) ?? 1_440;
  const stepMs = days <= 6 ? minutes * 60_000 : Math.ceil(days / 6) * dayMs;
  const unit = Math.min(stepMs, dayMs);
  const first = Math.ceil(from / unit) * unit;
  return Array.from({ length: Math.floor((to - first) / stepMs) + 1 }, (_, index) => {
    const value = first + index * stepMs;
    const date = new Date(value);
    const isDay = value % dayMs === 0;
    const text = isDay ? `${date.getUTCDate()} ${monthNames[date.getUTCMonth()]}` : date.toISOString().slice(11, 16);
    return { value, text };
  });
}

function monthLabels(from: number, to: number, days: number): readonly Label[] {
  const every = [1, 2, 3, 6, 12, 24, 36, 60].find((step) => days / 30.4 / step <= 7) ?? 120;
  const found: Label[] = [];
  const start = new Date(from);
  for (let month = start.getUTCFullYear() * 12 + start.getUTCMonth() + 1; ; month++) {
    const [year, ofYear] = [Math.floor(month / 12), month % 12];
    const value = Date.UTC(year, ofYear, 1);
    if (value > to) return found;
    if (month % every !== 0) continue;
    const text = ofYear === 0 ? String(year) : `${monthNames[ofYear]} ${every > 6 ? year : ''}`.trim();
    found.push({ value, text });
  }
}

/** Classes for the positions of labels and small drawings. */
export const positionRules = (): string =>
  Array.from({ length: 101 }, (_, at) => `.l${at}{left:${at}%}.t${at}{top:${at}%}.w${at}{width:${at}%}`).join('');

/** A bar in a cell of a table, as long as a share of the cell. */
export const filled = (share: number, cls: string): Html => raw(`<i class="fill ${cls} w${percentOf(share)}"></i>`);
