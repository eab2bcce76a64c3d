/** A page of a server on this machine, and what must not happen on it. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';

export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Addresses that it asked, of sockets too. */
  readonly requests: readonly string[];
  /** Closes it. Its scripts must not have failed, and nothing may have been asked of another origin. */
  close(): Promise<void>;
}

/** Opens the page of a server on this machine. `isQuiet`: it may log no error either, such as one of a request that failed. */
export async function watchedPage(
  browser: Browser,
  { url, port }: { readonly url: string; readonly port: number },
  { isQuiet }: { readonly isQuiet: boolean },
): Promise<WatchedPage> {
  const [errors, requests]: [string[], string[]] = [[], []];
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  page.on('console', (message) => {
    if (isQuiet && message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('request', (sent) => requests.push(sent.url()));
  page.on('websocket', (socket) => requests.push(socket.url()));
  await page.goto(url);
  return {
    ...{ page, context, requests },
    async close() {
      await context.close();
      expect(errors).toEqual([]);
      const own = [`http://127.0.0.1:${port}/`, `ws://127.0.0.1:${port}/`, 'data:'];
      expect(requests.filter((asked) => !own.some((start) => asked.startsWith(start)))).toEqual([]);
      expect(requests.length).toBeGreaterThan(10);
    },
  };
}
