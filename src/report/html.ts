/** HTML as text: contents are escaped, unless they are HTML already. */
import { escapeText } from '../domain/printable.ts';

export interface Html {
  readonly html: string;
}
export type Content = Html | string | number | undefined | readonly Content[];

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => escapeText(text).replace(/[&<>"']/g, (sign) => escapes[sign] ?? sign);

function contentText(content: Content): string {
  if (content === undefined) return '';
  if (typeof content === 'string') return escaped(content);
  if (typeof content === 'number') return String(content);
  return 'html' in content ? content.html : content.map(contentText).join('');
}

/** `` html`<b>${anything}</b>` `` */
export const html = (texts: TemplateStringsArray, ...contents: readonly Content[]): Html => ({
  html: texts.reduce((all, text, index) => all + contentText(contents[index - 1]) + text),
});

export const raw = (text: string): Html => ({ html: text });

/** A section with a heading that can be linked to. */
export const section = (id: string, title: string, ...body: readonly Content[]): Html =>
  html`<section class="panel" id="${id}"><h2>${title}</h2>${body}</section>`;

/** A figure below its name, and a remark below the figure. */
export const fact = (name: string, value: Content, about = ''): Html =>
  html`<div class="fact"><dt>${name}</dt><dd>${value}</dd>${about === '' ? '' : html`<dd class="muted small">${about}</dd>`}</div>`;

export const stamp = (text: string | undefined): Content =>
  text === undefined ? undefined : html`<p class="stamp">${text}</p>`;

export const about = (...text: readonly Content[]): Html => html`<p class="about">${text}</p>`;

/** Sentences as a list; nothing where there are none. */
export const listHtml = (texts: readonly string[]): Content =>
  texts.length === 0 ? undefined : html`<ul class="reasons">${texts.map((text) => html`<li>${text}</li>`)}</ul>`;

/** A table that scrolls sideways by itself where it is too wide. Cells of columns marked `n` are numbers. */
export function tableHtml(
  head: readonly (string | readonly [title: string, kind: 'n'])[],
  rows: readonly (readonly Content[])[],
  classes = '',
): Html {
  const isNumber = head.map((one) => typeof one !== 'string');
  const cls = (index: number): Html => raw(isNumber[index] === true ? ' class="n"' : '');
  return html`<div class="scroll-x"><table class="${classes}"><thead><tr>${head.map(
    (one, index) => html`<th${cls(index)} scope="col">${typeof one === 'string' ? one : one[0]}</th>`,
  )}</tr></thead><tbody>${rows.map(
    (row) => html`<tr>${row.map((cell, index) => html`<td${cls(index)}>${cell}</td>`)}</tr>`,
  )}</tbody></table></div>`;
}

/** Titles of columns of numbers. */
export const numbers = (...titles: readonly string[]) => titles.map((title) => [title, 'n'] as const);

/** Rows of a name, a figure and what it means. */
export const figuresHtml = (rows: readonly (readonly [name: string, value: Content, about: string])[]): Html =>
  html`<table class="plain"><tbody>${rows.map(
    ([name, value, means]) =>
      html`<tr><th scope="row">${name}</th><td class="n">${value}</td><td class="muted small">${means}</td></tr>`,
  )}</tbody></table>`;

/** The configuration as it was written, and the hashes of everything that the result depends on. */
export const configurationSection = ({
  configuration,
  provenance,
}: {
  readonly configuration: string;
  readonly provenance: readonly (readonly [name: string, value: string])[];
}): Html =>
  section(
    'configuration',
    'Configuration and hashes',
    html`<table class="plain"><tbody>${provenance.map(
      ([name, value]) => html`<tr><th scope="row">${name}</th><td class="hash">${value}</td></tr>`,
    )}</tbody></table><pre>${configuration}</pre>`,
  );

/** Green above zero, red below. */
export const signed = (value: number, text: string): Html =>
  html`<span class="${value > 0 ? 'up' : value < 0 ? 'down' : ''}">${value > 0 ? '+' : ''}${text}</span>`;

/** The colour class of a cell of a heat map: `g1` to `g5` above zero, `r1` to `r5` below. */
export const heatClass = (value: number, max: number): string =>
  `${value >= 0 ? 'g' : 'r'}${Math.max(1, Math.ceil(5 * Math.sqrt(Math.abs(value) / max)))}`;

/** How each of our pages begins. A report replaces only files that begin so. */
export const pageStart =
  '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="content-security-policy" content="';
