import { expect, test } from 'vitest';
import { causeOf, didYouMean, isNoSpace, NoSpace, Refusal } from './refusal.ts';

test('a near name is suggested, a far one is not', () => {
  expect(didYouMean('sma-corss', ['grid', 'sma-cross'])).toBe(' (did you mean "sma-cross"?)');
  expect(didYouMean('GRID', ['grid', 'sma-cross'])).toBe(' (did you mean "grid"?)');
  expect(didYouMean('momentum', ['grid', 'sma-cross'])).toBe('');
  expect(didYouMean('x', [])).toBe('');
});

test('a refusal is bad usage unless it says otherwise', () => {
  expect(new Refusal('no').exitCode).toBe(2);
  expect(new Refusal('no', 3).exitCode).toBe(3);
});

test('a full disk has no space, too many watched files are another shortage', () => {
  for (const text of ['ENOSPC: no space left on device, write', 'database or disk is full'])
    expect(isNoSpace(new Error(text))).toBe(true);
  expect(isNoSpace(new NoSpace('no free space', 3))).toBe(true);
  const watched = Object.assign(new Error("ENOSPC: System limit for number of file watchers reached, watch '/x'"), {
    ...{ code: 'ENOSPC', syscall: 'watch', path: '/x' },
  });
  expect(isNoSpace(watched)).toBe(false);
  expect(causeOf(watched)).toBe('too many files are watched: raise fs.inotify.max_user_watches (ENOSPC)');
});
