/** Times of a run over trades and depth, ms. */

/** How long a decision may wait before it is sent; here nothing makes it wait but its own lane. */
export const maxSendDelayMs = 10_000;
/** Between two checks of what must not stay undone, as in a live session, ms. */
export const retryMs = 1_000;
/** How long after a denial the checks continue, ms. */
export const restlessMs = 10_000;
export const dayMs = 86_400_000;
/** Sweeps for fills after the last event: a number, not a time. */
export const lastLooks = 3;
/** Shorter than any distance between two times, ms. */
export const aMoment = 0.001;
