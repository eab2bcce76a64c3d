/** What evidence is enough: random courses of proofs and sweeps, against the rules in words. */
import { describe, expect, test } from 'vitest';
import { seededRng } from '../../clock/clock.ts';
import type { OrderState } from '../../domain/order.ts';
import type { Proof } from './balance-proof.ts';
import {
  actOn,
  afterSweep,
  type CleanSweeps,
  isMissed,
  maxMoving,
  maxUnexplained,
  nothingWeighed,
  proofs,
  weigh,
} from './evidence.ts';

const kinds = Object.keys(proofs) as Proof['kind'][];

describe('proofs', () => {
  test('come to absence only when explained, and to doubt only for the reasons in the table', () => {
    const rng = seededRng(1);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(rng() * list.length)] as T;
    for (let course = 0; course < 500; course++) {
      let weighed = nothingWeighed;
      const seen: Proof[] = [];
      for (let step = 0; step < 80; step++) {
        const proof: Proof = { kind: pick(kinds), text: pick(['a', 'b']) };
        seen.push(proof);
        const { now, verdict } = weigh(weighed, proof);
        weighed = now;
        if (verdict === 'absence') expect(proof.kind).toBe('explained');
        if (proof.kind === 'explained') expect(verdict).toBe('absence');
        if (proof.kind === 'failed') expect(verdict).toBe('again');
        if (verdict === 'doubt' && proof.kind === 'unexplained') {
          const last = seen.filter(({ kind }) => kind === 'unexplained').slice(-maxUnexplained);
          expect(last.map(({ text }) => text)).toEqual(Array(maxUnexplained).fill(proof.text));
        }
        if (verdict === 'doubt' && proof.kind === 'moving')
          expect(seen.filter(({ kind }) => kind === 'moving').length).toBeGreaterThanOrEqual(maxMoving);
      }
    }
  });

  test('only heal an order that is quarantined, and do nothing to one that is decided', () => {
    for (const verdict of ['absence', 'doubt', 'again'] as const) {
      expect(actOn(verdict, 'unknown')).toBe(verdict);
      expect(actOn(verdict, 'quarantined')).toBe(verdict === 'absence' ? 'absence' : 'again');
      for (const state of ['open', 'closing', 'filled', 'absent'] satisfies OrderState[])
        expect(actOn(verdict, state)).toBe('again');
    }
  });
});

test('an order is missed only by two clean sweeps the gap apart, whatever came in between', () => {
  const rng = seededRng(2);
  for (let course = 0; course < 500; course++) {
    let clean: CleanSweeps | undefined;
    const cleanAts: number[] = [];
    for (let now = 0; now < 20_000; now += 500 + Math.floor(rng() * 3_000)) {
      const cleanAt = rng() < 0.4 ? now : undefined;
      if (cleanAt !== undefined) cleanAts.push(cleanAt);
      clean = afterSweep(clean, cleanAt);
      const first = cleanAts[0] ?? Number.POSITIVE_INFINITY;
      expect(isMissed(clean, 5_000)).toBe((cleanAts.at(-1) ?? 0) >= first + 5_000);
    }
  }
});
