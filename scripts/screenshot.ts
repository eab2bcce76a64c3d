/**
 * Pictures of a running dashboard: `npm run pictures -- URL FOLDER` writes `{desktop,phone}-{light,dark}.png`. URL is the address with its token, as
 * the daemon printed it. The picture of the docs is `desktop-light` of a demo that ran for some minutes. Needs Debian's chromium.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const sizes = {
  desktop: { width: 1440, height: 900 },
  phone: { width: 390, height: 844 },
} as const;
/** Charts animate and fonts load; this waits for both. */
const settleMs = 1_200;

async function picture(browser: Browser, url: string, file: string, options: object, whole: boolean): Promise<void> {
  const context = await browser.newContext({ deviceScaleFactor: 2, ...options });
  const tab = await context.newPage();
  await tab.goto(url);
  await tab.waitForSelector('.summary');
  await tab.waitForTimeout(settleMs);
  await tab.screenshot({ path: file, fullPage: whole });
  await context.close();
}

const [url, folder] = process.argv.slice(2);
if (url === undefined || folder === undefined) {
  process.stderr.write('usage: npm run pictures -- URL FOLDER\n');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
try {
  for (const [name, viewport] of Object.entries(sizes)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const file = join(folder, `${name}-${colorScheme}.png`);
      await picture(browser, url, file, { viewport, colorScheme }, name === 'phone');
      process.stdout.write(`${file}\n`);
    }
  }
} finally {
  await browser.close();
}
