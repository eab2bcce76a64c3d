import { describe, expect, test } from 'vitest';
import { bestPlateau, bestSet, coordinatesOf, heatOf } from './plateau.ts';

/** A lonely peak in one corner, a broad rise elsewhere. */
const values = [
  [0, 0, 0, 0, 0],
  [0, 9, 0, 4, 4],
  [0, 0, 0, 4, 5],
  [0, 0, 0, 4, 4],
].flat();
const grid = { sizes: [4, 5], values };

describe('a grid', () => {
  test('numbers its cells with the last axis fastest', () => {
    expect(coordinatesOf(grid, 7)).toEqual([1, 2]);
    expect(coordinatesOf({ sizes: [2, 3, 4] }, 23)).toEqual([1, 2, 3]);
  });

  test('has its best cell on a lonely peak and its best plateau elsewhere', () => {
    expect(bestSet(grid)).toBe(6);
    const plateau = bestPlateau(grid);
    expect(plateau && coordinatesOf(grid, plateau.centre)).toEqual([2, 3]);
    expect(plateau).toMatchObject({ mean: 25 / 9, worst: 0, best: 5 });
    expect(plateau?.sets).toHaveLength(9);
  });

  test('has no plateau over a hole, and none at an edge', () => {
    const holed = { ...grid, values: values.map((value, cell) => (cell === 14 ? undefined : value)) };
    expect(bestPlateau(holed)?.sets).not.toContain(14);
    expect(bestPlateau({ sizes: [3], values: [1, undefined, 3] })).toBeUndefined();
  });

  test('has no plateau where an axis has two values: neither is in their middle; one of one value does not matter', () => {
    expect(bestPlateau({ sizes: [2], values: [1, 2] })).toBeUndefined();
    expect(bestPlateau({ sizes: [2, 3], values: [1, 2, 3, 4, 5, 6] })).toBeUndefined();
    expect(bestPlateau({ sizes: [1, 3, 2], values: [1, 2, 3, 4, 5, 6] })).toBeUndefined();
    expect(bestPlateau({ sizes: [1, 4], values: [1, 2, 3, 4] })).toMatchObject({
      centre: 2,
      sets: [1, 2, 3],
      mean: 3,
    });
    expect(bestPlateau({ sizes: [1, 1], values: [1] })).toBeUndefined();
  });

  test('shows the best over the axes that a picture has no room for', () => {
    expect(heatOf({ sizes: [2, 2, 2], values: [1, 2, 3, 4, undefined, undefined, 7, 6] })).toEqual([
      [2, 4],
      [undefined, 7],
    ]);
    expect(heatOf({ sizes: [3], values: [1, 2, 3] })).toEqual([[1, 2, 3]]);
    expect(bestSet({ values: [undefined] })).toBeUndefined();
  });
});
