/**
 * Strategies of two legs that never rest until they are told to: a pair by roles and a list with weights. They are always calm, restless or
 * steady, by a file. A steady pair wants both legs, of which one has a limit that nothing meets; a steady list wants one market.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flat, hold, of, weights } from '../../src/index.ts';
import { defineStrategy } from '../../src/strategy/contract.ts';
import { stringsVariable } from '../kit/puppet.ts';
import { calmFile } from './restless.ts';

const steadyFile = (dir: string): string => join(dir, 'steady');

export function beSteady(dir: string, isSteady: boolean): void {
  if (isSteady) writeFileSync(steadyFile(dir), '');
  else rmSync(steadyFile(dir), { force: true });
}

/** How long a leg may be open alone, ms of exchange time. */
export const aloneMs = 120_000;

const mood = (): 'calm' | 'steady' | 'restless' => {
  const dir = process.env[stringsVariable] ?? '.';
  if (existsSync(calmFile(dir))) return 'calm';
  return existsSync(steadyFile(dir)) ? 'steady' : 'restless';
};

const why = 'as the torture has it';

/** The limit of the second leg, if it has one: always one that nothing meets where it is steady; else one that fills in one of two times. */
function limitAt(isSteady: boolean, turn: number, close: number): number | undefined {
  if (isSteady) return Math.round(close / 2);
  return turn % 4 === 0 ? Math.round(close * (turn % 8 === 0 ? 1.002 : 0.98)) : undefined;
}

/** In and out of both legs, at market or with one by a limit. */
export const pair = (action: 'complete' | 'unwind') =>
  defineStrategy({
    name: `pair-${action}`,
    about: 'Holds two markets at once, or none',
    params: {},
    markets: { near: 'traded', far: 'traded' },
    legsAlone: { afterMs: aloneMs, action },
    indicators: () => ({ price: of('far', 'close') }),
    decide({ price }, { time }) {
      const isSteady = mood() === 'steady';
      const turn = isSteady ? 0 : time / 60_000;
      if (mood() === 'calm' || turn % 2 === 1) return { near: flat(why), far: flat(why) };
      const size = { quantity: 0.1 + (turn % 3) / 100 };
      const limit = limitAt(isSteady, turn, price);
      return { near: hold(size, why), far: hold(size, why, limit === undefined ? {} : { limit }) };
    },
  });

/** All of its money in one of the markets, in turn. */
export const list = defineStrategy({
  name: 'list',
  about: 'Holds one of its markets, another at each close',
  params: {},
  indicators: () => ({}),
  choose(markets, { time }) {
    const now = mood();
    const turn = now === 'steady' ? 0 : time / 60_000;
    const held = markets[turn % markets.length];
    return weights(now === 'calm' || held === undefined ? {} : { [held.symbol]: 0.9 }, why, { threshold: 0.05 });
  },
});
