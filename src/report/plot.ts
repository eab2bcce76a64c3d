/**
 * Drawings as SVG that stretches with its box, and their labels as text beside it: lines and dots keep their width, letters
 * their size, on a phone, a screen and paper. Places are classes (`l37`: 37 % from the left), since the policy forbids styles.
 */
import { type Content, type Html, html, raw } from './html.ts';

export const wide = 1_000;
export const high = 1_000;

/** From values to places in a drawing; upside down, since SVG counts from the top. */
export interface Scale {
  readonly at: (value: number) => number;
  readonly low: number;
  readonly high: number;
}

export function linear(low: number, top: number, size: number, down = false): Scale {
  const range = top - low || 1;
  return {
    low,
    high: top,
    at: (value) => (down ? size - ((value - low) / range) * size : ((value - low) / range) * size),
  };
}

/** A scale whose equal steps are equal factors; for values above zero. */
export function logarithmic(low: number, top: number, size: number): Scale {
  const inner = linear(Math.log(low), Math.log(top), size, true);
  return { low, high: top, at: (value) => inner.at(Math.log(Math.max(value, low))) };
}

const short = (value: number): string => String(Math.round(value * 10) / 10);

/** A line through points; points that fall on the same place as the one before are left out. */
export function path(xs: ArrayLike<number>, ys: ArrayLike<number>, x: Scale, y: Scale): string {
  let text = '';
  let last = '';
  for (let index = 0; index < xs.length; index++) {
    const point = `${short(x.at(xs[index] as number))} ${short(y.at(ys[index] as number))}`;
    if (point === last) continue;
    text += `${index === 0 ? 'M' : 'L'}${point}`;
    last = point;
  }
  return text;
}

/** The same, closed down (or up) to a value. */
export const area = (xs: ArrayLike<number>, ys: ArrayLike<number>, x: Scale, y: Scale, base: number): string =>
  xs.length === 0
    ? ''
    : `${path(xs, ys, x, y)}L${short(x.at(xs[xs.length - 1] as number))} ${short(y.at(base))}L${short(x.at(xs[0] as number))} ${short(y.at(base))}Z`;

/** Dots of one size whatever the box does: lines of no length with round ends. */
export const dots = (points: readonly (readonly [x: number, y: number])[]): string =>
  points.map(([x, y]) => `M${short(x)} ${short(y)}h.01`).join('');

export const rectangle = (x: number, y: number, width: number, height: number, cls: string, title: string): Html =>
  html`<rect x="${short(x)}" y="${short(y)}" width="${short(Math.max(width, 0.5))}" height="${short(height)}" class="${cls}"><title>${title}</title></rect>`;

export interface Label {
  readonly value: number;
  readonly text: string;
}

const place = (share: number): number => Math.min(100, Math.max(0, Math.round(100 * share)));

export interface Plot {
  readonly x: Scale;
  readonly y: Scale;
  readonly xLabels: readonly Label[];
  readonly yLabels: readonly Label[];
  /** Of the box: `tall`, `mid` or `low`. */
  readonly size: 'tall' | 'mid' | 'low';
  readonly about: string;
  readonly body: Content;
}

/** A drawing with grid lines and labels at the left and below. */
export function plot({ x, y, xLabels, yLabels, size, about, body }: Plot): Html {
  const rows = yLabels.map(({ value, text }) => ({ text, top: y.at(value) / high }));
  const columns = xLabels.map(({ value, text }) => ({ text, left: x.at(value) / wide }));
  return html`<figure class="plot ${size}"><div class="axis-y" aria-hidden="true">${rows.map(
    ({ text, top }) => html`<span class="t${place(top)}">${text}</span>`,
  )}</div><svg viewBox="0 0 ${wide} ${high}" preserveAspectRatio="none" role="img" aria-label="${about}">${rows.map(
    ({ top }) => html`<path class="grid" d="M0 ${short(top * high)}H${wide}"/>`,
  )}${body}</svg><div class="axis-x" aria-hidden="true">${columns.map(
    ({ text, left }) =>
      html`<span class="l${place(left)}${left > 0.93 ? ' right' : left < 0.04 ? ' left' : ''}">${text}</span>`,
  )}</div></figure>`;
}

/** Round values between two, some four of them. */
export function roundSteps(low: number, top: number, about = 4): readonly number[] {
  const rough = (top - low) / about;
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const found: number[] = [];
  for (let value = Math.ceil(low / step) * step; value <= top + step * 1e-9; value += step) found.push(value);
  return found.map((value) => Number(value.toPrecision(12)));
}

/** Values that stand a factor of a power of ten, of two or five apart, for logarithmic scales. */
export function factorSteps(low: number, top: number): readonly number[] {
  const found: number[] = [];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= top; power *= 10)
    for (const factor of [1, 2, 5]) if (factor * power >= low && factor * power <= top) found.push(factor * power);
  const every = Math.ceil(found.length / 6);
  return found.filter((_, index) => index % every === 0);
}

const dayMs = 86_400_000;
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Marks of a time axis where days, months or years begin, UTC. */
export function timeLabels(from: number, to: number): readonly Label[] {
  const days = (to - from) / dayMs;
  if (days <= 6) {
    const minutes = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720];
    const stepMs = (minutes.find((step) => (days * 1_440) / step <= 7) ?? 1_440) * 60_000;
    const first = Math.ceil(from / stepMs) * stepMs;
    return Array.from({ length: Math.floor((to - first) / stepMs) + 1 }, (_, index) => {
      const at = first + index * stepMs;
      const iso = new Date(at).toISOString();
      return {
        value: at,
        text:
          at % dayMs === 0 ? `${Number(iso.slice(8, 10))} ${months[new Date(at).getUTCMonth()]}` : iso.slice(11, 16),
      };
    });
  }
  if (days <= 75) {
    const stepMs = Math.ceil(days / 6) * dayMs;
    const first = Math.ceil(from / dayMs) * dayMs;
    return Array.from({ length: Math.floor((to - first) / stepMs) + 1 }, (_, index) => {
      const date = new Date(first + index * stepMs);
      return { value: date.getTime(), text: `${date.getUTCDate()} ${months[date.getUTCMonth()]}` };
    });
  }
  const count = Math.ceil(days / 30.4);
  const every = [1, 2, 3, 6, 12, 24, 36, 60].find((step) => count / step <= 7) ?? 120;
  const found: Label[] = [];
  const start = new Date(from);
  for (let month = start.getUTCFullYear() * 12 + start.getUTCMonth() + 1; ; month++) {
    const [year, ofYear] = [Math.floor(month / 12), month % 12];
    const value = Date.UTC(year, ofYear, 1);
    if (value > to) return found;
    if (month % every === 0)
      found.push({ value, text: ofYear === 0 ? String(year) : `${months[ofYear]} ${every > 6 ? year : ''}`.trim() });
  }
}

/** Classes for the places that labels and small drawings stand at. */
export const placeRules = (): string =>
  Array.from({ length: 101 }, (_, at) => `.l${at}{left:${at}%}.t${at}{top:${at}%}.w${at}{width:${at}%}`).join('');

export const filled = (share: number, cls: string): Html => raw(`<i class="fill ${cls} w${place(share)}"></i>`);
