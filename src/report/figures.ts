/** Figures as text, for the terminal and the report. */
import { grouped } from '../domain/words.ts';
import { conventions, type Form } from '../research/conventions.ts';
import type { Summary } from '../research/summary.ts';

const dayMs = 86_400_000;

/** `3 d 4 h`, `2 h 5 min`, `90 s`. */
export function durationText(ms: number): string {
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  const minutes = Math.round(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (ms < 2 * dayMs) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return ms > 30 * dayMs || hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`;
}

/** A number with this many decimals; never `-0.00`. */
export const fixed = (value: number, decimals: number): string => value.toFixed(decimals).replace(/^-(?=[0.]*$)/, '');

/** Two decimals, grouped; four where the number is below 1. */
export const moneyFigure = (value: number): string => grouped(fixed(value, Math.abs(value) < 1 && value !== 0 ? 4 : 2));

export const shareText = (fraction: number): string => `${grouped(fixed(fraction * 100, 2))} %`;

const texts: Readonly<Record<Form, (value: number) => string>> = {
  share: shareText,
  ratio: (value) => fixed(value, 2),
  money: moneyFigure,
  count: (value) => grouped(value),
  days: (value) => (value < 2 ? `${(value * 24).toFixed(1)} h` : `${value.toFixed(1)} d`),
  years: (value) => `${value < 1_000 ? value.toFixed(1) : grouped(value.toFixed(0))} years`,
  ms: durationText,
  factor: (value) => `× ${value < 1_000 ? value.toFixed(2) : grouped(value.toFixed(0))}`,
};

export const figureText = (value: number | null | undefined, form: Form): string =>
  value === null || value === undefined ? 'n/a' : texts[form](value);

/** Every figure of a run as name, text and meaning, in groups. */
export function figureGroups({ metrics }: Pick<Summary, 'metrics'>) {
  const values: Readonly<Record<string, unknown>> = metrics;
  return conventions.map(({ title, of }) => ({
    title,
    figures: Object.entries(of).map(([key, { name, form, means }]) => {
      const value = values[key];
      return [name, figureText(typeof value === 'number' ? value : null, form), means] as const;
    }),
  }));
}

/** `2020-03-12 08:00`, UTC. */
export const momentText = (time: number): string => new Date(time).toISOString().slice(0, 16).replace('T', ' ');

/** `2020-03-12 08:00 to 2020-03-14 00:00 UTC`. */
export const periodText = (from: number, to: number): string => `${momentText(from)} to ${momentText(to)} UTC`;
