/**
 * One HTML file that needs nothing else: no request leaves it, and its policy allows only the scripts and styles whose hashes it
 * names. It opens from a disk, in a mail, years later.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cspHash, installed, logoStyle, stripped } from '../dashboard/assets.ts';
import { type Html, html, pageStart, raw } from './html.ts';
import { marketRules } from './market-plot.ts';
import { positionRules } from './plot.ts';

const here = dirname(fileURLToPath(import.meta.url));

/** In the order in which they are put together. */
const modules = [
  ...['kline-chart', 'price-like'].map((name) => `../dashboard/page/charts/${name}`),
  ...['unpack', 'levels', 'indicator-lines', 'chart', 'evidence', 'trip-list', 'main'].map((name) => `page/${name}`),
];

/** A module of ours without types, imports and exports: all modules share one scope, and the chart library is a global. */
const moduleText = (name: string): string =>
  stripped(readFileSync(join(here, `${name}.ts`), 'utf8'))
    .replace(/^import [^;]*? from '\.[^']*';$/gm, '')
    .replace(/^import ([^;]*?) from 'lightweight-charts';$/gm, 'const $1 = LightweightCharts;')
    .replace(/^export /gm, '');

export interface Page {
  readonly title: string;
  readonly body: Html;
  /** What the script of the chart draws; undefined without a chart. */
  readonly payload?: unknown;
}

const styleText = (): string =>
  ['../dashboard/page/theme.css', 'page/report.css', 'page/plots.css']
    .map((path) => readFileSync(join(here, path), 'utf8'))
    .join('\n') +
  positionRules() +
  marketRules();

/** `<` as an escape: no text in the data can end the element that holds it. */
const jsonText = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

const library = (): string =>
  readFileSync(
    installed('lightweight-charts/dist/lightweight-charts.standalone.production.js', import.meta.url),
    'utf8',
  );

export function pageText({ title, body, payload }: Page): string {
  const style = styleText();
  const scripts = payload === undefined ? [] : [library(), modules.map(moduleText).join('\n')];
  const styles = [cspHash(style), ...scripts.flatMap(logoStyle)];
  const policy = [
    "default-src 'none'",
    ...(scripts.length === 0 ? [] : [`script-src ${scripts.map(cspHash).join(' ')}`]),
    `style-src ${styles.join(' ')}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return html`${raw(pageStart)}${policy.join('; ')}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${raw(style)}</style>
</head>
<body>
<main>${body}</main>
${payload === undefined ? '' : html`<script type="application/json" id="payload">${raw(jsonText(payload))}</script>`}${scripts.map(
  (script, index) =>
    // The library defines a global; ours is a module.
    html`<script${raw(index === 0 ? '' : ' type="module"')}>${raw(script)}</script>`,
)}
</body>
</html>
`.html;
}
