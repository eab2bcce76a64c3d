/** A report opened from the disk in a real Chromium: nothing is asked of a network, nothing is refused, and clicks are answered. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { backtest } from '../../src/commands/backtest/backtest.ts';
import { isWithoutChromium, launch } from '../kit/chromium.ts';
import { desk } from '../kit/command.ts';

const at = desk();
const file = join(at.dir, 'report.html');
let browser: Browser;

beforeAll(async () => {
  const config = join(import.meta.dirname, '..', '..', 'config', 'backtest.yaml');
  await backtest({ config, set: [], json: false, report: file, out: () => {}, say: () => {} });
  if (!isWithoutChromium) browser = await launch('--force-color-profile=srgb');
});
afterAll(async () => {
  await browser?.close();
  at.remove();
});

test('129,600 klines with all their fills make a file below two megabytes', () => {
  expect(statSync(file).size).toBeLessThan(2_000_000);
  expect(readFileSync(file, 'utf8')).toContain('id="payload"');
});

describe.skipIf(isWithoutChromium)('in Chromium', () => {
  const trouble: string[] = [];
  async function opened(width: number, height: number, colorScheme: 'light' | 'dark'): Promise<Page> {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme });
    page.on('console', (message) => trouble.push(message.text()));
    page.on('pageerror', (error) => trouble.push(error.message));
    page.on('request', (request) => {
      if (request.url() !== `file://${file}`) trouble.push(request.url());
    });
    await page.goto(`file://${file}`);
    await page.locator('#chart-note', { hasText: 'Klines of' }).waitFor();
    return page;
  }

  test('draws its klines, and a click on a round trip shows the fill and its evidence', async () => {
    const page = await opened(1_280, 900, 'light');
    expect(await page.locator('#chart-note').textContent()).toMatch(/^Klines of 4 h/);
    // The lines that the strategy decided on, with their values.
    expect(await page.locator('#indicators').textContent()).toMatch(/^fast [\d.]+ ?slow [\d.]+$/);
    await page.locator('.jump').first().click();
    await page.locator('#clicked table').waitFor();
    expect(await page.locator('#clicked').textContent()).toMatch(/1 fill.*BUY [\d.]+ XBT.*enter, taker.*kline-open/s);
    expect(await page.locator('#chart-note').textContent()).toBe('Klines of 1 min');
    expect(trouble).toEqual([]);
    await page.close();
  });

  test('lists every round trip: filtered, sorted, and saved as CSV', async () => {
    const page = await opened(1_280, 900, 'light');
    const pages = page.locator('#trip-pages');
    await pages.getByText(/^66 of 66 round trips/).waitFor();
    await page.getByLabel('Result').selectOption('profit');
    expect(await pages.textContent()).toMatch(/19 of 66 round trips, profit [\d,.]+; page 1 of 1/);
    const profits = async (): Promise<number[]> =>
      (await page.locator('#trip-table td:nth-child(2)').allTextContents()).map((text) =>
        Number(text.replaceAll(',', '')),
      );
    await page.getByRole('button', { name: 'Profit, USD' }).click();
    const down = await profits();
    expect(down).toHaveLength(19);
    expect(down).toEqual(down.toSorted((a, b) => b - a));
    await page.getByRole('button', { name: 'Profit, USD ▼' }).click();
    expect(await profits()).toEqual(down.toReversed());
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByText('Save as CSV').click()]);
    const rows = readFileSync(await saved.path(), 'utf8')
      .trim()
      .split('\n');
    expect(rows).toHaveLength(20);
    expect(rows[0]).toMatch(/^entryTime,exitTime,strategy,symbol,side,/);
    await page.getByLabel('Result').selectOption('');
    await page.getByRole('button', { name: 'Next' }).click();
    expect(await pages.textContent()).toContain('page 2 of 3');
    expect(trouble).toEqual([]);
    await page.close();
  });

  test('hides the line of a market whose box is not ticked', async () => {
    const config = join(import.meta.dirname, '..', '..', 'backtests', 'rotation-synthetic.yaml');
    const report = join(at.dir, 'rotation.html');
    await backtest({ config, set: [], json: false, report, out: () => {}, say: () => {} });
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await page.goto(`file://${report}`);
    const lines = page.locator('.line-market:visible');
    expect(await lines.count()).toBe(10);
    await page.locator('.by-market').getByLabel('SYNTH06USDT').uncheck();
    expect(await lines.count()).toBe(9);
    expect(await page.locator('path.line-market.m1').isVisible()).toBe(false);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await page.close();
  });

  test.for([
    { width: 390, height: 844, scheme: 'dark' },
    { width: 1_280, height: 900, scheme: 'light' },
  ] as const)('fits a screen $width wide', async ({ width, height, scheme }) => {
    const page = await opened(width, height, scheme);
    const over = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(over)).toBe(0);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(
      scheme === 'dark' ? 'rgb(13, 16, 20)' : 'rgb(243, 245, 247)',
    );
    const rightmost = (cells: string): Promise<number> =>
      page.evaluate(
        `Math.max(...[...document.querySelectorAll('${cells}')].map((cell) => cell.getBoundingClientRect().right))`,
      );
    expect(await rightmost('#months td')).toBeLessThanOrEqual(width);
    // The profit of each trip is in sight, too.
    expect(await rightmost('#trips td:nth-child(2)')).toBeLessThanOrEqual(width);
    expect(await page.locator('#trips th').nth(1).textContent()).toBe('Profit, USD');
    expect(trouble).toEqual([]);
    await page.close();
  });

  test('prints white, with the chart as a picture', async () => {
    const page = await opened(1_280, 900, 'dark');
    const pdf = await page.pdf({ format: 'A4', printBackground: true });
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    expect(await page.evaluate("document.querySelector('#printed canvas') !== null")).toBe(true);
    expect(trouble).toEqual([]);
    await page.close();
  });
});
