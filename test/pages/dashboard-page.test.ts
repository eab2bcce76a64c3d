/** The dashboard as its users meet it: in a real Chromium where there is one. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { denialText } from '../../src/domain/words.ts';
import { isWithoutChromium, launch } from '../kit/chromium.ts';
import { ask, FakeDaemon, json, serve, token, upgrade } from '../kit/dashboard.ts';
import { dashboardPage, textOf } from '../kit/dashboard-page.ts';
import { decisionView, sampleTime, strategyView, view } from '../kit/view.ts';

describe.skipIf(isWithoutChromium)('the dashboard page', () => {
  const opened = dashboardPage();

  it('shows positions, orders and fills, and draws both charts', async () => {
    const page = await opened.openPage();
    expect(await textOf(page, '#strategies')).toMatch(/cross.*Long 0\.2498.*−25\.73.*Stop\s+5,980/s);
    expect(await page.locator('#orders tbody tr').count()).toBe(6);
    expect(await page.locator('#fills tbody tr').count()).toBe(26);
    await page.waitForSelector('.chart canvas');
    await page.waitForSelector('.equity-chart canvas');
    expect(await page.locator('#tv-attr-logo').count()).toBe(1);
  });

  it('shows what fees left behind as dust, not as a position', async () => {
    const position = { quantity: '0.0000714', isDust: true, entryPrice: undefined, value: '0.43', openProfit: '0' };
    const page = await opened.openPage(
      view({ strategies: [strategyView({ position, stop: undefined, takeProfit: undefined })] }),
    );
    expect(await textOf(page, '#strategies')).toMatch(/Flat.*Dust\s+0\.0000714/s);
    expect(await textOf(page, '#strategies')).not.toContain('Long');
    expect(await textOf(page, '.summary')).toMatch(/Positions\s+0\s+of 1 strategy/);
  });

  it('says in words why an order was denied', async () => {
    const denial = { code: 'orderValue', facts: { value: '12400.5', maxOrderValue: '10000' } };
    const denied = decisionView({
      draft: 'hold 2.05 XBT',
      verdict: 'denied',
      code: 'orderValue',
      text: denialText(denial),
    });
    const page = await opened.openPage(view({ decisions: [decisionView(), denied] }));
    await page.locator('#decisions button', { hasText: 'Denied' }).click();
    const text = await textOf(page, '#decisions .list');
    expect(text).toContain('The order is worth 12,400.5; the limit is 10,000.');
    expect(text).not.toContain('Buy 0.25 at market.');
  });

  it('opens why something happened: of a fill, of a decision and at a kline of the chart, and Escape closes it', async () => {
    const page = await opened.openPage();
    await page.getByRole('button', { name: 'Why: cross: BUY 0.25 at 5,950' }).first().click();
    await page.getByRole('dialog', { name: 'grid: BUY XBTUSD, order 1954113290481123329, filled' }).waitFor();
    expect(await textOf(page, 'dialog')).toMatch(/planned.*BUY 0\.05.*answer: accepted.*fill.*maker, trade 88001/s);
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.locator('#decisions .why').nth(1).click();
    await page.getByRole('dialog', { name: 'Decision of cross on XBTUSD' }).waitFor();
    await page.keyboard.press('Escape');
    expect(opened.daemon.questions.filter((asked) => !asked.startsWith('performance'))).toEqual([
      'why {"subject":"sabcdeaaababaaaaaaaabqwertyui"}',
      `decision {"strategy":"cross","symbol":"XBTUSD","at":${sampleTime - 70_000}}`,
    ]);
    const chart = await page.locator('.chart canvas').first().boundingBox();
    // The newest klines are at the right, beside the room for labels.
    for (let from = 160; (await page.locator('dialog').count()) === 0 && from < 260; from += 7)
      await page.mouse.click((chart?.x ?? 0) + (chart?.width ?? 0) - from, (chart?.y ?? 0) + 100);
    expect(await page.locator('dialog').count()).toBe(1);
  });

  it('draws the indicators that decisions saw, over the prices or below, with values that a click hides', async () => {
    const page = await opened.openPage();
    const minute = (index: number): number => sampleTime - (240 - index) * 60_000;
    const rows = Array.from(
      { length: 239 },
      (_, index) => [minute(index), index < 12 ? null : 6_100 + index / 10, 40 + (index % 20)] as const,
    );
    opened.daemon.charted = { run: 2, values: [{ strategy: 'cross', names: ['average', 'rsi'], rows }], leftOut: 3 };
    const legend = page.getByRole('group', { name: 'Indicators' });
    await legend.waitFor();
    expect(await textOf(page, '.indicators')).toMatch(/cross\s+average\s+6,123\.8\s+rsi\s+58\s+and 3 more/);
    const panes = page.locator('.chart tr:has(canvas)');
    // The prices, the strength below, and the axis of time.
    await expect.poll(() => panes.count()).toBe(3);
    const values = [{ strategy: 'cross', names: ['average', 'rsi'], rows: [[minute(239), 6_000, 61] as const] }];
    opened.daemon.charted = { run: 2, values, leftOut: 0 };
    await page.getByRole('button', { name: 'average 6,000.0' }).waitFor();
    await page.getByRole('button', { name: 'rsi 61' }).click();
    await expect.poll(() => panes.count()).toBe(2);
    await page.reload();
    await page.getByRole('button', { name: 'rsi', pressed: false }).waitFor();
    expect(await page.getByRole('button', { name: 'average' }).getAttribute('aria-pressed')).toBe('true');
    expect(opened.daemon.indicatorsAsked[0]).toBe('{"symbol":"XBTUSD","interval":"1min"}');
    expect(opened.daemon.indicatorsAsked).toContain(
      `{"symbol":"XBTUSD","interval":"1min","run":2,"from":${minute(238) + 1}}`,
    );
  });

  it('shows another interval and another symbol, by a click and by a key, each with its own indicators', async () => {
    const market = { interval: '1min', intervals: ['1min', '5min'], last: '1', pricePrecision: 1 };
    const page = await opened.openPage(
      view({ markets: ['XBTUSD', 'ETHUSD'].map((symbol) => ({ ...market, symbol })) }),
    );
    const shown = (): Promise<string> => textOf(page, '#market-title');
    await page.getByRole('group', { name: 'Interval' }).getByRole('button', { name: '5min' }).click();
    expect(await shown()).toBe('XBTUSD · 5min');
    await page.keyboard.press('s');
    expect(await shown()).toBe('ETHUSD · 1min');
    await page.keyboard.press('s');
    expect(await shown()).toBe('XBTUSD · 5min');
    await page.keyboard.press('i');
    expect(await shown()).toBe('XBTUSD · 1min');
    for (const asked of ['{"symbol":"XBTUSD","interval":"5min"}', '{"symbol":"ETHUSD","interval":"1min"}'])
      await expect.poll(() => opened.daemon.indicatorsAsked).toContain(asked);
  });

  it('follows the klines of the chart that is shown, asks for those that are new, and shows all after a gap', async () => {
    const page = await opened.openPage();
    const { daemon } = opened;
    const first = { symbol: 'XBTUSD', interval: '1min' };
    const minute = (index: number): number => sampleTime - (240 - index) * 60_000;
    const closeShown = async (): Promise<string> => textOf(page, '.legend');
    await expect.poll(closeShown).toContain('C 6,159.3');
    expect(daemon.klinesAsked[0]).toEqual(first);
    const [last] = daemon.klinesShown.slice(-1);
    if (last === undefined) throw new Error('no klines');
    daemon.klinesShown = [...daemon.klinesShown.slice(0, -1), { ...last, close: 7_001.5 }];
    await expect.poll(closeShown).toContain('C 7,001.5');
    daemon.klinesShown = [...daemon.klinesShown, { ...last, openTime: minute(240), close: 7_002.5 }];
    await expect.poll(closeShown).toContain('C 7,002.5');
    await expect.poll(() => daemon.klinesAsked.at(-1)).toEqual({ ...first, run: 1, after: minute(239) });
    // Another daemon, of another time, answers.
    daemon.klinesShown = [{ ...last, openTime: minute(10), close: 5_003.5 }];
    await expect.poll(closeShown).toContain('C 5,003.5');
    await page.getByRole('group', { name: 'Interval' }).getByRole('button', { name: '5min' }).click();
    await expect.poll(() => daemon.klinesAsked.at(-1)?.interval).toBe('5min');
    const asked = daemon.klinesAsked.findIndex(({ interval }) => interval === '5min');
    expect(daemon.klinesAsked.slice(asked).map(({ interval }) => interval)).not.toContain('1min');
  });

  it('is not green while no order is created, and says how long a position has stood unprotected, not one that is closed', async () => {
    const flat = { quantity: '0', isDust: false, entryPrice: undefined, value: '0', openProfit: '0' };
    const [held, closed] = [strategyView({ unprotectedMs: 600_000 }), strategyView({ id: 'closed', position: flat })];
    const strategies = [held, { ...closed, unprotectedMs: 600_000 }];
    const page = await opened.openPage(view({ strategies, blocked: 'the disk is full' }));
    expect(await textOf(page, '.state .pill.warn')).toBe('Orders blocked');
    expect(await page.getByText('at most 10 min so far').count()).toBe(1);
    expect(await page.getByText('Unprotected').count()).toBe(1);
    opened.daemon.shown = view({ strategies });
    await page.locator('.state .pill.good').waitFor();
  });

  it('shows each button in full on a phone', async () => {
    const page = await opened.openPage();
    await page.setViewportSize({ width: 390, height: 844 });
    const longest = { rule: 'maxConsecutiveLosses', times: 12_345, lastAt: sampleTime - 86_400_000 };
    Object.assign(opened.daemon.answers.denials[0] ?? {}, longest);
    await page.getByRole('tab', { name: 'Denials' }).click();
    await page.getByRole('button', { name: 'Why: denials of cross' }).waitFor();
    const cut =
      'Array.from(document.querySelectorAll("button.why, .button")).filter((one) => one.getBoundingClientRect().right > 382).map((one) => one.ariaLabel ?? one.innerText)';
    expect(await page.evaluate(cut)).toEqual([]);
  });

  it('has a header of two rows on a phone, the newest alarm first, and the prices of a kline above the chart', async () => {
    const alarms = [1, 2, 3, 4].map((id) => ({ id, time: sampleTime, level: 'error', text: `HALT ${id}` }) as const);
    const page = await opened.openPage(view({ alarms, speed: 10, state: 'killed' }));
    await page.setViewportSize({ width: 390, height: 844 });
    const boxOf = async (selector: string) => {
      const box = await page.locator(selector).first().boundingBox();
      return { top: box?.y ?? 0, bottom: (box?.y ?? 0) + (box?.height ?? 0) };
    };
    await page.waitForSelector('.chart canvas');
    expect((await boxOf('.top')).bottom).toBeLessThan(80);
    expect(await page.locator('.banner b').allTextContents()).toEqual(['Alarm 4', 'Alarm 3', 'Alarm 2']);
    expect((await boxOf('.legend')).bottom).toBeLessThanOrEqual((await boxOf('.chart')).top);
  });

  it('shows the whole curve of performance on a phone that was turned', async () => {
    const page = await opened.openPage();
    const { curve } = opened.daemon.answers.performance;
    const peaks = curve.map(({ at }, index) => ({
      at,
      equity: index < 4 || index > 195 ? '9000000000' : '1000000',
    }));
    Object.assign(opened.daemon.answers.performance, { curve: peaks });
    await page.setViewportSize({ width: 844, height: 390 });
    await page.reload();
    // At most how much of the width each end lacks of the line in the upper quarter of its pane: only the first and newest are high.
    const lacking = `(() => {
      const canvas = document.querySelector('.curves canvas');
      if (canvas === null || canvas.width < 100 || canvas.width > innerWidth) return 1;
      const line = document.body.appendChild(document.createElement('i'));
      line.style.color = 'var(--accent)';
      const [red, green, blue] = getComputedStyle(line).color.match(/\\d+/g).map(Number);
      line.remove();
      const { data, width } = canvas.getContext('2d').getImageData(0, 0, canvas.width, Math.floor(canvas.height / 4));
      const drawn = [];
      for (let at = 0; at < data.length; at += 4)
        if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) drawn.push((at / 4) % width);
      return Math.max(Math.min(...drawn), width - Math.max(...drawn)) / width;
    })()`;
    await expect.poll(() => page.evaluate(lacking), { timeout: 60_000 }).toBeLessThan(0.03);
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => page.evaluate(lacking), { timeout: 60_000 }).toBeLessThan(0.03);
  });

  it('shows performance, limits, denials and the log in tabs that the keyboard reaches', async () => {
    const page = await opened.openPage();
    await page.getByText('1,321.50').waitFor();
    expect(await textOf(page, '#tab-content')).toMatch(/12 Mar 2020.*−550\.84/s);
    await page.getByRole('button', { name: 'Months' }).click();
    expect(await textOf(page, '#tab-content')).toMatch(/Mar 2020\s+−430\.44/);
    await page.getByRole('tab', { name: 'Performance' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await textOf(page, '#tab-content')).toMatch(/maxPosition XBTUSD\s+18,900\.00 of 20,000\.00/);
    await page.keyboard.press('ArrowRight');
    await page.getByText('more than 0.02 of the equity').waitFor();
    expect(await textOf(page, '#tab-content')).toMatch(/orderShare\s+212\s+100 %/);
    await page.keyboard.press('ArrowRight');
    await page.getByText('fill: grid BUY 0.05 XBTUSD at 6005').waitFor();
    await page.getByLabel('Strategy').selectOption('grid');
    await page.getByLabel('Text in the log').fill('504');
    await expect.poll(() => opened.daemon.questions.at(-1)).toBe('log {"level":"info","strategy":"grid","text":"504"}');
    await page.getByLabel('Strategy').selectOption('');
  });

  it('shows markup of others as text: in a timeline, the log, a reason and a name', async () => {
    const markup = '<img src=x onerror="document.title=1"><b>bold</b>';
    const page = await opened.openPage(view({ decisions: [decisionView({ reason: markup, strategy: markup })] }));
    Object.assign(opened.daemon.answers, { log: { lines: [{ at: 1, level: 'error', text: markup }], isCut: false } });
    const steps = [{ at: 1, event: markup, detail: markup }];
    Object.assign(opened.daemon.answers, { decision: { title: markup, advice: markup, steps } });
    await page.getByRole('tab', { name: 'Log' }).click();
    await page.locator('.log').getByText(markup).waitFor();
    await page.locator('#decisions .why').first().click();
    await page.locator('dialog').getByText(markup).first().waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.title()).toMatch(/^Sluice/);
  });

  it('shows an unknown outcome and how another one was resolved', async () => {
    const page = await opened.openPage();
    const text = await textOf(page, '#unknowns');
    expect(text).toContain('Unknown for 8 s');
    expect(text).toMatch(/Resolved in 9 s.*504.*Found as order 1954113290481123391: filled, 1 fill\./s);
  });

  it('follows the daemon without a reload', async () => {
    const page = await opened.openPage(view({ noMarketData: 'ws://x: refused' }));
    expect(await textOf(page, '.state')).toBe('No market data');
    opened.daemon.shown = view({ equity: { ...view().equity, now: '123456.78' } });
    await page.getByText('123,456.78', { exact: true }).first().waitFor();
  });

  it('takes the token out of the address, stays logged in, and takes the address again', async () => {
    const page = await opened.openPage();
    expect(page.url()).toBe(`http://127.0.0.1:${opened.dashboard.port}/`);
    await page.reload();
    await page.waitForSelector('.summary');
    await page.evaluate('sessionStorage.clear()');
    await page.goto(opened.dashboard.url);
    await page.waitForFunction("location.hash === '' && sessionStorage.length > 0");
    await page.waitForSelector('.summary');
    expect(page.url()).toBe(`http://127.0.0.1:${opened.dashboard.port}/`);
  });

  it('gives nothing to a server on another port of this machine, to which its browser goes as well', async () => {
    const page = await opened.openPage();
    const { port } = opened.dashboard;
    const cookies: string[] = [];
    const other = createServer((visit, reply) => {
      cookies.push(visit.headers.cookie ?? '');
      reply.setHeader('content-type', 'text/html').end('<!doctype html><title>other</title>');
    });
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const thief = await opened.context.newPage();
    await thief.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
    // What the other server does with all that the browser sent it, and with what the page says to anybody.
    const [cookie = ''] = cookies;
    const origin = `http://127.0.0.1:${port}`;
    const { body: html } = await ask(opened.dashboard, '/', { cookie });
    const csrf = /name="csrf" content="([^"]+)"/.exec(html)?.[1] ?? '';
    const stolen = { cookie, origin, 'x-sluice-csrf': csrf };
    expect((await ask(opened.dashboard, '/api/view', stolen)).status).toBe(403);
    expect((await ask(opened.dashboard, '/api/kill', { ...stolen, ...json }, '{"reason":"theft"}')).status).toBe(403);
    expect(await upgrade(opened.dashboard, stolen)).toBe(403);
    // And what its page does in the browser itself.
    const read = (path: string): Promise<unknown> =>
      thief.evaluate(
        `fetch('${origin}${path}', { credentials: 'include' }).then((reply) => reply.text(), () => 'refused')`,
      );
    expect(await read('/')).toBe('refused');
    expect(await read('/api/view')).toBe('refused');
    expect(await thief.evaluate('sessionStorage.length + document.cookie.length')).toBe(0);
    expect(opened.daemon.told).toEqual([]);
    expect(await page.locator('.summary').count()).toBe(1);
    other.close();
    other.closeAllConnections();
  });

  it('has nothing wider than a phone of 360 px', async () => {
    const market = { interval: '1min', intervals: ['1min', '5min', '60min'], last: '6017.5', pricePrecision: 1 };
    const alarms = [
      { id: 3, time: sampleTime, level: 'error', text: 'HALT: the ledger and the account differ' },
    ] as const;
    const markets = ['XBTUSD', 'ETHUSD', 'SOLUSD'].map((symbol) => ({ ...market, symbol }));
    const page = await opened.openPage(view({ markets, alarms }));
    await page.setViewportSize({ width: 360, height: 740 });
    await page.waitForTimeout(200);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    const clipped = await page.evaluate(
      `[...document.querySelectorAll('.panel')].filter((panel) => panel.scrollWidth > panel.clientWidth).map((panel) => panel.id)`,
    );
    expect(clipped).toEqual([]);
  });

  it('says what will appear while there is nothing yet', async () => {
    const page = await opened.openPage(
      view({ fills: [], openOrders: [], decisions: [], unknowns: [], strategies: [] }),
    );
    expect(await page.locator('.empty').count()).toBe(5);
  });
});

describe.skipIf(isWithoutChromium)('a page whose daemon has gone', () => {
  it('says that its numbers are old, goes on when the daemon is back, and says when that signals a new login', async () => {
    const daemon = new FakeDaemon();
    let dashboard = await serve(daemon);
    const { port, url } = dashboard;
    const browser = await launch();
    try {
      const page = await browser.newPage();
      await page.goto(url);
      await page.waitForSelector('.summary');
      await dashboard.close();
      await page.getByText('Not connected.').waitFor();
      expect(await textOf(page, '.state .pill.plain')).toBe('Not connected');
      for (const name of ['Kill …', 'Pause cross', 'Flatten all …', 'Cancel all …'])
        expect(await page.getByRole('button', { name, exact: true }).isDisabled()).toBe(true);
      dashboard = await serve(daemon, port);
      await page.getByText('Not connected.').waitFor({ state: 'detached' });
      expect(await page.getByRole('button', { name: 'Kill …', exact: true }).isEnabled()).toBe(true);
      await dashboard.close();
      dashboard = await serve(daemon, port, `${token}-of-another-start`);
      await page.getByText('open the address that the daemon printed').waitFor();
      await page.goto(dashboard.url);
      await page.getByText('Not connected.').waitFor({ state: 'detached' });
    } finally {
      await Promise.all([browser.close(), dashboard.close()]);
    }
  });
});
