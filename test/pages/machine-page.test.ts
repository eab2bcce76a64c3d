/** The page of all daemons as its users meet it, in a real Chromium. */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isWithoutChromium, launch } from '../kit/chromium.ts';
import { ask } from '../kit/dashboard.ts';
import { textOf } from '../kit/dashboard-page.ts';
import { liveLikeBacktest } from '../kit/live-like-backtest.ts';
import { type Machine, machineToken, startOnMachine } from '../kit/machine.ts';
import { runWinter, saveSome } from '../kit/saved-runs.ts';
import { view } from '../kit/view.ts';
import { type WatchedPage, watchedPage } from '../kit/watched-page.ts';

interface Compared {
  readonly live: { readonly fillsPerDay: number };
  readonly backtest: { readonly fillsPerDay: number };
}

describe.skipIf(isWithoutChromium)('the page of all daemons', () => {
  let browser: Browser;
  let context: BrowserContext;
  let machine: Machine;
  let page: Page;
  let requests: readonly string[];
  let watched: WatchedPage;

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    machine = await startOnMachine(async (folder) => {
      await runWinter(join(folder, 'before'));
      liveLikeBacktest(join(folder, 'live'), join(folder, 'before'));
    });
    // Tests end servers and daemons: then its requests fail.
    watched = await watchedPage(browser, machine.server, { isQuiet: false });
    ({ page, context, requests } = watched);
    await page.waitForSelector('.daemon');
  });
  afterEach(async () => {
    await watched.close();
    await machine.close();
  });

  const card = (name: string) => page.getByRole('listitem').filter({ has: page.getByRole('link', { name }) });

  it('shows each daemon, and at once that one has gone, with its figures marked as old', async () => {
    const [live] = machine.daemons;
    live.source.shown = view({ equity: { ...view().equity, now: '123456.78' } });
    await card('live').getByText('123,456.78').waitFor();
    await card('live').getByText('Last contact: now').waitFor();
    live.source.shown = view({ blocked: 'the disk is full' });
    await card('live').getByText('Orders blocked').waitFor();
    await live.stop();
    await card('live').getByText('Not running').waitFor();
    await card('live').getByText('These figures are old').waitFor();
    await card('live')
      .getByText(/Last contact \d+ s ago/)
      .waitFor();
    expect(await card('paper').getByText('Last contact: now').count()).toBe(1);
  });

  it('says that nobody answers when the program that serves it has ended', async () => {
    await machine.server.close();
    await page.getByRole('alert').getByText('No answer').waitFor();
    expect(await page.locator('.daemon').count()).toBe(0);
  });

  it('opens the whole page of a daemon by the keyboard, acts through it, and comes back', async () => {
    const [live, paper] = machine.daemons;
    await page.getByRole('link', { name: 'paper' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('.summary');
    await page.waitForSelector('.chart canvas');
    expect(new URL(page.url()).pathname).toBe('/daemons/paper/');
    await expect.poll(() => textOf(page, '.legend')).toContain('C 6,159.3');
    await expect.poll(() => paper.source.klinesAsked.at(-1)).toHaveProperty('after');
    await page.getByRole('button', { name: 'Kill …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Kill' }).click();
    await page.getByText('Killed: 6 resting orders').waitFor();
    await page.getByRole('tab', { name: 'Log' }).click();
    await page.locator('.log li').first().waitFor();
    expect(paper.source.told).toEqual(['kill: from the dashboard, by dashboard']);
    expect(live.source.told).toEqual([]);
    await page.reload();
    await page.waitForSelector('.summary');
    await paper.stop();
    await page.getByText('Not connected.').waitFor();
    await page.getByRole('link', { name: 'All daemons' }).click();
    await card('paper').getByText('Not running').waitFor();
    const secrets = [live.token, paper.token];
    expect(await page.evaluate('JSON.stringify([sessionStorage, localStorage, document.cookie])')).not.toMatch(
      new RegExp(secrets.join('|')),
    );
    expect(requests.filter((url) => secrets.some((secret) => url.includes(secret)))).toEqual([]);
  });

  it('lists saved backtests and grids, opens their reports in a sandbox, and compares two', async () => {
    const { runs } = await saveSome(machine.folder);
    await page.getByRole('link', { name: 'Backtests' }).click();
    await page.getByText('No saved backtest').or(page.locator('#backtests tbody tr').first()).waitFor();
    await page.reload();
    await page.locator('#backtests tbody tr').nth(1).waitFor();
    expect(await page.locator('#backtests tbody tr').count()).toBe(2);
    const compare = page.getByRole('button', { name: 'Compare' });
    expect(await compare.isDisabled()).toBe(true);
    const [report] = await Promise.all([
      context.waitForEvent('page'),
      page
        .getByRole('button', { name: /^Report of / })
        .first()
        .click(),
    ]);
    await report.waitForSelector('canvas');
    expect(await report.title()).toContain('eth-winter-sluice');
    expect(await report.evaluate('self.origin')).toBe('null');
    expect(await report.evaluate("(() => { try { return sessionStorage.length } catch { return 'closed' } })()")).toBe(
      'closed',
    );
    const reached = `fetch('http://127.0.0.1:${machine.server.port}/api/daemons').then(() => 'reached', () => 'refused')`;
    expect(await report.evaluate(reached)).toBe('refused');
    expect(await report.evaluate('window.opener')).toBeNull();
    for (const box of await page.getByRole('checkbox').all()) await box.check();
    const [compared] = await Promise.all([context.waitForEvent('page'), compare.click()]);
    await compared.getByRole('heading', { name: '2 runs compared' }).waitFor();
    await page.getByRole('link', { name: 'Grids' }).click();
    const [grid] = await Promise.all([
      context.waitForEvent('page'),
      page.getByRole('button', { name: /^Report of grid/ }).click(),
    ]);
    await grid.getByRole('heading', { name: /^Grid · eth-winter/ }).waitFor();
    rmSync(runs, { recursive: true });
    await page.getByRole('button', { name: /^Report of grid/ }).click();
    await page.getByText('there is no saved grid').waitFor();
  });

  it('shows live results beside the backtest of the same strategy, and opens its report', async () => {
    renameSync(join(machine.folder, 'before'), join(machine.folder, 'runs'));
    await page.getByRole('link', { name: 'live', exact: true }).click();
    await page.getByRole('tab', { name: 'Live and backtest' }).click();
    const beside = page.getByRole('region', { name: 'trend beside its backtest' });
    await beside.getByText('Same code, parameters and markets.').waitFor();
    const { body } = await ask(machine.server, '/api/comparison/live', { authorization: `Bearer ${machineToken}` });
    const [{ live, backtest }] = (JSON.parse(body) as { readonly strategies: readonly [Compared] }).strategies;
    const row = beside.getByRole('row', { name: /^Fills per day/ });
    expect(await row.getByRole('cell').allInnerTexts()).toEqual([
      'Fills per day',
      live.fillsPerDay.toFixed(2),
      backtest.fillsPerDay.toFixed(2),
      '',
    ]);
    await beside.getByText(/live paid 0\.1\d\d % beyond/).waitFor();
    expect(await beside.getByRole('region', { name: 'The same days' }).getByRole('row').count()).toBe(11);
    const [report] = await Promise.all([
      context.waitForEvent('page'),
      beside.getByRole('button', { name: /^Report of / }).click(),
    ]);
    await report.waitForSelector('canvas');
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  });

  it('has nothing wider than a phone of 360 px', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.waitForTimeout(200);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await saveSome(machine.folder);
    await page.getByRole('link', { name: 'Backtests' }).click();
    await page.locator('#backtests tbody tr').first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  });
});
