import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { decisionView, fillView, sampleTime, strategyView, unknownView, view } from '../../test/kit/view.ts';
import { heightOf, statusLines } from './terminal.ts';
import type { View } from './view.ts';

const plain = (given: View, columns = 200): string[] =>
  statusLines(given, columns, 'http://127.0.0.1:8080/#token=abc').map((line) => stripVTControlCharacters(line));

describe('the status in a terminal', () => {
  it('says mode, state, market time and speed first and the address last', () => {
    const lines = plain(view());
    expect(lines[0]).toBe('Sluice demo  ready  2020-03-12 11:20:00 UTC at ×60  http://127.0.0.1:41234');
    expect(lines.at(-1)).toBe('Dashboard  http://127.0.0.1:8080/#token=abc');
    expect(plain(view({ blocked: 'the disk is full' }))[0]).toContain('demo  orders blocked  2020');
  });

  it('makes one line of what has several, and counts those that a narrow window makes of the address', () => {
    const stopped = strategyView({ status: 'stopped', error: 'AssertionError: not equal\n\n6123 !== 2\n' });
    const lines = plain(view({ strategies: [stopped] }));
    expect(lines.every((line) => !line.includes('\n'))).toBe(true);
    expect(lines.join('|')).toContain('AssertionError: not equal 6123 !== 2');
    const address = lines.at(-1) ?? '';
    expect([200, address.length, address.length - 1, 20].map((columns) => heightOf(address, columns))).toEqual([
      1, 1, 2, 3,
    ]);
    expect(heightOf('', 20)).toBe(1);
  });

  it('says what was gained or lost since the start, exactly', () => {
    const equity = {
      asset: 'USD',
      dayStart: '0',
      start: '90071992547409931.07',
      now: '90071992547409930.98',
      series: [],
    };
    expect(plain(view({ equity }))).toContain('Equity     90,071,992,547,409,930.98 USD  -0.09 since the start');
  });

  it('shows positions with what protects them, and why a strategy was stopped', () => {
    const stopped = strategyView({ id: 'mine', status: 'stopped', error: 'TypeError: fast is not a number' });
    const lines = plain(view({ strategies: [strategyView(), stopped] })).join('\n');
    expect(lines).toContain('cross XBTUSD 0.2498 from 6,120.5  -25.73 stop 5,980, target 6,400');
    expect(lines).toMatch(
      /mine XBTUSD 0\.2498 from 6,120\.5 .* stop 5,980, target 6,400 stopped: TypeError: fast is not a/,
    );
    const position = { quantity: '0', isDust: false, entryPrice: undefined, value: '0', openProfit: '0' };
    expect(plain(view({ strategies: [{ ...stopped, position }] })).join('\n')).toContain(
      'mine stopped: TypeError: fast is not a number',
    );
  });

  it('tells the day of fills that are not of now', () => {
    const fills = [fillView(), fillView({ time: sampleTime - 86_400_000 })];
    expect(plain(view({ fills })).join('\n')).toMatch(/11:11:00 BUY {2}[\s\S]*2020-03-11 11:20 BUY {2}/);
  });

  it('shows what fees left behind as dust, not as a position', () => {
    const position = { quantity: '0.0000714', isDust: true, entryPrice: undefined, value: '0.43', openProfit: '0' };
    expect(plain(view({ strategies: [strategyView({ position })] })).join('\n')).toContain(
      'cross XBTUSD flat, dust 0.0000714',
    );
  });

  it('shows the latest denial in words and how an unknown outcome ended', () => {
    const denied = decisionView({ verdict: 'denied', text: 'The order is worth 2; the limit is 1.' });
    const lines = plain(view({ decisions: [denied], unknowns: [unknownView()] })).join('\n');
    expect(lines).toContain('cross: hold 0.25 XBT. The order is worth 2; the limit is 1.');
    expect(lines).toContain('Sell 0.05 at 6,155: Found as order 1954113290481123391: filled, 1 fill.');
  });

  it('shows a limit that tripped and how to go on', () => {
    const notice = {
      at: 0,
      level: 'error',
      text: 'The daily loss limit was passed.',
      advice: 'Run sluice resume.',
    } as const;
    expect(plain(view({ notices: [notice] })).join('\n')).toContain(
      'The daily loss limit was passed. Run sluice resume.',
    );
  });

  it('is never wider than the terminal, except for the address, which must stay whole', () => {
    const lines = plain(view(), 60);
    expect(Math.max(...lines.slice(0, -1).map((line) => line.length))).toBe(60);
    expect(lines.at(-1)).toContain('token=abc');
  });

  it('fits a terminal of 24 lines', () => {
    expect(plain(view()).length).toBeLessThan(24);
  });

  it('writes out what texts of others would do to the terminal, and keeps its own colours', () => {
    const hostile = '\u001b[2J\u001b]0;mine\u0007\u009b31m\u202egnp.';
    const shownText = String.raw`\u001b[2J\u001b]0;mine\u0007\u009b31m\u202egnp.`;
    const given = view({ stateText: hostile, strategies: [strategyView({ status: 'stopped', error: hostile })] });
    const all = statusLines(given, 400).join('\n');
    expect(all.split(shownText)).toHaveLength(3);
    expect(stripVTControlCharacters(all)).not.toMatch(/[^\P{C}\n]/u);
    expect(all).toContain('\u001b[1mSluice');
  });
});
