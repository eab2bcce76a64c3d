/** The one HTML document and the policy that it is served under. */
import { randomBytes } from 'node:crypto';
import { type Assets, styleSheets } from './assets.ts';

/** Sent with every answer: nothing may frame, sniff, cache or carry our address elsewhere. */
export const commonHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%230f766e'/%3E%3Cpath d='M3 5.5c2.5-2 4.5 2 7 0 1-.8 2-.8 3-.3M3 10.5c2.5-2 4.5 2 7 0 1-.8 2-.8 3-.3' fill='none' stroke='white' stroke-width='1.6' stroke-linecap='round'/%3E%3C/svg%3E";

/** Before the first paint, so that a chosen theme does not flash the other one. */
const themeScript = `try{const t=localStorage.getItem('sluice-theme');if(t==='light'||t==='dark')document.documentElement.dataset.theme=t}catch{}`;

/** The document, the same for everybody: no secret is in it; `host` is the address that the browser used, checked before. `entry`: its first module. */
export function page(assets: Assets, entry: string, host: string) {
  // A new nonce for each document: only the scripts written here run, and what they import.
  const nonce = randomBytes(16).toString('base64');
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'self' ${assets.styleHashes.join(' ')}`,
    "img-src 'self' data:",
    `connect-src 'self' ws://${host}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sluice</title>
<link rel="icon" href="${icon}">
${styleSheets.map((path) => `<link rel="stylesheet" href="${path}">`).join('\n')}
<script nonce="${nonce}">${themeScript}</script>
<script nonce="${nonce}" type="importmap">${JSON.stringify({ imports: assets.imports })}</script>
<script nonce="${nonce}" type="module" src="${entry}"></script>
</head>
<body>
<div id="app"><p class="boot">Connecting to the daemon …</p></div>
<noscript><p class="boot">This page needs JavaScript. <code>npx sluice status</code> says the same in a terminal.</p></noscript>
</body>
</html>
`;
  return { html, headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy } };
}
