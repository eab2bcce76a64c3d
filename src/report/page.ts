/**
 * One HTML file that needs nothing else: no request leaves it, and its policy allows only the scripts and styles whose hashes it
 * names. It opens from a disk, in a mail, years later.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cspHash, installed, logoStyle, stripped } from '../dashboard/assets.ts';
import { type Html, html, pageStart, raw } from './html.ts';
import { placeRules } from './plot.ts';

const here = dirname(fileURLToPath(import.meta.url));

/** In the order in which they are put together. */
const modules = ['unpack', 'levels', 'panes', 'chart', 'evidence', 'main'];

/** A module of ours without its types, imports and exports: all of them share one scope. */
function moduleText(name: string): string {
  const path = join(here, 'page', `${name}.ts`);
  const text = readFileSync(existsSync(path) ? path : join(here, 'page', `${name}.js`), 'utf8');
  return stripped(text)
    .replace(/^import [^;]*? from '\.\/[^']*';$/gm, '')
    .replace(/^import [^;]*? from 'lightweight-charts';$/gm, '')
    .replace(/^export /gm, '');
}

export interface Page {
  readonly title: string;
  readonly body: Html;
  /** What the script of the chart draws; left out where there is no chart. */
  readonly payload?: unknown;
}

const styleText = (): string =>
  [
    join(here, '..', 'dashboard', 'page', 'theme.css'),
    join(here, 'page', 'report.css'),
    join(here, 'page', 'plots.css'),
  ]
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n') + placeRules();

/** `<` as an escape: no text in the data can end the element that holds it. */
const jsonText = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

export function pageText({ title, body, payload }: Page): string {
  const style = styleText();
  const library =
    payload === undefined
      ? ''
      : readFileSync(
          installed('lightweight-charts/dist/lightweight-charts.standalone.production.js', import.meta.url),
          'utf8',
        );
  const script = payload === undefined ? '' : modules.map(moduleText).join('\n');
  const policy = [
    "default-src 'none'",
    payload === undefined ? '' : `script-src ${cspHash(library)} ${cspHash(script)}`,
    `style-src ${[cspHash(style), ...logoStyle(library)].join(' ')}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].filter((part) => part !== '');
  const scripts =
    payload === undefined
      ? html``
      : html`<script type="application/json" id="payload">${raw(jsonText(payload))}</script><script>${raw(library)}</script><script type="module">${raw(script)}</script>`;
  return html`${raw(pageStart)}${policy.join('; ')}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${raw(style)}</style>
</head>
<body>
<main>${body}</main>
${scripts}
</body>
</html>
`.html;
}
