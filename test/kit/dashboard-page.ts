/** The dashboard's page in a real Chromium, fed by a daemon of the test: no page may log an error, or ask another origin. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { Dashboard } from '../../src/dashboard/dashboard.ts';
import type { View } from '../../src/dashboard/view.ts';
import { launch } from './chromium.ts';
import { FakeDaemon, serve } from './dashboard.ts';
import { type WatchedPage, watchedPage } from './watched-page.ts';

/** Call it in a `describe`: each test opens one page, which is closed and judged after it. */
export function dashboardPage() {
  let browser: Browser;
  let daemon: FakeDaemon;
  let dashboard: Dashboard;
  let watched: WatchedPage;

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    await watched.close();
    await dashboard.close();
  });

  return {
    async openPage(shown?: View): Promise<Page> {
      daemon = new FakeDaemon();
      dashboard = await serve(daemon);
      if (shown !== undefined) daemon.shown = shown;
      watched = await watchedPage(browser, dashboard, { isQuiet: true });
      await watched.page.waitForSelector('.summary');
      return watched.page;
    },
    get daemon(): FakeDaemon {
      return daemon;
    },
    get dashboard(): Dashboard {
      return dashboard;
    },
    get context(): BrowserContext {
      return watched.context;
    },
  };
}

/** As it reads on the screen, with spaces between cells. */
// biome-ignore lint/performance/useDomNodeTextContent: hidden text must not count
export const textOf = (page: Page, selector: string): Promise<string> => page.locator(selector).innerText();
