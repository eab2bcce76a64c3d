import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { SimClock } from '../../clock/sim-clock.ts';
import type { SocketAction } from './actions.ts';
import { Faults } from './engine.ts';
import { openSpoiler } from './frame-faults.ts';
import { faultRules } from './rules.ts';

const channel = 'market_btcusdt_depth_step0';
const clock = new SimClock(0);

/** What leaves for these frames when the second one is hit. */
function sent(
  action: Partial<SocketAction> & { socket: SocketAction['socket'] },
  frames: readonly string[] = ['1', '2', '3'],
) {
  const rules = faultRules([{ match: { method: 'WS', nth: 2 }, do: action }]);
  const faults = new Faults(rules, { seed: 1, now: () => 0, onTimed: () => undefined, onLag: () => undefined });
  const spoil = openSpoiler(faults, clock, () => undefined);
  return frames.map((frame) => spoil(channel, Buffer.from(frame)));
}
const texts = (...args: Parameters<typeof sent>) =>
  sent(...args).map((one) => (one === 'cut' ? one : one.map((frame) => frame.toString()).join()));

describe('a frame that is hit', () => {
  test('is left out, repeated, replaced by the one before, or sent after the next', () => {
    expect(texts({ socket: 'skip' })).toEqual(['1', '', '3']);
    expect(texts({ socket: 'repeat', times: 2 })).toEqual(['1', '2,2,2', '3']);
    expect(texts({ socket: 'stale' })).toEqual(['1', '1', '3']);
    expect(texts({ socket: 'swap' })).toEqual(['1', '', '3,2']);
    expect(texts({ socket: 'disconnect' })).toEqual(['1', 'cut', '3']);
    expect(texts({ socket: 'silence' })).toEqual(['1', '', '']);
    expect(texts({ socket: 'half' }, ['1', '2222'])).toEqual(['1', '22']);
  });

  test('shows a book that no exchange should show', () => {
    const pushed = gzipSync(JSON.stringify({ channel, tick: { asks: [['2', '1']], buys: [['1', '3']] } }));
    const shown = (socket: 'crossed' | 'empty' | 'zero'): unknown => {
      const rules = faultRules([{ match: { method: 'WS' }, do: { socket } }]);
      const faults = new Faults(rules, { seed: 1, now: () => 0, onTimed: () => undefined, onLag: () => undefined });
      const [frame] = openSpoiler(faults, clock, () => undefined)(channel, pushed);
      return (JSON.parse(gunzipSync(frame as Buffer).toString()) as { tick: unknown }).tick;
    };
    expect(shown('crossed')).toEqual({ asks: [['1', '3']], buys: [['2', '1']] });
    expect(shown('empty')).toEqual({ asks: [], buys: [] });
    expect(shown('zero')).toEqual({ asks: [[0, '1']], buys: [[0, '3']] });
  });

  test('is garbage, or a bomb that is small on the wire', () => {
    const [, garbage] = sent({ socket: 'garbage' });
    expect(() => JSON.parse(gunzipSync(garbage?.[0] as Buffer).toString()) as unknown).toThrow();
    const bomb = sent({ socket: 'bomb' })[1]?.[0] as Buffer;
    expect(bomb.length).toBeLessThan(100_000);
    expect(gunzipSync(bomb).length).toBe(64 * 1_048_576);
  });
});
