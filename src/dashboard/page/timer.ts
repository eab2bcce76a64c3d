/** The page's only timer: a browser has no `Clock`, and nothing here decides about money. */
export const afterMs = (ms: number, fn: () => void): (() => void) => {
  const timer = setTimeout(fn, ms);
  return () => clearTimeout(timer);
};
