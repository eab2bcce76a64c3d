/** What an operator does on the dashboard's page: each action asks first. */
import { describe, expect, it } from 'vitest';
import { isWithoutChromium } from '../kit/chromium.ts';
import { dashboardPage, textOf } from '../kit/dashboard-page.ts';
import { sampleTime, strategyView, view } from '../kit/view.ts';

describe.skipIf(isWithoutChromium)('the dashboard page', () => {
  const opened = dashboardPage();

  it('kills only after asking, says what came of it, and then offers to resume', async () => {
    const page = await opened.openPage();
    await page.getByRole('button', { name: 'Kill …' }).click();
    expect(await textOf(page, 'dialog')).toContain('Strategies create no new orders from now on');
    await page.getByRole('button', { name: 'Leave it' }).click();
    expect(opened.daemon.told).toEqual([]);
    await page.getByRole('button', { name: 'Kill …' }).click();
    await page.getByLabel('Reason').fill('looks wrong');
    await page.getByRole('button', { name: 'Kill trading' }).click();
    await page.getByText('Killed: 6 resting orders are being cancelled.').waitFor();
    expect(opened.daemon.told).toEqual(['kill: looks wrong, by dashboard']);
    await page.getByRole('button', { name: 'Resume …' }).click();
    expect(await textOf(page, 'dialog')).toContain('All strategies were killed by dashboard: looks wrong.');
    // The question stays about what it was asked about.
    opened.daemon.shown = {
      ...opened.daemon.shown,
      inForce: { mark: 'a kill came', text: 'And fire.' },
      marketTime: 5,
    };
    // What loosens asks for a word.
    expect(await page.getByRole('button', { name: 'Resume trading' }).isDisabled()).toBe(true);
    await page.getByLabel('Write resume to go on').fill('resume');
    await page.getByRole('button', { name: 'Resume trading' }).click();
    await page.getByText('Trading goes on.').waitFor();
    expect(opened.daemon.told.at(-1)).toBe('resume: from the dashboard, dashboard, killed');
  });

  it('kills everything, pauses and resumes one strategy, and cancels one order, each after a sentence', async () => {
    const page = await opened.openPage();
    const said = (): Promise<string> => textOf(page, '#dialog-what');
    await page.getByRole('button', { name: 'Kill grid' }).click();
    expect(await said()).toMatch(/^Strategy grid alone\. .*Exits stay in force/);
    await page.getByLabel('Stop exits, too').check();
    expect(await said()).toMatch(/their stops do not work while killed/);
    await page.locator('dialog').getByRole('button', { name: 'Kill grid' }).click();
    await expect.poll(() => opened.daemon.told).toEqual(['kill everything: from the dashboard, by dashboard']);
    opened.daemon.shown = view({ strategies: [strategyView({ status: 'paused' })] });
    await page.getByRole('button', { name: 'Resume cross' }).click();
    await page.getByLabel('Write cross to go on').fill('grid');
    expect(await page.locator('dialog').getByRole('button', { name: 'Resume cross' }).isDisabled()).toBe(true);
    await page.getByLabel('Write cross to go on').fill('cross');
    await page.keyboard.press('Enter');
    await expect.poll(() => opened.daemon.told.length).toBe(2);
    expect(opened.daemon.told[1]).toMatch(/^resume: /);
    await page.getByRole('button', { name: 'Pause cross' }).click();
    expect(await said()).toMatch(/^Strategy cross alone\. Nothing new is entered/);
    await page.locator('dialog').getByRole('button', { name: 'Pause cross' }).click();
    await expect.poll(() => opened.daemon.told.length).toBe(3);
    expect(opened.daemon.told[2]).toMatch(/^pause: .*cross/);
    await page.getByRole('button', { name: 'Cancel: SELL 0.05 XBTUSD at 6,095 of grid' }).click();
    expect(await said()).toContain('grid keeps running and may place it again');
    await page.getByRole('button', { name: 'Cancel the order' }).click();
    await expect.poll(() => opened.daemon.told.length).toBe(4);
    expect(opened.daemon.told[3]).toContain('sabcdeaaababaaaaaaab0wertyui');
  });

  it('flattens one position, all of a strategy, or everything, and says before what will be sent', async () => {
    const position = (quantity: string, value: string) => ({
      ...{ quantity, value, isDust: false, entryPrice: '1', openProfit: '0' },
    });
    const strategies = [
      strategyView({ id: 'pair', symbol: 'XBTUSD', position: position('0.25', '1503.17') }),
      strategyView({ id: 'pair', symbol: 'ETHUSD', position: position('-2', '-400') }),
      strategyView({ id: 'grid', position: position('0', '0') }),
    ];
    const page = await opened.openPage(view({ strategies }));
    const orders = (): Promise<string> => textOf(page, 'dialog .orders');
    const yes = (name: string) => page.locator('dialog').getByRole('button', { name });
    await page.getByRole('button', { name: 'Flatten pair on XBTUSD' }).click();
    expect(await textOf(page, '#dialog-what')).toMatch(/^Strategy pair alone\. Entries are paused until you resume/);
    expect(await orders()).toBe('Sell 0.25 XBTUSD of pair, worth 1,503.17');
    await page.getByLabel('Most slippage').fill('2 %');
    await yes('Flatten pair').click();
    expect(opened.daemon.told).toEqual([]);
    await page.getByLabel('Most slippage').fill('0.02');
    await page.getByLabel('Reason').fill('news');
    await yes('Flatten pair').click();
    await page.getByText('Positions are being closed.').waitFor();
    expect(opened.daemon.flattened).toEqual([
      { by: 'dashboard', strategy: 'pair', symbol: 'XBTUSD', reason: 'news', maxSlippage: '0.02' },
    ]);
    await page.getByRole('button', { name: 'Flatten pair on ETHUSD' }).click();
    expect(await orders()).toBe('Buy 2 ETHUSD of pair, worth 400.00');
    await page.getByLabel('All positions of pair').check();
    expect(await textOf(page, '#dialog-what')).toMatch(/Sell 0\.25 XBTUSD of pair.*; Buy 2 ETHUSD of pair/);
    await yes('Flatten pair').click();
    await expect.poll(() => opened.daemon.flattened.length).toBe(2);
    expect(opened.daemon.flattened[1]).toEqual({ by: 'dashboard', strategy: 'pair', reason: 'from the dashboard' });
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Flatten grid' }).count()).toBe(0);
    await page.keyboard.press('f');
    await expect.poll(async () => (await orders()).split('\n').length).toBe(2);
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Flatten all …' }).click();
    await yes('Flatten all positions').click();
    await expect.poll(() => opened.daemon.flattened.length).toBe(3);
    expect(opened.daemon.flattened[2]).toEqual({ by: 'dashboard', reason: 'from the dashboard' });
  });

  it('acknowledges one alarm or all, which cannot be dismissed', async () => {
    const alarm = (id: number) => ({ id, time: sampleTime, level: 'error', text: `HALT number ${id}` }) as const;
    const page = await opened.openPage(view({ alarms: [alarm(3), alarm(4)] }));
    await page.getByRole('button', { name: 'Acknowledge alarm 3' }).click();
    expect(await textOf(page, '#dialog-what')).toMatch(/^HALT number 3: It is not sent again\./);
    expect(opened.daemon.told).toEqual([]);
    await page.locator('dialog').getByRole('button', { name: 'Acknowledge', exact: true }).click();
    await expect.poll(() => opened.daemon.told).toEqual(['acknowledge: dashboard, 3']);
    await page.getByRole('button', { name: 'Acknowledge all 2 alarms' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Acknowledge all' }).click();
    await expect.poll(() => opened.daemon.told.at(-1)).toBe('acknowledge: dashboard');
    expect(await page.getByRole('button', { name: /^Dismiss: HALT/ }).count()).toBe(0);
  });

  it('offers to pause what goes on and to resume what is paused, of several strategies both', async () => {
    const page = await opened.openPage(
      view({ strategies: [strategyView({ status: 'paused' }), strategyView({ id: 'grid' })] }),
    );
    const inHeader = async (): Promise<readonly string[]> => page.locator('header .tools > .button').allInnerTexts();
    expect(await inHeader()).toEqual(['Resume …', 'Pause …', 'Kill …']);
    opened.daemon.shown = view({ strategies: [strategyView({ status: 'paused' })] });
    await expect.poll(inHeader).toEqual(['Resume …', 'Kill …']);
    opened.daemon.shown = view();
    await expect.poll(inHeader).toEqual(['Pause …', 'Kill …']);
  });

  it('dismisses banners for good, and shows new ones', async () => {
    const notice = (text: string, at = 1) => ({ at, level: 'warn', text, advice: undefined }) as const;
    const page = await opened.openPage(view({ notices: [notice('the disk is slow'), notice('no klines')] }));
    await page.getByRole('button', { name: 'Dismiss: the disk is slow' }).click();
    expect(await textOf(page, '.notices')).not.toContain('the disk is slow');
    await page.reload();
    await page.getByText('no klines').waitFor();
    expect(await textOf(page, '.notices')).not.toContain('the disk is slow');
    opened.daemon.shown = view({
      notices: [notice('the disk is slow', 2), notice('no klines'), notice('the disk is slow')],
    });
    await page.getByRole('button', { name: 'Dismiss all 2' }).click();
    await page.locator('.banner').waitFor({ state: 'detached' });
  });

  it('lists its keys, opens questions by them, and does nothing by a key alone or while somebody writes', async () => {
    const page = await opened.openPage();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('k');
    expect(await page.locator('dialog').count()).toBe(1);
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('4');
    await page.getByLabel('Text in the log').fill('k');
    await page.getByLabel('Text in the log').press('k');
    expect(await page.locator('dialog').count()).toBe(0);
    await page.getByRole('tab', { name: 'Log' }).focus();
    await page.keyboard.press('k');
    await page.getByRole('dialog', { name: 'Kill trading?' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(opened.daemon.told).toEqual([]);
  });
});
