/** Times of a run over trades and books, ms. */

/** How long a decision may wait before it is sent; here nothing makes it wait but its own lane. */
export const orderLifeMs = 10_000;
/** Between two checks of what must not stay undone, as in a live session, ms. */
export const retryMs = 1_000;
/** How long after a refusal it is asked again what was refused. */
export const restlessMs = 10_000;
export const dayMs = 86_400_000;
/** After the last event fills are looked for this often. */
export const lastLooks = 3;
/** Shorter than any distance between two times, ms. */
export const aMoment = 0.001;
