/** The dashboard's page in a real Chromium, fed by a daemon of the test: no page may log an error, or ask another origin. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Dashboard } from '../../src/dashboard/dashboard.ts';
import type { View } from '../../src/dashboard/view.ts';
import { launch } from './chromium.ts';
import { FakeDaemon, serve } from './dashboard.ts';

/** Call it in a `describe`: each test opens one page, which is closed and judged after it. */
export function dashboardPage() {
  let browser: Browser;
  let context: BrowserContext;
  let daemon: FakeDaemon;
  let dashboard: Dashboard;
  let errors: string[];
  let requests: string[];

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    await context.close();
    await dashboard.close();
    expect(errors).toEqual([]);
    const own = [`http://127.0.0.1:${dashboard.port}/`, `ws://127.0.0.1:${dashboard.port}/`, 'data:'];
    expect(requests.filter((url) => !own.some((start) => url.startsWith(start)))).toEqual([]);
    expect(requests.length).toBeGreaterThan(10);
  });

  return {
    async openPage(shown?: View): Promise<Page> {
      daemon = new FakeDaemon();
      dashboard = await serve(daemon);
      if (shown !== undefined) daemon.shown = shown;
      [errors, requests] = [[], []];
      context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
      const page = await context.newPage();
      page.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text());
      });
      page.on('pageerror', (error) => errors.push(error.message));
      page.on('request', (sent) => requests.push(sent.url()));
      page.on('websocket', (socket) => requests.push(socket.url()));
      await page.goto(dashboard.url);
      await page.waitForSelector('.summary');
      return page;
    },
    get daemon(): FakeDaemon {
      return daemon;
    },
    get dashboard(): Dashboard {
      return dashboard;
    },
    get context(): BrowserContext {
      return context;
    },
  };
}

/** As it reads on the screen, with spaces between cells. */
// biome-ignore lint/performance/useDomNodeTextContent: hidden text must not count
export const textOf = (page: Page, selector: string): Promise<string> => page.locator(selector).innerText();
