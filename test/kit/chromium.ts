/** The browser in which pages are tested. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const executablePath = '/usr/bin/chromium';
const { CI } = process.env;

/** Without Chromium its tests are skipped and counted; under CI they fail, or nobody would notice. */
export const isWithoutChromium = !existsSync(executablePath) && CI === undefined;

/** `more`: arguments of its command line. */
export const launch = (...more: readonly string[]): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...more,
    ],
  });
