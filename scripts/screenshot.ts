/**
 * The pictures of the dashboard: `npm run pictures` starts a demo, lets it trade for about two minutes, and writes those of the docs. All sizes and
 * colours, to be looked at after a change of the page: `npm run pictures -- FOLDER`. Needs Debian's chromium.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import type { View } from '../src/dashboard/view.ts';
import { launch } from '../test/kit/chromium.ts';

const sizes = {
  desktop: { viewport: { width: 1440, height: 900 }, deviceScaleFactor: 1 },
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 },
} as const;
/** Those of the docs, by their names here. */
const ofDocs = { 'desktop-light': 'dashboard.png', 'phone-dark': 'dashboard-phone.png' } as const;
/** Charts animate and fonts load; this waits for both. */
const settleMs = 2_500;
/** Fills before a picture is taken: the charts and tables need some. */
const enoughFills = 12;
const maxMs = 300_000;
const root = fileURLToPath(new URL('..', import.meta.url));

/** A demo with a state of its own; the address of its dashboard. */
async function startDemo(dir: string) {
  const demo = spawn(process.execPath, ['bin/sluice.js', 'demo', '--state', dir], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: demo.stdout })) {
    const url = /http:\S+#token=\S+/.exec(line)?.[0];
    if (url !== undefined) {
      demo.stdout.resume();
      return { demo, url };
    }
  }
  throw new Error('the demo ended without an address');
}

async function untilFilled(url: string): Promise<void> {
  const { origin, hash } = new URL(url);
  const authorization = `Bearer ${hash.replace('#token=', '')}`;
  for (let waited = 0; waited < maxMs; waited += 2_000) {
    const reply = await fetch(`${origin}/api/view`, { headers: { authorization } });
    if (((await reply.json()) as View).fills.length >= enoughFills) return;
    await sleep(2_000);
  }
}

/** What this machine says about itself belongs in no picture. */
async function dismissBanners(tab: Page): Promise<void> {
  const buttons = tab.locator('.banner .dismiss');
  while ((await buttons.count()) > 0) await buttons.first().click();
}

async function picture(browser: Browser, url: string, file: string, options: object): Promise<void> {
  const context = await browser.newContext(options);
  const tab = await context.newPage();
  await tab.goto(url);
  await tab.waitForSelector('.summary');
  await tab.waitForTimeout(settleMs);
  await dismissBanners(tab);
  await tab.screenshot({ path: file });
  await tab.screenshot({ path: file.replace('.png', '-whole.png'), fullPage: true });
  await context.close();
}

const dir = mkdtempSync(join(tmpdir(), 'sluice-pictures-'));
const folder = process.argv[2] ?? dir;
mkdirSync(folder, { recursive: true });
const { demo, url } = await startDemo(join(dir, 'state'));
const browser = await launch();
try {
  await untilFilled(url);
  for (const [name, size] of Object.entries(sizes))
    for (const colorScheme of ['light', 'dark'] as const)
      await picture(browser, url, join(folder, `${name}-${colorScheme}.png`), { ...size, colorScheme });
  for (const [name, file] of Object.entries(ofDocs)) {
    const path = join(root, 'docs', 'images', file);
    copyFileSync(join(folder, `${name}.png`), path);
    process.stdout.write(`${path}\n`);
  }
} finally {
  await browser.close();
  demo.kill('SIGINT');
  await once(demo, 'exit');
  rmSync(dir, { recursive: true });
}
