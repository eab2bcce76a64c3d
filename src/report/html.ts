/** HTML as text: whatever is put in is escaped, unless it is HTML already. */
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
export const escaped = (text: string): string => escapeText(text).replace(/[&<>"']/g, (sign) => escapes[sign] ?? sign);

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

/** A table that scrolls sideways by itself where it is too wide. Cells of columns marked `n` are numbers. */
export function tableHtml(
  head: readonly (string | readonly [title: string, kind: 'n'])[],
  rows: readonly (readonly Content[])[],
  classes = '',
): Html {
  const isNumber = head.map((one) => typeof one !== 'string');
  const cls = (index: number): Html => (isNumber[index] === true ? raw(' class="n"') : raw(''));
  return html`<div class="scroll-x"><table class="${classes}"><thead><tr>${head.map(
    (one, index) => html`<th${cls(index)} scope="col">${typeof one === 'string' ? one : one[0]}</th>`,
  )}</tr></thead><tbody>${rows.map(
    (row) => html`<tr>${row.map((cell, index) => html`<td${cls(index)}>${cell}</td>`)}</tr>`,
  )}</tbody></table></div>`;
}

/** Green above zero, red below. */
export const signed = (value: number, text: string): Html =>
  html`<span class="${value > 0 ? 'up' : value < 0 ? 'down' : ''}">${value > 0 ? '+' : ''}${text}</span>`;

/** How each of our pages begins: what does not is none, and no report takes its place. */
export const pageStart =
  '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="content-security-policy" content="';
